import { X } from 'lucide-react';
import { Dialog as RadixDialog } from 'radix-ui';
import type { ReactNode } from 'react';
import { sharedStrings } from '../../strings/shared.ts';
import { IconButton } from '../button.tsx';
import { classes } from '../classes.ts';

export const DIALOG_OVERLAY = 'fixed inset-0 z-40 bg-shade';
export const DIALOG_PANEL =
  'appear fixed inset-x-3 top-[8vh] z-50 mx-auto max-h-[84vh] overflow-y-auto rounded-card border border-line bg-surface p-5 shadow-card wide:p-6';

interface DialogProps {
  readonly title: string;
  readonly description?: ReactNode;
  readonly open: boolean;
  readonly onOpenChange: (open: boolean) => void;
  readonly width?: 'normal' | 'wide';
  /** Whether only its own buttons close it, because its content cannot be shown again. */
  readonly isPersistent?: boolean;
  /** Whether nothing of the page stays visible behind it. */
  readonly hidesPage?: boolean;
  /** Moves the focus when it closes, instead of to the element that opened it. */
  readonly returnFocus?: (() => void) | undefined;
  readonly children: ReactNode;
}

/** A dialog that Escape and its close button close. The focus then returns to where it was. */
export function Dialog({
  title,
  description,
  open,
  onOpenChange,
  width = 'normal',
  isPersistent = false,
  hidesPage = false,
  returnFocus,
  children,
}: DialogProps) {
  const hold = (event: Event) => event.preventDefault();
  const onCloseAutoFocus = (event: Event) => {
    if (returnFocus === undefined) return;
    event.preventDefault();
    returnFocus();
  };
  return (
    <RadixDialog.Root open={open} onOpenChange={onOpenChange}>
      <RadixDialog.Portal>
        <RadixDialog.Overlay className={hidesPage ? 'fixed inset-0 z-50 bg-paper' : DIALOG_OVERLAY} />
        <RadixDialog.Content
          className={classes(DIALOG_PANEL, width === 'wide' ? 'max-w-3xl' : 'max-w-lg')}
          onCloseAutoFocus={onCloseAutoFocus}
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
                <IconButton label={sharedStrings.close} className="-mt-1 -mr-2">
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

/** The row of buttons at the end of a dialog or a form. */
export function FormActions({ children }: { readonly children: ReactNode }) {
  return <div className="mt-6 flex flex-wrap justify-end gap-2.5">{children}</div>;
}
