import type { BinaryNode } from 'baileys';
import { isGroup } from '../encryption/envelope.ts';
import { type Network, tell } from '../network.ts';
import { stanza } from '../stanza.ts';
import { type Account, type DeviceAddress, findAccount } from './account.ts';
import { isBlocked } from './messages.ts';

/** Reports typing to those who are online. */
export function routeTyping(network: Network, { account }: DeviceAddress, node: BinaryNode): void {
  const { to = '' } = node.attrs;
  const others = isGroup(to)
    ? [...(network.groups.get(to)?.members.keys() ?? [])].filter((member) => member !== account)
    : [findAccount(network, to)];
  // Addressed as the client addressed the other: by LID or number.
  const me = to.endsWith('@s.whatsapp.net') && !account.profile.hidesNumber ? account.numberJid : account.lidJid;
  const attributes = isGroup(to) ? { from: to, participant: account.lidJid } : { from: me };
  const typing = stanza('chatstate', attributes, node.content);
  for (const other of others) {
    if (other === undefined || isBlocked(other, account)) continue;
    tell(other, typing);
    other.receive(typing);
  }
}

/** Subscribes a client to the presence of a person, and reports the current one. */
export function subscribe(network: Network, { account }: DeviceAddress, node: BinaryNode): void {
  const other = findAccount(network, node.attrs['to']);
  if (other === undefined) return;
  other.presence.followers.add(account);
  tell(account, presenceStanza(other));
}

export function announcePresence(account: Account, isOnline: boolean): void {
  account.presence.isOnline = isOnline;
  account.presence.lastSeenS = Math.floor(Date.now() / 1000);
  for (const follower of account.presence.followers) tell(follower, presenceStanza(account));
}

function presenceStanza({ lidJid, presence }: Account): BinaryNode {
  return presence.isOnline
    ? stanza('presence', { from: lidJid })
    : stanza('presence', { from: lidJid, type: 'unavailable', last: String(presence.lastSeenS) });
}
