import type { TObject } from 'typebox';
import { isoTime } from '../../clock.ts';
import { AddedFields } from '../../events/addedFields.ts';
import { type EventKind, events } from '../../events/events.ts';
import { ContentHidden } from '../../events/parts.ts';
import { integer, object, onlyTrue, optional, string } from '../../invoke/input/fields.ts';
import type { LoggedEvent } from '../../webhooks/log/eventLog.ts';
import { fitOne, type Schema } from './fit.ts';
import { NOTICE } from './results.ts';
import { REMOVED, Visible } from './visible.ts';

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
    [REMOVED]: optional(integer('Number of invisible characters that were removed.', { minimum: 1 })),
  });
}

type Shown = Pick<LoggedEvent, 'eventId' | 'kind' | 'createdAt' | 'body'>;

/**
 * Returns an event for an agent: marked as third-party text, with long texts and lists cut.
 * @param body as the caller may see it
 */
export function occurrenceOf({ eventId, kind, createdAt, body }: Shown): Occurrence {
  const { data } = JSON.parse(body) as { data: Record<string, unknown> };
  const visible = new Visible();
  const shown = visible.fields(fitOne(data, payloadSchema(kind) as unknown as Schema));
  const marks = { thirdPartyText: NOTICE, ...visible.count() };
  return { eventId, name: kind, timestamp: isoTime(createdAt), data: { ...marks, ...shown } };
}
