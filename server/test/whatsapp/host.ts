import type { TestContext } from 'node:test';
import { pino } from 'pino';
import { type Clock, systemClock } from '../../src/clock.ts';
import type { Connection } from '../../src/connectors/contract/connection.ts';
import type { NetworkEvent } from '../../src/connectors/contract/events.ts';
import type { NetworkGroup } from '../../src/connectors/contract/groups.ts';
import type { SessionStore } from '../../src/connectors/contract/host.ts';
import { createWhatsapp } from '../../src/connectors/whatsapp/whatsapp.ts';
import { createTargetPolicy } from '../../src/egress/target.ts';
import { AppError } from '../../src/errors.ts';
import type { FakeWhatsapp, Log, Phone } from '../support/fakeWhatsapp/index.ts';
import { createLog } from '../support/fakeWhatsapp/log.ts';
import { nextPhone } from './support.ts';

/** An in-memory session store whose database can fail. */
export interface TestStore extends SessionStore {
  readonly entries: Map<string, string>;
  /** Whether a write of this key, or clearing the store (no key), fails now. */
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

/** A session of the connector, with the test as its host. */
export interface HostedSession {
  readonly events: Log<NetworkEvent>;
  readonly connection: Connection;
  /** Log lines of the connector at `logLevel` or above. */
  readonly logged: Log<string>;
  /** Resolves with the first matching event of a type. */
  waitForEvent<Type extends NetworkEvent['type']>(
    type: Type,
    fits?: (event: Extract<NetworkEvent, { type: Type }>) => boolean,
  ): Promise<Extract<NetworkEvent, { type: Type }>>;
}

interface HostOptions {
  readonly store?: SessionStore;
  /** Runs before an event counts as stored. */
  readonly onEvent?: (event: NetworkEvent) => Promise<void>;
  /** The known groups of the host. */
  readonly groups?: readonly NetworkGroup[];
  readonly options?: object;
  readonly maxFileBytes?: number;
  readonly clock?: Clock;
  /** Half an hour or more for a clock that advances past the pings. */
  readonly keepAliveSeconds?: number;
  readonly logLevel?: 'info' | 'warn';
}

/** Opens a session with the test as its host, for cases that API calls cannot create. */
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
    keepAliveSeconds = 30,
    logLevel = 'warn',
  }: HostOptions = {},
): Promise<HostedSession> {
  const events = createLog<NetworkEvent>('events of the session', ({ type }) => type);
  const logged = createLog<string>('log of the session', (line) => line);
  const settings = {
    whatsappUrl: whatsapp.url,
    whatsappVersion: 'auto' as const,
    whatsappMediaHost: whatsapp.mediaHost,
    whatsappKeepAliveSeconds: keepAliveSeconds,
    mediaMaxBytes: maxFileBytes,
    targets: createTargetPolicy({ host: '127.0.0.1', allowedCidrs: [] }),
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
    async waitForEvent(type, fits = () => true) {
      type Wanted = Extract<NetworkEvent, { type: typeof type }>;
      // TypeScript cannot infer that an event with this `type` has this type.
      return (await events.waitFor((event) => event.type === type && fits(event as Wanted))) as Wanted;
    },
  };
}

/** Like `openAsHost`, linked to a new phone. */
export async function linkAsHost(
  test: TestContext,
  whatsapp: FakeWhatsapp,
  options: HostOptions = {},
): Promise<HostedSession & { readonly me: Phone }> {
  const me = nextPhone(whatsapp, 'Me');
  const session = await openAsHost(test, whatsapp, options);
  await me.scan((await session.waitForEvent('pairing')).qr);
  await session.waitForEvent('connected');
  return { ...session, me };
}
