import { type Operations, routes } from './api.ts';
import { ApiError, ArgumentError, ConnectionError, errorOf } from './errors.ts';
import type { EventKind, KnownEvent } from './events.ts';
import type { Progress } from './progress.ts';
import { backOffMs, isBreak, isTransient, waitMs } from './retries.ts';

export interface ClientOptions {
  /** Address of the server, such as `https://gateway.example.com`; `/api/v1` may follow. */
  readonly baseUrl: string;
  /** An API key, or a login token. It is sent as `Authorization: Bearer`. */
  readonly credential?: string | undefined;
  /** Maximum number of retries of a request that is safe to retry. Default 3. */
  readonly retries?: number | undefined;
  /** Timeout of one try in milliseconds. Default 60,000. Covers a download until it begins; uploads have no timeout. */
  readonly timeoutMs?: number | undefined;
  /** Sent with every request. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Replaces the global `fetch`. */
  readonly fetch?: typeof fetch | undefined;
}

export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
  /** Replaces the key that the client generates. */
  readonly idempotencyKey?: string | undefined;
}

export interface UploadOptions extends CallOptions {
  /**
   * Called repeatedly with the progress of the upload, from the start again if it is retried. The answer follows after
   * the last byte. In a browser, it is not called if the client has its own `fetch`.
   */
  readonly onProgress?: ((progress: Progress) => void) | undefined;
}

type Id = keyof Operations;
type Input<I extends Id> = Operations[I]['input'];
type Output<I extends Id> = Operations[I]['output'];
type IsOptional<T> = Record<never, never> extends T ? true : false;

type Arguments<I extends Id, O = CallOptions> =
  IsOptional<Input<I>> extends true ? [input?: Input<I>, options?: O] : [input: Input<I>, options?: O];

/** Everything that `fetch` can send as a body. */
export type UploadContent = NonNullable<RequestInit['body']>;

interface Page<T> {
  readonly data: readonly T[];
  readonly nextCursor: string | null;
}

/** Iterates over all pages of a list: `for await (const message of sb.messages.list.all({ chatId }))`. */
type Paged<I extends Id> =
  Output<I> extends Page<infer T>
    ? Input<I> extends { cursor?: string | undefined }
      ? { all(input?: Omit<Input<I>, 'cursor'>, options?: CallOptions): AsyncGenerator<T, void, undefined> }
      : unknown
    : unknown;

type Method<I extends Id> = (typeof routes)[I]['takesContent'] extends true
  ? (content: UploadContent, ...rest: Arguments<I, UploadOptions>) => Promise<Output<I>>
  : ((...args: Arguments<I>) => Promise<Output<I>>) & Paged<I>;

type Camel<S extends string> = S extends `${infer A}_${infer B}` ? `${A}${Capitalize<Camel<B>>}` : S;
type Below<P extends string> = Id extends infer I ? (I extends `${P}${infer R}` ? R : never) : never;
type Heads<R extends string> = R extends `${infer H}.${string}` ? H : R;
/** `api_keys.create` is `apiKeys.create`, `webhooks.endpoints.list` is `webhooks.endpoints.list`. */
type Api<P extends string = ''> = {
  readonly [H in Heads<Below<P>> as Camel<H>]: (`${P}${H}` extends Id ? Method<`${P}${H}`> : unknown) &
    (Below<`${P}${H}.`> extends never ? unknown : Api<`${P}${H}.`>);
};

/** An event of the stream, discriminated by `event`. */
export type StreamedEvent = KnownEvent & { readonly id: string };

/** All event types, or those that begin alike: `message.*`. */
export type EventPattern = '*' | `${string}.*`;

