import type { SessionStore } from '../../contract/host.ts';

/** A session's store as one connection uses it. */
interface OwnStore extends SessionStore {
  /** Rejects every later write: by then the store may belong to the next connection, possibly of another device. */
  close(): void;
}

export function openOwnStore(store: SessionStore): OwnStore {
  let isClosed = false;
  const write = async (work: () => Promise<void>) => {
    if (isClosed) throw new Error('the connection is over');
    return work();
  };
  return {
    ...store,
    set: (key, value) => write(() => store.set(key, value)),
    write: (changes) => write(() => store.write(changes)),
    delete: (key) => write(() => store.delete(key)),
    clear: () => write(store.clear),
    close() {
      isClosed = true;
    },
  };
}
