import { findKeyCaller } from '../../auth/keyCaller.ts';
import type { Clock } from '../../clock.ts';
import type { Queryable } from '../../db/dialect.ts';
import { sessionOf } from '../../events/conversation.ts';
import type { EventKind } from '../../events/events.ts';
import { denialOf, sessionsOf } from '../../invoke/operation.ts';
import type { Access } from '../../webhooks/endpoints/subscriptionKeeper.ts';
import { watermark } from '../../webhooks/endpoints/subscriptions.ts';
import type { ShowOccurrence } from '../../webhooks/lanes/requests.ts';
import type { EventLog, LoggedEvent } from '../../webhooks/log/eventLog.ts';
import { listEvents, visibleBody } from './events.ts';

/* The permissions of the API key that subscribed, which are read again for each delivery. */

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
  /** Returns an event as agents get it. */
  readonly occurrenceOf: (event: Pick<LoggedEvent, 'eventId' | 'kind' | 'createdAt' | 'body'>) => object;
  /** Called if the API key of a subscription has ended or was limited. */
  readonly onRefused: (accountId: string, keyId: string) => void;
}

/** Creates the function that asks the API key of a subscription before each delivery. */
export function createShowOccurrence({ reader, clock, eventLog, occurrenceOf, onRefused }: Deps): ShowOccurrence {
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
      return { refusal: 'The API key of the subscription may no longer see this event' };
    }
    const { eventId, createdAt, sequence } = due;
    const kind = due.kind as EventKind; // of the table when it was stored
    const body = visibleBody({ caller }, 'events', kind, due.body);
    const upTo = eventLog.after({ event_id: eventId, position: sequence });
    const cursor = await watermark(reader, eventLog, webhookId, upTo);
    return { body: JSON.stringify({ ...occurrenceOf({ eventId, kind, createdAt, body }), cursor }) };
  };
}
