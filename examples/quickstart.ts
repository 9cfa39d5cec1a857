import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { verify } from '@octokit/webhooks-methods';
import { Webhook } from 'standardwebhooks';
import { type Client, createClient } from '../sdk/src/client.ts';
import { ApiError, ConnectionError } from '../sdk/src/errors.ts';

/*
 * The main use case from end to end, against a running server: registers an account, sets a webhook with a secret,
 * connects two sessions of the sandbox network, sends a message from one to the other, and verifies both signatures of
 * every event.
 *
 *   npm start            in one terminal
 *   npm run quickstart   in another
 *
 * Set SWITCHBOARD_URL if the server runs elsewhere, and SWITCHBOARD_KEY to use an API key that you have.
 */

const WANTED = ['session.connected', 'message.sent', 'message.delivered', 'message.incoming', 'message.read'] as const;
const TIMEOUT_MS = 15_000;
const MAX_BODY_BYTES = 1024 * 1024;

export interface Options {
  readonly serverUrl: string;
  /** An API key. Without one, an account is registered. */
  readonly key?: string | undefined;
  readonly print: (line: string) => void;
  /** Ends it early, after removing the same. */
  readonly signal?: AbortSignal;
}

export interface VerifiedEvent {
  readonly event: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/**
 * Runs all steps and resolves with the events that it received and verified. The webhook is removed at the end. So are
 * the sessions, unless the account is new.
 * @throws if a call fails, a signature is wrong, or an event does not arrive within 15 s
 */
export async function quickstart({
  serverUrl,
  key,
  print,
  signal = new AbortController().signal,
}: Options): Promise<readonly VerifiedEvent[]> {
  await using cleanup = new AsyncDisposableStack();
  const login = key === undefined ? await register(serverUrl, print) : undefined;
  const sb = createClient({ baseUrl: serverUrl, credential: login?.token ?? key ?? '' });

  // No call is aborted, because nobody would know what it has made.
  const newSession = async (name: string) => {
    signal.throwIfAborted();
    const { sessionId } = await sb.sessions.create({ name, connector: 'sandbox' });
    if (login === undefined) cleanup.defer(async () => void (await sb.sessions.delete({ sessionId })));
    return sessionId;
  };
  const alice = await newSession('alice');
  const bob = await newSession('bob');

  const secret = randomBytes(24).toString('hex');
  const receiver = new Receiver({ secret, print, signal });
  cleanup.defer(() => receiver.stop());
  const webhookUrl = await receiver.start();
  signal.throwIfAborted();
  const { webhookId } = await sb.webhooks.endpoints.create({
    webhookUrl,
    secret,
    events: [...WANTED],
    sessionIds: [alice, bob],
  });
  cleanup.defer(async () => void (await sb.webhooks.endpoints.delete({ webhookId })));
  print(`set a webhook   ${webhookUrl}`);

  const from = await sb.sessions.connect({ sessionId: alice });
  const to = await sb.sessions.connect({ sessionId: bob });
  print(`connected       alice ${from.phoneNumber}, bob ${to.phoneNumber}`);

  const sent = await sb.messages.send({ sessionId: alice, to: to.phoneNumber ?? '', message: 'Hello Bob' });
  print(`sent            ${sent.messageId}: ${sent.status}`);
  try {
    await receiver.waitFor('message.incoming');
    await sb.chats.markRead({ sessionId: bob, chatId: from.phoneNumber ?? '' });
    for (const event of WANTED) await receiver.waitFor(event);
  } catch (error) {
    signal.throwIfAborted();
    throw new Error(`${(error as Error).message}${await reason(sb, webhookId)}`, { cause: error });
  }
  if (login !== undefined) print(`\nSee it in the dashboard: ${serverUrl}/\n  ${login.email}\n  ${login.password}`);
  return receiver.events;
}

async function register(serverUrl: string, print: (line: string) => void) {
  const email = `quickstart-${Date.now()}-${randomBytes(3).toString('hex')}@example.com`;
  const password = randomBytes(12).toString('hex');
  const { token } = await createClient({ baseUrl: serverUrl }).auth.register({ email, password });
  // At once: if a step fails, the account is there.
  print(`registered      ${email}, password ${password}`);
  return { email, password, token };
}

/** Asks the server why the first pending or failed delivery has not arrived. */
async function reason(sb: Client, webhookId: string): Promise<string> {
  const { data } = await sb.webhooks.listDeliveries({ webhookId });
  const delivery = data.find(({ state }) => state !== 'delivered');
  if (delivery === undefined) return '';
  const { why } = await sb.webhooks.getDelivery({ deliveryId: delivery.deliveryId });
  return `\nThe server says: ${why}`;
}

/** A minimal webhook receiver. It reads the raw body, and verifies it before it parses it. */
class Receiver {
  readonly events: VerifiedEvent[] = [];
  readonly #secret: string;
  readonly #print: (line: string) => void;
  readonly #signal: AbortSignal;
  readonly #server = createServer((request, response) => {
    this.#receive(request).then(
      (status) => response.writeHead(status).end(),
      (error: Error) => {
        this.#failure = error;
        response.writeHead(401).end();
        this.#server.emit('received');
      },
    );
  });
  #failure: Error | undefined;

  constructor({ secret, print, signal }: { secret: string } & Required<Pick<Options, 'print' | 'signal'>>) {
    this.#secret = secret;
    this.#print = print;
    this.#signal = signal;
  }

  /** Listens on a free port of this machine, and returns the URL. */
  async start(): Promise<string> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/hook`;
  }

  /**
   * @returns the status of the answer
   * @throws if a signature is wrong
   */
  async #receive(request: IncomingMessage): Promise<number> {
    // Every program of this machine can post to this receiver.
    const signature = request.headers['x-webhook-signature'];
    if (signature === undefined) return 401;
    const body = await readBody(request);
    if (body === undefined) return 413;
    if (!(await verify(this.#secret, body, String(signature))))
      throw new Error('X-Webhook-Signature does not match the body');
    // Throws if the signature is wrong or the timestamp is too old.
    new Webhook(this.#secret, { format: 'raw' }).verify(body, request.headers as Record<string, string>);
    const received: VerifiedEvent = JSON.parse(body);
    this.events.push(received);
    this.#print(`received        ${received.event}, both signatures verified`);
    this.#server.emit('received');
    return 204;
  }

  async waitFor(event: string): Promise<void> {
    // A stop counts even if everything has already arrived.
    this.#signal.throwIfAborted();
    const signal = AbortSignal.any([AbortSignal.timeout(TIMEOUT_MS), this.#signal]);
    while (!this.events.some((received) => received.event === event)) {
      if (this.#failure !== undefined) throw this.#failure;
      await once(this.#server, 'received', { signal }).catch((error) => {
        throw new Error(`${event} did not arrive within ${TIMEOUT_MS / 1000} s.`, { cause: error });
      });
    }
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
  }
}

/** Undefined if the body is too large, or the connection broke. */
async function readBody(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of request) {
      size += chunk.length;
      if (size > MAX_BODY_BYTES) return undefined;
      chunks.push(chunk);
    }
  } catch {
    return undefined;
  }
  return Buffer.concat(chunks).toString();
}

/** Says what the user can do about a failure. */
function explain(error: unknown, serverUrl: string): string {
  if (error instanceof ConnectionError) return `No server answers at ${serverUrl}: run npm start first.`;
  if (error instanceof ApiError && error.code === 'registration_closed')
    return 'Registration is closed on this server. Log in to the dashboard, create an API key with all permissions, and run:\n  SWITCHBOARD_KEY=… npm run quickstart';
  if (error instanceof ApiError && error.fields.some(({ code }) => code === 'address'))
    return `${error.message}. The receiver of the quickstart listens at 127.0.0.1, so the server has to run on this machine with HOST=127.0.0.1, which allows that. For a container, see the README.`;
  return error instanceof SuppressedError ? explain(error.suppressed, serverUrl) : (error as Error).message;
}

if (import.meta.main) {
  const serverUrl = (process.env['SWITCHBOARD_URL'] ?? 'http://127.0.0.1:8080').replace(/\/$/, '');
  const print = (line: string) => void process.stdout.write(`${line}\n`);
  const stopping = new AbortController();
  process.once('SIGINT', () => stopping.abort(new Error('Stopped.')));
  // A reader that has enough, such as `head`, closes the pipe.
  process.stdout.on('error', () => stopping.abort(new Error('Nobody reads the output.')));
  try {
    await quickstart({ serverUrl, key: process.env['SWITCHBOARD_KEY'] || undefined, print, signal: stopping.signal });
    print('\nEverything arrived.');
  } catch (error) {
    process.stderr.write(`${explain(error, serverUrl)}\n`);
    process.exitCode = 1;
  }
}
