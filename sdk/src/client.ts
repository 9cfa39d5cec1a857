import { type EventData, type Operations, routes } from './api.ts';
import { ApiError, ConnectionError, errorOf } from './errors.ts';

export interface ClientOptions {
  /** Address of the server, such as `https://gateway.example.com`. */
  readonly baseUrl: string;
  /** An API key, or a login token. It is sent as `Authorization: Bearer`. */
  readonly credential?: string;
  /** How often a request is repeated that may be repeated; 3 unless set. */
  readonly retries?: number;
  /** How long one try may take, in ms; 60,000 unless set. */
  readonly timeoutMs?: number;
  /** In place of the global one. */
  readonly fetch?: typeof fetch;
}

export interface CallOptions {
  readonly signal?: AbortSignal;
  /** In place of the one that the client makes for itself. */
  readonly idempotencyKey?: string;
}

type Id = keyof Operations;
type Input<I extends Id> = Operations[I]['input'];
type Output<I extends Id> = Operations[I]['output'];
type IsOptional<T> = Record<never, never> extends T ? true : false;

type Arguments<I extends Id> =
  IsOptional<Input<I>> extends true
    ? [input?: Input<I>, options?: CallOptions]
    : [input: Input<I>, options?: CallOptions];

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
  ? (content: BodyInit, ...rest: Arguments<I>) => Promise<Output<I>>
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
      send({ method: 'GET', path: `/media/${encodeURIComponent(mediaId)}/content`, isRepeatable: true, ...call }),
  });
  // Its shape is built from the same ids as its type.
  return root as Client;
}

interface Sent extends CallOptions {
  readonly method: string;
  readonly path: string;
  readonly body?: BodyInit | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  readonly isRepeatable: boolean;
  /** No deadline: it is open as long as it is wanted. */
  readonly isEndless?: boolean;
}

type Send = (request: Sent) => Promise<Response>;

function createSender({ baseUrl, credential, retries = 3, timeoutMs = 60_000, fetch: ownFetch }: ClientOptions): Send {
  const base = `${baseUrl.replace(/\/+$/, '')}/api/v1`;
  const call = ownFetch ?? fetch;

  return async ({ method, path, body, headers = {}, isRepeatable, isEndless, signal }) => {
    for (let tries = 0; ; tries++) {
      const deadline = isEndless ? [] : [AbortSignal.timeout(timeoutMs)];
      let error: ApiError | ConnectionError;
      try {
        const response = await call(base + path, {
          method,
          headers: { ...(credential !== undefined && { authorization: `Bearer ${credential}` }), ...headers },
          ...(body !== undefined && { body }),
          signal: AbortSignal.any([...deadline, ...(signal === undefined ? [] : [signal])]),
        });
        if (response.ok) return response;
        error = await errorOf(response);
      } catch (cause) {
        signal?.throwIfAborted();
        error = new ConnectionError(`${method} ${base}${path} got no answer`, { cause });
      }
      const isWorthIt = error instanceof ConnectionError || REPEATABLE_STATUS.includes(error.status);
      if (!isRepeatable || !isWorthIt || tries >= retries) throw error;
      await wait(waitMs(error, tries), signal);
    }
  };
}

/** As long as the server says; otherwise twice as long each time, spread so that clients do not come back together. */
function waitMs(error: ApiError | ConnectionError, tries: number): number {
  if (error instanceof ApiError && error.retryAfterSeconds !== undefined) return error.retryAfterSeconds * 1000;
  return Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** tries) * (0.5 + Math.random() / 2);
}

function wait(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
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
  const { method, path, idempotent, takesContent } = routes[id];
  const isRead = method === 'GET';

  async function call(input: Fields = {}, options: CallOptions = {}, content?: BodyInit): Promise<unknown> {
    const rest = new Map(Object.entries(input).filter(([, value]) => value !== undefined));
    const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => {
      const value = rest.get(name);
      rest.delete(name);
      return encodeURIComponent(String(value));
    });
    const inQuery = isRead || method === 'DELETE' || takesContent;
    const query = inQuery ? queryOf(rest) : '';
    const body = content ?? (inQuery ? undefined : JSON.stringify(Object.fromEntries(rest)));
    const response = await send({
      ...options,
      method,
      path: filled + query,
      body,
      headers: {
        ...(body !== undefined && !takesContent && { 'content-type': 'application/json' }),
        // One key for all tries of a call: however often it is sent, it is done once.
        ...(idempotent && { 'idempotency-key': options.idempotencyKey ?? crypto.randomUUID() }),
      },
      isRepeatable: isRead || idempotent || method === 'PUT',
    });
    return response.json();
  }

  if (takesContent) return (content: BodyInit, input?: Fields, options?: CallOptions) => call(input, options, content);
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

function camel(name: string): string {
  return name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
}

async function* streamEvents(send: Send, { kinds, after, signal }: StreamOptions): AsyncGenerator<StreamedEvent> {
  let last = after;
  for (let failures = 0; ; ) {
    signal?.throwIfAborted();
    try {
      const response = await send({
        method: 'GET',
        path: `/events/stream${kinds === undefined ? '' : `?kinds=${kinds.join(',')}`}`,
        headers: { accept: 'text/event-stream', ...(last !== undefined && { 'last-event-id': last }) },
        isRepeatable: true,
        isEndless: true,
        ...(signal && { signal }),
      });
      failures = 0;
      for await (const { id, data } of readEvents(response)) {
        last = id;
        yield { id, ...JSON.parse(data) };
      }
    } catch (error) {
      signal?.throwIfAborted();
      // A refusal stays one: only what broke is tried again.
      if (error instanceof ApiError) throw error;
    }
    await wait(Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** failures++), signal);
  }
}

/** The events of a stream (https://html.spec.whatwg.org/multipage/server-sent-events.html). */
async function* readEvents({ body }: Response): AsyncGenerator<{ id: string; data: string }> {
  if (body === null) return;
  let buffer = '';
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      buffer += value;
      const blocks = buffer.split('\n\n');
      buffer = blocks.pop() ?? '';
      for (const block of blocks) {
        const field = (name: string) =>
          block
            .split('\n')
            .find((line) => line.startsWith(`${name}: `))
            ?.slice(name.length + 2);
        const [id, data] = [field('id'), field('data')];
        if (id !== undefined && data !== undefined) yield { id, data };
      }
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}
