import type { ReactNode } from 'react';
import { classes } from '../classes.ts';

/** A list, and what is chosen from it: side by side where there is room, one after the other on a phone. */
export function TwoPanes({
  list,
  isChosen,
  children,
}: {
  readonly list: ReactNode;
  readonly isChosen: boolean;
  readonly children: ReactNode;
}) {
  return (
    <div className="grid h-[max(28rem,calc(100dvh-13rem))] overflow-clip rounded-card border border-line bg-surface wide:grid-cols-[20rem_minmax(0,1fr)]">
      <div className={classes('min-h-0 flex-col border-line wide:flex wide:border-r', isChosen ? 'hidden' : 'flex')}>
        {list}
      </div>
      <div className={classes('min-h-0 min-w-0 flex-col wide:flex', isChosen ? 'flex' : 'hidden')}>{children}</div>
    </div>
  );
}
