import type { BinaryNode } from 'baileys';
import { type Account, type DeviceAddress, devicesOf, findAccount, lidJidOf, numberJidOf } from './account.ts';
import { isGroup } from './envelope.ts';
import { memberNames } from './groups.ts';
import { nowS } from './linking.ts';
import { isBlocked } from './messages.ts';
import { deliver, type Network } from './network.ts';
import { childOf, childrenOf, stanza } from './stanza.ts';

/** Receipts about one's own messages, which nobody else is told of. */
const OWN_TYPES = new Set(['sender', 'peer_msg', 'hist_sync', 'read-self']);

/** Takes a receipt from a device and tells the author of the messages. */
export function routeReceipt(network: Network, from: DeviceAddress, node: BinaryNode): void {
  const { to = '', id = '', type, participant } = node.attrs;
  if (type !== undefined && OWN_TYPES.has(type)) return;
  const author = findAccount(network, isGroup(to) ? participant : to);
  if (author === undefined || isBlocked(author, from.account)) return;
  const receipt = receiptStanza(network, from, node);
  for (const target of targetsOf(network, id, type, author)) deliver(network, target, receipt);
}

function targetsOf({ authors }: Network, id: string, type: string | undefined, author: Account): DeviceAddress[] {
  // Only the device that sent a message can send it again.
  const sender = type === 'retry' ? authors.get(id) : undefined;
  if (sender !== undefined) return [sender];
  // Of a file that is gone, only the phone has a copy.
  return type === 'server-error' ? [{ account: author, device: 0 }] : devicesOf(author);
}

function receiptStanza({ groups }: Network, from: DeviceAddress, node: BinaryNode): BinaryNode {
  const { to = '', id, type } = node.attrs;
  // Who cannot read a message is asked for by device, as the others of that person may have read it.
  const reader = type === 'retry' || type === 'server-error' ? from : { account: from.account, device: 0 };
  const group = groups.get(to);
  const attributes = group
    ? { from: to, participant: memberNames(group, reader).jid }
    : { from: addressedAs(to, reader) };
  return stanza('receipt', { ...attributes, id, type, t: String(nowS()) }, node.content);
}

/** The reader is named in the way in which the author was. */
function addressedAs(jid: string, reader: DeviceAddress): string {
  return jid.endsWith('@lid') || reader.account.profile.hidesNumber ? lidJidOf(reader) : numberJidOf(reader);
}

/** All the messages that a receipt is for. */
export function messageIdsOf(receipt: BinaryNode): string[] {
  const more = childrenOf(childOf(receipt, 'list'), 'item').map(({ attrs }) => attrs['id']);
  return [receipt.attrs['id'], ...more].filter((id) => id !== undefined);
}
