import type { BinaryNode, CacheStore, proto, UserFacingSocketConfig, WAMessageKey, WASocket } from 'baileys';
import { LRUCache } from 'lru-cache';
import { sleep } from '../../async.ts';
import type { Clock } from '../../clock.ts';
import { AppError } from '../../errors.ts';
import { pinHosts } from '../../pinnedHosts.ts';
import type { TargetPolicy } from '../../target.ts';
import { type Connection, isStandIn, type MessageKey, type NetworkEvent, type SessionHost } from '../connector.ts';
import { createHeldReceipts } from './inbound/heldReceipts.ts';
import { createIncoming, type Self } from './inbound/incoming.ts';
import { concernsPeople } from './inbound/incomingContent.ts';
import { createJournal } from './inbound/journal.ts';
import { createMediaHost } from './inbound/mediaHost.ts';
import { envelopeOf, isSeenOnce, SEEN_ONCE } from './inbound/placeholders.ts';
import { receiptOf } from './inbound/receipts.ts';
import { type Credentials, dropCredentials, openCredentials } from './link/credentials.ts';
import { createLink } from './link/link.ts';
import type { Baileys } from './link/load.ts';
import { openRoute } from './link/proxy.ts';
import { asked, createAsking } from './link/requests.ts';
import { createOwnStore } from './link/store.ts';
import { toWireId } from './outbound/messageIds.ts';
import { createNetworkLimits } from './outbound/networkLimits.ts';
import { createPacing, type PacingOptions } from './outbound/pacing.ts';
import { createRecipients } from './outbound/recipients.ts';
import { createSending } from './outbound/sending.ts';
import { createSentMessages } from './outbound/sentMessages.ts';
import { createAddresses, jidOf, jidOfChat } from './people/addresses.ts';
import { createGroupActions } from './people/groupActions.ts';
import { createGroups } from './people/groups.ts';
import { createProfiles } from './people/profiles.ts';

export interface ConnectionOptions {
  /** `http://`, `https://` or `socks5://` */
  readonly proxy: string | undefined;
  readonly pacing: PacingOptions;
}

/** What holds for all sessions. */
export interface NetworkSettings {
  /** Where the server is; undefined for WhatsApp's own. Never anybody's input: nothing but TLS proves who answers. */
  readonly url: string | undefined;
  /** The version of the client that is presented; undefined for the one Baileys was made with. */
  readonly version: readonly [number, number, number] | undefined;
  /** The host of files, with its port where that is not 443. */
  readonly mediaHost: string;
  /** Largest file of a message. */
  readonly maxFileBytes: number;
  /** Where proxies may be. */
  readonly targets: TargetPolicy;
  readonly keepAliveMs: number;
  readonly random: () => number;
}

/** WhatsApp's own hosts: of pictures, of history and of what the devices of an account share. */
const WHATSAPP_HOSTS = '.whatsapp.net';
/** By encryption a file grows by up to a block and its MAC. */
const ENCRYPTION_BYTES = 26;
/** A host that trickles, or says nothing more, keeps other files from their turn no longer than this. */
const FILE_MS = 5 * 60_000;
/** What Baileys fetches by itself, all in memory. */
const OWN_BYTES = 64 * 1024 * 1024;
const OWN_MS = 60_000;

const RETRY_MS = 500;
/** Baileys counts here how often a message was asked for again; over a reconnect it would begin anew, for ever. */
const RETRIES_KEPT = 500;
const DEVICES_KEPT = 500;
const DEVICES_MS = 5 * 60_000;

