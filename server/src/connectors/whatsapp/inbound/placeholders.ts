import type { BinaryNode, WAMessage } from 'baileys';
import type { Baileys } from '../link/load.ts';
import { unhosted } from '../people/addresses.ts';

/*
 * Some messages arrive as an empty envelope. A view-once message is only for the phone. Other messages, such as the
 * first one after a click on an advertisement, are requested from the phone by Baileys, and the phone passes them on
 * unchanged.
 */

export const AWAITED_TEXT = '[Waiting for this message: it could not be decrypted yet]';

export const VIEW_ONCE_TEXT = '[View-once message: open it on the phone]';

export function isViewOnce({ content }: BinaryNode): boolean {
  if (!Array.isArray(content) || content.some(({ tag }) => tag === 'enc')) return false;
  return content.some(({ tag, attrs }) => tag === 'unavailable' && attrs['type']?.startsWith('view_once') === true);
}

/** Rebuilds the envelope of a message that the phone has passed on; undefined if information is missing. */
export function envelopeOf(
  { key, messageTimestamp, pushName }: WAMessage,
  ownJid: string,
  { isLidUser, isJidGroup }: Baileys,
): Readonly<Record<string, string> & { id: string }> | undefined {
  const { id, remoteJid, remoteJidAlt, participant, participantAlt } = key;
  if (!id || !remoteJid) return undefined;
  if (key.fromMe === true) {
    const t = String(messageTimestamp);
    if (isJidGroup(remoteJid)) return { id, t, from: remoteJid, participant: ownJid };
    const hasNumber = remoteJidAlt !== undefined && !isLidUser(unhosted(remoteJidAlt));
    return { id, t, from: ownJid, recipient: remoteJid, ...(hasNumber && { peer_recipient_pn: remoteJidAlt }) };
  }
  const alternative = participant ? participantAlt : remoteJidAlt;
  const person = participant ? 'participant' : 'sender';
  return {
    id,
    from: remoteJid,
    t: String(messageTimestamp),
    ...(participant && { participant }),
    ...(pushName && { notify: pushName }),
    ...(alternative && { [`${person}_${isLidUser(unhosted(alternative)) ? 'lid' : 'pn'}`]: alternative }),
  };
}
