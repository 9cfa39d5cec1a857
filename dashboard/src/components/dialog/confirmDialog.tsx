import { useMutation } from '@tanstack/react-query';
import { AlertDialog as RadixAlert } from 'radix-ui';
import { type ReactNode, useState } from 'react';
import { errorText } from '../../api.ts';
import { sharedStrings } from '../../strings/shared.ts';
import { Button } from '../button.tsx';
import { classes } from '../classes.ts';
import { Notice } from '../notice.tsx';
import { DIALOG_OVERLAY, DIALOG_PANEL, FormActions } from './dialog.tsx';

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
  const action = useMutation({ mutationFn: onConfirm, onSuccess: () => onOpenChange(false) });

  function change(isOpen: boolean) {
    action.reset();
    onOpenChange(isOpen);
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
          {action.error !== null && (
            <div className="mt-4">
              <Notice tone="bad">{errorText(action.error)}</Notice>
            </div>
          )}
          <FormActions>
            <RadixAlert.Cancel asChild>
              <Button>{sharedStrings.cancel}</Button>
            </RadixAlert.Cancel>
            <Button look="danger" busy={action.isPending} onClick={() => action.mutate()}>
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
