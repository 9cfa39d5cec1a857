import { useState } from 'react';

/**
 * Keeps the edits of a form over data that others change too: untouched fields follow the data, and only differences
 * are saved.
 */
export function useEdits<T extends object>(current: T) {
  const [edits, setEdits] = useState<Partial<T>>({});
  return {
    values: { ...current, ...edits },
    edit: (more: Partial<T>) => setEdits((before) => ({ ...before, ...more })),
    changed: without(edits, current),
    /** Drops the edits that were saved, unless they have changed since. */
    saved: (sent: Partial<T>) => setEdits((now) => without(now, sent)),
  };
}

/** The entries that differ from those of `others`. */
function without<T extends object>(entries: Partial<T>, others: Partial<T>): Partial<T> {
  const kept = Object.entries(entries).filter(
    ([name, value]) => JSON.stringify(value) !== JSON.stringify(others[name as keyof T]),
  );
  return Object.fromEntries(kept) as Partial<T>; // a subset of the entries
}
