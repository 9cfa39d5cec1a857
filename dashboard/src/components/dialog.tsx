import { X } from 'lucide-react';
import { AlertDialog as RadixAlert, Dialog as RadixDialog } from 'radix-ui';
import { type ReactNode, useState } from 'react';
import { errorText } from '../api.ts';
import { words } from '../strings/shared.ts';
import { Button, IconButton } from './button.tsx';
import { classes } from './classes.ts';
import { Notice } from './notice.tsx';

const SHADE = 'fixed inset-0 z-40 bg-shade';
const PANEL =
  'appear fixed inset-x-3 top-[8vh] z-50 mx-auto max-h-[84vh] overflow-y-auto rounded-card border border-line bg-surface p-5 shadow-card wide:p-6';

interface DialogProps {
  readonly title: string;
  readonly description?: ReactNode;
  readonly open: boolean;
  readonly onOpenChange: (open: boolean) => void;
  readonly width?: 'normal' | 'wide';
  /** Whether only its own buttons close it: what it shows cannot be seen again. */
  readonly isPersistent?: boolean;
  readonly children: ReactNode;
}

/** Something to fill in or to read, above the page. Escape and the cross close it, and focus goes back. */
export function Dialog({
  title,
  description,
  open,
  onOpenChange,
  width = 'normal',
  isPersistent = false,
  children,
}: DialogProps) {
  const hold = (event: Event) => event.preventDefault();
  return (
    <RadixDialog.Root open={open} onOpenChange={onOpenChange}>
      <RadixDialog.Portal>
        <RadixDialog.Overlay className={SHADE} />
        <RadixDialog.Content
          className={classes(PANEL, width === 'wide' ? 'max-w-3xl' : 'max-w-lg')}
          {...(description === undefined && { 'aria-describedby': undefined })}
          {...(isPersistent && { onEscapeKeyDown: hold, onInteractOutside: hold })}
        >
          <div className="mb-4 flex items-start justify-between gap-4">
            <div>
              <RadixDialog.Title className="text-lg font-semibold">{title}</RadixDialog.Title>
              {description !== undefined && (
                <RadixDialog.Description className="mt-1 text-sm text-ink-soft">{description}</RadixDialog.Description>
              )}
            </div>
            {!isPersistent && (
              <RadixDialog.Close asChild>
                <IconButton label={words.close} className="-mt-1 -mr-2">
                  <X />
                </IconButton>
              </RadixDialog.Close>
            )}
          </div>
          {children}
        </RadixDialog.Content>
      </RadixDialog.Portal>
    </RadixDialog.Root>
  );
}

/** The row of buttons that ends a dialog or a form. */
export function Actions({ children }: { readonly children: ReactNode }) {
  return <div className="mt-6 flex flex-wrap justify-end gap-2.5">{children}</div>;
}

interface QuestionProps {
  readonly title: string;
  readonly children: ReactNode;
  /** Says what happens, such as "Delete session". */
  readonly confirm: string;
  readonly open: boolean;
  readonly onOpenChange: (open: boolean) => void;
  /** Done when yes is said; the dialog stays until it has worked, and shows why it did not. */
  readonly onConfirm: () => Promise<unknown>;
  readonly isDangerous?: boolean;
}

/** Asks before something that cannot be taken back. */
export function Question({
  title,
  children,
  confirm,
  open,
  onOpenChange,
  onConfirm,
  isDangerous = true,
}: QuestionProps) {
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
        <RadixAlert.Overlay className={SHADE} />
        <RadixAlert.Content className={classes(PANEL, 'max-w-md')}>
          <RadixAlert.Title className="text-lg font-semibold">{title}</RadixAlert.Title>
          <RadixAlert.Description asChild>
            <div className="mt-2 text-sm text-ink-soft">{children}</div>
          </RadixAlert.Description>
          {state.error !== undefined && (
            <div className="mt-4">
              <Notice tone="bad">{errorText(state.error)}</Notice>
            </div>
          )}
          <Actions>
            <RadixAlert.Cancel asChild>
              <Button>{words.cancel}</Button>
            </RadixAlert.Cancel>
            <Button look={isDangerous ? 'danger' : 'primary'} busy={state.busy} onClick={run}>
              {confirm}
            </Button>
          </Actions>
        </RadixAlert.Content>
      </RadixAlert.Portal>
    </RadixAlert.Root>
  );
}
