import { createHash } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { aiCatalog, CARD_PATH, CARD_TYPE, CATALOG_TYPE, serverCard } from './mcp/serverCard.ts';
import { isKnownTag } from './pages/compressedText.ts';

interface DiscoveryOptions {
  readonly publicUrl: URL | undefined;
  readonly hasOAuth: boolean;
}

/** Any page may read these documents: they are the same for everybody and contain no secrets. */
const HEADERS = {
  'access-control-allow-origin': '*',
  'access-control-allow-methods': 'GET',
  'access-control-allow-headers': 'Content-Type, If-None-Match',
  'access-control-expose-headers': 'ETag',
};

/**
 * Serves the documents by which clients find the MCP endpoint. Without PUBLIC_URL the server does not know the address
 * that they must contain, so it has none.
 */
export function addDiscovery(app: FastifyInstance, { publicUrl, hasOAuth }: DiscoveryOptions): void {
  if (publicUrl === undefined) return;
  const sendCard = sendsDocument(CARD_TYPE, serverCard({ publicUrl, hasOAuth }));
  const documents = {
    [CARD_PATH]: sendCard,
    // No longer in the specification, but many clients and directories look here.
    '/.well-known/mcp/server-card.json': sendCard,
    '/.well-known/ai-catalog.json': sendsDocument(CATALOG_TYPE, aiCatalog(publicUrl)),
  };
  for (const [path, send] of Object.entries(documents)) {
    app.get(path, send);
    app.options(path, async (_, reply) =>
      reply.code(204).headers(HEADERS).header('access-control-max-age', 3600).send(),
    );
  }
}

function sendsDocument(type: string, document: unknown) {
  // Fastify would add a charset to the type of a text.
  const body = Buffer.from(JSON.stringify(document));
  const etag = `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`;
  return async ({ headers }: FastifyRequest, reply: FastifyReply) => {
    reply.headers({ ...HEADERS, etag, 'cache-control': 'public, max-age=3600' });
    return isKnownTag(headers['if-none-match'], etag) ? reply.code(304).send() : reply.type(type).send(body);
  };
}
