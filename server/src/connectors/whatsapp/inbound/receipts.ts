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

export interface WireReceipt {
  readonly receipt: Extract<NetworkEvent, { type: 'receipt' }>;
  /** Address of the chat that it arrived from. */
  readonly from: string;
  /** Address of the member of a group who received or read the messages. */
  readonly member?: string;
  /** Other address of the member, or of the person of a direct chat, if the network has reported it. */
  readonly alternative?: string;
}

/**
 * Returns the receipts in a stanza; undefined for another stanza. A message to a group counts as delivered, or read,
 * from the first member on. The server joins receipts of several members in one stanza (whatsmeow, receipt.go,
 * `handleGroupedReceipt`): a `participants` node per message, with a `user` node per member.
 */
export function receiptsOf(
  node: BinaryNode,
  isSelf: (jid: string | undefined) => boolean,
  now: number,
): readonly WireReceipt[] | undefined {
  const { attrs } = node;
  const status = STATUSES.get(attrs['type'] ?? '');
  // A receipt from another device of the session's own number says nothing about the recipient.
  if (status === undefined || attrs['id'] === undefined) return undefined;
  if (attrs['recipient'] !== undefined || isSelf(attrs['participant'])) return undefined;
  const { from = '', participant, t } = attrs;
  const timeOf = (seconds: string | undefined) => (seconds === undefined ? now : Number(seconds) * 1000);
  const receipt = { type: 'receipt', status, timestamp: timeOf(t) } as const;
  const isGroup = from.endsWith('@g.us');
  const joined = isGroup && participant === undefined ? membersOf(node) : [];
  if (joined.length > 0)
    return joined
      .filter(({ jid }) => !isSelf(jid))
      .map(({ id, jid, time }) => ({
        receipt: { ...receipt, networkIds: [toOwnId(id)], timestamp: timeOf(time ?? t) },
        from,
        member: jid,
      }));
  // whatsmeow reads the same attributes (message.go, `parseMessageSource`).
  const alternative =
    attrs['participant_pn'] ??
    attrs['participant_lid'] ??
    (isGroup ? undefined : (attrs['sender_pn'] ?? attrs['sender_lid']));
  return [
    {
      receipt: { ...receipt, networkIds: idsOf(node).map(toOwnId) },
      from,
      ...(isGroup && participant !== undefined && { member: participant }),
      ...(alternative !== undefined && { alternative }),
    },
  ];
}

/** Returns the members in a stanza with receipts of several, with the message that each is about. */
function membersOf({ content }: BinaryNode): { id: string; jid: string; time: string | undefined }[] {
  const lists = Array.isArray(content) ? content.filter(({ tag }) => tag === 'participants') : [];
  return lists.flatMap(({ attrs: { key: id }, content: users }) =>
    Array.isArray(users)
      ? users.flatMap(({ tag, attrs: { jid, t: time } }) => (tag === 'user' && id && jid ? [{ id, jid, time }] : []))
      : [],
  );
}

/** The ids of all messages that a receipt is about. */
export function idsOf({ attrs, content }: BinaryNode): string[] {
  const list = Array.isArray(content) ? content.find(({ tag }) => tag === 'list') : undefined;
  const more = Array.isArray(list?.content) ? list.content.flatMap((item) => item.attrs['id'] ?? []) : [];
  return [attrs['id'] ?? [], ...more].flat();
}
