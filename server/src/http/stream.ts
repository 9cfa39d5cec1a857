import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { FastifyInstance } from 'fastify';
import { type Authenticator, presentedCredential } from '../auth/authenticate.ts';
import { allows } from '../auth/permissions.ts';
import { AppError } from '../errors.ts';
import { acceptedKinds } from '../operations/webhookRecord.ts';
import { type EventLog, isCursor } from '../webhooks/eventLog.ts';
import type { Feed } from '../webhooks/feed.ts';
import { API_PREFIX } from './routes.ts';

const HEARTBEAT_MS = 15_000;
/** How long an event may stay unseen when its announcement was missed. */
const POLL_MS = 1000;
const BATCH = 100;

/**
 * `GET /events/stream`: events as they happen, as server-sent events. It resumes after `Last-Event-ID`, and starts
 * with what comes next without one. A slow reader is read for no faster than it takes: nothing piles up in memory.
 */
export function addStream(
  app: FastifyInstance,
  deps: { readonly authenticator: Authenticator; readonly feed: Feed; readonly eventLog: EventLog },
): void {
  const stopping = new AbortController();
  app.addHook('preClose', async () => stopping.abort());

  app.get(`${API_PREFIX}/events/stream`, async (request, reply) => {
    const { key, kinds } = request.query as Record<string, unknown>;
    const { accountId, credential } = await deps.authenticator.authenticate(presentedCredential(request.headers, key));
    if (!allows(credential.permissions, 'events:read'))
      throw new AppError('permission_denied', 'This needs the permission events:read');
    const wanted = typeof kinds === 'string' ? acceptedKinds(kinds.split(',')) : undefined;
    const lastId = request.headers['last-event-id'];
    if (lastId !== undefined && (typeof lastId !== 'string' || !isCursor(lastId))) {
      throw new AppError('validation_failed', 'Last-Event-ID is not an id of this stream');
    }
    const from = lastId ?? (await deps.eventLog.latest(accountId));

    const gone = new AbortController();
    reply.raw.on('close', () => gone.abort());
    reply.hijack();
    reply.raw.writeHead(200, {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no', // nginx must not hold it back
      'x-request-id': request.id,
    });
    reply.raw.write(': connected\n\n');
    const signal = AbortSignal.any([gone.signal, stopping.signal]);
    try {
      await follow(deps, accountId, from, wanted, reply.raw, signal);
    } finally {
      reply.raw.end();
    }
  });
}

async function follow(
  { feed, eventLog }: { feed: Feed; eventLog: EventLog },
  accountId: string,
  from: string | undefined,
  kinds: readonly string[] | undefined,
  response: ServerResponse,
  signal: AbortSignal,
): Promise<void> {
  let cursor = from;
  let heardAt = performance.now();
  while (!signal.aborted) {
    const read = new AbortController();
    // Before reading, so that what comes between reading and waiting is not slept through.
    const news = feed.next(accountId, POLL_MS, AbortSignal.any([signal, read.signal]));
    const events = await eventLog.read(accountId, cursor, kinds, BATCH).catch(() => []); // again with the next look
    for (const event of events) {
      cursor = event.cursor;
      await write(response, `id: ${event.cursor}\nevent: ${event.kind}\ndata: ${event.body}\n\n`, signal);
    }
    if (events.length === BATCH) read.abort();
    if (events.length > 0) heardAt = performance.now();
    await news;
    if (performance.now() - heardAt < HEARTBEAT_MS) continue;
    heardAt = performance.now();
    await write(response, ': heartbeat\n\n', signal);
  }
}

/** Waits until the reader has taken what is under way. */
async function write(response: ServerResponse, text: string, signal: AbortSignal): Promise<void> {
  if (signal.aborted || response.write(text)) return;
  await once(response, 'drain', { signal }).catch(() => {}); // it is gone
}
