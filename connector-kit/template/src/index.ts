import { timingSafeEqual } from 'node:crypto';
import {
  AppError,
  type CallbackAnswer,
  type CallbackRequest,
  type Connection,
  type Connector,
  type OutgoingMessage,
  type SessionHost,
} from '@switchboard/connector-kit';

const TIMEOUT_MS = 10_000;
const RETRY_MS = 5_000;

/** Sends messages to pagers behind an HTTP gateway. */
export function createConnector(): Connector {
  return {
    name: 'pager',
    options: {
      type: 'object',
      properties: {
        gateway: { type: 'string', description: 'Address of the gateway.' },
        secret: {
          type: 'string',
          minLength: 8,
          writeOnly: true,
          description: 'Shared secret of the gateway and this server.',
        },
      },
      required: ['gateway', 'secret'],
      additionalProperties: false,
    },
    messageTypes: ['text'],
    takesCallbacks: true,
    open: async (host) => new PagerConnection(host),
  };
}

class PagerConnection implements Connection {
  readonly attempt: Promise<void>;
  readonly #host: SessionHost;
  readonly #gateway: string;
  readonly #authorization: string;
  readonly #closing = new AbortController();
  #cancelRetry = () => {};

  constructor(host: SessionHost) {
    this.#host = host;
    this.#gateway = String(host.options['gateway']);
    this.#authorization = `Bearer ${host.options['secret']}`;
    this.attempt = this.#connect();
  }

  async #connect(): Promise<void> {
    const { callbackUrl, clock, log } = this.#host;
    try {
      const { number } = await this.#call('/hello', { callbackUrl: callbackUrl?.href ?? null });
      await this.#host.onEvent({ type: 'connected', phoneNumber: String(number) });
    } catch (error) {
      if (this.#closing.signal.aborted) return;
      log.warn({ err: error }, 'failed to connect to the gateway; trying again');
      this.#cancelRetry = clock.after(RETRY_MS, () => void this.#connect());
    }
  }

  async send({ networkId, chat, content }: OutgoingMessage) {
    // The gateway pages once per id, so a repeat after a crash is harmless.
    await this.#call('/pages', { id: networkId, to: chat.id, text: content.text });
    return { timestamp: this.#host.clock.now() };
  }

  async takeCallback({ headers, body }: CallbackRequest): Promise<CallbackAnswer> {
    if (!isSame(headers['authorization'] ?? '', this.#authorization)) return { status: 403 };
    const update = JSON.parse(body.toString());
    const timestamp = this.#host.clock.now();
    if (update.type === 'shown') {
      await this.#host.onEvent({ type: 'receipt', networkIds: [update.id], status: 'delivered', timestamp });
    } else {
      await this.#host.onEvent({
        type: 'message',
        networkId: update.id,
        chat: { type: 'direct', id: update.from },
        from: update.from,
        content: { type: 'text', text: update.text },
        timestamp,
        replyTo: update.answers ?? null,
      });
    }
    // The event is stored, so the gateway may forget it.
    return { status: 204 };
  }

  async close(): Promise<void> {
    this.#cancelRetry();
    this.#closing.abort();
  }

  async logout(): Promise<void> {
    await this.close();
  }

  async #call(path: string, body: object): Promise<Record<string, unknown>> {
    const { signal } = this.#closing;
    if (signal.aborted) throw new AppError('session_not_connected');
    try {
      const response = await fetch(this.#gateway + path, {
        method: 'POST',
        headers: { authorization: this.#authorization, 'content-type': 'application/json' },
        body: JSON.stringify(body),
        signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
      });
      if (response.status === 404) throw new AppError('recipient_not_on_network');
      if (!response.ok) throw new AppError('send_failed', `The gateway answered ${response.status}`);
      return (await response.json()) as Record<string, unknown>;
    } catch (cause) {
      if (signal.aborted) throw new AppError('session_not_connected');
      throw cause instanceof AppError ? cause : new AppError('send_failed', 'The gateway does not answer', { cause });
    }
  }
}

function isSame(given: string, expected: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}
