import type { AuthenticationCreds, SignalDataSet, SignalDataTypeMap, SignalKeyStore } from 'baileys';
import { LRUCache } from 'lru-cache';
import { sleep } from '../../../async.ts';
import type { SessionHost, SessionStore } from '../../contract/host.ts';
import type { Baileys } from './load.ts';

/** Our own type among the keys of Baileys: messages that are decrypted but not passed on yet (see journal.ts). */
export const RECEIVED = 'received';
export const RECEIVED_PREFIX = `key/${RECEIVED}/`;
/** Another one: notifications of the history that are not imported yet (see historyNotifications.ts). */
export const HISTORY = 'history';
export const HISTORY_PREFIX = `key/${HISTORY}/`;
const CREDS = 'creds';
const KEY = 'key';
const RETRY_MS = 500;
/** A busy session uses some dozens of keys at a time, of about 1 KB each. An idle session has few. */
const KEYS_CACHED = 400;
/** Written once, and read once or never. */
const UNCACHED: ReadonlySet<string> = new Set(['pre-key', RECEIVED, HISTORY]);
/** Baileys changes the value that it has read, even if the message is never sent, and stores it only afterwards. */
const CHANGED_IN_PLACE = 'sender-key-memory';
/** Marks a key that is known to be missing from the store. */
const GONE = Symbol('gone');

type Host = Pick<SessionHost, 'clock' | 'log'>;

/** The identity of a linked device and its encrypted conversations. Anyone who has them can act as the device. */
export class Credentials {
  readonly creds: AuthenticationCreds;
  readonly keys: SignalKeyStore;
  readonly #store: SessionStore;
  readonly #baileys: Baileys;
  readonly #host: Host;
  #saving: Promise<void> | undefined;
  #isStale = false;
  #isStopped = false;

  /** Reads the credentials of a session, or creates those of a new device. */
  static async open(store: SessionStore, baileys: Baileys, host: Host): Promise<Credentials> {
    return new Credentials(await store.get(CREDS), store, baileys, host);
  }

  private constructor(stored: string | undefined, store: SessionStore, baileys: Baileys, host: Host) {
    this.creds = stored === undefined ? baileys.initAuthCreds() : JSON.parse(stored, baileys.BufferJSON.reviver);
    this.keys = keysOf(store, baileys);
    this.#store = store;
    this.#baileys = baileys;
    this.#host = host;
  }

  /** Stores `creds` in their latest state, and retries if that fails: a device that loses them must be relinked. */
  save(): void {
    this.#isStale = true;
    this.#saving ??= this.#saveWhileStale();
  }

  /** Resolves once everything is stored, or has failed once more. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#saving;
  }

  async #saveWhileStale(): Promise<void> {
    while (this.#isStale) {
      this.#isStale = false;
      try {
        await this.#store.set(CREDS, JSON.stringify(this.creds, this.#baileys.BufferJSON.replacer));
      } catch (error) {
        this.#host.log.error({ err: error }, 'failed to store the credentials');
        if (this.#isStopped) break;
        this.#isStale = true;
        await sleep(this.#host.clock, RETRY_MS);
      }
    }
    this.#saving = undefined;
  }
}

function keysOf(store: SessionStore, { BufferJSON, proto }: Baileys): SignalKeyStore {
  const cached = new LRUCache<string, object | string | typeof GONE>({ max: KEYS_CACHED });
  let writes = 0;

  function revive(type: string, text: string) {
    const value = JSON.parse(text, BufferJSON.reviver);
    // The only type that Baileys expects as a protocol message.
    return type === 'app-state-sync-key' ? proto.Message.AppStateSyncKeyData.fromObject(value) : value;
  }

  return {
    async get<T extends keyof SignalDataTypeMap>(type: T, ids: string[]) {
      const hits = new Map(ids.map((id) => [id, cached.get(nameOf(type, id))]));
      const missing = ids.filter((id) => hits.get(id) === undefined).map((id) => nameOf(type, id));
      const writesBefore = writes;
      const stored = missing.length > 0 ? await store.getMany(missing) : undefined;
      const found: { [id: string]: SignalDataTypeMap[T] } = {};
      for (const [id, hit] of hits) {
        const name = nameOf(type, id);
        const text = stored?.get(name);
        // A value that was written during this read is newer.
        const value = cached.get(name) ?? hit ?? (text === undefined ? GONE : revive(type, text));
        // After a write it may be stale: one write can change more keys than fit into the cache.
        if (writes === writesBefore && !UNCACHED.has(type)) cached.set(name, value);
        // The value under the name of a type has that type.
        if (value !== GONE)
          found[id] = (type === CHANGED_IN_PLACE ? { ...Object(value) } : value) as SignalDataTypeMap[T];
      }
      return found;
    },
    /** Writes in one transaction: half of a ratchet step would make the rest of the conversation unreadable. */
    async set(data: SignalDataSet) {
      const changes = new Map<string, string | null>();
      const fresh: [string, object | string | typeof GONE][] = [];
      for (const [type, entries] of Object.entries(data)) {
        for (const [id, value] of Object.entries(entries ?? {})) {
          const name = nameOf(type, id);
          changes.set(name, value === null ? null : JSON.stringify(value, BufferJSON.replacer));
          if (!UNCACHED.has(type)) fresh.push([name, value ?? GONE]);
        }
      }
      await store.write(changes);
      if (fresh.length > 0) writes++;
      for (const [name, value] of fresh) cached.set(name, value);
    },
  };
}

/** The store key of a Baileys key. Its types are those of Baileys, and new versions add some. */
export const nameOf = (type: string, id: string) => `${KEY}/${type}/${id}`;
