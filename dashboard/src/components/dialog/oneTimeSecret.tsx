import { Button } from '../button.tsx';
import { CopyButton } from '../copyButton.tsx';
import { Dialog, FormActions } from './dialog.tsx';

/** Shows a secret, which the server may not return again. Only its button closes the dialog. */
export function OneTimeSecret({
  strings,
  secret,
  onDone,
}: {
  readonly strings: {
    readonly secretTitle: string;
    readonly secretDescription: string;
    readonly secretLabel: string;
    readonly copySecret: string;
    readonly secretSaved: string;
  };
  /** Undefined while there is none to show. */
  readonly secret: string | undefined;
  readonly onDone: () => void;
}) {
  return (
    <Dialog
      title={strings.secretTitle}
      description={strings.secretDescription}
      open={secret !== undefined}
      onOpenChange={(isOpen) => isOpen || onDone()}
      isPersistent
    >
      <div className="flex items-start gap-2 rounded-lg border border-line bg-sunken p-3">
        <output aria-label={strings.secretLabel} className="min-w-0 flex-1 py-1.5 font-mono text-sm wrap-anywhere">
          {secret}
        </output>
        <CopyButton text={secret ?? ''} label={strings.copySecret} />
      </div>
      <FormActions>
        <Button look="primary" onClick={onDone}>
          {strings.secretSaved}
        </Button>
      </FormActions>
    </Dialog>
  );
}
