import {
  type IDataObject,
  type IExecuteFunctions,
  type IHookFunctions,
  type IHttpRequestMethods,
  type IHttpRequestOptions,
  type ILoadOptionsFunctions,
  type INode,
  type IWebhookFunctions,
  type JsonObject,
  NodeApiError,
  sleep,
} from 'n8n-workflow';

export const CREDENTIAL = 'switchboardApi';

/** A context of n8n that can call the API. */
export type Caller = IExecuteFunctions | IHookFunctions | IWebhookFunctions | ILoadOptionsFunctions;

export interface ApiRequest {
  readonly method?: IHttpRequestMethods;
  /** Path below `/api/v1`, with encoded segments (`path`). */
  readonly path: string;
  readonly query?: IDataObject;
  readonly body?: IHttpRequestOptions['body'];
  /** Opens the body for each attempt, because a stream can only be sent once. */
  readonly openBody?: () => Promise<IHttpRequestOptions['body']>;
  readonly headers?: IDataObject;
  readonly idempotencyKey?: string;
  /** Whether a repeated call changes nothing more. Calls with an idempotency key are repeatable. */
  readonly isRepeatable?: boolean;
  /** Index of the item that errors point to. */
  readonly itemIndex?: number;
  readonly timeoutMs?: number;
  readonly encoding?: 'arraybuffer' | 'stream';
}

export interface ApiResponse<T = unknown> {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: T;
}

/** Longer than any call except a long poll and an upload. */
const TIMEOUT_MS = 60_000;
const MAX_ATTEMPTS = 3;
/** With an idempotency key, or if stated as repeatable. The pauses of 10 s outlast a restart of the server. */
const MAX_SAFE_ATTEMPTS = 5;
const MAX_PAUSE_MS = 10_000;
/** Nothing was done, and a repeated call can succeed. `quota_exceeded` is also a 429, but lasts until midnight. */
const BUSY = [429, 503];

/**
 * Encodes the ids in a path: path`/messages/${id}`.
 * @throws {TypeError} for an id that would lead to another route, because clients resolve these parts of a path
 */
export function path(parts: TemplateStringsArray, ...values: readonly string[]): string {
  const wrong = values.find((value) => ['', '.', '..'].includes(value));
  if (wrong !== undefined) throw new TypeError(`"${wrong}" is not an id`);
  return String.raw({ raw: parts }, ...values.map(encodeURIComponent));
}

/** Calls the API. @throws {NodeApiError} with the reason that the server gives */
export async function callApi<T = IDataObject>(caller: Caller, request: ApiRequest): Promise<T> {
  return (await fetchApi<T>(caller, request)).body;
}

/** Like `callApi`, but returns the whole response. */
export async function fetchApi<T>(caller: Caller, request: ApiRequest): Promise<ApiResponse<T>> {
  const { method = 'GET', itemIndex } = request;
  const { baseUrl } = await caller.getCredentials<{ baseUrl: string }>(CREDENTIAL, itemIndex);
  // Without a key, a repeated POST could do something twice.
  const isSafe = request.idempotencyKey !== undefined || request.isRepeatable === true;
  const isRepeatable = ['GET', 'PUT', 'DELETE'].includes(method) || isSafe;
  const maxAttempts = isSafe ? MAX_SAFE_ATTEMPTS : MAX_ATTEMPTS;
  for (let attempt = 1; ; attempt++) {
    const isLast = !isRepeatable || attempt === maxAttempts;
    const body = await (request.openBody === undefined ? request.body : request.openBody());
    const response = await send<T>(caller, optionsOf(baseUrl, { ...request, body })).catch((error: unknown) => {
      if (isLast) throw unreachable(caller.getNode(), error, itemIndex);
      return undefined;
    });
    if (response !== undefined && response.statusCode < 400) {
      if (isForeign(response, request)) throw foreignResponse(caller.getNode(), itemIndex);
      return response;
    }
    if (response !== undefined) {
      const problem = await problemOf(response.body);
      if (isLast || !BUSY.includes(response.statusCode) || problem.code === 'quota_exceeded') {
        throw apiError(caller.getNode(), response.statusCode, problem, itemIndex);
      }
    }
    await sleep(pauseBefore(attempt + 1, response?.headers['retry-after']));
  }
}

