import type { BinaryNode, WAMessage } from 'baileys';
import type { Baileys } from '../link/load.ts';
import { unhosted } from '../people/addresses.ts';

/*
 * Not every message comes encrypted for us: of some the network sends an empty envelope. What has to be seen once only
 * is for the phone alone; the rest, such as the first words after a click on an advertisement, Baileys asks the phone
 * for, which hands them on as they were.
 */

/** What is said of a message that its sender lets be seen once. */
export const SEEN_ONCE = '[A message that can be seen once: it is on the phone alone]';

/** Whether an envelope is that of a message that can be seen once. */
export function isSeenOnce({ content }: BinaryNode): boolean {
  if (!Array.isArray(content) || content.some(({ tag }) => tag === 'enc')) return false;
  return content.some(({ tag, attrs }) => tag === 'unavailable' && attrs['type']?.startsWith('view_once') === true);
}

/**
 * What stood on the envelope of a message that the phone has handed on; undefined when it does not say enough.
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
