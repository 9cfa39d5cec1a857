import { type RawBuilder, sql } from 'kysely';
import { isoTime } from '../../clock.ts';
import type { Connection } from '../../connectors/contract/connection.ts';
import type { NetworkEvent } from '../../connectors/contract/events.ts';
import type { NetworkChat } from '../../connectors/contract/messageKey.ts';
import { isPlaceholder } from '../../connectors/contract/people.ts';
import type { Tx } from '../../db/commit.ts';
import { batch, query, unindexed } from '../../db/query.ts';
import type { MessageRow } from '../../db/schema.ts';
import type { AppError } from '../../errors.ts';
import { isGroupId } from '../../ids.ts';
import { groupIdOf } from '../groupStore.ts';
import type { InboxOptions } from '../inboxOptions.ts';
import { nextTurn } from '../sendOrder.ts';
import { storeWarnings, type Warning } from '../standing/sessionRisk.ts';
import { CANCELLED, LATE_MS, progressOf, type Step, type Receipt as StoredReceipt } from '../status.ts';
import { findMessage, type SessionRef, touchChat } from '../store.ts';
import {
  type EarlyReceipt,
  keepEarlyReceipts,
  takeEarlyReceipts,
  takeReceiptsOfMembers,
  takeReceiptsOfPerson,
} from './earlyReceipts.ts';
import { fromMembers, type MemberReceipt, storeMemberReceipts } from './groupReceipts.ts';
import { keepSentAddresses } from './sentAddresses.ts';

export type SentMessage = Pick<
  MessageRow,
  'account_id' | 'session_id' | 'message_id' | 'chat_id' | 'from_number' | 'to_id' | 'type'
>;

export interface Acknowledged {
  /** `traceparent` of the span that sent it. */
  readonly trace: string | null;
  readonly message: SentMessage;
  readonly accepted: Accepted;
}

interface Received {
  /** `traceparent` of the span that received it. */
  readonly trace: string | null;
  readonly session: SessionRef;
  readonly event: Extract<NetworkEvent, { type: 'receipt' }>;
}

/** The columns of a message that receipts depend on. */
const reportedColumns = [
  'account_id',
  'message_id',
  'session_id',
  'chat_id',
  'network_id',
  'direction',
  'type',
  'from_number',
  'to_id',
  'status',
  'error',
  'error_code',
  'timestamp',
  'sent_at',
  'delivered_at',
  'read_at',
  'failed_at',
  'pricing',
] as const;

type ReportedRow = Pick<MessageRow, (typeof reportedColumns)[number]>;

/** A receipt of a stored message. A message that is named twice is the same object. */
interface Reported {
  readonly row: ReportedRow;
  readonly receipt: StoredReceipt & Pick<Received['event'], 'pricing' | 'warning' | 'by'>;
  readonly trace: string | null;
}

export type Accepted = Awaited<ReturnType<Connection['send']>>;

/** Stores the progress of outgoing messages. Each method runs in the given transaction. */
export class OutgoingProgress {
  readonly #options: InboxOptions;

  constructor(options: InboxOptions) {
    this.#options = options;
  }

  /** Marks messages as `sent`, in their order. A field, because the commit queue joins work by identity. */
  readonly acknowledge = async (tx: Tx, lists: readonly (readonly Acknowledged[])[]): Promise<undefined[]> => {
    const items = lists.flat();
    for (const { message, accepted } of items) {
      const { account_id: accountId, message_id: messageId } = message;
      const { networkId } = accepted;
      if (networkId !== undefined) await renameOnNetwork.run(tx, { accountId, messageId, networkId });
    }
    await keepSentAddresses(tx, items);
    const rows = items.map(({ message: { account_id, message_id }, accepted }) => ({
      account_id,
      message_id,
      sent_at: accepted.timestamp,
    }));
    const sent = new Map((await markSent.all(tx, rows)).map((row) => [row.message_id, row]));
    for (const { message, accepted, trace } of items) {
      const row = sent.get(message.message_id);
      // A receipt that arrived before the acknowledgement has already done this step.
      if (row === undefined) continue;
      sent.delete(message.message_id);
      // The recipient's number may have changed since the message was dispatched.
      this.#emitStatus(tx, { ...message, ...row }, 'sent', accepted.timestamp, trace);
    }
    await this.catchUp(
      tx,
      items.flatMap(({ message, accepted: { networkId } }) =>
        networkId === undefined ? [] : [{ session_id: message.session_id, network_id: networkId }],
      ),
    );
    return lists.map(() => undefined);
  };

