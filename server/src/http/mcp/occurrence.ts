import type { TObject } from 'typebox';
import { findKeyCaller } from '../../auth/keyCaller.ts';
import { type Clock, isoTime } from '../../clock.ts';
import type { Queryable } from '../../db/dialect.ts';
import { AddedFields } from '../../events/addedFields.ts';
import { sessionOf } from '../../events/conversation.ts';
import { type EventKind, events } from '../../events/events.ts';
import { ContentHidden } from '../../events/parts.ts';
import { object, onlyTrue, optional, string } from '../../invoke/fields.ts';
import { denialOf, sessionsOf } from '../../invoke/operation.ts';
import { listEvents, visibleBody } from '../../operations/events.ts';
import type { EventLog, LoggedEvent } from '../../webhooks/eventLog.ts';
import type { ShowOccurrence } from '../../webhooks/subscription.ts';
import type { Access } from '../../webhooks/subscriptionKeeper.ts';
import { watermark } from '../../webhooks/subscriptions.ts';
import { fitOne, type Schema } from './fit.ts';
import { NOTICE } from './results.ts';

/** An event as MCP clients get it (`EventOccurrence` of the extension). */
export interface Occurrence {
  readonly eventId: string;
  readonly name: string;
  readonly timestamp: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** The schema of `data`: that of the event, and what is added for agents. */
export function payloadSchema(kind: EventKind): TObject {
  return object({
    thirdPartyText: string('Says that the other fields contain text written by third parties.'),
    ...AddedFields.properties,
    ...events[kind].data.properties,
    contentHidden: ContentHidden,
    truncated: optional(onlyTrue('Present if long texts or lists were cut.')),
  });
}

/**
 * Returns an event for an agent: marked as third-party text, with long texts and lists cut.
 * @param body as the caller may see it
 */
export function occurrenceOf({
  eventId,
  kind,
  createdAt,
  body,
}: Omit<LoggedEvent, 'cursor' | 'sessionId'>): Occurrence {
  const { data } = JSON.parse(body) as { data: Record<string, unknown> };
  const shown = fitOne(data, payloadSchema(kind) as unknown as Schema);
  return { eventId, name: kind, timestamp: isoTime(createdAt), data: { thirdPartyText: NOTICE, ...shown } };
}

/** Creates the function that returns which sessions an API key may see events of; undefined if none. */
export function createFindAccess(reader: Queryable, clock: Clock) {
  return async (keyId: string): Promise<Access | undefined> => {
    const caller = await findKeyCaller(reader, keyId, clock.now());
    return caller === undefined || denialOf(listEvents, caller) !== undefined
      ? undefined
      : { sessionIds: sessionsOf({ caller }) };
  };
}

interface Deps {
  readonly reader: Queryable;
  readonly clock: Clock;
  readonly eventLog: EventLog;
  /** Called if the API key of a subscription has ended or was limited. */
  readonly onRefused: (accountId: string, keyId: string) => void;
}

/** Creates the function that asks the API key of a subscription before each delivery. */
export function createShowOccurrence({ reader, clock, eventLog, onRefused }: Deps): ShowOccurrence {
  return async ({ webhook, subscription, due }) => {
    const { accountId, webhookId } = webhook;
    if (subscription.expiresAt <= clock.now()) return { refusal: 'The subscription has expired' };
    const caller = await findKeyCaller(reader, subscription.keyId, clock.now());
    const maySee =
      caller?.accountId === accountId &&
      denialOf(listEvents, caller) === undefined &&
      (sessionsOf({ caller })?.includes(sessionOf(due.conversation)) ?? true);
    if (!maySee) {
      onRefused(accountId, subscription.keyId);
      return { refusal: 'The API key of the subscription may not see this event any more' };
    }
    const { eventId, createdAt, conversation, sequence } = due;
    const kind = due.kind as EventKind; // of the table when it was stored
    const body = visibleBody({ caller }, 'events', kind, due.body);
    const upTo = eventLog.after({ event_id: eventId, position: sequence });
    const cursor = await watermark(reader, eventLog, webhookId, upTo);
    const occurrence = occurrenceOf({ eventId, kind, createdAt, conversation, body, sequence });
    return { body: JSON.stringify({ ...occurrence, cursor }) };
  };
}
