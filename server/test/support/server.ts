import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, afterEach, type TestContext } from 'node:test';
import { type App, createApp } from '../../src/app.ts';
import type { Clock } from '../../src/clock.ts';
import { readSettings } from '../../src/config.ts';
import type { Store } from '../../src/db/dialect.ts';
import type { EventKind } from '../../src/events/events.ts';
import type { Services } from '../../src/invoke/services.ts';
import type { Log } from '../../src/log.ts';
import { type Deployment, type Home, newHome } from './databases/databases.ts';
import { eventually, PATIENCE_MS } from './eventually.ts';

/** A response of the API. `body` is arbitrary JSON, which the tests check. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  readonly body: any;
}

export type Call = (method: string, path: string, body?: unknown, headers?: Record<string, string>) => Promise<Answer>;

export interface TestServer {
  readonly app: App;
  readonly url: string;
  readonly home: Home;
  /** The other one of two nodes. */
  readonly other: { readonly app: App; readonly url: string } | undefined;
  /** Calls the API below `/api/v1` without a credential. */
  readonly call: Call;
  /** Registers an account and returns a function that calls the API as it. */
  account(): Promise<{ token: string; accountId: string; email: string; call: Call }>;
  stop(): Promise<void>;
}

export interface TestServerOptions {
  readonly database?: Deployment;
  /** Starts on this home instead of a new one, and keeps it when it stops. */
  readonly home?: Home;
  readonly env?: Record<string, string>;
  readonly clock?: Clock;
  readonly log?: Log;
  /** Longest wait of receipts for other work to commit; short by default, because tests wait for them. */
  readonly patienceMs?: number;
  /** Makes the database fail. */
  readonly wrapStore?: (store: Store) => Store;
}

/** For tests in which sessions of several accounts write to each other. */
export const sharedSandbox = { SANDBOX_SHARED: 'on' };

let accounts = 0;

/** Starts a server in this process on a free port. With two nodes it returns the one that owns nothing. */
export async function startServer({
  database = 'sqlite',
  home,
  env = {},
  clock,
  log,
  patienceMs = 10,
  wrapStore,
}: TestServerOptions = {}): Promise<TestServer> {
  const ownHome = home ?? (await newHome(database));
  const startNode = async (own: Record<string, string>) => {
    const settings = readSettings({
      PORT: '0',
      LOG_LEVEL: 'silent',
      RATE_LIMIT: '0',
      REGISTRATION_RATE_LIMIT: '0',
      DATA_DIR: ownHome.dataDir,
      DATABASE_URL: ownHome.databaseUrl,
      ...own,
      ...env,
    });
    const app = await createApp(settings, {
      patienceMs,
      ...(clock && { clock }),
      ...(log && { log }),
      ...(wrapStore && { wrapStore }),
    });
    skipPasswordWork(app.services);
    try {
      return { app, url: await app.start() };
    } catch (error) {
      await app.stop(); // otherwise the data folder stays locked
      throw error;
    }
  };
  const hasOther = database === 'two nodes' || database === 'sessions apart';
  const other = hasOther
    ? await startNode({ DATA_DIR: join(ownHome.dataDir, 'other'), MEDIA_DIR: join(ownHome.dataDir, 'media') })
    : undefined;
  const { app, url } = await startNode(database === 'two nodes' ? { NODE_ROLE: 'api' } : {});
  const call = callerOf(url, {});
  const apart = other !== undefined && database === 'sessions apart' ? other : undefined;
  if (apart !== undefined) await divided([app, apart.app]);
  let connected = 0;
  return {
    app,
    url,
    home: ownHome,
    other,
    call,
    async account() {
      const email = `user${++accounts}@example.com`;
      const { body } = await call('POST', '/auth/register', { email, password: PASSWORD });
      const { token, account } = body;
      const here = bearer(url, token);
      const there = apart === undefined ? here : bearer(apart.url, token);
      // The node that receives the connect request becomes the owner.
      const own: Call = (method, path, ...more) =>
        (path.endsWith('/connect') && ++connected % 2 === 0 ? there : here)(method, path, ...more);
      return { token, accountId: account.accountId, email, call: own };
    },
    async stop() {
      await app.stop();
      await other?.app.stop();
      if (home === undefined) await ownHome.remove();
    },
  };
}

/** The password of every account that `account` registers, and its hash. */
const PASSWORD = 'correct horse battery';
const HASH = '$argon2id$v=19$m=19456,t=2,p=1$hVq5RNBq1bLfmrH71JKyPw$o87xAVqdB/Tz/v0d0AqoNVfTBUPwOksm3q7hDpmGJG4';

/**
 * Saves the thread and the 40 ms of CPU time that hashing takes in every server, and the 130 ms for its list of common
 * passwords. Passwords are verified as usual.
 */
