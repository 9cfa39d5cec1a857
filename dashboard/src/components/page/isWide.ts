import { useSyncExternalStore } from 'react';

/** The same width as `--breakpoint-wide` in `style.css`. */
const wide = matchMedia('(min-width: 60rem)');

/** Whether the screen has room for the sidebar and all columns. */
export function useIsWide(): boolean {
  return useSyncExternalStore(
    (changed) => {
      wide.addEventListener('change', changed);
      return () => wide.removeEventListener('change', changed);
    },
    () => wide.matches,
  );
}
