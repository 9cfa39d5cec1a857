import { useEffect } from 'react';
import { errorText } from '../../api.ts';
import type { More } from '../../paged.ts';
import { sharedStrings } from '../../strings/shared.ts';
import { Button } from '../button.tsx';

/** Loads the next page as the reader scrolls near it. A page that failed to load waits for the reader to retry. */
export function useMore(more: More | undefined, isNear: boolean): void {
  useEffect(() => {
    if (isNear && more?.load !== undefined && !more.isLoading && more.error === null) more.load();
  }, [isNear, more]);
}

/** Shown instead of a page that failed to load. */
export function MoreFailed({ more }: { readonly more: More | undefined }) {
  if (more === undefined || more.error === null) return null;
  return (
    <div role="alert" className="flex flex-wrap items-center gap-x-4 gap-y-1 border-y border-line px-5 py-2 text-sm">
      <p className="min-w-0 flex-1 wrap-anywhere text-bad">{sharedStrings.moreFailed(errorText(more.error))}</p>
      <Button size="small" busy={more.isLoading} onClick={() => more.load?.()}>
        {sharedStrings.tryAgain}
      </Button>
    </div>
  );
}
