import type { BinaryNode } from 'baileys';
import { deliver, type Network } from '../network.ts';
import { childOf, childrenOf, STATUS, stanza } from '../stanza.ts';
import { type DeviceAddress, findDevice, lidJidOf } from './account.ts';
import { nowS } from './linking.ts';
import { isBlocked } from './messages.ts';

/**
 * Passes a status to the devices for which its author has encrypted the key of it. A migrated account must send it to
 * LIDs only (Baileys #2794), as WhatsApp's client does (whatsapp-rust #568), and not to the sending device itself
 * (evolution-api #2303).
 */
export function routeStatus(network: Network, author: DeviceAddress, node: BinaryNode): 479 | undefined {
  const { id, type, edit, t = String(nowS()) } = node.attrs;
  const forAll = childrenOf(node, 'enc');
  const attributes = {
    from: STATUS,
    participant: lidJidOf(author),
    participant_pn: author.account.profile.hidesNumber ? undefined : author.account.numberJid,
    notify: author.account.profile.name,
  };
  const recipients = childrenOf(childOf(node, 'participants'), 'to');
  const own = lidJidOf(author);
  const isRefused = recipients.some(({ attrs: { jid = '' } }) => !jid.endsWith('@lid') || jid === own);
  if (network.isMigrated && author.device !== 0 && isRefused) return 479;
  for (const part of recipients) {
    const target = findDevice(network, part.attrs['jid']);
    if (target === undefined || isBlocked(target.account, author.account)) continue;
    const parts = [...childrenOf(part, 'enc'), ...forAll];
    deliver(network, target, stanza('message', { id, t, type, edit, ...attributes }, parts));
  }
  return undefined;
}