function optionsOf(baseUrl: string, request: ApiRequest): IHttpRequestOptions {
  const { method = 'GET', query, body, headers, idempotencyKey, timeoutMs = TIMEOUT_MS, encoding } = request;
  return {
    method,
    url: `${apiUrl(baseUrl)}${request.path}`,
    ...(query !== undefined && { qs: query, arrayFormat: 'repeat' as const }),
    ...(body !== undefined && { body }),
    headers: { ...headers, ...(idempotencyKey !== undefined && { 'Idempotency-Key': idempotencyKey }) },
    ...(encoding === undefined ? { json: true } : { encoding }),
    timeout: timeoutMs,
    returnFullResponse: true,
    ignoreHttpStatusErrors: true,
    // A redirect would take the key to another address.
    disableFollowRedirect: true,
  };
}

/** Returns the URL of the API, for a base URL with or without a final slash or `/api/v1`. */
export function apiUrl(baseUrl: string): string {
  return `${baseUrl.trim().replace(/(?:\/api\/v1)?\/*$/, '')}/api/v1`;
}

async function send<T>(caller: Caller, options: IHttpRequestOptions): Promise<ApiResponse<T>> {
  const { httpRequestWithAuthentication } = caller.helpers;
  return (await httpRequestWithAuthentication.call(caller, CREDENTIAL, options)) as ApiResponse<T>;
}

function pauseBefore(attempt: number, retryAfter = ''): number {
  const stated = Number.parseInt(retryAfter, 10) * 1000;
  return Math.min(Number.isNaN(stated) ? (attempt - 1) * 1000 : stated, MAX_PAUSE_MS);
}

/** A problem document (RFC 9457). */
interface Problem {
  readonly title?: string;
  readonly detail?: string;
  readonly code?: string;
  readonly requestId?: string;
  readonly errors?: ReadonlyArray<{ readonly field?: string; readonly message?: string }>;
}

const MAX_PROBLEM_BYTES = 64 * 1024;

/** Reads a problem document, including one that a download receives in place of its file. */
async function problemOf(body: unknown): Promise<Problem> {
  const text = typeof body === 'string' ? body : await textOf(body);
  if (text === undefined) return typeof body === 'object' && body !== null ? body : {};
  try {
    const parsed: unknown = JSON.parse(text);
    return typeof parsed === 'object' && parsed !== null ? parsed : {};
  } catch {
    return { detail: text.slice(0, 200) };
  }
}

/** Returns the text of a buffer or stream, or undefined for anything else. */
async function textOf(body: unknown): Promise<string | undefined> {
  if (ArrayBuffer.isView(body)) return new TextDecoder().decode(body);
  if (body instanceof ArrayBuffer) return new TextDecoder().decode(body);
  if (typeof body !== 'object' || body === null || !(Symbol.asyncIterator in body)) return undefined;
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of body as AsyncIterable<Uint8Array>) {
    text += decoder.decode(chunk, { stream: true });
    if (text.length > MAX_PROBLEM_BYTES) break;
  }
  return text;
}

