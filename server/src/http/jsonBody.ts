import type { FastifyInstance } from 'fastify';
import { AppError, invalidField } from '../errors.ts';
import { DEEPEST } from '../invoke/input/validate.ts';
import type { ForwardedRequests } from './forwardedRequests.ts';

/** No operation needs more: its longest list has 1,024 entries, and a session's options or a template a few hundred. */
const MAX_VALUES = 3000;
/** The levels around a field: the body, and over MCP the batch, the call, its parameters and their arguments. */
const ENVELOPE_LEVELS = 5;

const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const OPENING: ReadonlySet<number> = new Set([0x5b, 0x7b]);
const CLOSING: ReadonlySet<number> = new Set([0x5d, 0x7d]);

/** Accepts only JSON. An empty body counts as none, even with a Content-Type: some clients always send one. */
export function acceptJsonOnly(app: FastifyInstance, forwardedRequests: ForwardedRequests): void {
  app.removeAllContentTypeParsers();
  app.addHook('preParsing', async ({ headers }) => {
    const encoding = headers['content-encoding'];
    if (encoding !== undefined && encoding !== 'identity' && headers['content-type']?.startsWith('application/json'))
      throw new AppError(
        'unsupported_media_type',
        `The server does not accept compressed JSON; send the body without Content-Encoding: ${encoding}`,
      );
  });
  const parse = app.getDefaultJsonParser('error', 'error');
  app.addContentTypeParser<Buffer>('application/json', { parseAs: 'buffer' }, (request, bytes, done) => {
    const body = textOf(bytes);
    if (body === undefined) return done(new AppError('invalid_json', 'The request body is not valid UTF-8'));
    forwardedRequests.keep(request, body);
    if (body === '') return done(null, undefined);
    const excess = findExcess(body);
    if (excess !== undefined) return done(excess);
    parse(request, body, (error, parsed) =>
      error !== null && isJson(body) ? done(new RefusedName({ cause: error })) : done(error, parsed),
    );
  });
}

/** The body is valid JSON, but it could change the prototype of an object that copies it. */
export class RefusedName extends SyntaxError {
  readonly statusCode = 400;

  constructor(options: ErrorOptions) {
    super(
      'The request body has a field that the server refuses: `__proto__`, or `constructor` with `prototype` in it; remove it',
      options,
    );
  }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Undefined if the bytes are not UTF-8: the text would be stored differently from how it was sent. */
function textOf(bytes: Buffer): string | undefined {
  try {
    return utf8.decode(bytes);
  } catch {
    return undefined;
  }
}

/**
 * Finds too many values or levels before the text is parsed: `JSON.parse` takes up to 30 times as long for a MiB of
 * values as for a MiB of text. The scan stops at the first value too many.
 */
function findExcess(text: string): AppError | undefined {
  let values = 0;
  let depth = 0;
  let memberAt = 0;
  for (let at = 0; at < text.length; at++) {
    const char = text.charCodeAt(at);
    if (char === QUOTE) {
      at = endOfString(text, at);
      continue;
    }
    const isOpening = OPENING.has(char);
    if (isOpening) depth++;
    else if (CLOSING.has(char)) depth--;
    else if (char !== COMMA) continue;
    if (depth === 1 && (isOpening || char === COMMA)) memberAt = at + 1;
    if (isOpening || char === COMMA) values++;
    const isTooDeep = depth > DEEPEST + ENVELOPE_LEVELS;
    if (!isTooDeep && values <= MAX_VALUES) continue;
    const field = fieldAt(text, memberAt);
    return isTooDeep
      ? invalidField(field, `must not be nested deeper than ${DEEPEST} levels`, 'depth')
      : invalidField(field, `must not contain more than ${MAX_VALUES} values`, 'width');
  }
  return undefined;
}

/** A string ends at a quote that is preceded by an even number of backslashes. */
function endOfString(text: string, start: number): number {
  for (let at = start; ; ) {
    at = text.indexOf('"', at + 1);
    if (at < 0) return text.length;
    let escapes = 0;
    while (text.charCodeAt(at - 1 - escapes) === BACKSLASH) escapes++;
    if (escapes % 2 === 0) return at;
  }
}

/** Longer than the name of any field. */
const MAX_NAME_LENGTH = 100;

/** The name of the body's member that begins there; `body` if there is none. */
function fieldAt(text: string, at: number): string {
  return /^\s*"([\w.-]+)"\s*:/.exec(text.slice(at, at + MAX_NAME_LENGTH))?.[1] ?? 'body';
}