function skipPasswordWork({ passwords, passwordRules }: Services): void {
  const hash = passwords.hash.bind(passwords);
  passwords.hash = async (password, address) => (password === PASSWORD ? HASH : hash(password, address));
  const weaknessOf = passwordRules.weaknessOf.bind(passwordRules);
  passwordRules.weaknessOf = async (password, email) =>
    password === PASSWORD ? undefined : weaknessOf(password, email);
}

/** Resolves once two nodes have distributed the sessions of their home and all are connected. None moves afterwards. */
async function divided(apps: readonly App[]): Promise<void> {
  const count = async () => {
    const [first = 0, second = 0] = apps.map(
      ({ services }) => [...services.liveSessions.states()].filter((state) => state.isConnected).length,
    );
    const rows = await apps[0]?.services.database.reader.kysely
      .selectFrom('sessions')
      .select('session_id')
      .where('wanted', '=', 1)
      .execute();
    return { first, second, wanted: rows?.length };
  };
  await eventually(count, ({ first, second, wanted }) => first + second === wanted && Math.abs(first - second) <= 1);
}

/**
 * Lets the tests of a suite that need a server and an account each share a server, except those with their own options.
 * All servers are stopped automatically.
 */
export function serversFor(
  database: Deployment,
  sharedOptions: TestServerOptions = {},
): (options?: TestServerOptions) => Promise<TestServer> {
  let shared: Promise<TestServer> | undefined;
  const own: TestServer[] = [];
  afterEach(async () => {
    for (const server of own.splice(0)) await server.stop();
  });
  after(async () => (await shared)?.stop());
  return async (options) => {
    if (options === undefined) {
      shared ??= startServer({ database, ...sharedOptions });
      return shared;
    }
    const server = await startServer({ database, ...options });
    own.push(server);
    return server;
  };
}

/**
 * For a test that restarts servers: all on one home, stopped and removed at the end of the test, whatever its result.
 */
export function startAgain(
  test: TestContext,
  newHome: () => Promise<Home>,
  options: Omit<TestServerOptions, 'home'>,
): () => Promise<TestServer> {
  const started: TestServer[] = [];
  let home: Home | undefined;
  test.after(async () => {
    for (const server of started) await server.stop();
    await home?.remove();
  });
  return async () => {
    home ??= await newHome();
    const server = await startServer({ ...options, home });
    started.push(server);
    return server;
  };
}

/** Returns a function that calls a server with a login token or an API key. */
export const bearer = (url: string, credential: string): Call =>
  callerOf(url, { authorization: `Bearer ${credential}` });

let numbers = 0;

/** A phone number that no other test uses. */
export const newNumber = (): string => `49170${1_000_000 + ++numbers}`;

/** Creates and connects a session, with a new number by default. @returns its id */
export async function connectSession(call: Call, phoneNumber = newNumber(), more: object = {}): Promise<string> {
  const { body } = await call('POST', '/sessions', { phoneNumber, ...more });
  const connected = await call('POST', `/sessions/${body.sessionId}/connect`);
  assert.equal(connected.body.status, 'connected', JSON.stringify(connected.body));
  return body.sessionId;
}

/**
 * Waits for an event of the account by the long poll of its log. The change is visible once the event is.
 * @returns its `data`
 */
export async function eventOf(
  call: Call,
  kind: EventKind,
  fits: (data: Answer['body']) => boolean = () => true,
): Promise<Answer['body']> {
  const read = async () => {
    for (let after = ''; ; ) {
      const { body } = await call('GET', `/events?events=${kind}&wait=30&limit=200${after && `&afterCursor=${after}`}`);
      const found = body.data.find(({ data }: { data: unknown }) => fits(data));
      if (found !== undefined) return found.data;
      after = body.nextCursor ?? '';
    }
  };
  return inTime(read(), `no ${kind} that fits`);
}

/** Real time even under a fake clock, so that a test that waits in vain fails. */
async function inTime<T>(waiting: Promise<T>, complaint: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${complaint}, within ${PATIENCE_MS / 1000} s`)), PATIENCE_MS);
  });
  return Promise.race([waiting, late]).finally(() => clearTimeout(timer));
}

/** Reads all pages of a list. @returns the entries of each page */
export async function pagesOf(call: Call, path: string, limit: number): Promise<Answer['body'][][]> {
  const pages: Answer['body'][][] = [];
  let cursor: string | null = '';
  do {
    const query: string = `${path.includes('?') ? '&' : '?'}limit=${limit}${cursor && `&cursor=${cursor}`}`;
    const { status, body } = await call('GET', path + query);
    assert.equal(status, 200, JSON.stringify(body));
    pages.push(body.data);
    cursor = body.nextCursor;
    assert.ok(pages.length < 100, `${path} never ends`);
  } while (cursor !== null);
  return pages;
}

/** Returns a function that calls a server with these headers. */
export function callerOf(url: string, fixed: Record<string, string>): Call {
  return async (method, path, body, headers = {}) => {
    const response = await fetch(`${url}/api/v1${path}`, {
      method,
      headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...fixed, ...headers },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    const isJson = (response.headers.get('content-type') ?? '').includes('json');
    return { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : text };
  };
}