export interface StreamOptions {
  /** By default the first eight types of the list of events. */
  readonly events?: readonly (EventKind | EventPattern)[] | undefined;
  /** The `id` of the last event that you received. The stream resumes after it. */
  readonly after?: string | undefined;
  /** Reconnects after this many milliseconds without data. Default 45,000; the server sends a heartbeat every 15 s. */
  readonly silenceMs?: number | undefined;
  /**
   * Called if the server was restored from a backup or its database failed over since the last event that you received.
   * Events that you have seen may be gone, and events from up to a minute before the restore can repeat. The stream
   * continues after `cursor`, which you can pass as `after`.
   */
  readonly onTruncated?: ((cursor: string) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

export type Client = Api & {
  readonly events: {
    /** Streams events as they happen. Reconnects without losing any. Either `signal` ends it. */
    stream(options?: StreamOptions, call?: Pick<CallOptions, 'signal'>): AsyncGenerator<StreamedEvent, void, undefined>;
  };
  readonly media: {
    /** Downloads a file. Read its bytes from the response. */
    content(input: { mediaId: string }, options?: CallOptions): Promise<Response>;
  };
};

/** With a longer `Retry-After`, the error is thrown at once. */
const MAX_RETRY_AFTER_MS = 60_000;
const SILENCE_MS = 45_000;

/**
 * Creates a client of a Switchboard server, with one typed method per operation.
 *
 * ```ts
 * const sb = createClient({ baseUrl: 'http://127.0.0.1:8080', credential: process.env.SWITCHBOARD_KEY });
 * await sb.messages.send({ to: '491707654321', message: 'Hello' });
 * for await (const message of sb.messages.list.all({ direction: 'incoming' })) console.log(message.message);
 * ```
 *
 * Safe requests are retried if the server is busy or cannot be reached: reads, and operations that accept an
 * idempotency key, which the client generates. A method throws an `ApiError` or a `ConnectionError`.
 */
export function createClient(options: ClientOptions): Client {
  const send = createSender(options);
  const root: Record<string, unknown> = {};
  for (const id of Object.keys(routes) as Id[]) {
    const names = id.split('.').map(camel);
    const name = names.pop() ?? id;
    const parent = names.reduce<Record<string, unknown>>((node, part) => {
      node[part] ??= {};
      return node[part] as Record<string, unknown>;
    }, root);
    parent[name] = methodOf(id, send);
  }
  Object.assign(root['events'] as object, {
    stream: (stream: StreamOptions = {}, { signal }: CallOptions = {}) =>
      streamEvents(send, { ...stream, signal: eitherOf(stream.signal, signal) }),
  });
  Object.assign(root['media'] as object, {
    content: async ({ mediaId }: { mediaId: string }, call: CallOptions = {}) =>
      send(
        { method: 'GET', path: `/media/${pathPart('mediaId', mediaId)}/content`, isRepeatable: true, ...call },
        async (response) => response,
      ),
  });
  // Its shape is built from the same ids as its type.
  return root as Client;
}

/**
 * Encodes an id for a path.
 * @throws {ArgumentError} for an id that would lead to another route, because `fetch` resolves these parts of a path
 */
function pathPart(name: string, value: unknown): string {
  if (['', '.', '..'].includes(String(value))) throw new ArgumentError(`\`${name}\` is not an id: "${value}"`);
  return encodeURIComponent(String(value));
}

function eitherOf(one: AbortSignal | undefined, other: AbortSignal | undefined): AbortSignal | undefined {
  return one !== undefined && other !== undefined ? AbortSignal.any([one, other]) : (one ?? other);
}

/** @throws {ArgumentError} */
function acceptedBaseUrl(baseUrl: string): string {
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : undefined;
  if (url === undefined || !['http:', 'https:'].includes(url.protocol))
    throw new ArgumentError(
      `\`baseUrl\` is the http or https address of the server, such as http://127.0.0.1:8080, not "${baseUrl}"`,
    );
  return `${url.origin}${url.pathname}`.replace(/(\/api\/v1)?\/*$/, '');
}

interface Sent extends UploadOptions {
  readonly method: string;
  readonly path: string;
  readonly body?: BodyInit | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  readonly isRepeatable: boolean;
  /** No timeout. */
  readonly isEndless?: boolean | undefined;
}

/** Sends a request, retries it if that is safe, and reads the complete answer. */
type Send = <T>(request: Sent, read: (response: Response) => Promise<T>) => Promise<T>;

type Outcome<T> =
  | { readonly ok: true; readonly answer: T }
  | { readonly ok: false; readonly error: ApiError | ConnectionError };

function createSender({
  baseUrl,
  credential,
  retries = 3,
  timeoutMs = 60_000,
  headers: always,
  fetch: ownFetch,
}: ClientOptions): Send {
  const base = `${acceptedBaseUrl(baseUrl)}/api/v1`;
  const call = ownFetch ?? fetch;

  async function attempt<T>(
    { method, path, body, headers, isEndless, signal, onProgress }: Sent,
    read: (response: Response) => Promise<T>,
  ): Promise<Outcome<T>> {
    const deadline = new AbortController();
    const timer = isEndless ? undefined : setTimeout(() => deadline.abort(), timeoutMs);
    try {
      const url = base + path;
      const init = {
        method,
        headers: { ...always, ...(credential !== undefined && { authorization: `Bearer ${credential}` }), ...headers },
        ...(body !== undefined && { body }),
        // Node requires `duplex` for a stream; browser types lack it.
        ...(body instanceof ReadableStream && { duplex: 'half' }),
        signal: signal === undefined ? deadline.signal : AbortSignal.any([deadline.signal, signal]),
      } as RequestInit;
      const response =
        onProgress === undefined || body === undefined
          ? await call(url, init)
          : await (await import('./progress.ts')).sendWithProgress(onProgress, url, { ...init, body }, ownFetch);
      if (response.ok) return { ok: true, answer: await read(response) };
      return { ok: false, error: await errorOf(response) };
    } catch (cause) {
      signal?.throwIfAborted();
      const why = deadline.signal.aborted ? `within ${timeoutMs} ms` : 'or only a part of it';
      return { ok: false, error: new ConnectionError(`${method} ${base}${path} got no answer ${why}`, { cause }) };
    } finally {
      clearTimeout(timer);
    }
  }

  return async (request, read) => {
    for (let tries = 0; ; tries++) {
      const outcome = await attempt(request, read);
      if (outcome.ok) return outcome.answer;
      const { error } = outcome;
      const ms = waitMs(error, tries);
      if (!request.isRepeatable || !isTransient(error) || tries >= retries || ms > MAX_RETRY_AFTER_MS) throw error;
      await wait(ms, request.signal);
    }
  };
}

function wait(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted(); // which rejects
    const timer = setTimeout(done, ms);
    function done() {
      signal?.removeEventListener('abort', abort);
      resolve();
    }
    function abort() {
      clearTimeout(timer);
      reject(signal?.reason);
    }
    signal?.addEventListener('abort', abort, { once: true });
  });
}

type Fields = Readonly<Record<string, unknown>>;

function methodOf(id: Id, send: Send) {
  const { method, path, isRead, idempotent, takesContent } = routes[id];

  async function call(input: Fields = {}, options: UploadOptions = {}, content?: BodyInit): Promise<unknown> {
    const rest = new Map(Object.entries(input).filter(([, value]) => value !== undefined));
    const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => {
      const value = rest.get(name);
      rest.delete(name);
      return pathPart(name, value);
    });
    const inQuery = method === 'GET' || method === 'DELETE' || takesContent;
    const query = inQuery ? queryOf(rest) : '';
    const body = content ?? (inQuery ? undefined : JSON.stringify(Object.fromEntries(rest)));
    // One key for all tries of a call, so that the operation runs once.
    const key = options.idempotencyKey ?? (input['idempotencyKey'] === undefined ? newKey() : undefined);
    const request = {
      ...options,
      method,
      path: filled + query,
      body,
      headers: {
        ...(body !== undefined && !takesContent && { 'content-type': 'application/json' }),
        ...(idempotent && key !== undefined && { 'idempotency-key': key }),
      },
      // Uploading the same file again stores it once; a stream can be read only once.
      isRepeatable: isRead || idempotent || (takesContent && !(content instanceof ReadableStream)),
      isEndless: takesContent,
    };
    return send(request, (response) => response.json());
  }

