import type { ReactNode } from 'react';
import { classes } from './classes.ts';

/** Something that may be larger than its place, and scrolls in it: by touch, by wheel and by keys. */
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
      // biome-ignore lint/a11y/noNoninteractiveTabindex: who has no mouse scrolls it with the keys
      tabIndex={0}
      className={classes('overflow-auto', className)}
    >
      {children}
    </section>
  );
}
