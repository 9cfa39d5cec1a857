import { Readable } from 'node:stream';
import { Agent, type Dispatcher, request } from 'undici';
import type { Clock } from '../../clock.ts';
import { AppError } from '../../errors.ts';
import { isPinned, PinnedHostError, pinHosts } from '../../pinnedHosts.ts';
import { createLookup, type TargetPolicy } from '../../target.ts';
import { version as productVersion } from '../../version.ts';

/** The Graph API answered with an error: what was asked for was not done. */
export class GraphError extends Error {
  /** Meta's own code, by which to decide; 0 when the answer has none. */
  readonly code: number;
  /** Of HTTP. */
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

/** There was no answer: what was asked for may have been done, or not. */
export class NoAnswerError extends Error {
  /** False when not even the request can have got there. */
  readonly wasSent: boolean;

  constructor(cause: unknown) {
    super('The WhatsApp Cloud API did not answer', { cause });
    this.name = 'NoAnswerError';
    this.wasSent = !(cause instanceof Error && 'code' in cause && BEFORE_SENDING.has(String(cause.code)));
  }
}

const BEFORE_SENDING = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
]);

type Method = 'GET' | 'POST' | 'DELETE';

export interface Graph {
  /**
   * @param path below the version, such as `{phone number id}/messages`
   * @returns the JSON of the answer
   * @throws {GraphError} {@link NoAnswerError}
   */
  call(method: Method, path: string, body?: object): Promise<unknown>;
  /** Posts what is no JSON. */
  post(path: string, body: Readable, headers: Readonly<Record<string, string>>): Promise<unknown>;
  /**
   * Opens what is behind a URL that an answer gave. Whoever asks must read or destroy it.
   * @throws {GraphError} {@link NoAnswerError}, which may also come of reading it; {@link AppError} `fetch_failed`
   */
  download(url: string): Promise<Readable>;
  close(): Promise<void>;
}

export interface GraphSettings {
  /** Such as `https://graph.facebook.com`. */
  readonly baseUrl: URL;
  /** Such as `v25.0`. */
  readonly version: string;
  /** Largest file of a message. */
  readonly maxFileBytes: number;
  readonly targets: TargetPolicy;
}

/** Meta's own hosts: files, and the token that they are asked for with, come from and go to no other. */
const META_HOSTS: readonly string[] = ['.fbsbx.com', '.fbcdn.net', '.facebook.com', '.whatsapp.net'];

const CALL_TIMEOUT_MS = 8000;
/** For a file: 100 MB at some 3 MBit/s. */
const FILE_TIMEOUT_MS = 5 * 60_000;

/**
 * The Graph API for one token. It repeats nothing: whether that does harm is for the caller to know.
 * @param redact takes secrets out of Meta's words, which may quote the token
 */
export function createGraph(
  { baseUrl, version, maxFileBytes: maxBytes, targets }: GraphSettings,
  token: string,
  clock: Clock,
  redact: (text: string) => string,
): Graph {
  const agent = new Agent({ connections: 32, headersTimeout: 0, bodyTimeout: 0 });
  const limits = { maxBytes, timeoutMs: FILE_TIMEOUT_MS, clock };
  // The operator's host may be in a private network; what Meta names may not lead there.
  const ownFiles = pinHosts(agent, { hosts: [baseUrl.origin], ...limits });
  const vetted = new Agent({ connections: 32, connect: { lookup: createLookup(targets) } });
  const metaFiles = pinHosts(vetted, { hosts: META_HOSTS, ...limits });
  const headers = { authorization: `Bearer ${token}`, 'user-agent': `Switchboard/${productVersion}` };
  const urlOf = (path: string) => `${baseUrl.href.replace(/\/$/, '')}/${version}/${path}`;

  async function ask(
    url: string,
    timeoutMs: number,
    options: {
      method: Method;
      headers?: Record<string, string>;
      body?: string | Readable;
      dispatcher?: Dispatcher;
    },
  ): Promise<Dispatcher.ResponseData> {
    const deadline = new AbortController();
    const cancel = clock.after(timeoutMs, () => deadline.abort());
    try {
      const response = await request(url, {
        method: options.method,
        headers: { ...headers, ...options.headers },
        body: options.body ?? null,
        dispatcher: options.dispatcher ?? agent,
        signal: deadline.signal,
      });
      if (response.statusCode >= 400) throw await errorOf(response, redact);
      response.body.once('close', cancel);
      return response;
    } catch (error) {
      cancel();
      throw error instanceof GraphError ? error : unanswered(error);
    }
  }

  async function readJson(response: Dispatcher.ResponseData): Promise<unknown> {
    try {
      return await response.body.json();
    } catch (error) {
      throw new NoAnswerError(error);
    }
  }

  return {
    async call(method, path, body) {
      const json = body && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
      return readJson(await ask(urlOf(path), CALL_TIMEOUT_MS, { method, ...json }));
    },
    post: async (path, body, more) =>
      readJson(await ask(urlOf(path), FILE_TIMEOUT_MS, { method: 'POST', headers: more, body })),
    async download(url) {
      const place = URL.canParse(url) ? new URL(url) : undefined;
      const isOwn = place?.origin === baseUrl.origin;
      if (place === undefined || !(isOwn || isPinned(place, META_HOSTS)))
        throw new AppError('fetch_failed', 'WhatsApp returned a file URL outside of the servers of Meta');
      const dispatcher = isOwn ? ownFiles : metaFiles;
      const { body } = await ask(url, FILE_TIMEOUT_MS, { method: 'GET', dispatcher });
      return Readable.from(chunksOf(body), { objectMode: false });
    },
    async close() {
      await Promise.all([agent.destroy(), vetted.destroy()]);
    },
  };
}

async function* chunksOf(body: Readable): AsyncGenerator<Buffer> {
  try {
    yield* body;
  } catch (error) {
    throw unanswered(error);
  }
}

/** A file that breaks a limit does so again. */
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
  const told = await body.json().catch(() => undefined);
  const { code = 0, message, error_data: data } = (told as { error?: Told } | undefined)?.error ?? {};
  const words = typeof data?.details === 'string' ? data.details : message;
  const retryAfter = Number(headers['retry-after']);
  return new GraphError(typeof words === 'string' ? redact(words) : `The WhatsApp Cloud API answered ${status}`, {
    code: typeof code === 'number' ? code : 0,
    status,
    retryAfterSeconds: retryAfter > 0 ? retryAfter : undefined,
  });
}

/** What an error says of itself, unchecked. */
interface Told {
  readonly code?: unknown;
  readonly message?: unknown;
  readonly error_data?: { readonly details?: unknown };
}
