import { useState } from 'react';

/**
 * A form over something that others change as well: what the reader has not touched is as it is now, and only what is
 * different is to be saved.
 */
export function useEdits<T extends object>(current: T) {
  const [edits, setEdits] = useState<Partial<T>>({});
  return {
    values: { ...current, ...edits },
    edit: (more: Partial<T>) => setEdits((before) => ({ ...before, ...more })),
    changed: without(edits, current),
    /** What was saved is no edit any more, unless it was edited again. */
    saved: (sent: Partial<T>) => setEdits((now) => without(now, sent)),
  };
}

/** The entries that `others` does not have with the same value. */
function without<T extends object>(entries: Partial<T>, others: Partial<T>): Partial<T> {
  const kept = Object.entries(entries).filter(
    ([name, value]) => JSON.stringify(value) !== JSON.stringify(others[name as keyof T]),
  );
  return Object.fromEntries(kept) as Partial<T>; // some of the entries that there were
}
