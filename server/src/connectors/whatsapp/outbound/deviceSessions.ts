import type { SocketConfig, WASocket } from 'baileys';
import { LRUCache } from 'lru-cache';
import { boomOf } from '../link/errors.ts';
import type { Session } from '../session.ts';
import { queryInHalves } from './keyQueries.ts';
import type { SenderKeys } from './senderKeys.ts';

/** A status for 1,000 contacts reaches some 2,500 devices. */
const MISSING_KEPT = 5000;
const UNREACHABLE_KEPT = 1000;
/** Its owner may link the device again. */
const UNREACHABLE_MS = 60 * 60_000;
/** The server has no keys of a device. */
const NO_KEYS: ReadonlySet<number | undefined> = new Set([404, 406]);

type MakeRepository = SocketConfig['makeSignalRepository'];

/** Whether a message was not sent because the server refused the keys of one of its devices. */
export const lacksKeys = (error: unknown): boolean => NO_KEYS.has(boomOf(error).statusCode);

/**
 * The encrypted sessions with other devices. Baileys fetches the missing ones of a message in one query, and gives up
 * if one device is no longer registered (WhiskeySockets/Baileys#2521, #2522; rc14 is unchanged).
 */
export class DeviceSessions {
  readonly #session: Session;
  readonly #senderKeys: SenderKeys;
  /** Devices without a session that Baileys has looked for since the last repair. */
  readonly #missing = new Set<string>();
  readonly #unreachable = new LRUCache<string, true>({ max: UNREACHABLE_KEPT, ttl: UNREACHABLE_MS });
  /** Devices that a message is sent without, because a repair has not reached them. */
  readonly #skips = new Set<ReadonlySet<string>>();

  /** Sessions that were begun, and devices that something was encrypted for. */
  #handled = 0;
  /** Users whom the message being sent was encrypted for. */
  #reached: Set<string> | undefined;

  constructor(session: Session, senderKeys: SenderKeys) {
    this.#session = session;
    this.#senderKeys = senderKeys;
  }

  /** Makes a repository that observes the sessions, and hides that an unreachable device has none. */
  readonly observe =
    (make: MakeRepository): MakeRepository =>
    (...args) => {
      const repository = make(...args);
      return {
        ...repository,
        validateSession: async (jid) => {
          // Baileys then fails to encrypt for this device alone, and sends to the others.
          if (this.#unreachable.has(jid) || [...this.#skips].some((skip) => skip.has(jid))) return { exists: true };
          const found = await repository.validateSession(jid);
          if (found.exists) this.#missing.delete(jid);
          else if (this.#missing.size < MISSING_KEPT) this.#missing.add(jid);
          return found;
        },
        encryptMessage: async (options) => {
          const encrypted = await repository.encryptMessage(options);
          this.#handled++;
          const user = this.#session.baileys.jidDecode(options.jid)?.user;
          if (user !== undefined) this.#reached?.add(user);
          return encrypted;
        },
        injectE2ESession: async (options) => {
          this.#unreachable.delete(options.jid);
          await repository.injectE2ESession(options);
          this.#handled++;
        },
      };
    };

  /** Returns a function that returns whether a device was handled since its last call. */
  observeWork(): () => boolean {
    let before = this.#handled;
    return () => {
      const hasWorked = this.#handled > before;
      before = this.#handled;
      return hasWorked;
    };
  }

  /** Adds each user with a device that `send` encrypts for. Nothing else may be sent at the same time. */
  async noteReached<T>(reached: Set<string>, send: () => Promise<T>): Promise<T> {
    reached.clear();
    this.#reached = reached;
    try {
      return await send();
    } finally {
      this.#reached = undefined;
    }
  }

  /**
   * Fetches the missing sessions in parts, so that the chat's next message leaves out only devices without keys, and
   * devices that the repair has not reached.
   * @returns a function to call after that message: the next one tries the devices that were not reached
   * @throws {Error} for any other error of the server
   */
  async repair(socket: WASocket, jid: string, signal: AbortSignal): Promise<() => Promise<void>> {
    const { baileys, host, self } = this.#session;
    const missing = [...this.#missing];
    this.#missing.clear();
    const query = (devices: readonly string[]) => socket.assertSessions([...devices], false);
    const { without, unasked } = await socket.authState.keys.transaction(
      () => queryInHalves(missing, query, lacksKeys, signal),
      self.addresses.id,
    );
    for (const device of without) {
      this.#unreachable.set(device, true);
      this.#missing.delete(device);
    }
    for (const device of unasked) this.#missing.add(device);
    const counts = { devices: without.length, unasked: unasked.length };
    host.log.warn(counts, 'WhatsApp has no keys of some devices; sending without them');
    const isGroup = baileys.isJidGroup(jid) === true;
    if (isGroup) await this.#senderKeys.skip(socket, jid, without);
    signal.throwIfAborted(); // there will be no message to skip them for
    const skip = new Set(unasked);
    this.#skips.add(skip);
    return async () => {
      this.#skips.delete(skip);
      // Baileys remembers the key for each device that it has tried to encrypt for.
      if (isGroup && skip.size > 0) await this.#senderKeys.renew(this.#session.link.newest ?? socket, jid, unasked);
    };
  }
}
