import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Authenticator, Caller } from '../auth/authenticate.ts';
import { AppError } from '../errors.ts';
import { listEvents } from '../operations/events.ts';
import { acceptedKinds } from '../operations/webhookRecord.ts';
import { API_PREFIX } from '../version.ts';
import { type EventLog, isCursor } from '../webhooks/eventLog.ts';
import type { Feed } from '../webhooks/feed.ts';
import { type RouteDeps, routeOf } from './routes.ts';

const HEARTBEAT_MS = 15_000;
/** How long an event may stay unseen when its announcement was missed. */
const POLL_MS = 1000;
const BATCH = 100;
const STREAMS_PER_ACCOUNT = 100;
/** Where a log that is empty goes on: before every event. */
const BEGINNING = '0.evt_00000000000000000000000000';

interface StreamDeps extends RouteDeps {
  readonly authenticator: Pick<Authenticator, 'watch'>;
  readonly feed: Feed;
  readonly eventLog: EventLog;
}

/**
 * `GET /events/stream`: events as they happen, as server-sent events. It resumes after `Last-Event-ID`, and starts
 * with what comes next without one. A slow reader is read for no faster than it takes: nothing piles up in memory.
 *
 * It is `events.list` with another way to send what follows, so the same permission, limit and log line hold. A
 * stream ends when its credential does.
 */
export function addStream(app: FastifyInstance, deps: StreamDeps): void {
  const stopping = new AbortController();
  app.addHook('preClose', async () => stopping.abort());
  const open = new Map<string, number>();

  const send = async (request: FastifyRequest, reply: FastifyReply, { accountId }: Caller) => {
    const { kinds } = request.query as Record<string, unknown>;
    const credential = deps.callers.of(request).presented.value;
    const wanted = kinds === undefined ? undefined : acceptedKinds(listOf(kinds), 'kinds');
    const from = lastEventId(request) ?? (await deps.eventLog.latest(accountId));
    const count = open.get(accountId) ?? 0;
    if (count >= STREAMS_PER_ACCOUNT)
      throw new AppError('too_many', `An account may have ${STREAMS_PER_ACCOUNT} streams open`);
    open.set(accountId, count + 1);
    const gone = new AbortController();
    reply.raw.on('close', () => gone.abort());
    reply.hijack();
    reply.raw.writeHead(200, {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no', // nginx must not hold it back
      'x-request-id': request.id,
    });
    // An id without an event: who loses the connection before the first one still knows where it was.
    reply.raw.write(`: connected\nid: ${from ?? BEGINNING}\n\n`);
    const watch = deps.authenticator.watch(accountId, credential, listEvents.permission);
    const signal = AbortSignal.any([gone.signal, stopping.signal, watch.signal]);
    try {
      await follow(deps, accountId, from, wanted, reply.raw, signal);
    } finally {
      watch.close();
      const left = (open.get(accountId) ?? 1) - 1;
      if (left > 0) open.set(accountId, left);
      else open.delete(accountId);
      reply.raw.end();
    }
    return reply;
  };

  app.route({
    method: 'GET',
    url: `${API_PREFIX}/events/stream`,
    exposeHeadRoute: false, // it would never end
    ...routeOf(
      listEvents,
      deps,
      stopping.signal,
      (_operation, _answer, request, reply, caller) => {
        if (caller === undefined) throw new AppError('unauthorized');
        return send(request, reply, caller);
      },
      // Of the log itself it asks for next to nothing.
      (request, { kinds, ...others }) => ({
        limit: 1,
        after: lastEventId(request),
        ...(kinds !== undefined && { kinds: listOf(kinds) }),
        ...others,
      }),
    ),
  });
}

/** A list in a query: separated by commas, or the field several times. */
function listOf(value: unknown): string[] {
  return [value].flat().flatMap((part) => String(part).split(','));
}

/** @throws {AppError} `validation_failed` */
function lastEventId({ headers }: FastifyRequest): string | undefined {
  const id = headers['last-event-id'];
  if (id !== undefined && (typeof id !== 'string' || !isCursor(id))) {
    throw new AppError('validation_failed', 'Last-Event-ID is not an id of this stream');
  }
  return id;
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
