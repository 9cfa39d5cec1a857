import { type App, createApp } from '../../src/app.ts';
import type { Clock } from '../../src/clock.ts';
import { readSettings } from '../../src/config.ts';
import { type DatabaseName, type Home, newHome } from './databases.ts';

/** An answer of the API. `body` is whatever JSON came; the tests say what they expect of it. */
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
  /** Calls the API below `/api/v1`, with no credential. */
  readonly call: Call;
  /** Registers an account and answers with a way to call as it. */
  account(): Promise<{ token: string; accountId: string; email: string; call: Call }>;
  stop(): Promise<void>;
}

export interface TestServerOptions {
  readonly database?: DatabaseName;
  /** Starts on this home instead of a fresh one, and leaves it when it stops. */
  readonly home?: Home;
  readonly env?: Record<string, string>;
  readonly clock?: Clock;
}

let accounts = 0;

/** Starts a whole server in this process, on a free port. */
export async function startServer({
  database = 'sqlite',
  home,
  env = {},
  clock,
}: TestServerOptions = {}): Promise<TestServer> {
  const ownHome = home ?? (await newHome(database));
  const settings = readSettings({
    PORT: '0',
    LOG_LEVEL: 'silent',
    RATE_LIMIT: '0',
    DATA_DIR: ownHome.dataDir,
    DATABASE_URL: ownHome.databaseUrl,
    ...env,
  });
  const app = await createApp(settings, { ...(clock && { clock }) });
  const url = await app.start();
  const call = callerOf(url, {});
  return {
    app,
    url,
    home: ownHome,
    call,
    async account() {
      const email = `user${++accounts}@example.com`;
      const { body } = await call('POST', '/auth/register', { email, password: 'correct horse battery' });
      const { token, account } = body;
      return { token, accountId: account.accountId, email, call: callerOf(url, { authorization: `Bearer ${token}` }) };
    },
    async stop() {
      await app.stop();
      if (home === undefined) await ownHome.remove();
    },
  };
}

/** A way to call a server with these headers. */
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
