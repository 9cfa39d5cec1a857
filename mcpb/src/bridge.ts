import {
  isJSONRPCNotification,
  isJSONRPCRequest,
  isJSONRPCResultResponse,
  type JSONRPCMessage,
  type JSONRPCRequest,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client';
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import { endedEarly, failureOf, type RpcError, unanswered } from './failures.ts';
import { type BridgeSettings, withoutKey } from './settings.ts';

type Id = JSONRPCRequest['id'];

interface OpenRequest {
  readonly method: string;
  readonly abort: AbortController;
  /** Whether its answer may come later, on a stream. */
  isStreamed: boolean;
}

/**
 * Passes every message between a client on stdin and stdout and a server over HTTP, unchanged except that the key is
 * masked. Both protocol generations work, and so does everything that the two agree on, such as questions to the user.
 *
 * Nothing is repeated: if a connection fails, the client gets an error, and no message is sent twice.
 */
export class Bridge {
  readonly #local = new StdioServerTransport();
  readonly #remote: StreamableHTTPClientTransport;
  readonly #settings: BridgeSettings;
  readonly #onStop: () => void;
  /** The requests of the client that have no answer yet. */
  readonly #open = new Map<Id, OpenRequest>();
  #isStopped = false;

  constructor(settings: BridgeSettings, onStop: () => void) {
    const { url, key } = settings;
    this.#settings = settings;
    this.#onStop = onStop;
    this.#remote = new StreamableHTTPClientTransport(url, {
      requestInit: { headers: { authorization: `Bearer ${key}` } },
      fetch: (input, init) => this.#fetch(input, init),
    });
  }

  async start(): Promise<void> {
    this.#remote.onmessage = (message) => this.#return(message);
    // An error that concerns a request is also thrown to its sender.
    this.#remote.onerror = () => undefined;
    this.#local.onmessage = (message) => void this.#pass(message);
    this.#local.onclose = () => void this.stop();
    await this.#remote.start();
    await this.#local.start();
  }

  /** Ends all requests that are open. The server finishes the operations that it has begun. */
  async stop(): Promise<void> {
    if (this.#isStopped) return;
    this.#isStopped = true;
    for (const { abort } of this.#open.values()) abort.abort();
    await this.#remote.close();
    await this.#local.close();
    this.#onStop();
  }

  /** From the client to the server. */
  async #pass(message: JSONRPCMessage): Promise<void> {
    if (isJSONRPCRequest(message)) return this.#request(message);
    if (isJSONRPCNotification(message) && message.method === 'notifications/cancelled') {
      // Over HTTP a client cancels a request by closing its connection.
      const { requestId } = (message.params ?? {}) as { requestId?: Id };
      if (requestId !== undefined) this.#open.get(requestId)?.abort.abort();
      return;
    }
    // A notification or an answer, to which nobody expects a reply.
    await this.#remote.send(message).catch((error) => log(failureOf(error, this.#settings)));
  }

  async #request(message: JSONRPCRequest): Promise<void> {
    const { id, method } = message;
    const abort = new AbortController();
    const request: OpenRequest = { method, abort, isStreamed: false };
    this.#open.set(id, request);
    const onAbort = () => this.#open.delete(id);
    abort.signal.addEventListener('abort', onAbort, { once: true });
    try {
      await this.#remote.send(message, {
        requestSignal: abort.signal,
        onRequestStreamEnd: () => this.#fail(id, endedEarly(this.#settings)),
      });
      if (!request.isStreamed) this.#fail(id, unanswered(this.#settings));
    } catch (error) {
      this.#fail(id, failureOf(error, this.#settings));
    }
  }

  async #fetch(input: string | URL, init: RequestInit = {}): Promise<Response> {
    const response = await fetch(input, init);
    const isStream = /^text\/event-stream\b/i.test(response.headers.get('content-type') ?? '');
    if (isStream && response.status === 200 && typeof init.body === 'string') {
      const { id } = JSON.parse(init.body) as { id?: Id };
      const request = id === undefined ? undefined : this.#open.get(id);
      if (request !== undefined) request.isStreamed = true;
    }
    return response;
  }

  /** From the server to the client. */
  #return(message: JSONRPCMessage): void {
    if (isJSONRPCResultResponse(message)) {
      // Older protocol versions name the version in a header of all later requests.
      const { protocolVersion } = message.result as { protocolVersion?: unknown };
      const isHandshake = this.#open.get(message.id)?.method === 'initialize';
      if (isHandshake && typeof protocolVersion === 'string') this.#remote.setProtocolVersion(protocolVersion);
    }
    if ('id' in message && !('method' in message) && message.id !== undefined) this.#open.delete(message.id);
    this.#send(withoutKey(message, this.#settings));
  }

  /** Answers a request that the server did not answer, unless it was cancelled. */
  #fail(id: Id, error: RpcError): void {
    if (!this.#open.delete(id)) return;
    log(error);
    this.#send({ jsonrpc: '2.0', id, error });
  }

  #send(message: JSONRPCMessage): void {
    // A client that is gone needs no message.
    this.#local.send(message).catch(() => undefined);
  }
}

/** Answers every request with the same error, for a bridge that is not configured. */
export async function answerWith(message: string): Promise<void> {
  const local = new StdioServerTransport();
  local.onmessage = (request) => {
    if (isJSONRPCRequest(request))
      local.send({ jsonrpc: '2.0', id: request.id, error: { code: -32_000, message } }).catch(() => undefined);
  };
  await local.start();
}

/** Clients show what a server writes to stderr in its log. */
export function log({ message }: Pick<RpcError, 'message'>): void {
  process.stderr.write(`${message}\n`);
}
