import type { ServerResponse } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Caller } from '../../auth/authenticate.ts';
import { AppError } from '../../errors.ts';
import { listEvents } from '../../operations/webhooks/events.ts';
import { API_PREFIX } from '../../version.ts';
import { isCursor, type LoggedEvent } from '../../webhooks/log/eventLog.ts';
import { type RouteDeps, routeOf } from '../routes.ts';
import { cursorOf, type EventReader, type EventReaders, eventTypesOf, withTypeList } from './eventReader.ts';
import { beginServerSentEvents, writeAtItsPace } from './serverSentEvents.ts';

/** Written at a time before waiting for the reader. */
const CHUNK_CHARACTERS = 64 * 1024;

/**
 * `GET /events/stream`: events as they happen, as server-sent events. It resumes after `Last-Event-ID`
 * or a cursor, or starts with the next event.
 *
 * It calls `events.list` and streams the events that follow, so the same permission, limit and log line apply. A stream
 * ends with its credential.
 */
export function addStream(app: FastifyInstance, readers: EventReaders, deps: RouteDeps): void {
  const send = async (request: FastifyRequest, reply: FastifyReply, caller: Caller) => {
    const types = eventTypesOf(request.query);
    // A client that reconnects repeats its query.
    const after = lastEventId(request) ?? cursorOf(request.query);
    const gone = new AbortController();
    reply.raw.on('close', () => gone.abort());
    const credential = deps.callers.of(request).presented.value;
    const reader = await readers.open({ caller, credential, after, types, gone: gone.signal });
    try {
      beginServerSentEvents(reply, request.id);
      reply.raw.write(firstFrame(reader));
      await follow(reader, reply.raw);
    } finally {
      reader.close();
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
      (request, query) => ({
        limit: 1,
        afterCursor: lastEventId(request),
        ...withTypeList(query),
      }),
    ),
  });
}

/**
 * Returns a frame with an id but no event, so that a client that loses the connection before the first event can still
 * resume. Truncation is part of the same frame, because a client that has the id would not get it after a reconnect.
 */
function firstFrame({ cursor, truncated }: Pick<EventReader, 'cursor' | 'truncated'>): string {
  const event = truncated ? `event: truncated\ndata: ${JSON.stringify({ cursor })}\n` : '';
  return `: connected\nid: ${cursor}\n${event}\n`;
}

/** @throws {AppError} `validation_failed` */
function lastEventId({ headers }: FastifyRequest): string | undefined {
  const id = headers['last-event-id'];
  if (id !== undefined && (typeof id !== 'string' || !isCursor(id))) {
    throw new AppError('validation_failed', 'Last-Event-ID is not the id of an event of this stream');
  }
  return id;
}

async function follow(reader: EventReader, response: ServerResponse): Promise<void> {
  for await (const events of reader.batches()) {
    if (events.length > 0) await writeAll(response, events, reader.signal);
    else await writeAtItsPace(response, ': heartbeat\n\n', reader.signal);
  }
}

async function writeAll(response: ServerResponse, events: readonly LoggedEvent[], signal: AbortSignal): Promise<void> {
  let chunk = '';
  for (const event of events) {
    chunk += `id: ${event.cursor}\nevent: ${event.kind}\ndata: ${event.body}\n\n`;
    if (chunk.length < CHUNK_CHARACTERS) continue;
    await writeAtItsPace(response, chunk, signal);
    chunk = '';
  }
  if (chunk !== '') await writeAtItsPace(response, chunk, signal);
}