  if (takesContent)
    return (content: BodyInit, input?: Fields, options?: UploadOptions) => call(input, options, content);
  return Object.assign((input?: Fields, options?: CallOptions) => call(input, options), {
    async *all(input: Fields = {}, options: CallOptions = {}) {
      let cursor: string | null | undefined;
      do {
        const page = (await call({ ...input, ...(cursor && { cursor }) }, options)) as Page<unknown>;
        yield* page.data;
        cursor = page.nextCursor;
      } while (cursor !== null);
    },
  });
}

function queryOf(fields: ReadonlyMap<string, unknown>): string {
  const query = new URLSearchParams([...fields].map(([name, value]): [string, string] => [name, String(value)]));
  return query.size === 0 ? '' : `?${query}`;
}

/** Not `randomUUID`, which pages served over plain http lack. */
function newKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

function camel(name: string): string {
  return name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
}

async function* streamEvents(
  send: Send,
  { onTruncated, ...options }: StreamOptions,
): AsyncGenerator<StreamedEvent, void, undefined> {
  for await (const { id, type, content } of streamFrames(send, options)) {
    // Called here, where an error of the callback ends the stream instead of counting as a break of the connection.
    if (type === 'truncated') onTruncated?.(id);
    else yield { id, ...content };
  }
}

