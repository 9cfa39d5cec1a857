import { type QueryCreator, sql } from 'kysely';
import { Type } from 'typebox';
import { isoTime } from '../clock.ts';
import { isPlaceholder, messageTypes } from '../connectors/connector.ts';
import { query } from '../db/query.ts';
import type { MessageRow, MessageStatus, Schema } from '../db/schema.ts';
import { AppError, invalidField } from '../errors.ts';
import { ContentHidden, messageContent, messageParts, Part, SentElsewhere, Unidentified } from '../events.ts';
import { firstIdAt } from '../ids.ts';
import { entries, integer, list, named, oneOf, onlyTrue, optional, string, time } from '../invoke/fields.ts';
import { type Context, defineOperation, requireContent } from '../invoke/operation.ts';
import { pageInput, pageOf, pageStart, readPage, toPage } from '../invoke/pages.ts';
import { digitsOf, phoneNumber } from '../invoke/phoneNumbers.ts';
import { parseTime } from '../invoke/validate.ts';
import { contentOf, contentParts } from '../messages/content.ts';
import { accountWord, wordsOf } from '../messages/search.ts';
import { findMessage } from '../messages/store.ts';
import { resolveSession, SessionId } from './sessions.ts';

export const MessageId = string('Id of the message (`msg_…`).', { maxLength: 100 });
const Direction = oneOf(['incoming', 'outgoing'], '`incoming`: the session received the message.');
const Status = oneOf(
  ['queued', 'scheduled', 'sent', 'delivered', 'read', 'failed'],
  '`queued`: stored and about to be sent. `scheduled`: waits for its time. `sent`: the network accepted it.',
);
const MessageType = oneOf(messageTypes, 'Type of the content.');

export const Message = named('Message', {
  messageId: MessageId,
  sessionId: SessionId,
  chatId: string('Phone number digits of the other person, or the id of the group (`grp_…`).'),
  direction: Direction,
  type: MessageType,
  from: string('Phone number digits of the sender.'),
  to: string('Phone number digits of the recipient, or the id of the group (`grp_…`).'),
  message: {
    ...string('Text of the message, caption of the file, or question of the poll.'),
    ...messageContent,
  },
  status: Status,
  timestamp: time('When the message was sent, or will be sent if it is scheduled.'),
  replyTo: optional(string('Id of the message that this message replies to.')),
  ...messageParts,
  contentHidden: ContentHidden,
  unidentified: Unidentified,
  sentElsewhere: SentElsewhere,
  votes: Part(
    entries('Votes on the poll, one entry per voter.', {
      from: string('Phone number digits of the voter.'),
      options: list(Type.String(), 'Options that the voter chose.'),
    }),
  ),
  reactions: Part(
    entries('Reactions to the message, one per person.', {
      from: string('Phone number digits of the person who reacted.'),
      emoji: string('The emoji.'),
      at: time('When the person reacted.'),
    }),
  ),
  edited: optional(onlyTrue('Present if the text was edited after sending.')),
  deleted: optional(onlyTrue('Present if the message was deleted for everyone; its text is then empty.')),
  error: optional(string('Why the message failed, as a sentence.')),
});

const MessageWithHistory = named('MessageWithHistory', {
  ...Message.properties,
  statusHistory: entries('Every status that the message has had, oldest first.', {
    status: Status,
    at: time('When the message reached the status.'),
  }),
});

export const listMessages = defineOperation({
  id: 'messages.list',
  route: 'GET /messages',
  permission: 'messages:read',
  messageContent: 'messages',
  effect: 'read',
  tool: true,
  thirdPartyText: true,
  summary: 'List messages',
  description:
    'List messages, newest first. Use it to read a chat (`chatId`), to search text (`q`), or to find failed messages (`status`).',
  input: {
    sessionId: optional(string('Only messages of this session (`ses_…`).')),
    chatId: optional(string('Only this chat: phone number digits or group id (`grp_…`).', { maxLength: 200 })),
    from: optional(string('Only messages that this phone number sent.', { maxLength: 40 })),
    direction: optional({ ...Direction, description: 'Only messages received or only messages sent.' }),
    type: optional({ ...MessageType, description: 'Only messages of this type.' }),
    status: optional({ ...Status, description: 'Only messages with this status.' }),
    after: optional(time('Only messages at or after this time, such as 2026-07-01T12:00:00Z.')),
    before: optional(time('Only messages before this time.')),
    q: optional(
      string('Only messages with all of these words; the last can be the start of a word. Requires `messages:read`.', {
        minLength: 1,
        maxLength: 200,
      }),
    ),
    ...pageInput,
  },
  output: pageOf(Message),
  errors: ['not_found'],
  async run(ctx, input) {
    const { q } = input;
    // A search reveals content: which messages contain a word.
    if (q !== undefined) requireContent(ctx, 'messages');
    const filters = await knownFilters(ctx, input);
    const show = async (page: readonly MessageRow[]) => page.map(await messageReader(ctx, page));
    if (q === undefined) return readPage(messagesOf(ctx, filters), 'message_id', input, show);
    const { after, limit, rows } = pageStart(input);
    const found = await search(ctx, filters, wordsOf(q), after, rows);
    return toPage(found, limit, ({ seq }) => String(seq), show);
  },
});

