import type { CacheStore, SignalKeyStore, SocketConfig, UserFacingSocketConfig } from 'baileys';
import { LRUCache } from 'lru-cache';
import { historyChoiceOf } from '../../historyOptions.ts';
import type { Session } from '../session.ts';
import type { Route } from './proxy.ts';

/** Baileys counts its requests for a message here. Unless the count survives reconnects, they never end. */
const RETRIES_KEPT = 500;
/** Two groups of 1,024 members: with fewer, each message to one asks for all devices and begins all sessions again. */
const DEVICES_KEPT = 2500;
const DEVICES_MS = 5 * 60_000;

/** The parts of the session that Baileys calls. */
interface Called extends Pick<SocketConfig, 'getMessage' | 'cachedGroupMetadata' | 'makeSignalRepository'> {
  readonly keys: SignalKeyStore;
  readonly agent: Route['agent'];
}

export function socketConfig(
  { baileys, creds, settings, host, baileysLog, ownFiles }: Session,
  { keys, agent, ...hooks }: Called,
): UserFacingSocketConfig {
  const { whatsappUrl: url, whatsappKeepAliveSeconds: keepAliveSeconds } = settings;
  return {
    auth: { creds, keys },
    logger: baileysLog,
    ...(url !== undefined && { waWebSocketUrl: url }),
    // With a product name, the server refuses pairing codes.
    browser: baileys.Browsers.ubuntu('Chrome'),
    // While a client is online, the phone does not ring.
    markOnlineOnConnect: false,
    syncFullHistory: historyChoiceOf(host.options) === 'full',
    // The connector imports the history itself, and passes on empty parts. Without any, Baileys reads no shared state.
    shouldSyncHistoryMessage: () => true,
    // These would swallow receipts that arrive at the same moment.
    emitOwnEvents: false,
    generateHighQualityLinkPreview: false,
    keepAliveIntervalMs: keepAliveSeconds * 1000,
    // Statuses are not ignored here, but by `Broadcasts`: the devices that cannot read one of ours ask for it again.
    shouldIgnoreJid: (jid) => baileys.isJidNewsletter(jid) === true && host.options['channels'] !== true,
    patchMessageBeforeSending: (message, recipients) => {
      // Baileys sends the keys of statuses and LID groups to this device too (evolution-foundation/evolution-api#2303),
      // and lists each device of our number twice, or four times, in a message to it.
      const others = [...new Set(recipients)].filter((jid) => jid !== creds.me?.lid && jid !== creds.me?.id);
      if (others.length === 0 || others.length === recipients?.length) return message;
      return others.map((recipientJid) => ({ recipientJid, message }));
    },
    msgRetryCounterCache: baileysCache(RETRIES_KEPT),
    userDevicesCache: baileysCache(DEVICES_KEPT, DEVICES_MS),
    ...hooks,
    ...(agent !== undefined && { agent, fetchAgent: agent }),
    // Baileys downloads from paths that the phone names. Node's fetch accepts a dispatcher, but its type does not.
    options: { dispatcher: ownFiles } as RequestInit,
  } satisfies Partial<UserFacingSocketConfig> as UserFacingSocketConfig;
}

/** A cache for Baileys that outlives its sockets. */
function baileysCache(maxSize: number, ttl = 0): CacheStore {
  // With `max`, it would allocate its entries when it is created, and an idle session needs few.
  const cache = new LRUCache<string, object>({ maxSize, sizeCalculation: () => 1, ttl });
  return {
    // Baileys knows the type of the value under each key.
    get: <T>(key: string) => (cache.get(key) as { value: T } | undefined)?.value,
    set: (key, value) => void cache.set(key, { value }),
    del: (key) => void cache.delete(key),
    flushAll: () => cache.clear(),
  };
}