interface Frame {
  /** Cursor from which the stream resumes. */
  readonly id: string;
  readonly type: string | undefined;
}

/** Yields the frames that have data, and reconnects after a break. */
async function* streamFrames(
  send: Send,
  { events, after, silenceMs = SILENCE_MS, signal }: StreamOptions,
): AsyncGenerator<Frame & { readonly content: KnownEvent }, void, undefined> {
  let last = after;
  const query = events === undefined ? '' : `?events=${events.join(',')}`;
  for (let failures = 0; ; ) {
    signal?.throwIfAborted();
    const connection = new AbortController();
    let pause: number | undefined;
    try {
      const request = {
        method: 'GET',
        path: `/events/stream${query}`,
        headers: { accept: 'text/event-stream', ...(last !== undefined && { 'last-event-id': last }) },
        isRepeatable: false, // the stream reconnects by itself
        isEndless: true,
        signal: signal === undefined ? connection.signal : AbortSignal.any([connection.signal, signal]),
      };
      const response = await unlessSilent(
        send(request, async (answer) => answer),
        silenceMs,
        connection,
      );
      for await (const { id, type, data } of readFrames(response, silenceMs, connection)) {
        failures = 0;
        // The first frame has no data unless it reports truncation: its id marks the start of the stream.
        last = id;
        if (data !== undefined) yield { id, type, content: JSON.parse(data) };
      }
    } catch (error) {
      signal?.throwIfAborted();
      if (error instanceof ApiError && !isBreak(error)) throw error;
      if (error instanceof ApiError && error.retryAfterSeconds !== undefined) pause = error.retryAfterSeconds * 1000;
    } finally {
      connection.abort();
    }
    await wait(pause ?? backOffMs(failures++), signal);
  }
}

/** Parses a stream of events (https://html.spec.whatwg.org/multipage/server-sent-events.html). */
async function* readFrames(
  { body }: Response,
  silenceMs: number,
  connection: AbortController,
): AsyncGenerator<Frame & { readonly data: string | undefined }> {
  if (body === null) return;
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  for (;;) {
    const { done, value } = await unlessSilent(reader.read(), silenceMs, connection);
    if (done) return;
    rest += value;
    const blocks = rest.split('\n\n');
    rest = blocks.pop() ?? '';
    for (const block of blocks) {
      const fields = new Map(
        block.split('\n').map((line): [string, string] => {
          const [, name = '', text = ''] = /^(.*?): ?(.*)$/.exec(line) ?? [];
          return [name, text];
        }),
      );
      const id = fields.get('id');
      if (id !== undefined) yield { id, type: fields.get('event'), data: fields.get('data') };
    }
  }
}

/** Fails if nothing arrives in time: a connection can be dead without either side noticing. */
async function unlessSilent<T>(coming: Promise<T>, silenceMs: number, connection: AbortController): Promise<T> {
  const timer = setTimeout(() => connection.abort(), silenceMs);
  try {
    return await coming;
  } finally {
    clearTimeout(timer);
  }
}
