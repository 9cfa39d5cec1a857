import { Button } from '../../components/button.tsx';
import { CopyButton } from '../../components/copyButton.tsx';
import { Actions, Dialog } from '../../components/dialog.tsx';
import { apiKeyWords } from '../../strings/apiKeys.ts';

/** Shows a key the one time that it can be shown: the server keeps only its hash. */
export function KeepKey({ apiKey, onDone }: { readonly apiKey: string | undefined; readonly onDone: () => void }) {
  return (
    <Dialog
      title={apiKeyWords.keep}
      description={apiKeyWords.keepHint}
      open={apiKey !== undefined}
      onOpenChange={(isOpen) => isOpen || onDone()}
      isPersistent
    >
      <div className="flex items-start gap-2 rounded-lg border border-line bg-sunken p-3">
        <output aria-label={apiKeyWords.key} className="min-w-0 flex-1 py-1.5 font-mono text-sm wrap-anywhere">
          {apiKey}
        </output>
        <CopyButton text={apiKey ?? ''} label={apiKeyWords.copyKey} />
      </div>
      <Actions>
        <Button look="primary" onClick={onDone}>
          {apiKeyWords.kept}
        </Button>
      </Actions>
    </Dialog>
  );
}
