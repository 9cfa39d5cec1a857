import type { BinaryNode } from 'baileys';
import { isShared } from '../encryption/envelope.ts';
import { deliver, type Network } from '../network.ts';
import { childOf, childrenOf, STATUS, stanza } from '../stanza.ts';
import { type Account, type DeviceAddress, devicesOf, findAccount, lidJidOf, numberJidOf } from './account.ts';
import { memberNames } from './groups.ts';
import { nowS } from './linking.ts';
import { isBlocked } from './messages.ts';

/** Receipts about the sender's own messages, which are not passed on. */
const OWN_TYPES = new Set(['sender', 'peer_msg', 'hist_sync', 'read-self']);

/** Accepts a receipt from a device and passes it to the author of the messages. */
export function routeReceipt(network: Network, from: DeviceAddress, node: BinaryNode): void {
  const { to = '', id = '', type, participant } = node.attrs;
  if (type !== undefined && OWN_TYPES.has(type)) return;
  const author = findAccount(network, isShared(to) ? participant : to);
  if (author === undefined || isBlocked(author, from.account)) return;
  const receipt = receiptStanza(network, from, node);
  for (const target of targetsOf(network, id, type, author)) deliver(network, target, receipt);
}

function targetsOf({ authors }: Network, id: string, type: string | undefined, author: Account): DeviceAddress[] {
  // Only the device that sent a message can send it again.
  const sender = type === 'retry' ? authors.get(id) : undefined;
  if (sender !== undefined) return [sender];
  // Only the phone has a copy of an expired file.
  return type === 'server-error' ? [{ account: author, device: 0 }] : devicesOf(author);
}

function receiptStanza({ groups }: Network, from: DeviceAddress, node: BinaryNode): BinaryNode {
  const { to = '', id, type } = node.attrs;
  // A retry names the device, because other devices of that person may have read the message.
  const reader = type === 'retry' || type === 'server-error' ? from : { account: from.account, device: 0 };
  const group = groups.get(to);
  const attributes = group
    ? { from: to, participant: memberNames(group, reader).jid }
    : to === STATUS
      ? { from: to, participant: lidJidOf(reader) }
      : { from: addressedAs(to, reader) };
  return stanza('receipt', { ...attributes, id, type, t: String(nowS()) }, node.content);
}

/** The reader is addressed in the same way as the author was. */
function addressedAs(jid: string, reader: DeviceAddress): string {
  return jid.endsWith('@lid') || reader.account.profile.hidesNumber ? lidJidOf(reader) : numberJidOf(reader);
}

/** All messages that a receipt covers. */
export function messageIdsOf(receipt: BinaryNode): string[] {
  const more = childrenOf(childOf(receipt, 'list'), 'item').map(({ attrs }) => attrs['id']);
  return [receipt.attrs['id'], ...more].filter((id) => id !== undefined);
}
