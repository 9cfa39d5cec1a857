import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Caller } from '../auth/authenticate.ts';
import { AppError } from '../errors.ts';
import { contractKinds, type EventKind } from '../events/events.ts';
import type { Services } from '../invoke/context.ts';
import { isContentHidden, permissionFor } from '../invoke/operation.ts';
import { listEvents, wantedKinds, withoutContent } from '../operations/events.ts';
import { API_PREFIX } from '../version.ts';
import { type EventLog, isBefore, isCursor, type LoggedEvent } from '../webhooks/eventLog.ts';
import { type EventTail, EventTails } from '../webhooks/eventTail.ts';
import { type RouteDeps, routeOf } from './routes.ts';

const HEARTBEAT_MS = 15_000;
/** How often a stream checks by itself, for its heartbeat and in case the tail cannot be read. */
const POLL_MS = 1000;
const BATCH = 100;
/** Written at a time before waiting for the reader. */
const CHUNK_CHARACTERS = 64 * 1024;

type StreamDeps = RouteDeps &
  Pick<Services, 'authenticator' | 'waitingCalls' | 'feed' | 'eventLog' | 'filteredEventLog' | 'clock'>;

/**
 * `GET /events/stream`: events as they happen, as server-sent events. It resumes after `Last-Event-ID`, or starts with
 * the next event. All streams of an account share one reader of the log. A stream that is far behind or slow reads the
 * log by itself, at its own pace, so nothing piles up in memory.
 *
 * It calls `events.list` and streams the events that follow, so the same permission, limit and log line apply. A stream
 * ends with its credential.
 */
export function addStream(app: FastifyInstance, deps: StreamDeps): void {
  const tails = new EventTails(deps);

  const send = async (request: FastifyRequest, reply: FastifyReply, caller: Caller) => {
    const { accountId } = caller;
    const { kinds } = request.query as Record<string, unknown>;
    const credential = deps.callers.of(request).presented.value;
    const wanted = wantedKinds(kinds === undefined ? undefined : listOf(kinds));
    const from = lastEventId(request) ?? (await deps.eventLog.latest(accountId));
    const end = deps.waitingCalls.begin(accountId);
    const tail = tails.join(accountId);
    const gone = new AbortController();
    reply.raw.on('close', () => gone.abort());
    reply.hijack();
    reply.raw.writeHead(200, {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no', // keeps nginx from buffering
      'x-request-id': request.id,
    });
    // An id without an event: a client that loses the connection before the first event can still resume.
    reply.raw.write(`: connected\nid: ${from}\n\n`);
    const { permissions } = caller.credential;
    const watch = deps.authenticator.watch(accountId, credential, permissionFor(listEvents, permissions));
    const signal = AbortSignal.any([gone.signal, deps.stopping, watch.signal]);
    try {
      const reader = new Reader(isMostOfLog(wanted) ? deps.eventLog : deps.filteredEventLog, tail, {
        accountId,
        from,
        kinds: wanted,
        hidesContent: isContentHidden({ caller }, 'events'),
      });
      await follow(reader, tail, reply.raw, signal);
    } finally {
      watch.close();
      tails.leave(accountId);
      end();
      reply.raw.end();
    }
    return reply;
  };

  app.route({
    method: 'GET',
    url: `${API_PREFIX}/events/stream`,
    exposeHeadRoute: false, // would never end
    ...routeOf(
      listEvents,
      deps,
      (_operation, _answer, request, reply, caller) => {
        if (caller === undefined) throw new AppError('unauthorized');
        return send(request, reply, caller);
      },
      // The log itself is queried for as little as possible.
      (request, { kinds, ...others }) => ({
        limit: 1,
        after: lastEventId(request),
        ...(kinds !== undefined && { kinds: listOf(kinds) }),
        ...others,
      }),
    ),
  });
}

/** A list in a query: separated by commas, or as a repeated field. */
function listOf(value: unknown): string[] {
  return [value].flat().flatMap((part) => String(part).split(','));
}

