import type { BinaryNode, WAMessage } from 'baileys';
import type { Baileys } from '../link/load.ts';
import { unhosted } from '../people/addresses.ts';

/*
 * Some messages come as an empty envelope. A view-once message is for the phone alone. Others, such as the first message
 * after a click on an advertisement, Baileys requests from the phone, which passes them on as they were.
 */

/** The text that stands in for a view-once message. */
export const SEEN_ONCE = '[A message that can be seen once: it is on the phone alone]';

/** Whether an envelope is that of a view-once message. */
export function isSeenOnce({ content }: BinaryNode): boolean {
  if (!Array.isArray(content) || content.some(({ tag }) => tag === 'enc')) return false;
  return content.some(({ tag, attrs }) => tag === 'unavailable' && attrs['type']?.startsWith('view_once') === true);
}

/**
 * Rebuilds the envelope of a message that the phone has passed on; undefined if the message does not say enough.
 * @param own address of the own number, without a device
 */
export function envelopeOf(
  { key, messageTimestamp, pushName }: WAMessage,
  own: string,
  { isLidUser, isJidGroup }: Baileys,
): Readonly<Record<string, string> & { id: string }> | undefined {
  const { id, remoteJid, remoteJidAlt, participant, participantAlt } = key;
  if (!id || !remoteJid) return undefined;
  if (key.fromMe === true) {
    const t = String(messageTimestamp);
    if (isJidGroup(remoteJid)) return { id, t, from: remoteJid, participant: own };
    const isNumberSaid = remoteJidAlt !== undefined && !isLidUser(unhosted(remoteJidAlt));
    return { id, t, from: own, recipient: remoteJid, ...(isNumberSaid && { peer_recipient_pn: remoteJidAlt }) };
  }
  const alternative = participant ? participantAlt : remoteJidAlt;
  const whose = participant ? 'participant' : 'sender';
  return {
    id,
    from: remoteJid,
    t: String(messageTimestamp),
    ...(participant && { participant }),
    ...(pushName && { notify: pushName }),
    ...(alternative && { [`${whose}_${isLidUser(unhosted(alternative)) ? 'lid' : 'pn'}`]: alternative }),
  };
}
