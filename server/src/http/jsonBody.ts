import type { FastifyInstance } from 'fastify';
import { AppError, invalidField } from '../errors.ts';
import { DEEPEST } from '../invoke/input/validate.ts';
import type { ForwardedRequests } from './forwardedRequests.ts';
import { excessIn, MAX_VALUES } from './jsonShape.ts';

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

/** Returns the error of a body with too many values or levels; undefined if it may be parsed. */
function findExcess(text: string): AppError | undefined {
  const excess = excessIn(text);
  if (excess === undefined) return undefined;
  const field = fieldAt(text, excess.memberAt);
  return excess.code === 'depth'
    ? invalidField(field, `must not be nested deeper than ${DEEPEST} levels`, 'depth')
    : invalidField(field, `must not contain more than ${MAX_VALUES} values`, 'width');
}

/** Longer than the name of any field. */
const MAX_NAME_LENGTH = 100;

/** The name of the body's member that begins there; `body` if there is none. */
function fieldAt(text: string, at: number): string {
  return /^\s*"([\w.-]+)"\s*:/.exec(text.slice(at, at + MAX_NAME_LENGTH))?.[1] ?? 'body';
}
