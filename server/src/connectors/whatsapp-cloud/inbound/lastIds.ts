import { createHash } from 'node:crypto';
import { KeyedQueue } from '../../../async.ts';
import type { SessionStore } from '../../contract/host.ts';

const IDS = 500;

/** The last ids of one kind of report, because Meta can repeat a callback. */
export class LastIds {
  readonly #store: Pick<SessionStore, 'get' | 'set'>;
  readonly #key: string;
  readonly #turns = new KeyedQueue();
  #ids: Set<string> | undefined;

  /** @param key in the store of the session */
  constructor(store: Pick<SessionStore, 'get' | 'set'>, key: string) {
    this.#store = store;
    this.#key = key;
  }

  /** Does the work, unless it was done for the id. If it fails, the next report with the id does it. */
  once(id: string, work: () => Promise<void>): Promise<void> {
    return this.#turns.run(this.#key, async () => {
      this.#ids ??= new Set((await this.#store.get(this.#key))?.split(' '));
      const hash = createHash('sha256').update(id).digest('base64url').slice(0, 16);
      if (this.#ids.has(hash)) return;
      await work();
      this.#ids.add(hash);
      for (const oldest of this.#ids) if (this.#ids.size > IDS) this.#ids.delete(oldest);
      await this.#store.set(this.#key, [...this.#ids].join(' '));
    });
  }
}
