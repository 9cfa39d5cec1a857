import type { ReactNode } from 'react';
import { classes } from '../classes.ts';

/** An area that scrolls by touch, wheel and keyboard. */
export function ScrollArea({
  label,
  className,
  children,
}: {
  readonly label: string;
  readonly className?: string;
  readonly children: ReactNode;
}) {
  return (
    <section
      aria-label={label}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: lets the keyboard scroll it
      tabIndex={0}
      className={classes('overflow-auto', className)}
    >
      {children}
    </section>
  );
}
