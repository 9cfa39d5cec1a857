import { type FieldTexts, type FormField, fieldsOf, isInvalid, valuesOf } from '../../components/schema/schemaForm.ts';
import type { Operation } from '../../openapi.ts';

/** A response shows this much text. */
export const MAX_TEXT_BYTES = 1024 * 1024;

/** The input of the reader for a request. */
export interface Draft {
  readonly texts: FieldTexts;
  readonly body: string;
  readonly file: File | undefined;
}

export interface Answer {
  readonly status: number;
  readonly statusText: string;
  readonly ms: number;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly content: AnswerContent;
}

interface TextContent {
  readonly kind: 'text';
  readonly text: string;
  readonly isCut: boolean;
}

export type AnswerContent =
  | { readonly kind: 'json'; readonly value: unknown }
  | TextContent
  | { readonly kind: 'file'; readonly blob: Blob };

/** The fields for the parameters of an operation, required ones first. */
export function parameterFields({ parameters = [] }: Operation): readonly FormField[] {
  const properties = Object.fromEntries(
    parameters.map(({ name, schema, description = '' }) => [name, { ...schema, description }]),
  );
  const required = parameters.filter((one) => one.required).map(({ name }) => name);
  return fieldsOf({ properties, required }).toSorted((a, b) => Number(b.isRequired) - Number(a.isRequired));
}

/**
 * Whether a parameter leads to the path of another operation: `URL` resolves the parts `.` and `..`, which
 * `encodeURIComponent` leaves as they are, and a blank part is left out.
 */
export function isOtherPath({ parameters = [] }: Operation, name: string, text = ''): boolean {
  const isInPath = parameters.some((one) => one.in === 'path' && one.name === name);
  return isInPath && /^(\.{1,2}|\s+)$/.test(text);
}

/** Whether the text of a parameter cannot be sent. */
export function isParameterInvalid(operation: Operation, field: FormField, text: string | undefined): boolean {
  return isInvalid(field, text) || isOtherPath(operation, field.name, text);
}

/** The kind of body that an operation takes. */
export function bodyKind({ requestBody }: Operation): 'none' | 'json' | 'file' {
  if (requestBody === undefined) return 'none';
  return requestBody.content['application/json'] === undefined ? 'file' : 'json';
}

/** Builds the request. The credential is only in its header, never in its address. */
export function buildRequest(operation: Operation, draft: Draft, credential: string): Request {
  const { method, path, parameters = [] } = operation;
  const values = valuesOf(parameterFields(operation), draft.texts);
  const valuesIn = (place: string) =>
    parameters
      .filter((one) => one.in === place && values[one.name] !== undefined)
      .map(({ name }): [string, string] => [name, String(values[name])]); // a list is separated by commas
  const inPath = new Map(valuesIn('path'));
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(inPath.get(name) ?? ''));
  const query = new URLSearchParams(valuesIn('query'));
  const url = new URL(`${filled}${query.size > 0 ? `?${query}` : ''}`, location.origin);

  const headers = new Headers(valuesIn('header'));
  if (credential !== '') headers.set('authorization', `Bearer ${credential}`);
  const kind = bodyKind(operation);
  if (kind === 'json') headers.set('content-type', 'application/json');
  if (kind === 'file') headers.set('content-type', draft.file?.type || 'application/octet-stream');
  const body = kind === 'json' ? draft.body : kind === 'file' ? draft.file : undefined;
  // Without the cookie of the dashboard: only the credential that the reader entered counts.
  return new Request(url, { method, headers, credentials: 'omit', cache: 'no-store', ...(body && { body }) });
}

/**
 * Sends a request and reads the response. Text is reported while it arrives, because a stream of events does not end by
 * itself.
 */
export async function sendRequest(
  request: Request,
  signal: AbortSignal,
  onText: (answer: Answer) => void,
): Promise<Answer> {
  const startedAt = performance.now();
  const response = await fetch(request, { signal });
  const head = {
    status: response.status,
    statusText: response.statusText,
    ms: Math.round(performance.now() - startedAt),
    headers: [...response.headers],
  };
  const type = response.headers.get('content-type') ?? '';
  if (/json/.test(type)) return { ...head, content: readJson(await readText(response)) };
  if (!/^text\/|^$/.test(type)) return { ...head, content: { kind: 'file', blob: await response.blob() } };
  const content = await readText(response, (text) =>
    onText({ ...head, content: { kind: 'text', text, isCut: false } }),
  );
  return { ...head, content };
}

/** JSON that is cut or broken stays text. */
function readJson(content: TextContent): AnswerContent {
  try {
    return { kind: 'json', value: JSON.parse(content.text) };
  } catch {
    return content;
  }
}

async function readText(response: Response, onText?: (text: string) => void): Promise<TextContent> {
  const reader = response.body?.getReader();
  const decoder = new TextDecoder();
  let text = '';
  for (let size = 0; reader !== undefined; ) {
    const { done, value } = await reader.read();
    if (done) break;
    size += value.length;
    text += decoder.decode(value, { stream: true });
    if (size > MAX_TEXT_BYTES) {
      await reader.cancel();
      return { kind: 'text', text: text.slice(0, MAX_TEXT_BYTES), isCut: true };
    }
    onText?.(text);
  }
  return { kind: 'text', text: text + decoder.decode(), isCut: false };
}
