import makeWASocket, {
  type AuthenticationCreds,
  type BaileysEventMap,
  Browsers,
  initAuthCreds,
  makeCacheableSignalKeyStore,
  type SignalKeyStore,
  type UserFacingSocketConfig,
  type WASocket,
} from 'baileys';
import pino from 'pino';
import { createMemoryKeys } from '../fakeWhatsapp/encryption/signal.ts';
import { silenceLibsignal } from '../fakeWhatsapp/encryption/silence.ts';
import { createLog, type WritableLog } from '../fakeWhatsapp/log.ts';

type EventName = keyof BaileysEventMap;

/** An unmodified Baileys client with its keys in memory. It has one socket at a time. */
export interface BaileysClient {
  readonly socket: WASocket;
  readonly creds: AuthenticationCreds;
  /** Connects (again) with the same keys, and forgets the events of earlier sockets. */
  connect(options?: Partial<UserFacingSocketConfig>): void;
  /** The first matching event of this socket. */
  event<Name extends EventName>(
    name: Name,
    matches?: (data: BaileysEventMap[Name]) => boolean,
    timeoutMs?: number,
  ): Promise<BaileysEventMap[Name]>;
  /** All events with this name so far. */
  events<Name extends EventName>(name: Name): BaileysEventMap[Name][];
  /** The attributes of the server's acknowledgement of a message. */
  ack(messageId: string): Promise<Record<string, string>>;
  qr(): Promise<string>;
  /** Resolves once open, after everything that arrived while it was away. */
  opened(): Promise<void>;
  /** Resolves with the status code of the closed socket. */
  closed(): Promise<number | undefined>;
  /** Connects as often as the server demands, until it is linked and open. */
  linked(consent: (client: BaileysClient) => Promise<unknown>): Promise<void>;
  end(): Promise<void>;
}

const silent = pino({ level: 'silent' });

export function createBaileysClient(url: string, options: Partial<UserFacingSocketConfig> = {}): BaileysClient {
  const creds = initAuthCreds();
  const keys: SignalKeyStore = makeCacheableSignalKeyStore(createMemoryKeys(), silent);
  let socket: WASocket | undefined;
  let events: WritableLog<{ name: EventName; data: unknown }>;
  let acks: WritableLog<Record<string, string>>;

  const client: BaileysClient = {
    get socket() {
      if (socket === undefined) throw new Error('connect() first');
      return socket;
    },
    creds,
    connect(more) {
      silenceLibsignal();
      const log = createLog<{ name: EventName; data: unknown }>('events of the client', ({ name, data }) =>
        `${name} ${JSON.stringify(data)}`.slice(0, 300),
      );
      const ackLog = createLog<Record<string, string>>('acks', (attrs) => JSON.stringify(attrs));
      [events, acks] = [log, ackLog];
      socket = makeWASocket({
        waWebSocketUrl: url,
        auth: { creds, keys },
        logger: silent,
        browser: Browsers.ubuntu('Chrome'),
        markOnlineOnConnect: false,
        syncFullHistory: false,
        emitOwnEvents: false,
        ...options,
        ...more,
      });
      socket.ev.process((happened) => {
        for (const [name, data] of Object.entries(happened)) log.add({ name: name as EventName, data });
      });
      socket.ws.on('CB:ack,class:message', ({ attrs }: { attrs: Record<string, string> }) => ackLog.add(attrs));
    },
    async event(name, matches = () => true, timeoutMs) {
      type Data = BaileysEventMap[typeof name];
      // The data of an event is stored under its name.
      const found = await events.waitFor((event) => event.name === name && matches(event.data as Data), timeoutMs);
      return found.data as Data;
    },
    events: (name) => events.all.filter((event) => event.name === name).map(({ data }) => data as never),
    ack: (messageId) => acks.waitFor(({ id }) => id === messageId),
    qr: async () => (await client.event('connection.update', ({ qr }) => qr !== undefined)).qr ?? '',
    async opened() {
      await client.event('connection.update', ({ connection }) => connection === 'open');
      await client.event('connection.update', (update) => update.receivedPendingNotifications === true);
    },
    async closed() {
      const { lastDisconnect } = await client.event('connection.update', ({ connection }) => connection === 'close');
      // Every error of this event is a Boom, which its type does not say.
      return (lastDisconnect?.error as { output?: { statusCode: number } } | undefined)?.output?.statusCode;
    },
    async linked(consent) {
      client.connect();
      await Promise.all([consent(client), client.closed()]);
      client.connect();
      await client.opened();
      await client.event('creds.update', ({ accountSyncCounter }) => accountSyncCounter !== undefined);
    },
    async end() {
      await socket?.end(undefined);
    },
  };
  return client;
}
