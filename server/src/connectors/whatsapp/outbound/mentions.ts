import type { proto } from 'baileys';
import type { NetworkChat } from '../../contract/messageKey.ts';
import { type Addresses, jidOf } from '../people/addresses.ts';
import type { MemberAddresses } from '../people/memberAddresses.ts';
import { userOf, withMentions } from '../people/mentionText.ts';

/** A text and the people whom it mentions, as they go over the wire. */
interface Mentioned {
  readonly text: string;
  readonly jids: string[];
}

/**
 * Mentions people by the addresses that they have in the chat, in the text too (Baileys #1737, #1683). In a direct chat
 * that is the number, which no report calls wrong.
 */
export async function addressMentions(
  members: MemberAddresses,
  chat: NetworkChat | undefined,
  { text, mentions }: { readonly text: string; readonly mentions: readonly string[] },
): Promise<Mentioned> {
  const jids = await Promise.all(
    mentions.map((digits) => (chat?.type === 'group' ? members.addressOf(chat.id, digits) : jidOf(digits))),
  );
  const users = new Map(mentions.map((digits, index) => [digits, userOf(jids[index] ?? '')]));
  return { text: withMentions(text, users), jids };
}

/**
 * Keeps the mentions of a sent message which its new text still has: an edit replaces the message with its mentions.
 */
export async function keepMentions(
  addresses: Addresses,
  sent: proto.IMessage | undefined,
  text: string,
): Promise<Mentioned> {
  const jids = mentionedIn(sent);
  const digits = await Promise.all(jids.map((jid) => addresses.digitsOf(jid)));
  const users = new Map(jids.map((jid, index) => [digits[index] ?? '', userOf(jid)]));
  const addressed = withMentions(text, users);
  return { text: addressed, jids: jids.filter((jid) => withoutMention(addressed, userOf(jid)) !== addressed) };
}

const withoutMention = (text: string, user: string): string => withMentions(text, new Map([[user, '']]));

function mentionedIn(message: proto.IMessage | undefined): string[] {
  const inner = message?.documentWithCaptionMessage?.message ?? message;
  const part = inner?.extendedTextMessage ?? inner?.imageMessage ?? inner?.videoMessage ?? inner?.documentMessage;
  return part?.contextInfo?.mentionedJid ?? [];
}
