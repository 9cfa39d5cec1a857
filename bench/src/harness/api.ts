import { Pool } from 'undici';
import { type Running, sleep } from './processes.ts';

/** The fields of answers that benchmarks read. */
export interface Answers {
  readonly token: string;
  readonly key: string;
  readonly keyId: string;
  readonly labelId: string;
  readonly statusId: string;
  readonly channelId: string;
  readonly sessionId: string;
  readonly messageId: string;
  readonly webhookId: string;
  readonly status: string;
  readonly state: string;
  readonly qr: string;
  readonly pending: number;
  readonly data: readonly { readonly message: string; readonly status: string }[];
  readonly history: { readonly state: string; readonly messages: number };
}

export type Api = (method: string, path: string, body?: unknown) => Promise<Answers>;

/** Calls the API with this credential. */
export const apiOf =
  (url: string, credential?: string): Api =>
  async (method, path, body) => {
    const response = await fetch(`${url}/api/v1${path}`, {
      method,
      headers: {
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...(credential !== undefined && { authorization: `Bearer ${credential}` }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const answer = await response.json();
    if (!response.ok) throw new Error(`${method} ${path}: ${JSON.stringify(answer)}`);
    return answer as Answers; // each call reads only the fields that its answer has
  };

export interface Account {
  readonly key: string;
  readonly sessionId: string;
}

/** Registers an account with a key and a connected sandbox session. */
export async function newAccount(server: Running, name = 'bench'): Promise<Account & { readonly token: string }> {
  const { token } = await apiOf(server.url)('POST', '/auth/register', {
    email: `${name}@example.com`,
    password: 'correct horse',
  });
  const { key } = await apiOf(server.url, token)('POST', '/api-keys/create', { name });
  return { token, key, sessionId: await newSession(apiOf(server.url, key)) };
}

/** Creates a sandbox session and connects it. */
export async function newSession(api: Api): Promise<string> {
  const { sessionId } = await api('POST', '/sessions', {});
  await api('POST', `/sessions/${sessionId}/connect`);
  return sessionId;
}

/** Adds a webhook for `message.sent`. */
export async function addWebhook(api: Api, webhookUrl: string, maxInFlight?: number): Promise<string> {
  const webhook = { webhookUrl, events: ['message.sent'], secret: 'the secret of the benchmark', maxInFlight };
  return (await api('POST', '/webhooks/endpoints', webhook)).webhookId;
}

/** An account with a key, a connected session and a webhook for `message.sent`. */
export async function setUp(server: Running, webhookUrl: string, name?: string) {
  const { key, sessionId } = await newAccount(server, name);
  const api = apiOf(server.url, key);
  await addWebhook(api, webhookUrl);
  return { api, key, sessionId };
}

/** The n-th of a thousand recipients, and with it of a thousand conversations. */
export const recipient = (n: number) => String(491_707_000_000 + (n % 1000));

const SENDERS = 50;

/**
 * Sends messages over 50 connections until `count` are accepted or the time is over.
 * @returns how many were accepted
 */
export async function sendMessages(
  server: Running,
  { key, sessionId }: Account,
  { from = 0, count, text, seconds = Number.POSITIVE_INFINITY }: Load,
): Promise<number> {
  const pool = new Pool(server.url, { connections: SENDERS, pipelining: 1 });
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${key}` };
  const deadline = performance.now() + seconds * 1000;
  let sent = 0;
  const send = async () => {
    while (sent < count && performance.now() < deadline) {
      const n = from + sent++;
      const body = JSON.stringify({ sessionId, to: recipient(n), message: text(n) });
      const answer = await pool.request({ method: 'POST', path: '/api/v1/messages/send', headers, body });
      if (answer.statusCode !== 201) throw new Error(`send answers ${answer.statusCode}: ${await answer.body.text()}`);
      await answer.body.dump();
    }
  };
  await Promise.all(Array.from({ length: SENDERS }, send));
  await pool.close();
  return sent;
}

/**
 * Sends messages over one connection, at a rate, one after the other, for some seconds.
 * @returns the time in ms that each response took
 */
export async function sendAtRate(
  server: Running,
  { key, sessionId }: Account,
  { from = 0, perSecond, seconds }: { readonly from?: number; readonly perSecond: number; readonly seconds: number },
): Promise<number[]> {
  const pool = new Pool(server.url, { connections: 1, pipelining: 1, keepAliveTimeout: KEEP_ALIVE_MS });
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${key}` };
  const startedAt = performance.now();
  const took: number[] = [];
  for (let n = 0; n < perSecond * seconds; n++) {
    await sleep(Math.max(0, startedAt + (n * 1000) / perSecond - performance.now()));
    const body = JSON.stringify({ sessionId, to: recipient(from + n), message: greeting() });
    const sentAt = performance.now();
    const answer = await pool.request({ method: 'POST', path: '/api/v1/messages/send', headers, body });
    if (answer.statusCode !== 201) throw new Error(`send answers ${answer.statusCode}: ${await answer.body.text()}`);
    await answer.body.dump();
    took.push(performance.now() - sentAt);
  }
  await sleep(Math.max(0, startedAt + seconds * 1000 - performance.now()));
  await pool.close();
  return took;
}

/** Longer than the pause between two sends. */
const KEEP_ALIVE_MS = 10_000;

export interface Load {
  readonly from?: number;
  readonly count: number;
  /** Text of the n-th message. */
  readonly text: (n: number) => string;
  readonly seconds?: number;
}

export const greeting = () => 'Hello there';
