import type { ReactNode } from 'react';
import { classes } from '../classes.ts';

/**
 * A list and the selected item: side by side on a wide screen, one at a time on a phone. Fills the rest of a page that
 * is as high as the screen, so that the composer is always in view.
 */
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
    <div
      className={classes(
        'grid min-h-80 flex-1 overflow-clip border border-line bg-surface wide:grid-cols-[20rem_minmax(0,1fr)]',
        isChosen ? 'max-wide:border-x-0 wide:rounded-card' : 'rounded-card',
      )}
    >
      <div className={classes('min-h-0 flex-col border-line wide:flex wide:border-r', isChosen ? 'hidden' : 'flex')}>
        {list}
      </div>
      <div className={classes('min-h-0 min-w-0 flex-col wide:flex', isChosen ? 'flex' : 'hidden')}>{children}</div>
    </div>
  );
}
