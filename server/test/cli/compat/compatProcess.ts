import type { Person } from '../support.ts';
import { type CliProcess, spawnCli } from '../support.ts';
import { type NodeRequest, nodeHeaders } from './n8nRequests.ts';

export const API_KEY = 'the key of the WAHA clients';
export const HMAC_KEY = 'the key of the receiver';

export interface Answered {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  readonly body: any;
}

export interface Compat {
  readonly running: CliProcess;
  /** Address of WAHA's API. */
  readonly url: string;
}

/** Starts the command, and waits until it listens. */
export async function startCompat(
  person: Person,
  { url: server, key }: { readonly url: string; readonly key: string },
  args: readonly string[] = [],
): Promise<Compat> {
  const running = spawnCompat(person, { url: server, key }, args);
  const [, url = ''] = await running.waitFor(/Serving the API of WAHA at (\S+?)\. /);
  return { running, url };
}

export const spawnCompat = (
  person: Person,
  { url, key }: { readonly url: string; readonly key: string },
  args: readonly string[],
): CliProcess =>
  spawnCli(person, ['compat', '--waha', '--port', '0', ...args], {
    SWITCHBOARD_URL: url,
    SWITCHBOARD_KEY: key,
    WAHA_API_KEY: API_KEY,
    WHATSAPP_HOOK_HMAC_KEY: HMAC_KEY,
  });

/** Sends a request like WAHA's n8n node. */
export async function callWaha(
  url: string,
  { method, path, body }: Omit<NodeRequest, 'operation' | 'body'> & { readonly body?: object | string },
  headers = {},
): Promise<Answered> {
  const answer = await fetch(url + path, {
    method,
    headers: { ...nodeHeaders(API_KEY), ...headers },
    ...(body && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const text = await answer.text();
  return { status: answer.status, headers: answer.headers, body: text === '' ? undefined : JSON.parse(text) };
}