  /** Applies the receipts that arrived before these messages. */
  async catchUp(tx: Tx, messages: readonly { session_id: string; network_id: string }[]): Promise<void> {
    await this.#applyOrKeep(tx, await takeEarlyReceipts(tx, messages));
  }

  /** Applies the receipts that waited for the number of a person. Their messages have it already. */
  async followPerson(tx: Tx, person: Parameters<typeof takeReceiptsOfPerson>[1]): Promise<void> {
    await this.#applyOrKeep(tx, await takeReceiptsOfPerson(tx, person));
  }

  /** Applies the receipts that waited for people to be members of a group. They are members now. */
  async followMembers(tx: Tx, session: SessionRef, members: readonly string[]): Promise<void> {
    await this.#applyOrKeep(tx, await takeReceiptsOfMembers(tx, session, members));
  }

  async refuse(tx: Tx, { account_id, message_id }: SentMessage, { code, message }: AppError): Promise<void> {
    const row = await tx.kysely
      .updateTable('messages')
      .set({ status: 'failed', error: message, error_code: code, failed_at: this.#options.clock.now() })
      .where('account_id', '=', account_id)
      .where('message_id', '=', message_id)
      // The network may have accepted it on another try.
      .where('status', 'in', ['queued', 'scheduled'])
      .returningAll()
      .executeTakeFirst();
    if (row !== undefined) emitFailed(this.#options, tx, row);
  }

  /** Queues a message whose time has come. Returns whether it was still scheduled for that time. */
  async queue(tx: Tx, row: MessageRow): Promise<boolean> {
    const timestamp = this.#options.clock.now();
    const { numUpdatedRows } = await waitingMessage(tx, row, 'scheduled')
      .set({ status: 'queued', timestamp, turn: nextTurn(row) })
      // A pause of its batch since the row was read has moved it.
      .where('scheduled_at', '=', row.scheduled_at)
      .executeTakeFirst();
    if (numUpdatedRows !== 1n) return false;
    await touchChat(tx, row, timestamp);
    this.#options.emit(tx, {
      ...emissionOf(row),
      kind: 'message.queued',
      data: statusOf(row, 'queued', timestamp),
    });
    return true;
  }

  /** Cancels a message that is scheduled or queued. Returns whether it still was. */
  async cancel(tx: Tx, row: MessageRow, from: 'scheduled' | 'queued' = 'scheduled'): Promise<boolean> {
    const failed_at = this.#options.clock.now();
    const failed = { status: 'failed', error: CANCELLED, failed_at } as const;
    const { numUpdatedRows } = await waitingMessage(tx, row, from).set(failed).executeTakeFirst();
    const isCancelled = numUpdatedRows === 1n;
    if (isCancelled) emitFailed(this.#options, tx, { ...row, ...failed });
    return isCancelled;
  }

  /** Stores receipts of outgoing messages. A field, like `acknowledge`. */
  readonly receipts = async (tx: Tx, items: readonly Received[]): Promise<undefined[]> => {
    const createdAt = this.#options.clock.now();
    const reported = items.flatMap(({ session, event: { type: _, networkIds, ...receipt }, trace }) =>
      networkIds.map((networkId) => ({ session, networkId, receipt, createdAt, trace })),
    );
    await this.#applyOrKeep(tx, reported);
    return items.map(() => undefined);
  };

  async #applyOrKeep(tx: Tx, receipts: readonly (EarlyReceipt & { readonly trace?: string | null })[]): Promise<void> {
    const rows = await sentAs(tx, receipts);
    const groupIds: GroupIds = new Map();
    const found: (Reported & { readonly kept: EarlyReceipt })[] = [];
    const early: EarlyReceipt[] = [];
    for (const [index, { trace = null, ...one }] of receipts.entries()) {
      const [row, { receipt }] = [rows[index], one];
      if (row === undefined) {
        if (receipt.isEarly === true) early.push(one);
      } else if (await isInChat(tx, row, receipt.chat, groupIds)) found.push({ row, receipt, trace, kept: one });
      else if (mayBeFromRecipient(row, receipt.chat)) early.push(one);
    }
    const counted = await fromMembers(tx, found);
    const isCounted = new Set(counted);
    // They may have joined since the members were read.
    for (const each of found) if (!isCounted.has(each)) early.push(withKnownMessage(each.kept));
    await this.#apply(tx, counted);
    await storeMemberReceipts(tx, counted.flatMap(memberReceiptOf));
    await keepEarlyReceipts(tx, early, this.#options.clock.now());
  }

  async #apply(tx: Tx, reported: readonly Reported[]): Promise<void> {
    const changed = new Set<ReportedRow>();
    const priced = new Map<string, ReportedRow>();
    const warnings: Warning[] = [];
    for (const { row, receipt, trace } of reported) {
      if (receipt.pricing !== undefined && row.pricing === null) {
        row.pricing = pricingColumn(receipt.pricing);
        priced.set(row.message_id, row);
      }
      const progress = progressOf(row, receipt);
      if (progress === undefined) continue;
      const hadFailed = row.status === 'failed'; // networks repeat receipts
      // The next receipt of the same message starts from here.
      changed.add(Object.assign(row, progress.after));
      if (progress.after.status === 'failed' && !hadFailed) {
        emitFailed(this.#options, tx, row, trace);
        const { account_id: accountId, session_id: sessionId } = row;
        if (receipt.warning !== undefined) warnings.push({ accountId, sessionId, warning: receipt.warning });
      }
      for (const step of progress.steps) this.#emitStatus(tx, row, step, receipt.timestamp, trace, receipt.by);
    }
    await advance.run(tx, [...changed]);
    await setPricing.run(tx, [...priced.values()]);
    await storeWarnings(tx, warnings, this.#options.clock.now());
  }

  #emitStatus(tx: Tx, message: SentMessage, status: Step, timestamp: number, trace: string | null, by?: string): void {
    const isOfMember = by !== undefined && status !== 'sent' && isGroupId(message.chat_id);
    this.#options.emit(tx, {
      ...emissionOf(message),
      kind: `message.${status}`,
      data: { ...statusOf(message, status, timestamp), ...(isOfMember && { by }) },
      trace,
    });
  }
}

