import type { Message } from '@switchboard/sdk/api';

/** Fields about a message that its recipient does not get, or that the approval card shows elsewhere. */
const SHOWN_ELSEWHERE: ReadonlySet<string> = new Set([
  'messageId',
  'sessionId',
  'chatId',
  'direction',
  'from',
  'to',
  'toNumber',
  'groupId',
  'message',
  'status',
  'statusHistory',
  'timestamp',
  'networkId',
  'approval',
  'quoted',
  'replyTo',
  'previewImage',
  'createdByKeyId',
  'labelIds',
  'starred',
  'error',
] satisfies (keyof Message | 'statusHistory')[]);

/**
 * Returns the values that go out besides the text, each with its place, such as `template, components 1, text`. A field
 * that the API adds is included without a change here.
 */
export function outgoingParts(message: Message): readonly (readonly [place: string, value: string])[] {
  return Object.entries(message)
    .filter(([name]) => !SHOWN_ELSEWHERE.has(name))
    .flatMap(([name, value]) => leaves(wordsOf(name), value));
}

function leaves(place: string, value: unknown): (readonly [string, string])[] {
  if (Array.isArray(value)) return value.flatMap((item, index) => leaves(`${place} ${index + 1}`, item));
  if (typeof value === 'object' && value !== null)
    return Object.entries(value).flatMap(([name, item]) => leaves(`${place}, ${wordsOf(name)}`, item));
  return value === undefined || value === null ? [] : [[place, String(value)]];
}

/** Returns "phone numbers" for `phoneNumbers`. */
const wordsOf = (name: string) => name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`).replaceAll('_', ' ');
