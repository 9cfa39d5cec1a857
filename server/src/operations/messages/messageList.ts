import { type RawBuilder, type Selectable, sql } from 'kysely';
import { Type } from 'typebox';
import { isoTime } from '../../clock.ts';
import { isPlaceholder } from '../../connectors/contract/people.ts';
import { isInOutbox, messagesInOutbox } from '../../db/outbox.ts';
import { listed, unindexed } from '../../db/query.ts';
import type { MessageRow, Schema } from '../../db/schema.ts';
import type { MessageStatus, OutboxStatus } from '../../db/tables/messages.ts';
import { invalidField } from '../../errors.ts';
import { Unidentified } from '../../events/parts.ts';
import { firstIdAt, isGroupId } from '../../ids.ts';
import {
  entries,
  integer,
  named,
  notForAgents,
  object,
  oneOf,
  onlyTrue,
  optional,
  orNull,
  string,
  time,
} from '../../invoke/input/fields.ts';
import { PERSON_LENGTH, typed } from '../../invoke/input/phoneNumbers.ts';
import { ref } from '../../invoke/input/references.ts';
import { parseTime } from '../../invoke/input/validate.ts';
import { type Context, defineOperation, requireContent, sessionsOf } from '../../invoke/operation.ts';
import {
  encodeCursor,
  keysOf,
  MOST_PASSED,
  type PageInput,
  pageInput,
  pageOf,
  pageStart,
  readPage,
  toPage,
} from '../../invoke/pages.ts';
import { requireMessage } from '../../invoke/resources.ts';
import { timeRange } from '../../invoke/timeRange.ts';
import { wordsOf } from '../../messages/search.ts';
import { LATE_MS } from '../../messages/status.ts';
import { findByWords } from '../../messages/wordSearch.ts';
import { messageReferralFilters } from '../shared/referralFilters.ts';
import { Direction, Message, MessageId, MessageType, messageReader, Status } from './messages.ts';

export const listMessages = defineOperation({
  id: 'messages.list',
  route: 'GET /messages',
  permission: 'messages:read',
  scope: 'filtered',
  messageContent: 'messages',
  effect: 'read',
  tool: true,
  thirdPartyText: true,
  uses: ['media'],
  summary: 'List messages',
  description:
    'List messages, newest first. Use it to read a chat (`chatId`), to search text (`q`), or to find failed messages (`status`) or unread ones (`direction` incoming, `status` delivered).',
  input: {
    sessionId: optional(string('Only those of this session (`ses_…`).', ref('session'))),
    chatId: optional(
      string('Only this chat: phone number digits or group id (`grp_…`).', { ...ref('chat'), maxLength: 200 }),
    ),
    from: optional(
      string('Only those from this phone number.', { ...ref('person'), ...typed, maxLength: PERSON_LENGTH }),
    ),
    direction: optional({ ...Direction, description: 'Only received or only sent ones.' }),
    type: optional({ ...MessageType, description: 'Only those of this type.' }),
    status: optional({ ...Status, description: 'Only those with this status.' }),
    origin: optional({
      ...oneOf(['history', 'live'], '`history`: only those from before the session was linked; `live`: only others.'),
      ...notForAgents,
    }),
    starred: optional({ ...onlyTrue('Only starred ones.'), ...notForAgents }),
    ...messageReferralFilters,
    labelId: optional({
      ...string('Only those with this label (`lbl_…`).', { ...ref('label'), maxLength: 100 }),
      ...notForAgents,
    }),
    ...timeRange,
    q: optional(
      string('Only those with all of these words; the last can be the start of a word. Requires `messages:read`.', {
        minLength: 1,
        maxLength: 200,
      }),
    ),
    ...pageInput,
  },
  output: pageOf(Message),
  errors: ['not_found'],
  async run(ctx, input) {
    const { q, hasReferral, adId } = input;
    // These filters reveal content: which messages contain a word, or came through an ad.
    if (q !== undefined || hasReferral !== undefined || adId !== undefined) requireContent(ctx, 'messages');
    const show = async (page: readonly MessageRow[]) => {
      const read = await messageReader(ctx, page);
      return page.slice(0, read.complete).map(read.show);
    };
    if (q === undefined && input.labelId !== undefined) return readLabelled(ctx, input, input.labelId, show);
    if (q === undefined) {
      const { select, passed } = listOf(ctx, input);
      return readPage('messages', select, 'message_id', input, show, 'desc', passed);
    }
    const { after, limit, rows } = pageStart('search', input);
    const { found, end } = await search(ctx, input, wordsOf(q), after, rows);
    const page = await toPage('search', found, limit, ({ seq }) => String(seq), show);
    return end === undefined || page.nextCursor !== null
      ? page
      : { ...page, nextCursor: encodeCursor('search', String(end)) };
  },
});

