import type { Message } from '@switchboard/sdk/api';
import type { NameOf } from './names.ts';

/**
 * Returns a message's text with the names of mentioned people, as on a phone. The network writes `@` and the digits of
 * each, and lists them in `mentions`; other digits behind an `@` stay as they are.
 */
export function textWithNames({ message, mentions }: Pick<Message, 'message' | 'mentions'>, nameOf: NameOf): string {
  if (mentions === undefined || mentions.length === 0) return message;
  const mentioned = new Set(mentions);
  return message.replace(/@(\d+)/g, (found, digits: string) => (mentioned.has(digits) ? `@${nameOf(digits)}` : found));
}
