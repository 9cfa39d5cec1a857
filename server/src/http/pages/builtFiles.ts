import { globSync } from 'node:fs';
import { negotiate } from '@fastify/accept-negotiator';
import { mime, default as send } from '@fastify/send';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

/** Caching of files whose names contain a hash of their content, and of others. */
export const FOREVER = { maxAge: '365d', immutable: true };
export const HOUR = { maxAge: '1h' };

/** Sends a file of a folder by its path there, or 404. */
export type SendFile = (request: FastifyRequest, reply: FastifyReply, file: string) => Promise<FastifyReply>;

/** Endings of the files that the build has compressed, by encoding, in order of preference. */
const ENDINGS: Readonly<Record<string, string>> = { br: '.br', gzip: '.gz' };

/**
 * Returns a function that sends the files of a build, compressed if the build has compressed them. Only the files
 * that are there now: no path of a request reaches the file system.
 * @param caching without, the response has the `Cache-Control` that the caller sets
 */
export function builtFiles(root: string, caching?: typeof FOREVER | typeof HOUR): SendFile {
  const files = new Set(globSync('**/*', { cwd: root }));
  const options = { root, index: false, cacheControl: caching !== undefined, ...caching };
  return async (request, reply, file) => {
    const encodings = Object.keys(ENDINGS).filter((encoding) => files.has(file + ENDINGS[encoding]));
    const encoding = negotiate(request.headers['accept-encoding'] ?? '', encodings);
    const ending = encoding === null ? '' : ENDINGS[encoding];
    const sent = files.has(file) ? await send(request.raw, encodeURI(`${file}${ending}`), options) : undefined;
    if (sent?.type !== 'file') {
      reply.callNotFound(); // a folder, or a file that another build has removed
      return reply;
    }
    reply.code(sent.statusCode).headers(sent.headers);
    if (encodings.length > 0) reply.header('vary', 'accept-encoding');
    if (encoding !== null) reply.header('content-encoding', encoding).type(typeOf(file));
    return reply.send(sent.stream);
  };
}

/** Serves the files of a build below a prefix. */
export function addBuiltFiles(app: FastifyInstance, prefix: string, sendFile: SendFile): void {
  app.get<{ Params: { '*': string } }>(`${prefix}*`, async (request, reply) =>
    sendFile(request, reply, request.params['*']),
  );
}

function typeOf(file: string): string {
  const type = mime.getType(file) ?? 'application/octet-stream';
  return send.isUtf8MimeType(type) ? `${type}; charset=utf-8` : type;
}
