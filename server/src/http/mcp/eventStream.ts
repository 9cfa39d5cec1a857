import type { FastifyReply } from 'fastify';
import { AppError } from '../../errors.ts';
import { isSelected, type Selected } from '../../webhooks/endpoints/subscriptions.ts';
import { eventErrors } from '../../webhooks/lanes/subscription.ts';
import { timeOfCursor } from '../../webhooks/log/eventLog.ts';
import type { EventReader, EventReaders } from '../events/eventReader.ts';
import { beginServerSentEvents, writeAtItsPace } from '../events/serverSentEvents.ts';
import { occurrenceOf } from './occurrence.ts';

const SUBSCRIPTION_ID = 'io.modelcontextprotocol/subscriptionId';

interface Parts {
  readonly accountId: string;
  readonly readers: Pick<EventReaders, 'oldestKept' | 'renewed'>;
  readonly reader: EventReader;
  readonly selected: Selected;
  /** Id of the request, which every notification repeats. */
  readonly requestId: string | number;
  /** Whether events before the start may have been skipped. */
  readonly truncated: boolean;
}

/** The notifications of one `events/stream` request. */
export class EventStream {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  get signal(): AbortSignal {
    return this.#parts.reader.signal;
  }

  /** Call it once. */
  close(): void {
    this.#parts.reader.close();
  }

  /** Yields messages of JSON-RPC until the client, the server or the credential ends the stream. */
  async *messages(): AsyncGenerator<string> {
    const { accountId, reader, readers, selected, truncated } = this.#parts;
    yield this.#notification('active', { cursor: reader.cursor, truncated });
    let cursor = reader.cursor;
    for await (const events of reader.batches()) {
      // The client was too slow for the retention of the log.
      if (events.length > 0 && timeOfCursor(cursor) < readers.oldestKept())
        yield this.#notification('active', { cursor, truncated: true });
      for (const event of events.filter((one) => isSelected(selected, one)))
        yield this.#notification('event', { ...occurrenceOf(event), cursor: event.cursor });
      cursor = reader.cursor;
      if (events.length > 0) continue;
      // The database may be away.
      cursor = await readers.renewed(accountId, cursor).catch(() => reader.cursor);
      yield this.#notification('heartbeat', { cursor });
    }
  }

  /** The last message: undefined unless the credential has ended the stream. */
  farewell(): string | undefined {
    const { reason } = this.#parts.reader.signal;
    if (!(reason instanceof AppError)) return undefined;
    const error = { ...eventErrors.forbidden, data: { reason: reason.message } };
    return this.#notification('terminated', { error });
  }

  #notification(name: string, params: object): string {
    return JSON.stringify({
      jsonrpc: '2.0',
      method: `notifications/events/${name}`,
      params: { ...params, _meta: { [SUBSCRIPTION_ID]: this.#parts.requestId } },
    });
  }
}

/**
 * Sends a stream as server-sent events, at the pace of the client: the protocol library would keep what a slow client
 * does not read.
 * @param result the response to the request, which ends the stream
 */
export async function sendEventStream(
  reply: FastifyReply,
  requestId: string,
  stream: EventStream,
  result: string,
): Promise<FastifyReply> {
  try {
    beginServerSentEvents(reply, requestId);
    for await (const message of stream.messages()) await writeAtItsPace(reply.raw, frameOf(message), stream.signal);
    const farewell = stream.farewell();
    if (farewell !== undefined) reply.raw.write(frameOf(farewell));
    reply.raw.write(frameOf(result));
  } finally {
    stream.close();
    reply.raw.end();
  }
  return reply;
}

const frameOf = (message: string) => `event: message\ndata: ${message}\n\n`;
