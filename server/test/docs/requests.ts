import assert from 'node:assert/strict';
import { validator } from '../../src/invoke/input/validate.ts';
import type { Operation } from '../../src/invoke/operation.ts';
import { operations } from '../../src/operations/index.ts';
import type { Call } from '../support/server.ts';

interface Request {
  readonly method: string;
  /** Below `/api/v1`. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly body: string | undefined;
}

/** The requests that the `curl` commands of a text would send to the API. */
export function requestsIn(commands: string): Request[] {
  return [...commands.matchAll(/\bcurl\b/g)].flatMap(({ index }) => requestOf(wordsOf(commands, index)) ?? []);
}

/** The words of the shell command that begins at `at`, up to the end of its line or a redirection. */
function wordsOf(text: string, at: number): string[] {
  const words = [...text.slice(at).matchAll(/'([^']*)'|"((?:\\.|[^"])*)"|(\\\n)|(\n|[|)#;])|([^\s'"|);#\\]+)/g)];
  const end = words.findIndex(([, , , , stop]) => stop !== undefined);
  return (end === -1 ? words : words.slice(0, end)).flatMap(
    ([, single, double, , , bare]) => single ?? double ?? bare ?? [],
  );
}

function requestOf(words: readonly string[]): Request | undefined {
  const argumentOf = (...flags: string[]) => words[words.findIndex((word) => flags.includes(word)) + 1];
  const has = (...flags: string[]) => words.some((word) => flags.includes(word));
  const address = words.find((word) => /\/api\/v1\/|^\$API\//.test(word));
  if (address === undefined) return undefined;
  const { pathname, searchParams } = new URL(address.replace(/^.*?(\/api\/v1|\$API)/, ''), 'http://localhost');
  const isUpload = has('-d', '--data', '--data-binary', '-F');
  return {
    method: (has('-X') ? argumentOf('-X') : undefined) ?? (isUpload ? 'POST' : 'GET'),
    path: decodeURI(pathname),
    query: searchParams,
    body: has('-d', '--data') ? argumentOf('-d', '--data') : undefined,
  };
}

function operationOf({ method, path }: Request): Operation | undefined {
  return operations.find(
    (operation) =>
      operation.method === method && new RegExp(`^${operation.path.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(path),
  );
}

/** Sends a request with ids that do not exist, and fails if the server rejects anything but these. */
export async function assertValid(call: Call, request: Request): Promise<void> {
  const operation = operationOf(request);
  assert.ok(operation, `${request.method} ${request.path} is no operation`);
  const query = Object.fromEntries(request.query);
  // The body of these is a file.
  if (operation.takesContent) return void validator(operation.input)(query);
  const path = request.query.size === 0 ? request.path : `${request.path}?${request.query}`;
  const { status, body } = await call(request.method, encodeURI(path), request.body);
  // Validation comes before these errors: the ids in the paths do not exist, and no session is connected.
  const isPast = status === 409 || (status === 404 && request.path.includes('$'));
  assert.ok(status < 300 || isPast, `${request.method} ${request.path} answers ${status} ${JSON.stringify(body)}`);
}