const withKnownMessage = ({ receipt: { isEarly: _, ...receipt }, ...rest }: EarlyReceipt): EarlyReceipt => ({
  ...rest,
  receipt,
});

/** Returns the row of a member's receipt; none in a direct chat, where the message has both times. */
function memberReceiptOf({ row, receipt: { by, status, timestamp } }: Reported): MemberReceipt[] {
  if (by === undefined || !isGroupId(row.chat_id) || (status !== 'delivered' && status !== 'read')) return [];
  const { account_id, session_id, chat_id, message_id } = row;
  const read_at = status === 'read' ? timestamp : null;
  return [{ account_id, session_id, chat_id, message_id, phone_number: by, delivered_at: timestamp, read_at }];
}

/** Emits that a message has failed. Call it with the row after the change. */
export function emitFailed(
  { emit }: Pick<InboxOptions, 'emit'>,
  tx: Tx,
  row: SentMessage & Pick<MessageRow, 'error' | 'error_code' | 'failed_at'>,
  trace?: string | null,
): void {
  emit(tx, {
    ...emissionOf(row),
    kind: 'message.failed',
    data: {
      ...statusOf(row, 'failed', row.failed_at ?? 0),
      error: row.error ?? 'failed',
      ...(row.error_code !== null && { errorCode: row.error_code }),
    },
    ...(trace !== undefined && { trace }),
  });
}

/** Whose event it is, and in which conversation. */
export function emissionOf({ account_id: accountId, session_id, chat_id, message_id: messageId }: SentMessage) {
  return { accountId, conversation: `${session_id}/${chat_id}`, messageId };
}

export function statusOf(row: SentMessage, status: MessageRow['status'], timestamp: number) {
  const { message_id: messageId, session_id: sessionId, chat_id: chatId, from_number: from, to_id: to, type } = row;
  const group = isGroupId(chatId) && { groupId: chatId };
  return { messageId, to, status, timestamp: isoTime(timestamp), sessionId, chatId, from, type, ...group };
}

function waitingMessage({ kysely }: Tx, row: MessageRow, from: 'scheduled' | 'queued') {
  return kysely
    .updateTable('messages')
    .where('account_id', '=', row.account_id)
    .where('message_id', '=', row.message_id)
    .where('status', '=', from);
}

/** Message ids are not secret on the network: without this, anyone could report that a message was read. */
async function isInChat(tx: Tx, row: ReportedRow, chat: NetworkChat | undefined, groupIds: GroupIds): Promise<boolean> {
  if (chat === undefined) return true;
  const { account_id: accountId, session_id: sessionId, chat_id, to_id } = row;
  if (chat.type === 'direct') return !isGroupId(chat_id) && [chat_id, to_id].includes(chat.id);
  if (!isGroupId(chat_id)) return false;
  const key = `${sessionId} ${chat.id}`;
  if (!groupIds.has(key)) groupIds.set(key, await groupIdOf(tx, { accountId, sessionId }, chat.id));
  return chat_id === groupIds.get(key);
}

/** Group ids by session and network id: one stanza can have the receipts of 1,024 members. */
type GroupIds = Map<string, string | undefined>;

