import { AppError, type FieldError, invalidField } from '../errors.ts';
import { type EventKind, eventKinds, isEventKind } from '../events.ts';
import { oneOf } from '../invoke/fields.ts';

export const Kind = oneOf(eventKinds, 'Event type.');

/**
 * Returns the event types in the order of the table, each once.
 * @param field the input field that names them
 * @throws {AppError} `validation_failed` naming those that do not exist
 */
export function acceptedKinds(events: readonly string[], field = 'events'): EventKind[] {
  const unknown = events.flatMap((kind, index): FieldError[] =>
    isEventKind(kind) ? [] : [{ field: `${field}.${index}`, code: 'unknown_kind', message: unknownEventType(kind) }],
  );
  if (unknown.length > 0) throw new AppError('validation_failed', unknown[0]?.message, { fields: unknown });
  return eventKinds.filter((kind) => events.includes(kind));
}

/** @throws {AppError} `validation_failed` naming the field `event` */
export function acceptedKind(event: string): EventKind {
  if (!isEventKind(event)) throw invalidField('event', unknownEventType(event), 'unknown_kind');
  return event;
}

function unknownEventType(kind: string): string {
  return `"${kind}" is not an event type; use ${eventKinds.join(', ')}`;
}