/** One session: its credentials, its link, and what goes over it in either direction. */
export async function openConnection(
  host: SessionHost,
  baileys: Baileys,
  settings: NetworkSettings,
  options: ConnectionOptions,
): Promise<Connection> {
  const { clock, log } = host;
  const store = createOwnStore(host.store);
  const { random } = settings;
  const credentials = await openCredentials(store, baileys);
  const { creds } = credentials;
  const route = openRoute(options.proxy, settings.targets);
  const files = pinHosts(route.dispatcher, {
    hosts: [settings.mediaHost],
    maxBytes: settings.maxFileBytes + ENCRYPTION_BYTES,
    timeoutMs: FILE_MS,
    clock,
  });
  const ownHosts = pinHosts(route.dispatcher, {
    hosts: [WHATSAPP_HOSTS, settings.mediaHost],
    maxBytes: OWN_BYTES,
    timeoutMs: OWN_MS,
    clock,
  });
  const sent = createSentMessages(store, baileys);
  const onIdentified = (standIn: string, phoneNumber: string) => {
    // First, so that no group is told under the stand-in after those that are stored have got the number.
    groups.identify(standIn, phoneNumber);
    return host.onEvent({ type: 'identified', standIn, phoneNumber });
  };
  const addresses = createAddresses(baileys, {
    lids: { getPNForLID: async (lid) => (await link.latest?.signalRepository.lidMapping.getPNForLID(lid)) ?? null },
    store,
    onIdentified,
  });
  const ownNumber = () => baileys.jidDecode(creds.me?.id)?.user ?? '';
  const self = (): Self | undefined =>
    creds.me && { id: creds.me.id, lid: creds.me.lid ?? '', phoneNumber: ownNumber() };
  const isSelf = (jid: string | undefined) =>
    baileys.areJidsSameUser(jid, creds.me?.id) || baileys.areJidsSameUser(jid, creds.me?.lid);
  /** It has ended, or is about to: what else comes of it is not told. */
  let isOver = false;
  /** The host has ended it, and wants no last words. */
  let isClosed = false;

  /** What the network said once, it does not say again: it is kept until it is stored. */
  async function keep(what: string, put: () => Promise<void>, isEnough = () => isOver): Promise<void> {
    while (!isEnough()) {
      try {
        return await put();
      } catch (error) {
        log.warn({ err: error, what }, 'failed to store an event of the network; trying again');
        await sleep(clock, RETRY_MS);
      }
    }
  }
  const tell = (event: NetworkEvent) => keep(event.type, () => host.onEvent(event));
  /** Of the link's own events each waits for the one before: they tell a story. */
  let story = Promise.resolve();
  const tellInOrder = (event: NetworkEvent) => {
    story = story.then(() => tell(event));
  };

  const heldReceipts = createHeldReceipts(clock);
  const journal = createJournal({
    baileys,
    store,
    clock,
    concerns: (message) => concernsPeople(baileys, message),
    onReceived: (received) => {
      heldReceipts.keep(received.attrs['id'] ?? '');
      incoming.take(received, received.attrs['offline'] !== undefined);
    },
    onNothing: (id) => heldReceipts.settle(id),
    onTrouble: (error) => log.warn({ err: error }, 'failed to acknowledge journal entries; trying again'),
  });
  const asking = createAsking(() => link.latest, clock);
  const groups = createGroups({ addresses, asking, ownNumber, onEvent: tell, clock, log });
  const mediaHost = createMediaHost({
    baileys,
    socket: () => link.socket,
    host: settings.mediaHost,
    dispatcher: files,
    clock,
  });
  const incoming = createIncoming({
    baileys,
    journal,
    sent,
    heldReceipts,
    addresses,
    self,
    onEvent: host.onEvent,
    knowGroup: async (networkId) => groups.know(await link.whenOpen(GROUP_WAIT_MS), networkId),
    download: mediaHost.download,
    clock,
    log,
  });
  const saving = createSaving(credentials, clock, (error) =>
    log.error({ err: error }, 'failed to store the credentials'),
  );

  const fixed = {
    auth: { creds, keys: credentials.keys },
    logger: baileysLog(host),
    ...(settings.url !== undefined && { waWebSocketUrl: settings.url }),
    ...(settings.version !== undefined && { version: [...settings.version] }),
    // A product's name here would make the server refuse pairing codes.
    browser: baileys.Browsers.ubuntu('Chrome'),
    // While a client is there, the phone rings no more.
    markOnlineOnConnect: false,
    syncFullHistory: false,
    // They would swallow receipts that come in the same moment.
    emitOwnEvents: false,
    generateHighQualityLinkPreview: false,
    keepAliveIntervalMs: settings.keepAliveMs,
    shouldIgnoreJid: (jid) => baileys.isJidStatusBroadcast(jid) || baileys.isJidNewsletter(jid),
    getMessage: async ({ id }: WAMessageKey) => (id ? sent.find(id) : undefined),
    cachedGroupMetadata: async (jid) => groups.cached(jid),
    msgRetryCounterCache: cacheOf(RETRIES_KEPT),
    userDevicesCache: cacheOf(DEVICES_KEPT, DEVICES_MS),
    makeSignalRepository: journal.makeSignalRepository,
    ...(route.agent !== undefined && { agent: route.agent, fetchAgent: route.agent }),
    // Baileys fetches history and shared state from paths that the phone names. Node's fetch takes a dispatcher, which
    // the type of its options does not know.
    options: { dispatcher: ownHosts } as RequestInit,
  } satisfies Partial<UserFacingSocketConfig> as UserFacingSocketConfig;

  const link = createLink({
    baileys,
    creds,
    isLinked: () => creds.account !== undefined,
    hasProxy: options.proxy !== undefined,
    socketConfig: () => fixed,
    clock,
    log,
    random,
    silenceMs: settings.keepAliveMs * 1.5,
    tell: tellInOrder,
    onSocket,
    onLost() {
      sending.onLost();
      asking.onLost();
    },
    onOver(last) {
      story = story.then(() => conclude(last));
    },
  });
  const limits = createNetworkLimits({ clock, log });
  const pacing = createPacing(options.pacing, { clock, random, store });
  const recipients = createRecipients({ pacing, limits, isHidden: addresses.isHidden, onOtherNumber: onIdentified });
  const sending = createSending({
    baileys,
    link,
    asking,
    pacing,
    recipients,
    sent,
    ownNumber,
    clock,
    onTrouble: (error) => log.warn({ err: error }, 'failed to store a sent message for retries'),
  });

  function onSocket(socket: WASocket): void {
    const { ev, ws } = socket;
    limits.watch(socket);
    ev.on('creds.update', saving.save);
    ev.on('connection.update', ({ connection }) => {
      if (connection === 'open') onOpen(socket);
    });
    // Before Baileys, which decrypts it.
    ws.prependListener('CB:message', (node: BinaryNode) => {
      journal.expect(node);
      expectOwn(node.attrs);
      if (isSeenOnce(node)) writeDown(node.attrs, { conversation: SEEN_ONCE });
    });
    ev.on('messages.upsert', ({ messages }) => {
      for (const message of messages) {
        const attrs = envelopeOf(message, baileys.jidNormalizedUser(creds.me?.id), baileys);
        // Nearly all of them have come by the journal, which is earlier and loses nothing.
        if (attrs === undefined || journal.has(attrs.id) || !message.message) continue;
        writeDown(attrs, message.message);
      }
    });
    ws.on('CB:ack,class:message', (node: BinaryNode) => sending.onAck(node));
    holdReceipts(ws);
    ev.on('lid-mapping.update', ({ lid, pn }) => {
      addresses
        .digitsOf(lid, pn)
        .catch((error) => log.warn({ err: error }, 'failed to store a phone number that became known'));
    });
    ws.on('CB:notification,type:w:gp2', (node: BinaryNode) => groups.onNotification(socket, node));
  }

  /** Baileys confirms a receipt as soon as it has it. So it gets it when it is stored. */
  function holdReceipts(ws: WASocket['ws']): void {
    const listeners = ws.listeners('CB:receipt');
    const passOn = (node: BinaryNode) => {
      for (const listener of listeners) listener.call(ws, node);
    };
    ws.removeAllListeners('CB:receipt');
    ws.on('CB:receipt', (node: BinaryNode) => {
      const receipt = receiptOf(node, isSelf, clock.now());
      if (receipt === undefined) return passOn(node);
      sending.onReceipt(receipt.networkIds, receipt.timestamp);
      void tellReceipt(receipt).then((isTold) => {
        if (isTold) passOn(node);
      });
    });
  }

  /** Of each message when that is stored. @returns false when the session has ended before all of it was told */
  async function tellReceipt(receipt: Extract<NetworkEvent, { type: 'receipt' }>): Promise<boolean> {
    const held = receipt.networkIds.filter((id) => heldReceipts.isHeld(toWireId(id)));
    const due = receipt.networkIds.filter((id) => !held.includes(id));
    const told = due.length > 0 ? tell({ ...receipt, networkIds: due }) : undefined;
    const later = held.map(async (id) => {
      const isSettled = await heldReceipts.whenSettled(toWireId(id));
      if (isSettled) await tell({ ...receipt, networkIds: [id] });
      return isSettled;
    });
    await told;
    return (await Promise.all(later)).every((isSettled) => isSettled);
  }

  /** It may be a message of the own number, from the phone or another client. */
  function expectOwn({ id = '', from, participant }: Readonly<Record<string, string>>): void {
    if (isSelf(participant ?? from) && !journal.has(id)) heldReceipts.expect(id);
  }

  /** Came in an envelope of its own, which Baileys confirms meanwhile. */
  function writeDown(attrs: Readonly<Record<string, string>>, message: proto.IMessage): void {
    void keep('message', () => journal.add(attrs, message));
  }

  function onOpen(socket: WASocket): void {
    incoming.tryAside();
    groups.readAll(socket).catch((error) => log.warn({ err: error }, 'failed to read the groups'));
    limits.ask(socket).catch((error) => log.debug({ err: error }, 'failed to read the limits of the number'));
  }

  /** @throws {AppError} `session_not_connected` */
  function requireSocket(): WASocket {
    const { socket } = link;
    if (socket === undefined) throw new AppError('session_not_connected');
    return socket;
  }

  function keyOf({ networkId, chat, from }: MessageKey): WAMessageKey {
    const fromMe = from === ownNumber();
    return {
      id: toWireId(networkId),
      remoteJid: jidOfChat(chat),
      fromMe,
      ...(chat.type === 'group' && !fromMe && { participant: jidOf(from) }),
    };
  }

  async function start(): Promise<void> {
    await addresses.start();
    groups.start(await host.groups());
    for (const received of await journal.left()) {
      const { id = '', from, participant } = received.attrs;
      if (isSelf(participant ?? from)) {
        heldReceipts.expect(id);
        heldReceipts.keep(id);
      }
      incoming.take(received, true);
    }
    link.start();
  }

  let ending: Promise<void> | undefined;
  /** Once this resolves nothing is under way any more, and nothing writes into the store. */
  function end(): Promise<void> {
    ending ??= putAway();
    return ending;
  }

  async function putAway(): Promise<void> {
    isOver = true;
    await incoming.stop();
    heldReceipts.end();
    await saving.end();
    await journal.end().catch((error) => log.warn({ err: error }, 'failed to acknowledge journal entries'));
    await route.close().catch((error) => log.warn({ err: error }, 'failed to close the route to WhatsApp'));
    store.shut();
  }

  /** The network has ended it. Told last, for who hears of it may connect again at once. */
  async function conclude(last: NetworkEvent): Promise<void> {
    await end();
    const isEnough = () => isClosed;
    if (last.type === 'logged_out') await keep('that the device is gone', () => dropCredentials(host.store), isEnough);
    await keep(last.type, () => host.onEvent(last), isEnough);
  }

  const connection: Connection = {
    send: sending.send,
    async markRead(chat, messages) {
      const keys = messages.map((message) => keyOf({ ...message, chat }));
      const socket = requireSocket();
      await asked(() => asking.inTime(socket, () => socket.readMessages(keys)));
    },
    async setTyping(chat, state) {
      const socket = requireSocket();
      const presence = state === 'typing' ? 'composing' : state;
      await asked(() => asking.inTime(socket, () => socket.sendPresenceUpdate(presence, jidOfChat(chat))));
    },
    react: (message, emoji) =>
      sending.change(jidOfChat(message.chat), { react: { text: emoji ?? '', key: keyOf(message) } }),
    edit: (message, text) =>
      // As with a new text, no preview: the server would fetch an address that anybody may have written.
      sending.change(jidOfChat(message.chat), { text, linkPreview: null, edit: keyOf(message) }),
    remove: (message) => sending.change(jidOfChat(message.chat), { delete: keyOf(message) }),
    retry: link.retry,
    numberOf: recipients.numberOf,
    async checkNumbers(phoneNumbers) {
      const socket = requireSocket();
      return asked(() => asking.inTime(socket, () => recipients.present(socket, phoneNumbers)));
    },
    async setBlocked(phoneNumber, blocked) {
      if (blocked && isStandIn(phoneNumber))
        throw new AppError('not_supported', 'WhatsApp can block only contacts whose phone number is known');
      const socket = requireSocket();
      const action = blocked ? 'block' : 'unblock';
      await asked(() =>
        asking.inTime(socket, async () => {
          const answered = await recipients.find(socket, phoneNumber);
          await socket.updateBlockStatus(jidOf(answered), action);
        }),
      );
    },
    groups: createGroupActions({ groups, addresses, asking, requireSocket, ownNumber }),
    profiles: createProfiles({ creds, addresses, asking, requireSocket, dispatcher: ownHosts }),
    requestPairingCode: (phoneNumber) => link.requestPairingCode(phoneNumber),
    async close() {
      // An edit that WhatsApp has taken is to stand here as well.
      if (link.socket !== undefined) await sending.changed(LAST_WORDS_MS);
      isClosed = true;
      await link.close();
      await end();
    },
    async logout() {
      isClosed = true;
      await link.logout();
      await end();
      await dropCredentials(host.store);
    },
  };
  await start();
  return connection;
}