/** Whether the number of one of both is unknown, so that the receipt can come from the recipient under another name. */
const mayBeFromRecipient = ({ chat_id }: ReportedRow, chat: NetworkChat | undefined): boolean =>
  chat?.type === 'direct' && !isGroupId(chat_id) && (isPlaceholder(chat.id) || isPlaceholder(chat_id));

/** Finds them by the network's id, or by ours, with which they were sent. A message named twice is the same object. */
async function sentAs(
  tx: Tx,
  reported: readonly { readonly session: SessionRef; readonly networkId: string }[],
): Promise<(ReportedRow | undefined)[]> {
  const named = reported.map(({ session, networkId }) => ({ session_id: session.sessionId, network_id: networkId }));
  const found = await sentByNetworkId.all(tx, named);
  const byNetwork = Map.groupBy(found, ({ session_id: sessionId, network_id: id }) => `${sessionId} ${id}`);
  const byId = new Map(found.map((row) => [row.message_id, row]));
  const rows: (ReportedRow | undefined)[] = [];
  for (const { session, networkId } of reported) {
    const given = byNetwork.get(`${session.sessionId} ${networkId}`)?.[0] ?? byId.get(networkId);
    const row = given ?? (await findMessage(tx, session.accountId, networkId));
    const isOfSession = row?.direction === 'outgoing' && row.session_id === session.sessionId;
    if (isOfSession) byId.set(row.message_id, row);
    rows.push(isOfSession ? row : undefined);
  }
  return rows;
}

const sentByNetworkId = batch(
  { session_id: 'text', network_id: 'text' },
  ({ row, join }) => sql<ReportedRow>`
    select ${sql.join(reportedColumns.map((name) => sql.ref(`m.${name}`)))} from messages m ${join}
    where m.session_id = ${row.session_id} and m.network_id = ${row.network_id} and m.direction = 'outgoing'
    order by m.message_id`,
);

/** Time of sending, if it was late. */
const lateAt = (sentAt: RawBuilder<unknown>) =>
  sql`case when ${sentAt} - messages.created_at > ${sql.lit(LATE_MS)} then ${sentAt} end`;

// A message that was acknowledged after its timeout is `failed` although it was sent.
const markSent = batch(
  { account_id: 'text', message_id: 'text', sent_at: 'bigint' },
  ({ row, from }) => sql<Pick<MessageRow, 'message_id' | 'chat_id' | 'to_id'>>`
    update messages
    set status = 'sent', timestamp = ${row.sent_at}, sent_at = ${row.sent_at}, late_at = ${lateAt(row.sent_at)},
      error = null, error_code = null, failed_at = null
    ${from}
    where messages.account_id = ${row.account_id} and messages.message_id = ${row.message_id}
      and ${unindexed('messages.status')} in ('queued', 'failed') and messages.sent_at is null
    returning messages.message_id, messages.chat_id, messages.to_id`,
);

const renameOnNetwork = query((db, p: { accountId: string; messageId: string; networkId: string }) =>
  db
    .updateTable('messages')
    .set({ network_id: p.networkId })
    .where('account_id', '=', p.accountId)
    .where('message_id', '=', p.messageId),
);

const CATEGORY_CHARACTERS = 100;

function pricingColumn({ category, billable, type, model }: NonNullable<Received['event']['pricing']>): string {
  const within = (text: string) => text.slice(0, CATEGORY_CHARACTERS);
  return JSON.stringify({
    category: within(category),
    billable,
    ...(type !== undefined && { type: within(type) }),
    ...(model !== undefined && { model: within(model) }),
  });
}

const setPricing = batch(
  { account_id: 'text', message_id: 'text', pricing: 'text' },
  ({ row, from }) => sql`
    update messages set pricing = ${row.pricing}
    ${from}
    where messages.account_id = ${row.account_id} and messages.message_id = ${row.message_id}`,
);

const advance = batch(
  {
    account_id: 'text',
    message_id: 'text',
    status: 'text',
    error: 'text',
    error_code: 'text',
    sent_at: 'bigint',
    delivered_at: 'bigint',
    read_at: 'bigint',
    failed_at: 'bigint',
  },
  ({ row, from }) => sql`
    update messages set status = ${row.status}, error = ${row.error}, error_code = ${row.error_code},
      sent_at = ${row.sent_at},
      late_at = case when messages.sent_at is null then ${lateAt(row.sent_at)} else messages.late_at end,
      delivered_at = ${row.delivered_at}, read_at = ${row.read_at}, failed_at = ${row.failed_at}
    ${from}
    where messages.account_id = ${row.account_id} and messages.message_id = ${row.message_id}`,
);
