import { Button } from '../../components/button.tsx';
import { CodeSnippet } from '../../components/codeSnippet.tsx';
import { Actions, Dialog } from '../../components/dialog.tsx';
import { webhookWords } from '../../strings/webhooks.ts';

/** Shows a secret the one time that it can be shown: the server never gives it back. */
export function KeepSecret({ secret, onDone }: { readonly secret: string | undefined; readonly onDone: () => void }) {
  return (
    <Dialog
      title={webhookWords.keepSecret}
      description={webhookWords.keepSecretHint}
      open={secret !== undefined}
      onOpenChange={(isOpen) => isOpen || onDone()}
      isPersistent
    >
      <CodeSnippet code={secret ?? ''} label={webhookWords.secretValue} />
      <Actions>
        <Button look="primary" onClick={onDone}>
          {webhookWords.done}
        </Button>
      </Actions>
    </Dialog>
  );
}
