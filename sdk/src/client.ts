import { type EventData, type Operations, routes } from './api.ts';
import { ApiError, ConnectionError, errorOf } from './errors.ts';
import type { Progress } from './progress.ts';

export interface ClientOptions {
  /** Address of the server, such as `https://gateway.example.com`. */
  readonly baseUrl: string;
  /** An API key, or a login token. It is sent as `Authorization: Bearer`. */
  readonly credential?: string;
  /** How often a request is repeated that may be repeated; 3 unless set. */
  readonly retries?: number;
  /** How long one try may take, in ms; 60,000 unless set. Of a download until it begins; an upload may take its time. */
  readonly timeoutMs?: number;
  /** Sent with every request. */
  readonly headers?: Readonly<Record<string, string>>;
  /** In place of the global one. */
  readonly fetch?: typeof fetch;
}

export interface CallOptions {
  readonly signal?: AbortSignal;
  /** In place of the one that the client makes for itself. */
  readonly idempotencyKey?: string;
}

export interface UploadOptions extends CallOptions {
  /**
   * Told again and again how far the file has come; from the beginning when it has to be sent again. All of it being
   * sent, the answer is still to come. In a browser nothing is told of a client that has a `fetch` of its own.
   */
  readonly onProgress?: (progress: Progress) => void;
}

type Id = keyof Operations;
type Input<I extends Id> = Operations[I]['input'];
type Output<I extends Id> = Operations[I]['output'];
type IsOptional<T> = Record<never, never> extends T ? true : false;

type Arguments<I extends Id, O = CallOptions> =
  IsOptional<Input<I>> extends true ? [input?: Input<I>, options?: O] : [input: Input<I>, options?: O];

interface Page<T> {
  readonly data: readonly T[];
  readonly nextCursor: string | null;
}

/** Lists can be gone through from end to end: `for await (const message of sb.messages.list.all({ chatId }))`. */
type Paged<I extends Id> =
  Output<I> extends Page<infer T>
    ? Input<I> extends { cursor?: string }
      ? { all(input?: Omit<Input<I>, 'cursor'>, options?: CallOptions): AsyncGenerator<T, void, undefined> }
      : unknown
    : unknown;

type Method<I extends Id> = (typeof routes)[I]['takesContent'] extends true
  ? (content: BodyInit, ...rest: Arguments<I, UploadOptions>) => Promise<Output<I>>
  : ((...args: Arguments<I>) => Promise<Output<I>>) & Paged<I>;

type Camel<S extends string> = S extends `${infer A}_${infer B}` ? `${A}${Capitalize<Camel<B>>}` : S;
type Below<P extends string> = Id extends infer I ? (I extends `${P}${infer R}` ? R : never) : never;
type Heads<R extends string> = R extends `${infer H}.${string}` ? H : R;
/** `api_keys.create` is `apiKeys.create`, `webhooks.endpoints.list` is `webhooks.endpoints.list`. */
type Api<P extends string = ''> = {
  readonly [H in Heads<Below<P>> as Camel<H>]: (`${P}${H}` extends Id ? Method<`${P}${H}`> : unknown) &
    (Below<`${P}${H}.`> extends never ? unknown : Api<`${P}${H}.`>);
};

/** An event of the stream, told apart by `event`. */
export type StreamedEvent = {
  [K in keyof EventData]: { readonly id: string; readonly event: K; readonly data: EventData[K] };
}[keyof EventData];

export interface StreamOptions {
  readonly kinds?: readonly (keyof EventData)[];
  /** The `id` of the last event seen: the stream goes on after it. */
  readonly after?: string;
  /** How long nothing may come, in ms, until the connection counts as dead; 45,000 unless set. A sign of life comes every 15 s. */
  readonly silenceMs?: number;
  readonly signal?: AbortSignal;
}

export type Client = Api & {
  readonly events: {
    /** Events as they happen. It reconnects by itself, and misses none. */
    stream(options?: StreamOptions): AsyncGenerator<StreamedEvent, void, undefined>;
  };
  readonly media: {
    /** The bytes of a file, as a response to read from. */
    content(input: { mediaId: string }, options?: CallOptions): Promise<Response>;
  };
};

const FIRST_WAIT_MS = 250;
const LONGEST_WAIT_MS = 30_000;
/** Who is told to come back later than this is not kept waiting: the error says when. */
const LONGEST_RETRY_AFTER_MS = 60_000;
const SILENCE_MS = 45_000;
const REPEATABLE_STATUS = [429, 502, 503, 504];

/**
 * A client of a Switchboard server: one method per operation, each typed from the server's own table.
 *
 * ```ts
 * const sb = createClient({ baseUrl: 'http://127.0.0.1:8080', credential: process.env.SWITCHBOARD_KEY });
 * await sb.messages.send({ to: '491707654321', message: 'Hello' });
 * for await (const message of sb.messages.list.all({ direction: 'incoming' })) console.log(message.message);
 * ```
 *
 * What can be repeated safely is repeated when the server is busy or cannot be reached: reads, and everything that
 * takes an idempotency key, which the client then makes itself. A method throws an `ApiError` or a `ConnectionError`.
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
  Object.assign(root['events'] as object, { stream: (stream: StreamOptions = {}) => streamEvents(send, stream) });
  Object.assign(root['media'] as object, {
    content: ({ mediaId }: { mediaId: string }, call: CallOptions = {}) =>
      send(
        { method: 'GET', path: `/media/${encodeURIComponent(mediaId)}/content`, isRepeatable: true, ...call },
        async (response) => response,
      ),
  });
  // Its shape is built from the same ids as its type.
  return root as Client;
}

interface Sent extends UploadOptions {
  readonly method: string;
  readonly path: string;
  readonly body?: BodyInit | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  readonly isRepeatable: boolean;
  /** However long it takes. */
  readonly isEndless?: boolean | undefined;
}