interface Filters {
  readonly sessionId?: string | undefined;
  readonly chatId?: string | undefined;
  readonly from?: string | undefined;
  readonly direction?: 'incoming' | 'outgoing' | undefined;
  readonly type?: MessageRow['type'] | undefined;
  readonly status?: MessageStatus | undefined;
  readonly origin?: 'history' | 'live' | undefined;
  readonly starred?: true | undefined;
  readonly hasReferral?: true | undefined;
  readonly adId?: string | undefined;
  readonly labelId?: string | undefined;
  readonly afterTime?: string | undefined;
  readonly beforeTime?: string | undefined;
}

function messagesOf(ctx: Context, filters: Filters, path?: Path) {
  let select = messagesThrough(ctx, path).selectAll('m');
  const sessionIds = sessionsOf(ctx);
  const { sessionId, chatId, from, direction, type, status, origin, afterTime, beforeTime, starred, labelId } = filters;
  const { hasReferral, adId } = filters;
  if (sessionId !== undefined) select = select.where('m.session_id', '=', sessionId);
  else if (sessionIds !== undefined) select = select.where('m.session_id', 'in', sessionIds);
  if (chatId !== undefined) select = select.where('m.chat_id', '=', chatId);
  if (from !== undefined) select = select.where('m.from_number', '=', from);
  if (direction !== undefined) select = select.where('m.direction', '=', direction);
  if (type !== undefined) select = select.where('m.type', '=', type);
  if (status !== undefined) select = select.where('m.status', '=', status);
  if (origin === 'history') select = select.where('m.origin', '=', 'history');
  if (origin === 'live') select = select.where('m.origin', 'is', null);
  if (starred === true) select = select.where('m.starred_at', 'is not', null);
  if (hasReferral === true) select = select.where('m.ad_id', 'is not', null);
  if (adId !== undefined) select = select.where('m.ad_id', '=', adId);
  if (labelId !== undefined)
    select = select.where(({ exists, selectFrom }) =>
      exists(
        selectFrom('message_labels as l')
          .select('l.label_id')
          .whereRef('l.account_id', '=', 'm.account_id')
          .whereRef('l.message_id', '=', 'm.message_id')
          .where('l.label_id', '=', labelId),
      ),
    );
  if (afterTime !== undefined) select = select.where('m.timestamp', '>=', parseTime('afterTime', afterTime));
  if (beforeTime !== undefined) select = select.where('m.timestamp', '<', parseTime('beforeTime', beforeTime));
  return select;
}

/** A way to the messages with some filters. */
type Path =
  | {
      /** An index of `messages`; null for the primary key. */
      readonly index: string | null;
      /** In literals where the index is partial, so that the planners can use it. */
      readonly where: RawBuilder<boolean>;
    }
  | { readonly outbox: OutboxStatus };

/** Returns the most selective index for the filters; undefined for the one of all messages of the account. */
function pathOf({
  sessionId,
  chatId,
  from,
  type,
  status,
  origin,
  starred,
  hasReferral,
  adId,
}: Filters): Path | undefined {
  if (status !== undefined && isInOutbox(status)) return { outbox: status };
  if (status === 'failed') return { index: 'messages_failed', where: sql`m.failed_at is not null` };
  if (adId !== undefined) return { index: 'messages_ad', where: sql`m.ad_id = ${adId} and m.ad_id is not null` };
  if (hasReferral === true) return { index: 'messages_referral', where: sql`m.ad_id is not null` };
  if (starred === true) return { index: 'messages_starred', where: sql`m.starred_at is not null` };
  if (chatId !== undefined) return { index: 'messages_chat', where: sql`m.chat_id = ${chatId}` };
  if (from !== undefined) return { index: 'messages_from', where: sql`m.from_number = ${from}` };
  if (type !== undefined && type !== 'text')
    return { index: 'messages_type', where: sql`m.type = ${type} and m.type <> 'text'` };
  if (sessionId !== undefined)
    return { index: 'messages_session', where: sql`${listed('m.session_id')} = ${sessionId}` };
  return origin === 'history' ? { index: 'messages_origin', where: sql`m.origin = 'history'` } : undefined;
}

