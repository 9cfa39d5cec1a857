import { AlertDialog as RadixAlert } from 'radix-ui';
import { type ReactNode, useState } from 'react';
import { errorText } from '../api.ts';
import { sharedStrings } from '../strings/shared.ts';
import { Button } from './button.tsx';
import { classes } from './classes.ts';
import { DIALOG_OVERLAY, DIALOG_PANEL, FormActions } from './dialog.tsx';
import { Notice } from './notice.tsx';

interface ConfirmProps {
  readonly title: string;
  /** Says what happens, such as "Delete session". */
  readonly confirm: string;
  /** The dialog stays open until this resolves, and shows the error if it rejects. */
  readonly onConfirm: () => Promise<unknown>;
  /** The consequences. */
  readonly children: ReactNode;
}

interface ConfirmDialogProps extends ConfirmProps {
  readonly open: boolean;
  readonly onOpenChange: (open: boolean) => void;
}

/** Asks for confirmation before an action that cannot be undone. */
export function ConfirmDialog({ title, children, confirm, open, onOpenChange, onConfirm }: ConfirmDialogProps) {
  const [state, setState] = useState<{ busy: boolean; error?: unknown }>({ busy: false });

  function change(isOpen: boolean) {
    setState({ busy: false });
    onOpenChange(isOpen);
  }

  async function run() {
    setState({ busy: true });
    try {
      await onConfirm();
      change(false);
    } catch (error) {
      setState({ busy: false, error });
    }
  }

  return (
    <RadixAlert.Root open={open} onOpenChange={change}>
      <RadixAlert.Portal>
        <RadixAlert.Overlay className={DIALOG_OVERLAY} />
        <RadixAlert.Content className={classes(DIALOG_PANEL, 'max-w-md')}>
          <RadixAlert.Title className="text-lg font-semibold">{title}</RadixAlert.Title>
          <RadixAlert.Description asChild>
            <div className="mt-2 text-sm text-ink-soft">{children}</div>
          </RadixAlert.Description>
          {state.error !== undefined && (
            <div className="mt-4">
              <Notice tone="bad">{errorText(state.error)}</Notice>
            </div>
          )}
          <FormActions>
            <RadixAlert.Cancel asChild>
              <Button>{sharedStrings.cancel}</Button>
            </RadixAlert.Cancel>
            <Button look="danger" busy={state.busy} onClick={run}>
              {confirm}
            </Button>
          </FormActions>
        </RadixAlert.Content>
      </RadixAlert.Portal>
    </RadixAlert.Root>
  );
}

/** A button whose action has to be confirmed first. */
export function ConfirmButton({
  look = 'danger',
  size,
  ...dialog
}: ConfirmProps & { readonly look?: 'danger' | 'secondary' | 'quiet'; readonly size?: 'normal' | 'small' }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button look={look} size={size} onClick={() => setOpen(true)}>
        {dialog.confirm}
      </Button>
      <ConfirmDialog {...dialog} open={isOpen} onOpenChange={setOpen} />
    </>
  );
}