/** Sends a request, again where that is safe, and reads the answer: one that breaks off half-way is no answer. */
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
  const base = `${baseUrl.replace(/\/+$/, '')}/api/v1`;
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
        // Node wants it for a stream; the types of browsers do not know it.
        ...(body instanceof ReadableStream && { duplex: 'half' }),
        signal: signal === undefined ? deadline.signal : AbortSignal.any([deadline.signal, signal]),
      } as RequestInit;
      const response =
        onProgress === undefined || body === undefined
          ? await call(url, init)
          : await (await import('./progress.ts')).sendTelling(onProgress, url, { ...init, body }, ownFetch);
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
      if (!request.isRepeatable || !isPassing(error) || tries >= retries || ms > LONGEST_RETRY_AFTER_MS) throw error;
      await wait(ms, request.signal);
    }
  };
}

/** Whether another try may go better. */
function isPassing(error: ApiError | ConnectionError): boolean {
  if (error instanceof ConnectionError) return true;
  // The try before, whose answer was lost, is still being worked on.
  if (error.code === 'idempotency_in_flight') return true;
  // A 502 that the server itself means: the network has refused the message, and would again.
  return REPEATABLE_STATUS.includes(error.status) && error.code !== 'send_failed';
}

/** As long as the server says; otherwise twice as long each time, spread so that clients do not come back together. */
function waitMs(error: ApiError | ConnectionError, tries: number): number {
  if (error instanceof ApiError && error.retryAfterSeconds !== undefined) return error.retryAfterSeconds * 1000;
  return backOffMs(tries);
}

function backOffMs(tries: number): number {
  return Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** tries) * (0.5 + Math.random() / 2);
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
      return encodeURIComponent(String(value));
    });
    const inQuery = method === 'GET' || method === 'DELETE' || takesContent;
    const query = inQuery ? queryOf(rest) : '';
    const body = content ?? (inQuery ? undefined : JSON.stringify(Object.fromEntries(rest)));
    // One key for all tries of a call: however often it is sent, it is done once.
    const key = options.idempotencyKey ?? ('idempotencyKey' in input ? undefined : newKey());
    const request = {
      ...options,
      method,
      path: filled + query,
      body,
      headers: {
        ...(body !== undefined && !takesContent && { 'content-type': 'application/json' }),
        ...(idempotent && key !== undefined && { 'idempotency-key': key }),
      },
      // The same file again is the file that is there already; a stream is gone when it was read once.
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

/** Not `randomUUID`, which a page that came by plain http does not have. */
function newKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

function camel(name: string): string {
  return name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
}

async function* streamEvents(
  send: Send,
  { kinds, after, silenceMs = SILENCE_MS, signal }: StreamOptions,
): AsyncGenerator<StreamedEvent> {
  let last = after;
  for (let failures = 0; ; ) {
    signal?.throwIfAborted();
    const connection = new AbortController();
    let pause: number | undefined;
    try {
      const request = {
        method: 'GET',
        path: `/events/stream${kinds === undefined ? '' : `?kinds=${kinds.join(',')}`}`,
        headers: { accept: 'text/event-stream', ...(last !== undefined && { 'last-event-id': last }) },
        isRepeatable: false, // it has its own way to come back
        isEndless: true,
        signal: signal === undefined ? connection.signal : AbortSignal.any([connection.signal, signal]),
      };
      const response = await unlessSilent(
        send(request, async (answer) => answer),
        silenceMs,
        connection,
      );
      for await (const { id, data } of readEvents(response, silenceMs, connection)) {
        failures = 0;
        // The first has no data: it says where the stream begins.
        last = id;
        if (data !== undefined) yield { id, ...JSON.parse(data) };
      }
    } catch (error) {
      signal?.throwIfAborted();
      // A refusal stays one: only what broke, or is busy, is tried again.
      if (error instanceof ApiError && !isPassing(error)) throw error;
      if (error instanceof ApiError && error.retryAfterSeconds !== undefined) pause = error.retryAfterSeconds * 1000;
    } finally {
      connection.abort();
    }
    await wait(pause ?? backOffMs(failures++), signal);
  }
}

/** The events of a stream (https://html.spec.whatwg.org/multipage/server-sent-events.html). */
async function* readEvents(
  { body }: Response,
  silenceMs: number,
  connection: AbortController,
): AsyncGenerator<{ id: string; data: string | undefined }> {
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
      if (id !== undefined) yield { id, data: fields.get('data') };
    }
  }
}

/** Waits for something that comes in time: a connection can be dead without either side having been told. */
async function unlessSilent<T>(coming: Promise<T>, silenceMs: number, connection: AbortController): Promise<T> {
  const timer = setTimeout(() => connection.abort(), silenceMs);
  try {
    return await coming;
  } finally {
    clearTimeout(timer);
  }
}