/** What a session that is to end waits for the answers to its last changes. */
const LAST_WORDS_MS = 3000;
/** A message of a group that nobody knows yet waits so long for a connection to ask about it. */
const GROUP_WAIT_MS = 10_000;

/** Baileys' own log: what goes wrong there. From `info` on it tells what is in messages. */
function baileysLog({ log }: SessionHost) {
  return log.child({ part: 'baileys' }, { level: log.isLevelEnabled('warn') ? 'warn' : log.level });
}

/**
 * Stores the credentials as they change: one write at a time, the last state in the end, and again when it fails, for
 * a device whose credentials are lost has to be linked anew.
 */
function createSaving(credentials: Credentials, clock: Clock, onTrouble: (error: unknown) => void) {
  let running: Promise<void> | undefined;
  let isStale = false;
  let isEnding = false;

  async function run(): Promise<void> {
    while (isStale) {
      isStale = false;
      try {
        await credentials.save();
      } catch (error) {
        onTrouble(error);
        if (isEnding) break;
        isStale = true;
        await sleep(clock, RETRY_MS);
      }
    }
    running = undefined;
  }

  return {
    save() {
      isStale = true;
      running ??= run();
    },
    /** Resolves when everything is stored, or when that fails once more. */
    async end(): Promise<void> {
      isEnding = true;
      await running;
    },
  };
}

/** A cache as Baileys takes one, that outlives its sockets. */
function cacheOf(max: number, ttl = 0): CacheStore {
  const cache = new LRUCache<string, object>({ max, ttl });
  return {
    // Who asks says which type it has put there.
    get: <T>(key: string) => (cache.get(key) as { value: T } | undefined)?.value,
    set: (key, value) => void cache.set(key, { value }),
    del: (key) => void cache.delete(key),
    flushAll: () => cache.clear(),
  };
}
