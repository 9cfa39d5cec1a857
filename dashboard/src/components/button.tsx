import { LoaderCircle } from 'lucide-react';
import type { ComponentProps, ReactNode } from 'react';
import { classes } from './classes.ts';

type Look = 'primary' | 'secondary' | 'quiet' | 'danger';

interface ButtonProps extends ComponentProps<'button'> {
  readonly look?: Look;
  readonly size?: 'normal' | 'small';
  /** Disables the button and marks it busy for screen readers. */
  readonly busy?: boolean;
  readonly icon?: ReactNode;
}

const BASE =
  'inline-flex items-center justify-center gap-2 rounded-lg font-medium whitespace-nowrap transition-colors disabled:opacity-55 no-underline';
const SIZES = { normal: 'min-h-10 px-4 text-sm', small: 'min-h-8 px-2.5 text-sm' };
const LOOKS: Readonly<Record<Look, string>> = {
  primary: 'bg-accent text-on-accent not-disabled:hover:bg-accent-strong',
  secondary: 'border border-line-strong bg-surface text-ink not-disabled:hover:bg-sunken',
  quiet: 'text-ink-soft not-disabled:hover:bg-sunken not-disabled:hover:text-ink',
  danger: 'border border-bad bg-surface text-bad not-disabled:hover:bg-bad-soft',
};

/** Class names of a button, for a link that looks like one. */
export function buttonClass(look: Look = 'secondary', size: keyof typeof SIZES = 'normal'): string {
  return classes(BASE, SIZES[size], LOOKS[look]);
}

export function Button({ look, size, busy = false, icon, children, className, disabled, ...rest }: ButtonProps) {
  return (
    <button
      type="button"
      {...rest}
      disabled={disabled || busy}
      aria-busy={busy || undefined}
      className={classes(buttonClass(look, size), className)}
    >
      {busy ? <LoaderCircle aria-hidden className="size-4 animate-spin" /> : icon}
      {children}
    </button>
  );
}

interface IconButtonProps extends ComponentProps<'button'> {
  /** Read aloud, and shown on hover. */
  readonly label: string;
}

/** A button with only an icon. */
export function IconButton({ label, className, children, ...rest }: IconButtonProps) {
  return (
    <button
      type="button"
      title={label}
      aria-label={label}
      {...rest}
      className={classes(
        'inline-flex size-9 shrink-0 items-center justify-center rounded-lg text-ink-soft transition-colors not-disabled:hover:bg-sunken not-disabled:hover:text-ink disabled:opacity-55 [&>svg]:size-4.5',
        className,
      )}
    >
      {children}
    </button>
  );
}
