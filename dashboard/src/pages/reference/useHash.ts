import { useSyncExternalStore } from 'react';

/** The fragment of the address without its `#`, which names the part of the reference that is open. */
export function useHash(): string {
  return useSyncExternalStore(watchHash, readHash);
}

function watchHash(changed: () => void): () => void {
  addEventListener('hashchange', changed);
  return () => removeEventListener('hashchange', changed);
}

function readHash(): string {
  try {
    return decodeURIComponent(location.hash.slice(1));
  } catch {
    return location.hash.slice(1);
  }
}
