import { AppError, type FieldError, invalidField } from '../../errors.ts';
import { type EventKind, eventKinds, events, isEventKind, matchesPattern } from '../../events/events.ts';
import { exampleEvent } from '../../events/samples.ts';
import { entries, object, oneOf, openObject, string } from '../../invoke/input/fields.ts';
import { defineOperation } from '../../invoke/operation.ts';

export const Kind = oneOf(eventKinds, 'Event type.');

export const listEventTypes = defineOperation({
  id: 'events.types',
  route: 'GET /events/types',
  permission: 'events:metadata',
  scope: 'none',
  effect: 'read',
  summary: 'List event types',
  description:
    'List all event types with the JSON Schema of their `data` and an example. Subscribe to them by name, or by a pattern: `*` for all, `message.*` for all whose names begin with `message.`.',
  input: {},
  output: object({
    data: entries('Event types.', {
      event: Kind,
      description: string('Meaning of the event.'),
      schema: openObject('JSON Schema of `data`.'),
      example: openObject('A delivery of the event.'),
    }),
  }),
  async run() {
    const data = eventKinds.map((event) => ({
      event,
      description: events[event].description,
      schema: { ...events[event].data } as Record<string, unknown>,
      example: { ...exampleEvent(event) } as Record<string, unknown>,
    }));
    return { data };
  },
});

/**
 * Returns the event types that names and patterns include, in the order of the table, each once.
 * @param field the input field that names them
 * @throws {AppError} `validation_failed` naming those that include nothing
 */
export function acceptedKinds(wanted: readonly string[], field = 'events'): EventKind[] {
  const unknown = wanted
    .filter((one) => !eventKinds.some((kind) => includes(one, kind)))
    .map(
      (one): FieldError => ({
        field,
        code: 'unknown_kind',
        message: `${unknownEventType(one)}, or a pattern such as message.*`,
      }),
    );
  if (unknown.length > 0) throw new AppError('validation_failed', unknown[0]?.message, { fields: unknown });
  return eventKinds.filter((kind) => wanted.some((one) => includes(one, kind)));
}

/**
 * Returns what a webhook stores: the event types of today, for nodes of a release that knows no patterns, and then the
 * patterns, which also include the event types of later releases.
 * @throws {AppError} `validation_failed`
 */
export function acceptedSubscription(wanted: readonly string[]): string[] {
  const kinds = acceptedKinds(wanted);
  return [...kinds, ...new Set(wanted.filter((one) => !isEventKind(one)))];
}

/** Returns the event types of a stored subscription that this version knows. */
export function subscribedKinds(stored: readonly string[]): EventKind[] {
  return eventKinds.filter((kind) => stored.some((one) => includes(one, kind)));
}

/** Returns a stored subscription as it was set: patterns, and the event types that they do not include. */
export function shownSubscription(stored: readonly string[]): string[] {
  const patterns = stored.filter((one) => one.endsWith('*'));
  const named = stored.filter((one) => isEventKind(one) && !patterns.some((pattern) => matchesPattern(pattern, one)));
  return [...patterns, ...named];
}

/** @throws {AppError} `validation_failed` naming the field `event` */
export function acceptedKind(event: string): EventKind {
  if (!isEventKind(event)) throw invalidField('event', unknownEventType(event), 'unknown_kind');
  return event;
}

function includes(wanted: string, kind: EventKind): boolean {
  return wanted === kind || matchesPattern(wanted, kind);
}

function unknownEventType(kind: string): string {
  return `"${kind}" is not an event type; use ${eventKinds.join(', ')}`;
}
