import type { BinaryNode } from 'baileys';
import type { NetworkEvent } from '../../contract/events.ts';
import { toOwnId } from '../outbound/messageIds.ts';

/** The status of a message by the type of its receipt. `inactive` comes from a device whose owner is not looking. */
const STATUSES: ReadonlyMap<string, 'delivered' | 'read'> = new Map([
  ['', 'delivered'],
  ['inactive', 'delivered'],
  ['read', 'read'],
  ['played', 'read'],
]);

/** Undefined for another stanza. A message to a group counts as delivered, or read, from the first member on. */
export function receiptOf(
  node: BinaryNode,
  isSelf: (jid: string | undefined) => boolean,
  now: number,
): Extract<NetworkEvent, { type: 'receipt' }> | undefined {
  const { attrs } = node;
  const status = STATUSES.get(attrs['type'] ?? '');
  // A receipt from another device of the session's own number says nothing about the recipient.
  if (status === undefined || attrs['id'] === undefined) return undefined;
  if (attrs['recipient'] !== undefined || isSelf(attrs['participant'])) return undefined;
  return {
    type: 'receipt',
    networkIds: idsOf(node).map(toOwnId),
    status,
    timestamp: attrs['t'] === undefined ? now : Number(attrs['t']) * 1000,
  };
}

/** The ids of all messages that a receipt is about. */
export function idsOf({ attrs, content }: BinaryNode): string[] {
  const list = Array.isArray(content) ? content.find(({ tag }) => tag === 'list') : undefined;
  const more = Array.isArray(list?.content) ? list.content.flatMap((item) => item.attrs['id'] ?? []) : [];
  return [attrs['id'] ?? [], ...more].flat();
}
