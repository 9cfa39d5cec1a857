import { Readable } from 'node:stream';
import { Agent, type Dispatcher, request } from 'undici';
import type { Clock } from '../../clock.ts';
import { isPinned, PinnedHostError, pinHosts } from '../../egress/pinnedHosts.ts';
import { createLookup, type TargetPolicy } from '../../egress/target.ts';
import { AppError } from '../../errors.ts';
import { version as productVersion } from '../../version.ts';
import { FILE_MS } from '../contract/connector.ts';

/** The Graph API returned an error: the request had no effect. */
export class GraphError extends Error {
  /** Meta's own code; 0 if the answer has none. */
  readonly code: number;
  /** HTTP status. */
  readonly status: number;
  readonly retryAfterSeconds: number | undefined;

  constructor(message: string, { code, status, retryAfterSeconds }: Omit<GraphError, keyof Error>) {
    super(message);
    this.name = 'GraphError';
    this.code = code;
    this.status = status;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** There was no answer: the request may or may not have had an effect. */
export class NoAnswerError extends Error {
  /** False if the request cannot have arrived. */
  readonly wasSent: boolean;

  constructor(cause: unknown) {
    super('The WhatsApp Cloud API did not answer', { cause });
    this.name = 'NoAnswerError';
    this.wasSent = !(cause instanceof Error && 'code' in cause && CONNECT_ERRORS.has(String(cause.code)));
  }
}

const CONNECT_ERRORS = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
]);

type Method = 'GET' | 'POST' | 'DELETE';

export interface GraphSettings {
  /** Such as `https://graph.facebook.com`. */
  readonly baseUrl: URL;
  /** Such as `v26.0`. */
  readonly version: string;
  /** Largest file of a message. */
  readonly maxFileBytes: number;
  readonly targets: TargetPolicy;
}

/** Meta's own hosts. Files come from no other host, and the token goes to no other host. */
const META_HOSTS: readonly string[] = ['.fbsbx.com', '.fbcdn.net', '.facebook.com', '.whatsapp.net'];

const CALL_TIMEOUT_MS = 8000;

/** A client of the Graph API for one token. It never retries: only the caller knows whether that is safe. */
export class Graph {
  readonly #baseUrl: URL;
  readonly #version: string;
  readonly #token: string;
  readonly #clock: Clock;
  readonly #redact: (text: string) => string;
  readonly #agent = new Agent({ connections: 32, headersTimeout: 0, bodyTimeout: 0 });
  readonly #vettedAgent: Agent;
  readonly #ownFiles: Dispatcher;
  readonly #metaFiles: Dispatcher;

  /** @param redact removes secrets from Meta's messages, which may quote the token */
  constructor(settings: GraphSettings, token: string, clock: Clock, redact: (text: string) => string) {
    const { baseUrl, version, maxFileBytes: maxBytes, targets } = settings;
    const limits = { maxBytes, timeoutMs: FILE_MS, clock };
    this.#baseUrl = baseUrl;
    this.#version = version;
    this.#token = token;
    this.#clock = clock;
    this.#redact = redact;
    // The operator's host may be in a private network; hosts that Meta names must not be.
    this.#ownFiles = pinHosts(this.#agent, { hosts: [baseUrl.origin], ...limits });
    this.#vettedAgent = new Agent({ connections: 32, connect: { lookup: createLookup(targets) } });
    this.#metaFiles = pinHosts(this.#vettedAgent, { hosts: META_HOSTS, ...limits });
  }

  /**
   * @param path below the version, such as `{phone number id}/messages`
   * @throws {GraphError} {@link NoAnswerError}
   */
  async call(method: Method, path: string, body?: object): Promise<unknown> {
    const json = body && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
    return readJson(await this.#request(this.#urlOf(path), CALL_TIMEOUT_MS, { method, ...json }));
  }

  /** Posts a body that is not JSON. */
  async post(path: string, body: Readable, headers: Record<string, string>): Promise<unknown> {
    return readJson(await this.#request(this.#urlOf(path), FILE_MS, { method: 'POST', headers, body }));
  }

  /**
   * Opens a URL from an answer. The caller must read or destroy the stream.
   * @throws {GraphError} {@link NoAnswerError}, also while it is read; {@link AppError} `fetch_failed`
   */
  async download(url: string): Promise<Readable> {
    const place = URL.canParse(url) ? new URL(url) : undefined;
    const isOwn = place?.origin === this.#baseUrl.origin;
    if (place === undefined || !(isOwn || isPinned(place, META_HOSTS)))
      throw new AppError('fetch_failed', "WhatsApp returned a file URL that is not on Meta's servers");
    const dispatcher = isOwn ? this.#ownFiles : this.#metaFiles;
    const { body } = await this.#request(url, FILE_MS, { method: 'GET', dispatcher });
    return Readable.from(chunksOf(body), { objectMode: false });
  }

  async close(): Promise<void> {
    await Promise.all([this.#agent.destroy(), this.#vettedAgent.destroy()]);
  }

  #urlOf(path: string): string {
    return `${this.#baseUrl.href.replace(/\/$/, '')}/${this.#version}/${path}`;
  }

  async #request(
    url: string,
    timeoutMs: number,
    {
      headers,
      ...options
    }: { method: Method; headers?: Record<string, string>; body?: string | Readable; dispatcher?: Dispatcher },
  ): Promise<Dispatcher.ResponseData> {
    const deadline = new AbortController();
    const cancel = this.#clock.after(timeoutMs, () => deadline.abort());
    const ownHeaders = { authorization: `Bearer ${this.#token}`, 'user-agent': `Switchboard/${productVersion}` };
    try {
      const response = await request(url, {
        dispatcher: this.#agent,
        ...options,
        headers: { ...ownHeaders, ...headers },
        signal: deadline.signal,
      });
      if (response.statusCode >= 400) throw await errorOf(response, this.#redact);
      response.body.once('close', cancel);
      return response;
    } catch (error) {
      cancel();
      throw error instanceof GraphError ? error : unanswered(error);
    }
  }
}

async function readJson(response: Dispatcher.ResponseData): Promise<unknown> {
  try {
    return await response.body.json();
  } catch (error) {
    throw new NoAnswerError(error);
  }
}

async function* chunksOf(body: Readable): AsyncGenerator<Buffer> {
  try {
    yield* body;
  } catch (error) {
    throw unanswered(error);
  }
}

/** A file that exceeds a limit is not worth another attempt. */
function unanswered(error: unknown): NoAnswerError | AppError {
  if (!(error instanceof PinnedHostError)) return new NoAnswerError(error);
  return new AppError('fetch_failed', `The file could not be fetched from WhatsApp: ${error.message}`, {
    cause: error,
  });
}

async function errorOf(
  { statusCode: status, headers, body }: Dispatcher.ResponseData,
  redact: (text: string) => string,
): Promise<GraphError> {
  const answer = await body.json().catch(() => undefined);
  const { code = 0, message, error_data: data } = (answer as { error?: ErrorFields } | undefined)?.error ?? {};
  const text = typeof data?.details === 'string' ? data.details : message;
  const retryAfter = Number(headers['retry-after']);
  return new GraphError(typeof text === 'string' ? redact(text) : `The WhatsApp Cloud API answered ${status}`, {
    code: typeof code === 'number' ? code : 0,
    status,
    retryAfterSeconds: retryAfter > 0 ? retryAfter : undefined,
  });
}

/** The unchecked fields of an error. */
interface ErrorFields {
  readonly code?: unknown;
  readonly message?: unknown;
  readonly error_data?: { readonly details?: unknown };
}
