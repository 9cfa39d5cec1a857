import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { WebhookEvent } from '@switchboard/sdk/webhooks';
import { verifyAndParse } from '@switchboard/sdk/webhooks';
import { type ChatwootEvent, parseEvent } from './chatwoot/payload.ts';
import { isSame, isSignedBy } from './chatwoot/signature.ts';
import { type Log, messageOf } from './log.ts';
import type { InboxRow, State } from './state.ts';

/** The result of a request: 2xx after the event is stored, 503 if it has to be sent again. */
export type Acceptance = 'accepted' | 'full' | 'unconfigured';

export interface ReceiverOptions {
  readonly host: string;
  readonly port: number;
  readonly state: Pick<State, 'inbox'>;
  readonly log: Log;
  readonly onSwitchboardEvent: (inbox: InboxRow, eventId: string, event: WebhookEvent) => Promise<Acceptance>;
  readonly onChatwootEvent: (inbox: InboxRow, event: ChatwootEvent) => Promise<Acceptance>;
  readonly health: () => object;
  /** Maximum size of the bodies that strangers can make the bridge hold at the same time; 32 MiB by default. */
  readonly maxUnverifiedBytes?: number;
}

/** A message has up to 150,000 characters, and its conversation repeats the last one (event_data_presenter.rb). */
const MAX_BYTES = 4 * 1024 * 1024;
/** Chatwoot waits 5 s (lib/webhooks/trigger.rb). */
const BODY_TIMEOUT_MS = 4000;

const MAX_UNVERIFIED_BYTES = 32 * 1024 * 1024;
/** Two servers call the bridge, each over a few connections. */
const MAX_CONNECTIONS = 500;

class BodyError extends Error {}

/** The HTTP server that both sides call. It stores what it receives, and answers before anything is sent. */
export class Receiver {
  readonly #options: ReceiverOptions;
  readonly #server: Server;
  /** Size of the event bodies in memory whose signature was not verified yet. */
  #unverifiedBytes = 0;

  constructor(options: ReceiverOptions) {
    this.#options = options;
    this.#server = createServer({ requestTimeout: 30_000, headersTimeout: 10_000 }, (request, response) => {
      void this.#answer(request, response);
    });
    this.#server.maxConnections = MAX_CONNECTIONS;
  }

  /** @returns the port */
  async start(): Promise<number> {
    this.#server.listen(this.#options.port, this.#options.host);
    await once(this.#server, 'listening');
    return (this.#server.address() as AddressInfo).port;
  }

  async stop(): Promise<void> {
    if (!this.#server.listening) return;
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.#server.closeIdleConnections();
    await closed;
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let status: number;
    try {
      status = await this.#route(request, response);
    } catch (error) {
      status = error instanceof BodyError ? 400 : 503;
      if (status === 503) this.#options.log('error', 'failed to store an event', { error: messageOf(error) });
    }
    if (response.headersSent || response.destroyed) return;
    response.writeHead(status, { 'content-length': 0, ...(status >= 400 && { connection: 'close' }) }).end();
  }

  async #route(request: IncomingMessage, response: ServerResponse): Promise<number> {
    const [, side, sessionId = '', token = '', ...rest] = (request.url ?? '').split('?')[0]?.split('/') ?? [];
    if (side === 'health' && sessionId === '') return this.#reportHealth(response);
    if (!['switchboard', 'chatwoot'].includes(side ?? '') || rest.length > 0) return 404;
    if (request.method !== 'POST') return 405;
    const inbox = await this.#options.state.inbox(sessionId);
    if (inbox === undefined) return 404;
    return side === 'switchboard' ? this.#takeEvent(request, inbox) : this.#takeWebhook(request, inbox, token);
  }

  async #takeEvent(request: IncomingMessage, inbox: InboxRow): Promise<number> {
    const body = await this.#readUnverified(request);
    if (body === undefined) return 503;
    const result = await verifyAndParse({ body, headers: request.headers, secret: inbox.webhookSecret });
    if (!result.ok || result.scheme !== 'standard') return 401;
    return statusOf(await this.#options.onSwitchboardEvent(inbox, result.id, result.event));
  }

  /** Reads a body that anyone can send; undefined if too much arrives. Switchboard sends its event again then. */
  async #readUnverified(request: IncomingMessage): Promise<Uint8Array | undefined> {
    const { maxUnverifiedBytes = MAX_UNVERIFIED_BYTES } = this.#options;
    let size = 0;
    let isRefused = false;
    // Only bytes that have arrived count: otherwise, a few slow requests of strangers would block events of
    // Switchboard.
    const onChunk = (bytes: number) => {
      size += bytes;
      this.#unverifiedBytes += bytes;
      isRefused = this.#unverifiedBytes > maxUnverifiedBytes;
      return !isRefused;
    };
    try {
      return await readBody(request, onChunk);
    } catch (error) {
      if (isRefused) return undefined;
      throw error;
    } finally {
      this.#unverifiedBytes -= size;
    }
  }

  /** Versions before 4.13 do not sign, so the URL has a token too. Once a secret is known, a signature is required. */
  async #takeWebhook(request: IncomingMessage, inbox: InboxRow, token: string): Promise<number> {
    if (!isSame(token, inbox.token)) return 401;
    const body = await readBody(request);
    if (inbox.chatwootSecret !== undefined) {
      const signature = header(request, 'x-chatwoot-signature');
      const timestamp = header(request, 'x-chatwoot-timestamp');
      if (!isSignedBy(inbox.chatwootSecret, { body, signature, timestamp })) return 401;
    }
    const event = parseEvent(parseJson(body));
    if (event === undefined || event.conversation.inboxId !== inbox.inboxId) return 200;
    return statusOf(await this.#options.onChatwootEvent(inbox, event));
  }

  #reportHealth(response: ServerResponse): number {
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(this.#options.health()));
    return 200;
  }
}

const statusOf = (acceptance: Acceptance) => (acceptance === 'accepted' ? 200 : 503);

const header = (request: IncomingMessage, name: string) => {
  const value = request.headers[name];
  return typeof value === 'string' ? value : undefined;
};

/** @param onChunk gets the size of each part, and returns whether to continue */
async function readBody(request: IncomingMessage, onChunk = (_bytes: number) => true): Promise<Uint8Array> {
  const timer = setTimeout(() => request.destroy(), BODY_TIMEOUT_MS);
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    // The response to a body that is not read to its end needs the socket.
    for await (const chunk of request.iterator({ destroyOnReturn: false })) {
      size += chunk.length;
      if (size > MAX_BYTES || !onChunk(chunk.length)) throw new BodyError('The body is too large');
      chunks.push(chunk);
    }
  } catch (cause) {
    throw new BodyError('The body could not be read', { cause });
  } finally {
    clearTimeout(timer);
  }
  return Buffer.concat(chunks);
}

function parseJson(body: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(body).toString('utf8'));
  } catch {
    throw new BodyError('The body is not JSON');
  }
}
