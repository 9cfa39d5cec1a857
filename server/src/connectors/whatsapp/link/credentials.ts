import type { AuthenticationCreds, SignalDataSet, SignalDataTypeMap, SignalKeyStore } from 'baileys';
import { LRUCache } from 'lru-cache';
import type { SessionStore } from '../../connector.ts';
import type { Baileys } from './load.ts';

/** What a device is known by, and its encrypted conversations. Whoever has it is the device. */
export interface Credentials {
  readonly creds: AuthenticationCreds;
  readonly keys: SignalKeyStore;
  /** Stores `creds` as they are now. */
  save(): Promise<void>;
}

/** A type of our own among Baileys' keys: messages that are decrypted and not passed on yet (see journal.ts). */
export const RECEIVED = 'received';
export const RECEIVED_PREFIX = `key/${RECEIVED}/`;
const CREDS = 'creds';
const KEY = 'key';
/** A busy session works with some dozens of keys at a time; each is about 1 KB, and an idle session has few. */
const KEYS_CACHED = 400;
/** Written once, and read once or never. */
const UNCACHED: ReadonlySet<string> = new Set(['pre-key', RECEIVED]);
/** Stands for what is known not to be there. */
const GONE = Symbol('gone');

/** The credentials of a session as they are stored, or those of a device that is to be linked. */
export async function openCredentials(store: SessionStore, baileys: Baileys): Promise<Credentials> {
  const { BufferJSON, initAuthCreds } = baileys;
  const stored = await store.get(CREDS);
  const creds: AuthenticationCreds = stored === undefined ? initAuthCreds() : JSON.parse(stored, BufferJSON.reviver);
  return {
    creds,
    keys: keysOf(store, baileys),
    save: () => store.set(CREDS, JSON.stringify(creds, BufferJSON.replacer)),
  };
}

/** Forgets the device: the next connection is that of a new one. */
export function dropCredentials(store: SessionStore): Promise<void> {
  return store.clear();
}

function keysOf(store: SessionStore, { BufferJSON, proto }: Baileys): SignalKeyStore {
  const cached = new LRUCache<string, object | string | typeof GONE>({ max: KEYS_CACHED });

  function revive(type: string, text: string) {
    const value = JSON.parse(text, BufferJSON.reviver);
    // The one type that is handed on as a protocol message.
    return type === 'app-state-sync-key' ? proto.Message.AppStateSyncKeyData.fromObject(value) : value;
  }

  return {
    async get<T extends keyof SignalDataTypeMap>(type: T, ids: string[]) {
      const read = new Map<string, unknown>();
      const missing: string[] = [];
      for (const name of ids.map((id) => nameOf(type, id))) {
        const value = cached.get(name);
        if (value === undefined) missing.push(name);
        else read.set(name, value);
      }
      if (missing.length > 0) {
        const stored = await store.getMany(missing);
        for (const name of missing) {
          const text = stored.get(name);
          // What was written while this was being read is newer.
          const value = cached.get(name) ?? (text === undefined ? GONE : revive(type, text));
          read.set(name, value);
          if (!UNCACHED.has(type)) cached.set(name, value);
        }
      }
      const found: { [id: string]: SignalDataTypeMap[T] } = {};
      for (const id of ids) {
        const value = read.get(nameOf(type, id));
        // Under its name is what was stored under its type.
        if (value !== undefined && value !== GONE) found[id] = value as SignalDataTypeMap[T];
      }
      return found;
    },
    /** All of it in one transaction, for half of a step in a conversation would make the rest of it unreadable. */
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
      for (const [name, value] of fresh) cached.set(name, value);
    },
  };
}

/** Where the keys of a type are stored. The types are Baileys' own, and grow with it. */
const nameOf = (type: string, id: string) => `${KEY}/${type}/${id}`;