/** @throws {AppError} `validation_failed` */
function lastEventId({ headers }: FastifyRequest): string | undefined {
  const id = headers['last-event-id'];
  if (id !== undefined && (typeof id !== 'string' || !isCursor(id))) {
    throw new AppError('validation_failed', 'Last-Event-ID is not the id of an event of this stream');
  }
  return id;
}

interface Wanted {
  readonly accountId: string;
  readonly from: string;
  readonly kinds: readonly EventKind[] | undefined;
  readonly hidesContent: boolean;
}

/** The usual event types are picked from reads of everything, because searching for them would find most of it. */
const isMostOfLog = (kinds: readonly EventKind[] | undefined) => kinds === undefined || kinds === contractKinds;

interface Batch {
  readonly events: readonly LoggedEvent[];
  readonly hasMore: boolean;
}

/** The position of a stream in the log, and its next events. */
class Reader {
  readonly #eventLog: EventLog;
  readonly #tail: EventTail;
  readonly #wanted: Wanted;
  #cursor: string;

  constructor(eventLog: EventLog, tail: EventTail, wanted: Wanted) {
    this.#eventLog = eventLog;
    this.#tail = tail;
    this.#wanted = wanted;
    this.#cursor = wanted.from;
  }

  async read(): Promise<Batch> {
    const { events, hasMore } = await this.#readNext();
    if (!this.#wanted.hidesContent) return { events, hasMore };
    return { events: events.map((event) => ({ ...event, body: withoutContent(event.kind, event.body) })), hasMore };
  }

  async #readNext(): Promise<Batch> {
    const shared = this.#tail.after(this.#cursor);
    if (shared === undefined) return this.#readLog();
    this.#cursor = shared.at(-1)?.cursor ?? this.#cursor;
    return { events: shared.filter((event) => this.#isWanted(event)), hasMore: false };
  }

  #isWanted({ kind }: LoggedEvent): boolean {
    return this.#wanted.kinds?.includes(kind) ?? true;
  }

  async #readLog(): Promise<Batch> {
    const { floor } = this.#tail;
    const { accountId, kinds } = this.#wanted;
    const found = await this.#eventLog.read(accountId, this.#cursor, isMostOfLog(kinds) ? undefined : kinds, BATCH);
    this.#cursor = found.at(-1)?.cursor ?? this.#cursor;
    const hasMore = found.length === BATCH;
    const events = found.filter((event) => this.#isWanted(event));
    // The log was read to its end, which includes everything up to the tail.
    const isAtTail = !hasMore && floor !== undefined;
    if (isAtTail && isBefore(this.#cursor, floor)) this.#cursor = floor;
    return { events, hasMore: hasMore || isAtTail };
  }
}

async function follow(reader: Reader, tail: EventTail, response: ServerResponse, signal: AbortSignal): Promise<void> {
  let writtenAt = performance.now();
  while (!signal.aborted) {
    const hasMore = new AbortController();
    // Before reading, so that an event between reading and waiting is noticed.
    const nextEvent = tail.next(POLL_MS, AbortSignal.any([signal, hasMore.signal]));
    const next = await reader.read().catch(() => undefined); // retried with the next check
    if (next !== undefined && next.events.length > 0) {
      await writeAll(response, next.events, signal);
      writtenAt = performance.now();
    }
    if (next?.hasMore) hasMore.abort();
    await nextEvent;
    if (performance.now() - writtenAt < HEARTBEAT_MS) continue;
    writtenAt = performance.now();
    await write(response, ': heartbeat\n\n', signal);
  }
}

async function writeAll(response: ServerResponse, events: readonly LoggedEvent[], signal: AbortSignal): Promise<void> {
  let chunk = '';
  for (const event of events) {
    chunk += `id: ${event.cursor}\nevent: ${event.kind}\ndata: ${event.body}\n\n`;
    if (chunk.length < CHUNK_CHARACTERS) continue;
    await write(response, chunk, signal);
    chunk = '';
  }
  if (chunk !== '') await write(response, chunk, signal);
}

/** Waits until the reader has accepted the text. */
async function write(response: ServerResponse, text: string, signal: AbortSignal): Promise<void> {
  if (signal.aborted || response.write(text)) return;
  await once(response, 'drain', { signal }).catch(() => {}); // the reader is gone
}
