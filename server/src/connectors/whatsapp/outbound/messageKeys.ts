import type { WAMessage, WAMessageKey } from 'baileys';
import type { MessageKey } from '../../contract/messageKey.ts';
import type { OutgoingMessage } from '../../contract/outgoing.ts';
import type { Addresses } from '../people/addresses.ts';
import type { MemberAddresses } from '../people/memberAddresses.ts';
import type { Session } from '../session.ts';
import { toWireId } from './messageIds.ts';

/**
 * Returns the chat address in references to a message: the one that the message has. Clients do not find it by the
 * person's other address.
 */
export async function chatAddressOf(
  addresses: Addresses,
  { chat, address }: Pick<MessageKey, 'chat' | 'address'>,
): Promise<string> {
  const isKnown = chat.type === 'direct' && address !== undefined;
  return isKnown ? address : (await addresses.addressesOf(chat))[0];
}

/**
 * Returns the key of a message, with the address that its author has in the message.
 * @param remoteJid chat address
 */
export async function keyOf(
  { self }: Session,
  members: MemberAddresses,
  { networkId, chat, from, timestamp, address }: MessageKey,
  remoteJid: string,
): Promise<WAMessageKey> {
  const fromMe = from === self.phoneNumber;
  return {
    id: toWireId(networkId),
    remoteJid,
    fromMe,
    ...(chat.type === 'group' &&
      !fromMe && { participant: address ?? (await members.addressOf(chat.id, from, timestamp)) }),
  };
}

/** The message that one replies to, as far as it is known: clients show it above the reply. */
export async function quotedOf(
  session: Session,
  members: MemberAddresses,
  { replyTo, quoted, chat }: OutgoingMessage,
  remoteJid: string,
): Promise<WAMessage | undefined> {
  if (replyTo === null) return undefined;
  const { self } = session;
  const { text = '', timestamp, address } = quoted ?? {};
  const from = quoted?.from ?? (chat.type === 'direct' ? chat.id : self.phoneNumber);
  const own = (address ?? remoteJid).endsWith('@lid') ? self.lidJid || self.jid : self.jid;
  return {
    key: {
      id: toWireId(replyTo),
      remoteJid,
      // Otherwise Baileys puts our number into a quote of our message.
      fromMe: false,
      ...(chat.type === 'group' && { participant: address ?? (await members.addressOf(chat.id, from, timestamp)) }),
      ...(chat.type === 'direct' && { participant: from === self.phoneNumber ? own : (address ?? remoteJid) }),
    },
    // Mentions stay numbers, which people can read: Baileys removes the list of them from a quote.
    message: { conversation: text },
  };
}
