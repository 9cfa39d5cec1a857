import { create as dispositionOf } from 'content-disposition';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Static } from 'typebox';
import { AppError } from '../errors.ts';
import { isWellFormedLink } from '../media/links.ts';
import type { Media } from '../media/media.ts';
import type { ByteRange } from '../media/store.ts';
import { openMediaLink } from '../operations/files/links.ts';
import { getMedia } from '../operations/messages/media.ts';
import { API_PREFIX } from '../version.ts';
import { type RouteDeps, routeOf } from './routes.ts';

/** Types that a browser may display: formats without active content, so neither SVG nor PDF. */
const INLINE = /^(image\/(png|apng|jpeg|gif|webp|avif)|(audio|video)\/[\w.+-]+)(;|$)/;

/**
 * `GET /media/{mediaId}/content`: the bytes of a file. It calls `media.get` and sends the file instead of its
 * description, so the same permission, limit and log line apply. Files come from strangers, so nothing in them may run
 * in this server's origin.
 */
export function addMediaContent(app: FastifyInstance, deps: RouteDeps & { readonly media: Media }): void {
  app.route({
    method: ['GET', 'HEAD'],
    url: `${API_PREFIX}/media/:mediaId/content`,
    ...routeOf(getMedia, deps, (_operation, { output }, request, reply) => {
      reply.header('cross-origin-resource-policy', 'same-origin');
      // The output is that of `getMedia`.
      return sendContent(output as Static<typeof getMedia.output>, deps.media, request, reply);
    }),
  });
  app.route({
    method: ['GET', 'HEAD'],
    url: `${API_PREFIX}/media/:mediaId/file`,
    ...routeOf(
      openMediaLink,
      deps,
      (_operation, { output }, request, reply) => {
        deps.callers.trust(request);
        reply.headers(LINK_HEADERS);
        // The output is that of `openMediaLink`.
        return sendContent(output as Static<typeof openMediaLink.output>, deps.media, request, reply);
      },
      // Mail programs and chats add their own parameters to links.
      ({ params }, { token }) => {
        // The route has this parameter.
        const { mediaId } = params as { mediaId: string };
        return isWellFormedLink(mediaId, token) ? { mediaId, token } : { mediaId: '', token: '' };
      },
    ),
  });
}

/** A link is for other sites and their pages, which must pass it on neither to search engines nor in `Referer`. */
const LINK_HEADERS = {
  'cross-origin-resource-policy': 'cross-origin',
  'referrer-policy': 'no-referrer',
  'x-robots-tag': 'noindex, nofollow',
};

interface SentFile extends Pick<Static<typeof getMedia.output>, 'sha256' | 'size' | 'mimeType' | 'fileName'> {
  readonly isDownload?: boolean;
}

async function sendContent(
  { sha256, size, mimeType, fileName, isDownload = false }: SentFile,
  media: Media,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { headers } = request;
  const etag = `"${sha256}"`;
  reply.headers({
    etag,
    'accept-ranges': 'bytes',
    // Revalidated every time, because the credential may be revoked; the ETag saves the transfer.
    'cache-control': 'private, no-cache',
    'content-security-policy': "default-src 'none'; sandbox",
    'content-disposition': dispositionOf(fileName ?? undefined, {
      type: INLINE.test(mimeType) && !isDownload ? 'inline' : 'attachment',
    }),
  });
  if (tagsOf(headers['if-none-match']).some((tag) => tag === '*' || tag === etag)) return reply.code(304).send();

  const isSame = headers['if-range'] === undefined || headers['if-range'] === etag;
  const range = isSame ? parseRange(headers.range, size) : undefined;
  if (range === 'unsatisfiable') {
    reply.removeHeader('content-disposition').header('content-range', `bytes */${size}`);
    throw new AppError('range_not_satisfiable', `The requested range is outside the file, which has ${size} bytes`);
  }
  const content = request.method === 'HEAD' ? undefined : await media.open(sha256, range);
  reply.type(mimeType.startsWith('text/') ? `${mimeType}; charset=utf-8` : mimeType);
  reply.header('content-length', range === undefined ? size : range.last - range.first + 1);
  if (range !== undefined) reply.code(206).header('content-range', `bytes ${range.first}-${range.last}/${size}`);
  return reply.send(content);
}

function tagsOf(header: string | undefined): string[] {
  return (header ?? '').split(',').map((tag) => tag.trim().replace(/^W\//, ''));
}

/** One range of bytes (RFC 9110, 14.1.2). As the RFC allows, several ranges or another unit return everything. */
function parseRange(header: string | undefined, size: number): ByteRange | 'unsatisfiable' | undefined {
  const [, from = '', to = ''] = /^bytes=(\d*)-(\d*)$/.exec(header?.trim() ?? '') ?? [];
  if (from === '' && to === '') return undefined;
  if (from !== '' && to !== '' && Number(to) < Number(from)) return undefined;
  const first = from === '' ? Math.max(0, size - Number(to)) : Number(from);
  const last = from === '' || to === '' ? size - 1 : Math.min(Number(to), size - 1);
  return first > last ? 'unsatisfiable' : { first, last };
}
