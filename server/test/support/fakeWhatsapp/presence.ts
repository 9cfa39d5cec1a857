import type { BinaryNode } from 'baileys';
import { type Account, type DeviceAddress, findAccount } from './account.ts';
import { isGroup } from './envelope.ts';
import { isBlocked } from './messages.ts';
import { type Network, tell } from './network.ts';
import { stanza } from './stanza.ts';

/** Somebody types: those who are there see it, and nobody later. */
export function routeTyping(network: Network, { account }: DeviceAddress, node: BinaryNode): void {
  const { to = '' } = node.attrs;
  const others = isGroup(to)
    ? [...(network.groups.get(to)?.members.keys() ?? [])].filter((member) => member !== account)
    : [findAccount(network, to)];
  // Named as the client has named the other: by LID, or by number.
  const me = to.endsWith('@s.whatsapp.net') && !account.profile.hidesNumber ? account.numberJid : account.lidJid;
  const attributes = isGroup(to) ? { from: to, participant: account.lidJid } : { from: me };
  const typing = stanza('chatstate', attributes, node.content);
  for (const other of others) {
    if (other === undefined || isBlocked(other, account)) continue;
    tell(other, typing);
    other.receive(typing);
  }
}

/** A client asks to be told when somebody is online, and is told at once how it is. */
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
