import type { SessionStore } from '../../connector.ts';

/** A session's store as one connection has it. */
export interface OwnStore extends SessionStore {
  /** Takes nothing any more: by now it may be that of the next connection, perhaps of another device. */
  shut(): void;
}

export function createOwnStore(store: SessionStore): OwnStore {
  let isShut = false;
  const write = async (work: () => Promise<void>) => {
    if (isShut) throw new Error('the connection is over');
    return work();
  };
  return {
    get: store.get,
    getMany: store.getMany,
    list: store.list,
    set: (key, value) => write(() => store.set(key, value)),
    write: (changes) => write(() => store.write(changes)),
    delete: (key) => write(() => store.delete(key)),
    clear: () => write(store.clear),
    shut() {
      isShut = true;
    },
  };
}