/** Selects from the messages of the account as `m`, through an index or the outbox. */
function messagesThrough({ accountId, database }: Context, path?: Path) {
  const { kysely, dialect } = database.longReader;
  if (path !== undefined && 'outbox' in path)
    return messagesInOutbox(kysely, path.outbox).where('o.account_id', '=', accountId);
  const hint = path === undefined ? sql`` : dialect.through(path.index);
  const table = sql<Selectable<Schema['messages']>>`messages`.as<'m'>(sql`m ${hint}`);
  const select = kysely.selectFrom(table).where('m.account_id', '=', accountId);
  return path === undefined ? select : select.where(path.where);
}

/** Selects the messages of a list, and the keys of those that it has to pass, undefined without a filter. */
function listOf(ctx: Context, filters: Filters) {
  const { direction, afterTime, beforeTime, type, status, origin } = filters;
  const path = pathOf(filters);
  const select = messagesOf(ctx, filters, path);
  const others = [direction, afterTime, beforeTime, type, status, origin, sessionsOf(ctx)];
  const isWhole = path === undefined && others.every((filter) => filter === undefined);
  return isWhole ? { select } : { select, passed: keysOf(messagesThrough(ctx, path), keyOf(path)) };
}

const keyOf = (path: Path | undefined) => (path !== undefined && 'outbox' in path ? 'o.message_id' : 'm.message_id');

/** Reads a page of the messages with a label, which leads to them. */
async function readLabelled<I>(
  ctx: Context,
  { limit, cursor, ...filters }: Filters & PageInput,
  labelId: string,
  show: (rows: readonly MessageRow[]) => Promise<readonly I[]>,
) {
  const { kysely, dialect } = ctx.database.longReader;
  const { after, rows } = pageStart('messages', { limit, cursor });
  const others = { ...filters, labelId: undefined };
  const most = isFiltered(ctx, others) ? MOST_PASSED : rows;
  let labelled = kysely
    .selectFrom('message_labels')
    .select('message_id')
    .where('account_id', '=', ctx.accountId)
    .where('label_id', '=', labelId);
  if (after !== undefined) labelled = labelled.where('message_id', '<', after);
  const ids = (await labelled.orderBy('message_id', 'desc').limit(most).execute()).map((row) => row.message_id);
  const select = messagesOf(ctx, others).where('m.message_id', 'in', dialect.texts(JSON.stringify(ids)));
  const page = await readPage('messages', select, 'message_id', { limit, cursor }, show);
  const end = ids.length < most ? undefined : ids.at(-1);
  return end === undefined || page.nextCursor !== null ? page : { ...page, nextCursor: encodeCursor('messages', end) };
}

/** Messages that contain all the words, newest first. */
async function search(
  ctx: Context,
  filters: Filters,
  words: readonly string[],
  cursor: string | undefined,
  rows: number,
) {
  if (words.length === 0) return { found: [] };
  if (cursor !== undefined && !/^\d{1,15}$/.test(cursor))
    throw invalidField('cursor', 'is not a cursor of a search; pass `nextCursor` of the previous page');
  const { longReader } = ctx.database;
  const before = cursor === undefined ? undefined : Number(cursor);
  const most = isFiltered(ctx, filters) ? MOST_PASSED : rows;
  const { seqs, end } = await findByWords(longReader, { accountId: ctx.accountId, words, before, most });
  if (seqs.length === 0) return { found: [], end };
  const path = { index: null, where: sql<boolean>`m.seq in ${longReader.dialect.integers(JSON.stringify(seqs))}` };
  const found = await messagesOf(ctx, filters, path).orderBy('m.seq', 'desc').limit(rows).execute();
  return { found, end };
}

const isFiltered = (ctx: Context, { sessionId, chatId, from, direction, type, status, origin, ...others }: Filters) =>
  [
    sessionId ?? sessionsOf(ctx),
    chatId,
    from,
    direction,
    type,
    status,
    origin,
    others.starred,
    others.hasReferral,
    others.adId,
    others.labelId,
    others.afterTime,
    others.beforeTime,
  ].some((filter) => filter !== undefined);

interface Receipt {
  readonly phone_number: string;
  readonly delivered_at: number;
  readonly read_at: number | null;
}