/** Returns the error that n8n shows: what went wrong, and below it the fields, the code and the request id. */
function apiError(node: INode, status: number, problem: Problem, itemIndex: number | undefined): NodeApiError {
  const { title, detail, code, requestId, errors = [] } = problem;
  const message = detail ?? title ?? `The server responded with ${status}`;
  // The detail of a single one says the same.
  const fields = errors.length < 2 ? [] : errors.map(({ field, message: reason }) => `${field ?? ''}: ${reason ?? ''}`);
  const facts = [code === undefined ? '' : `Code: ${code}`, requestId === undefined ? '' : `Request: ${requestId}`];
  const description = [...fields, facts.filter((fact) => fact !== '').join(', ')]
    .filter((line) => line !== '')
    .join('\n');
  const error = new NodeApiError(node, { message, code: code ?? String(status) } as JsonObject, {
    message,
    description,
    httpCode: String(status),
    ...(itemIndex !== undefined && { itemIndex }),
  });
  error.context['code'] = code;
  return error;
}

/** Whether a successful response came from another server. Switchboard redirects no call and returns objects. */
function isForeign({ statusCode, body }: ApiResponse, { encoding }: ApiRequest): boolean {
  if (statusCode >= 300) return true;
  return encoding === undefined && (typeof body !== 'object' || body === null);
}

/** Returns the error for a response of another server. */
export function foreignResponse(node: INode, itemIndex: number | undefined): NodeApiError {
  const message = 'The address does not respond like Switchboard';
  const error = new NodeApiError(node, { message } as JsonObject, {
    message,
    description: 'Check the base URL of the credential. A proxy or another web server may have responded.',
    ...(itemIndex !== undefined && { itemIndex }),
  });
  error.context['code'] = 'invalid_response';
  return error;
}

function unreachable(node: INode, error: unknown, itemIndex: number | undefined): NodeApiError {
  const wrapped = new NodeApiError(node, error as JsonObject, itemIndex === undefined ? {} : { itemIndex });
  wrapped.context['code'] = 'unreachable';
  return wrapped;
}

/**
 * Returns the error code of the API, `unreachable` if no response came, `invalid_response` if another server has
 * responded, or undefined for other errors.
 */
export function codeOf(error: unknown): string | undefined {
  const code = error instanceof NodeApiError ? error.context['code'] : undefined;
  return typeof code === 'string' ? code : undefined;
}

/** Whether a later call can succeed: no response came, or the server or the proxy before it is busy or restarts. */
export function isTemporary(error: unknown): boolean {
  if (codeOf(error) === 'unreachable') return true;
  const status = error instanceof NodeApiError ? Number(error.httpCode) : Number.NaN;
  return [...BUSY, 502, 504].includes(status) && codeOf(error) !== 'quota_exceeded';
}

export interface Page<T = IDataObject> {
  readonly data: T[];
  readonly nextCursor: string | null;
}

const PAGE_SIZE = 200;
/** Bounds lists whose pages are empty. Full pages reach the largest limit with 50. */
const MAX_PAGES = 1000;

/** Reads one page of a list. @throws {NodeApiError} if the response has no list */
export async function readPage<T = IDataObject>(caller: Caller, request: ApiRequest): Promise<Page<T>> {
  const page = await callApi<Page<T>>(caller, request);
  if (!Array.isArray(page.data)) throw foreignResponse(caller.getNode(), request.itemIndex);
  return page;
}

/** Reads a list, page by page, up to `limit` entries. */
export async function listAll(
  caller: Caller,
  path: string,
  query: IDataObject,
  limit: number,
  itemIndex?: number,
): Promise<IDataObject[]> {
  const entries: IDataObject[] = [];
  const cursors = new Set<string>();
  for (let cursor: string | undefined; ; ) {
    const { data, nextCursor } = await readPage(caller, {
      path,
      query: { ...query, limit: Math.min(limit - entries.length, PAGE_SIZE), ...(cursor !== undefined && { cursor }) },
      ...(itemIndex !== undefined && { itemIndex }),
    });
    entries.push(...data);
    if (!nextCursor || entries.length >= limit) return entries;
    // The list would have no end.
    if (cursors.has(nextCursor) || cursors.size === MAX_PAGES) throw foreignResponse(caller.getNode(), itemIndex);
    cursors.add(nextCursor);
    cursor = nextCursor;
  }
}
