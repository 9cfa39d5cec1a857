import { deliver, type Network } from '../network.ts';
import { SERVER_JID, stanza } from '../stanza.ts';
import { type Account, devicesOf } from './account.ts';
import { newId, nowS } from './linking.ts';
import { type Answer, type Query, QueryError } from './queries.ts';

/** The limits of a number that the network does not fully trust. */
export interface Limits {
  /** The end of the ban on new chats, in seconds since the epoch. */
  noNewChatsUntilS: number | undefined;
  /** The number of new chats per month, and how many were used. */
  newChats: { readonly total: number; readonly used: number } | undefined;
}

/** The two types of limits, by the names of the client's queries and of the notifications. */
const KINDS = {
  timelock: {
    queryId: '23983697327930364',
    asked: 'xwa2_fetch_account_reachout_timelock',
    operation: 'NotificationUserReachoutTimelockUpdate',
    resultField: 'xwa2_notify_account_reachout_timelock',
    of: ({ noNewChatsUntilS }: Limits) => ({
      is_active: noNewChatsUntilS !== undefined,
      time_enforcement_ends: String(noNewChatsUntilS ?? 0),
      enforcement_type: noNewChatsUntilS === undefined ? 'DEFAULT' : 'WEB_COMPANION_ONLY',
    }),
  },
  cap: {
    queryId: '24503548349331633',
    asked: 'xwa2_message_capping_info',
    operation: 'MessageCappingInfoNotification',
    resultField: 'xwa2_notify_new_chat_messages_capping_info_update',
    of: ({ newChats }: Limits) => ({
      total_quota: newChats?.total,
      used_quota: newChats?.used,
      capping_status: newChats === undefined ? 'NONE' : newChats.used < newChats.total ? 'FIRST_WARNING' : 'CAPPED',
    }),
  },
} as const;

export function answerLimitsQuery({ account, ask }: Query): Answer {
  const kind = Object.values(KINDS).find(({ queryId }) => queryId === ask?.attrs['query_id']);
  if (kind === undefined) throw new QueryError(400, 'bad-request');
  return [stanza('result', {}, json({ data: { [kind.asked]: kind.of(account.limits) } }))];
}

/** Sets or removes the limits of a number, and notifies its clients. */
export function limit(network: Network, account: Account, change: Partial<Limits>): void {
  Object.assign(account.limits, change);
  if ('noNewChatsUntilS' in change) notifyOfLimit(network, account, 'timelock');
  if ('newChats' in change) notifyOfLimit(network, account, 'cap');
}

function notifyOfLimit(network: Network, account: Account, name: keyof typeof KINDS): void {
  const { operation, resultField, of } = KINDS[name];
  notifyByMex(network, account, operation, { data: { [resultField]: of(account.limits) } });
}

/** Reveals a person's number without sending a message. */
export function revealNumber(network: Network, { lidJid, numberJid }: Account, to: Account): void {
  const update = {
    operation: 'NotificationLinkedProfilesUpdates',
    updates: [{ jid: lidJid, added_profiles: [numberJid] }],
  };
  notifyByMex(network, to, 'NotificationLinkedProfilesUpdates', { data: {}, ...update });
}

function notifyByMex(network: Network, account: Account, operation: string, content: object): void {
  const attributes = { from: SERVER_JID, type: 'mex', id: newId(), t: String(nowS()) };
  const update = stanza('update', { op_name: operation }, json(content));
  for (const device of devicesOf(account)) deliver(network, device, stanza('notification', attributes, [update]));
}

const json = (value: object) => Buffer.from(JSON.stringify(value));
