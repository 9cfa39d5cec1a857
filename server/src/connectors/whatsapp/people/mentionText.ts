import type { proto } from 'baileys';
import { MAX_MENTIONS } from '../../contract/content.ts';

/**
 * Clients show a person's name in place of the digits behind an `@`, if they are the user part of a mentioned address.
 * Returns the text with other digits behind the `@`.
 * @param users the digits in the text → the digits that replace them
 */
export function withMentions(text: string, users: ReadonlyMap<string, string>): string {
  if (users.size === 0) return text;
  return text.replace(/@(\d+)/g, (found, digits: string) => {
    const user = users.get(digits);
    return user === undefined ? found : `@${user}`;
  });
}

/** Returns a text with the mentioned people by the same digits as in `mentions`. Messages mention many by LID. */
export async function mentionsIn(
  text: string,
  context: proto.IContextInfo | null | undefined,
  digitsOf: (jid: string) => Promise<string>,
): Promise<{ text: string; mentions: string[] }> {
  const mentioned = (context?.mentionedJid ?? []).slice(0, MAX_MENTIONS);
  const mentions = await Promise.all(mentioned.map(digitsOf));
  return {
    text: withMentions(text, new Map(mentioned.map((jid, index) => [userOf(jid), mentions[index] ?? '']))),
    mentions,
  };
}

/** The user part of an address, without its device. */
export const userOf = (jid: string): string => jid.replace(/[:@].*$/s, '');
