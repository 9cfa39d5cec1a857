import type { IDataObject } from 'n8n-workflow';
import { entriesOf, type ItemCall, present } from './itemCall.ts';
import { withOffset } from './times.ts';
import { textOf, timeTextOf } from './values.ts';

/* Common parts of all messages. */

/** Returns a time of a parameter in the form of the API. */
export function timeOf(item: ItemCall, value: unknown): string | undefined {
  const text = timeTextOf(value);
  return text === '' ? undefined : withOffset(text, item.execution.getTimezone());
}

/** Fields that all messages have. */
export function envelope(item: ItemCall): IDataObject {
  const { mentions, mentionAll, replyTo, sendAt } = item.param<IDataObject>('options', {});
  return {
    ...item.session,
    to: item.required('to', 'To'),
    replyTo: textOf(replyTo).trim(),
    sendAt: timeOf(item, sendAt),
    mentions: entriesOf(mentions),
    mentionAll: item.boolean(mentionAll, 'Mention All') || undefined,
  };
}

/** Sends a message under the idempotency key of the item. */
export function send(item: ItemCall, endpoint: string, fields: IDataObject): Promise<IDataObject> {
  const body = present(fields);
  return item.call({ method: 'POST', path: `/messages/${endpoint}`, body, idempotencyKey: item.idempotencyKey(body) });
}

/** Returns the fields of a text message. */
export function textFields(item: ItemCall): IDataObject {
  const { linkPreview } = item.param<IDataObject>('options', {});
  return {
    ...envelope(item),
    message: item.message(),
    linkPreview: item.boolean(linkPreview, 'Link Preview'),
  };
}