export const listReceipts = defineOperation({
  id: 'messages.receipts',
  route: 'GET /messages/{messageId}/receipts',
  permission: 'messages:metadata',
  scope: 'messageId',
  effect: 'read',
  summary: 'List message receipts',
  description:
    'List the people who received and read a message that the session sent, ordered by phone number. In a group, members whose phones have confirmed nothing are left out; receipts are kept for 30 days after the message was created. Messages that the session received have none.',
  input: { messageId: MessageId, ...pageInput },
  output: pageOf(
    object({
      phoneNumber: string('Phone number digits of the person, or a placeholder if `unidentified` is present.'),
      unidentified: Unidentified,
      deliveredAt: time('Time of delivery to the person.'),
      readAt: orNull(Type.String({ format: 'date-time' }), 'Time of reading; null if not reported.'),
    }),
  ),
  errors: ['not_found'],
  async run(ctx, input) {
    const row = await requireMessage(ctx, input.messageId);
    if (!isGroupId(row.chat_id)) {
      const { after = '', limit } = pageStart('receipts', input);
      const receipts = receiptOfChat(row).filter(({ phone_number }) => phone_number > after);
      return toPage('receipts', receipts, limit, ({ phone_number }) => phone_number, show);
    }
    const receipts = ctx.database.reader.kysely
      .selectFrom('message_receipts')
      .select(['phone_number', 'delivered_at', 'read_at'])
      .where(unindexed('account_id'), '=', ctx.accountId) // its index is the one of a person
      .where('message_id', '=', row.message_id);
    return readPage('receipts', receipts, 'phone_number', input, show, 'asc');
  },
});

/** Returns the receipt of the other person in a direct chat, if there is one. */
const receiptOfChat = ({ direction, chat_id: phone_number, delivered_at, read_at }: MessageRow): readonly Receipt[] =>
  direction === 'outgoing' && delivered_at !== null ? [{ phone_number, delivered_at, read_at }] : [];

const show = (rows: readonly Receipt[]) =>
  rows.map(({ phone_number: phoneNumber, delivered_at, read_at }) => ({
    phoneNumber,
    ...(isPlaceholder(phoneNumber) && { unidentified: true as const }),
    deliveredAt: isoTime(delivered_at),
    readAt: isoTime(read_at),
  }));

const MINUTE_MS = 60_000;
const COUNTED_MINUTES = 60;

export const messageStats = defineOperation({
  id: 'messages.stats',
  route: 'GET /messages/stats',
  permission: 'messages:metadata',
  scope: 'filtered',
  effect: 'read',
  summary: 'Count messages per minute',
  description:
    'Count incoming and outgoing messages for each minute of the last hour. Minutes without messages are left out.',
  input: {},
  output: named('MessageStats', {
    series: entries('Minutes with at least one message, oldest first.', {
      minute: time('Start of the minute.'),
      incoming: integer('Messages received.', { minimum: 0 }),
      outgoing: integer('Messages that the network accepted.', { minimum: 0 }),
    }),
  }),
  async run(ctx) {
    const { accountId, clock, steady, database } = ctx;
    const sessionIds = sessionsOf(ctx);
    const now = clock.now();
    const since = now - (now % MINUTE_MS) - (COUNTED_MINUTES - 1) * MINUTE_MS;
    const minute = sql<number>`timestamp - timestamp % ${sql.lit(MINUTE_MS)}`;
    let select = database.longReader.kysely
      .selectFrom('messages')
      .select(({ fn }) => [minute.as('minute'), 'direction', fn.countAll<number>().as('count')])
      .where('account_id', '=', accountId)
      // Ids are in order of time, so the index leads to the first one of the hour. Messages that were sent late have an
      // index of their own.
      .where((eb) =>
        eb.or([eb('message_id', '>=', firstIdAt('msg', steady.fromWall(since - LATE_MS))), eb('late_at', '>=', since)]),
      )
      .where('timestamp', '>=', since)
      .where('status', 'not in', ['pending_approval', 'queued', 'scheduled', 'failed'])
      .groupBy([minute, 'direction']);
    if (sessionIds !== undefined) select = select.where('session_id', 'in', sessionIds);
    const found = await select.execute();
    const series = new Map<number, { incoming: number; outgoing: number }>();
    for (const row of found) {
      const counts = series.get(Number(row.minute)) ?? { incoming: 0, outgoing: 0 };
      series.set(Number(row.minute), { ...counts, [row.direction]: Number(row.count) });
    }
    return {
      series: [...series]
        .sort(([one], [other]) => one - other)
        .map(([at, counts]) => ({ minute: isoTime(at), ...counts })),
    };
  },
});