const MINUTE_MS = 60_000;
const COUNTED_MINUTES = 60;

export const messageStats = defineOperation({
  id: 'messages.stats',
  route: 'GET /messages/stats',
  permission: 'messages:metadata',
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
  async run({ accountId, clock, steady, database }) {
    const now = clock.now();
    const since = now - (now % MINUTE_MS) - (COUNTED_MINUTES - 1) * MINUTE_MS;
    const minute = sql<number>`timestamp - timestamp % ${sql.lit(MINUTE_MS)}`;
    const found = await database.reader.kysely
      .selectFrom('messages')
      .select(({ fn }) => [minute.as('minute'), 'direction', fn.countAll<number>().as('count')])
      .where('account_id', '=', accountId)
      // Ids are in order of time, so the index leads to the first one of the hour. Scheduled messages have an index of
      // their own.
      .where((eb) =>
        eb.or([
          eb('message_id', '>=', firstIdAt('msg', steady.fromWall(since))),
          eb.and([eb('scheduled_at', 'is not', null), eb('sent_at', '>=', since)]),
        ]),
      )
      .where('timestamp', '>=', since)
      .where('status', 'not in', ['queued', 'scheduled', 'failed'])
      .groupBy([minute, 'direction'])
      .execute();
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

export const getMessage = defineOperation({
  id: 'messages.get',
  route: 'GET /messages/{messageId}',
  permission: 'messages:read',
  messageContent: 'messages',
  effect: 'read',
  tool: true,
  thirdPartyText: true,
  longField: 'message',
  summary: 'Get a message',
  description:
    'Get one message with its status history, reactions and poll votes. Use it to see whether it was delivered or read, or why it failed.',
  input: { messageId: MessageId },
  output: MessageWithHistory,
  errors: ['not_found'],
  async run(ctx, { messageId }) {
    const row = await requireMessage(ctx, messageId);
    return { ...(await readMessage(ctx, row)), statusHistory: historyOf(row) };
  },
});

interface Filters {
  readonly sessionId?: string | undefined;
  readonly chatId?: string | undefined;
  readonly from?: string | undefined;
  readonly direction?: 'incoming' | 'outgoing' | undefined;
  readonly type?: string | undefined;
  readonly status?: MessageStatus | undefined;
  readonly after?: string | undefined;
  readonly before?: string | undefined;
}

/**
 * The filters with the chat under its stored id.
 * @throws {AppError} `not_found` if the account has no such session or chat
 */
async function knownFilters(ctx: Context, filters: Filters): Promise<Filters> {
  const { sessionId } = filters;
  if (sessionId !== undefined) await resolveSession(ctx, sessionId);
  if (filters.chatId === undefined) return filters;
  const chatId = digitsOf(filters.chatId) ?? filters.chatId;
  // The chat of a placeholder continues under the number once the number is known.
  if (!isPlaceholder(chatId) && !(await hasChat(ctx, sessionId, chatId)))
    throw new AppError('not_found', `The chat ${filters.chatId} does not exist`);
  return { ...filters, chatId };
}

/** Whether the chat exists; a group counts before its first message. */
async function hasChat({ database, accountId }: Context, sessionId: string | undefined, chatId: string) {
  const { kysely } = database.reader;
  const sessions =
    sessionId === undefined
      ? kysely.selectFrom('sessions').select('session_id').where('account_id', '=', accountId)
      : [sessionId];
  const chats = kysely
    .selectFrom('chats')
    .select('chat_id')
    .where('account_id', '=', accountId)
    .where('session_id', 'in', sessions)
    .where('chat_id', '=', chatId);
  const groups = kysely
    .selectFrom('groups')
    .select('group_id as chat_id')
    .where('account_id', '=', accountId)
    .where('session_id', 'in', sessions)
    .where('group_id', '=', chatId);
  return (await chats.unionAll(groups).executeTakeFirst()) !== undefined;
}

/** The account's messages that pass the filters, unordered. */
function messagesOf(
  { database, accountId }: Context,
  filters: Filters,
  creator: Pick<QueryCreator<Schema>, 'selectFrom'> = database.reader.kysely,
) {
  let select = creator.selectFrom('messages as m').selectAll('m').where('m.account_id', '=', accountId);
  const { sessionId, chatId, from, direction, type, status, after, before } = filters;
  if (sessionId !== undefined) select = select.where('m.session_id', '=', sessionId);
  if (chatId !== undefined) select = select.where('m.chat_id', '=', chatId);
  if (from !== undefined) select = select.where('m.from_number', '=', phoneNumber('from', from));
  if (direction !== undefined) select = select.where('m.direction', '=', direction);
  if (type !== undefined) select = select.where('m.type', '=', type);
  if (status !== undefined) select = select.where('m.status', '=', status);
  // Redundant, but exactly the condition of the index `messages_status`, so that SQLite uses it.
  if (status !== undefined && rareStatuses.includes(status))
    select = select.where(
      'm.status',
      'in',
      rareStatuses.map((rare) => sql.lit(rare)),
    );
  if (after !== undefined) select = select.where('m.timestamp', '>=', parseTime('after', after));
  if (before !== undefined) select = select.where('m.timestamp', '<', parseTime('before', before));
  return select;
}

/** Few messages have one of these for long. */
const rareStatuses: readonly MessageStatus[] = ['queued', 'scheduled', 'sent', 'failed'];

/** How many of the newest messages are scanned in order, before an unordered index is queried for all. */
const LOOKED_THROUGH = 20_000;

/**
 * Messages that contain all the words, newest first. A common word is found among the newest messages, where the order
 * is free. Other words are rare, so all their messages are found by the index and sorted. PostgreSQL cannot tell the
 * two cases apart: left to choose, it scans a million rows for a rare word (240 ms). SQLite's index can be read in
 * order from any point, so one query is enough.
 */
async function search(
  ctx: Context,
  filters: Filters,
  words: readonly string[],
  cursor: string | undefined,
  rows: number,
) {
  if (words.length === 0) return [];
  if (cursor !== undefined && !/^\d{1,15}$/.test(cursor))
    throw invalidField('cursor', 'is not a cursor of a search; pass `nextCursor` of the previous page');
  const { kysely, dialect } = ctx.database.reader;
  const matches = dialect.search.matches('w', dialect.search.terms([accountWord(ctx.accountId), ...words]));
  const end = cursor === undefined ? await endOfMessages(ctx) : Number(cursor);
  const start = dialect.search.isOrdered ? 0 : Math.max(0, end - LOOKED_THROUGH);
  const newest = await messagesOf(ctx, filters)
    .innerJoin('message_words as w', 'w.rowid', 'm.seq')
    .where(matches)
    .where('w.rowid', '<', end)
    .where('w.rowid', '>=', start)
    .orderBy('w.rowid', 'desc')
    .limit(rows)
    .execute();
  if (newest.length === rows || start === 0) return newest;
  const withOlder = kysely.with(
    (name) => name('older').materialized(), // materialized, so that the word index is used instead of the order
    (db) => db.selectFrom('message_words as w').select('w.rowid').where(matches).where('w.rowid', '<', start),
  );
  // The wider type has one table more, which the filters do not use.
  const rest = await messagesOf(ctx, filters, withOlder as unknown as QueryCreator<Schema>)
    .innerJoin(sql<{ rowid: number }>`older`.as('older'), 'older.rowid', 'm.seq')
    .orderBy('older.rowid', 'desc')
    .limit(rows - newest.length)
    .execute();
  return [...newest, ...rest];
}

/** A number above those of all messages. */
async function endOfMessages({ database }: Context): Promise<number> {
  const last = await lastMessage.first(database.reader, {});
  return (last?.rowid ?? 0) + 1;
}

const lastMessage = query((db) => db.selectFrom('message_words').select('rowid').orderBy('rowid', 'desc').limit(1));

/** @throws {AppError} `not_found`, also for a message of another account */
export async function requireMessage(ctx: Context, messageId: string): Promise<MessageRow> {
  const row = await findMessage(ctx.database.reader, ctx.accountId, messageId);
  if (row === undefined) throw new AppError('not_found', `The message ${messageId} does not exist`);
  return row;
}

/** The current message, with reactions and votes. */
export async function readMessage(ctx: Context, row: MessageRow) {
  return (await messageReader(ctx, [row]))(row);
}

/** Reads the reactions and votes of all messages at once, and returns a function that shows a message. */
export async function messageReader(ctx: Context, rows: readonly MessageRow[]) {
  const { reader } = ctx.database;
  const ids = { accountId: ctx.accountId, ids: JSON.stringify(rows.map(({ message_id }) => message_id)) };
  const isAnyPoll = rows.some(({ type }) => type === 'poll');
  const reactions = rows.length === 0 ? [] : await reactionsTo.all(reader, ids);
  const votes = isAnyPoll ? await votesFor.all(reader, ids) : [];
  const reactionsById = Map.groupBy(reactions, ({ message_id }) => message_id);
  const votesById = Map.groupBy(votes, ({ message_id }) => message_id);
  return (row: MessageRow) => {
    const reacted = reactionsById.get(row.message_id)?.map((one) => ({
      from: one.from_number,
      emoji: one.emoji,
      at: isoTime(one.at),
    }));
    const voted = votesById.get(row.message_id)?.map((one) => ({
      from: one.from_number,
      options: JSON.parse(one.options) as string[],
    }));
    return {
      ...toMessage(ctx, row),
      ...(reacted !== undefined && { reactions: reacted }),
      ...(voted !== undefined && { votes: voted }),
    };
  };
}

/** A message without reactions and votes, such as one that was just sent. */
export function toMessage({ media }: Context, row: Omit<MessageRow, 'seq'>) {
  return {
    messageId: row.message_id,
    sessionId: row.session_id,
    chatId: row.chat_id,
    direction: row.direction,
    // Both written by us, from the same lists.
    type: row.type as 'text',
    status: row.status,
    from: row.from_number,
    to: row.to_id,
    message: row.body,
    timestamp: isoTime(row.timestamp),
    ...(row.reply_to !== null && { replyTo: row.reply_to }),
    ...contentParts(contentOf(row), media),
    ...(row.direction === 'incoming' && isPlaceholder(row.from_number) && { unidentified: true as const }),
    ...(row.sent_elsewhere === 1 && { sentElsewhere: true as const }),
    ...(row.edited_at !== null && row.deleted_at === null && { edited: true as const }),
    ...(row.deleted_at !== null && { deleted: true as const }),
    ...(row.error !== null && { error: row.error }),
  };
}

function historyOf(row: MessageRow) {
  const moments = [
    ['scheduled', row.scheduled_at === null ? null : row.created_at],
    ['queued', wasQueuedAtOnce(row) ? row.created_at : null],
    ['sent', row.sent_at],
    ['delivered', row.delivered_at],
    ['read', row.read_at],
    ['failed', row.failed_at],
  ] as const;
  return moments.flatMap(([status, at]) => (at === null ? [] : [{ status, at: isoTime(at) }]));
}

function wasQueuedAtOnce({ direction, scheduled_at: scheduledAt, sent_elsewhere: sentElsewhere }: MessageRow): boolean {
  return direction === 'outgoing' && scheduledAt === null && sentElsewhere === null;
}

interface Ids {
  accountId: string;
  ids: string;
}

const reactionsTo = query((db, p: Ids, dialect) =>
  db
    .selectFrom('reactions')
    .selectAll()
    .where('account_id', '=', p.accountId)
    .where('message_id', 'in', dialect.texts(p.ids))
    .orderBy('at'),
);

const votesFor = query((db, p: Ids, dialect) =>
  db
    .selectFrom('poll_votes')
    .selectAll()
    .where('account_id', '=', p.accountId)
    .where('message_id', 'in', dialect.texts(p.ids))
    .where('options', '<>', sql.lit('[]'))
    .orderBy('at'),
);
