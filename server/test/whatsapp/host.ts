import type { TestContext } from 'node:test';
import { pino } from 'pino';
import { type Clock, systemClock } from '../../src/clock.ts';
import type { Connection, NetworkEvent, NetworkGroup, SessionStore } from '../../src/connectors/connector.ts';
import { createWhatsapp } from '../../src/connectors/whatsapp/whatsapp.ts';
import { AppError } from '../../src/errors.ts';
import { createTargetPolicy } from '../../src/target.ts';
import type { FakeWhatsapp, Log, Phone } from '../support/fakeWhatsapp/index.ts';
import { createLog } from '../support/fakeWhatsapp/log.ts';
import { nextPhone } from './support.ts';

/** A store as a session has one, in memory, whose database can be away. */
export interface TestStore extends SessionStore {
  readonly entries: Map<string, string>;
  /** Whether a write of this key, or of a clearance (no key), fails now. */
  refuses: (key: string | undefined) => boolean;
}

export function createTestStore(entries = new Map<string, string>()): TestStore {
  const requireThere = (keys: readonly (string | undefined)[]) => {
    if (keys.some(store.refuses)) throw new AppError('storage_unavailable');
  };
  const store: TestStore = {
    entries,
    refuses: () => false,
    get: async (key) => entries.get(key),
    getMany: async (keys) => new Map([...entries].filter(([key]) => keys.includes(key))),
    list: async (prefix) => new Map([...entries].filter(([key]) => key.startsWith(prefix))),
    set: (key, value) => store.write(new Map([[key, value]])),
    async write(changes) {
      requireThere([...changes.keys()]);
      for (const [key, value] of changes) {
        if (value === null) entries.delete(key);
        else entries.set(key, value);
      }
    },
    delete: (key) => store.write(new Map([[key, null]])),
    async clear() {
      requireThere([undefined]);
      entries.clear();
    },
  };
  return store;
}

/** A session of the connector whose host is the test. */
export interface HostedSession {
  readonly events: Log<NetworkEvent>;
  readonly connection: Connection;
  /** What the connector has logged, from `logLevel` on. */
  readonly logged: Log<string>;
  /** The next event of a type that fits. */
  told<Type extends NetworkEvent['type']>(
    type: Type,
    fits?: (event: Extract<NetworkEvent, { type: Type }>) => boolean,
  ): Promise<Extract<NetworkEvent, { type: Type }>>;
}

interface HostOptions {
  readonly store?: SessionStore;
  /** What the host does before an event counts as stored. */
  readonly onEvent?: (event: NetworkEvent) => Promise<void>;
  /** The groups that the host knows. */
  readonly groups?: readonly NetworkGroup[];
  readonly options?: object;
  readonly maxFileBytes?: number;
  readonly clock?: Clock;
  readonly logLevel?: 'info' | 'warn';
}

/** Opens a session for a test that plays the host: for what no caller of the API can bring about. */
export async function openAsHost(
  test: TestContext,
  whatsapp: FakeWhatsapp,
  {
    store = createTestStore(),
    onEvent = async () => {},
    groups = [],
    options = {},
    maxFileBytes = 1024 * 1024,
    clock = systemClock,
    logLevel = 'warn',
  }: HostOptions = {},
): Promise<HostedSession> {
  const events = createLog<NetworkEvent>('events of the session', ({ type }) => type);
  const logged = createLog<string>('log of the session', (line) => line);
  const settings = {
    url: whatsapp.url,
    version: undefined,
    mediaHost: whatsapp.mediaHost,
    maxFileBytes,
    targets: createTargetPolicy({ host: '127.0.0.1', allowedCidrs: [] }),
    keepAliveMs: 30_000,
    random: Math.random,
  };
  const connection = await createWhatsapp(settings).open({
    sessionId: 'ses_test',
    scope: '',
    phoneNumber: null,
    options: { pauseMs: 0, ...options },
    clock,
    log: pino({ level: logLevel }, { write: logged.add }),
    store,
    callbackUrl: null,
    async onEvent(event) {
      await onEvent(event);
      events.add(event);
    },
    undelivered: async () => [],
    lastIncoming: async () => null,
    groups: async () => groups,
    blocked: async () => [],
  });
  test.after(() => connection.close());
  return {
    events,
    connection,
    logged,
    async told(type, fits = () => true) {
      type Told = Extract<NetworkEvent, { type: typeof type }>;
      // What has the type is of the type.
      return (await events.waitFor((event) => event.type === type && fits(event as Told))) as Told;
    },
  };
}

/** As `openAsHost`, linked to a phone of its own. */
export async function linkAsHost(
  test: TestContext,
  whatsapp: FakeWhatsapp,
  options: HostOptions = {},
): Promise<HostedSession & { readonly me: Phone }> {
  const me = nextPhone(whatsapp, 'Me');
  const session = await openAsHost(test, whatsapp, options);
  await me.scan((await session.told('pairing')).qr);
  await session.told('connected');
  return { ...session, me };
}
