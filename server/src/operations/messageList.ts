import { type QueryCreator, sql } from 'kysely';
import { query } from '../db/query.ts';
import type { MessageRow, MessageStatus, Schema } from '../db/schema.ts';
import { invalidField } from '../errors.ts';
import { notForAgents, oneOf, onlyTrue, optional, string } from '../invoke/fields.ts';
import { type Context, defineOperation, requireContent, sessionsOf } from '../invoke/operation.ts';
import { pageInput, pageOf, pageStart, readPage, toPage } from '../invoke/pages.ts';
import { phoneNumber } from '../invoke/phoneNumbers.ts';
import { formerTimeRange, timeRange } from '../invoke/timeRange.ts';
import { parseTime } from '../invoke/validate.ts';
import { accountWord, wordsOf } from '../messages/search.ts';
import { Direction, Message, MessageType, messageReader, Status } from './messages.ts';

export const listMessages = defineOperation({
  id: 'messages.list',
  route: 'GET /messages',
  permission: 'messages:read',
  scope: 'filtered',
  messageContent: 'messages',
  effect: 'read',
  tool: true,
  thirdPartyText: true,
  summary: 'List messages',
  description:
    'List messages, newest first. Use it to read a chat (`chatId`), to search text (`q`), or to find failed messages (`status`) or unread ones (`direction` incoming, `status` delivered).',
  input: {
    sessionId: optional(string('Only those of this session (`ses_…`).')),
    chatId: optional(string('Only this chat: phone number digits or group id (`grp_…`).', { maxLength: 200 })),
    from: optional(string('Only those from this phone number.', { maxLength: 40 })),
    direction: optional({ ...Direction, description: 'Only received or only sent ones.' }),
    type: optional({ ...MessageType, description: 'Only those of this type.' }),
    status: optional({ ...Status, description: 'Only those with this status.' }),
    origin: optional({
      ...oneOf(['history', 'live'], '`history`: only those from before the session was linked; `live`: only others.'),
      ...notForAgents,
    }),
    starred: optional({ ...onlyTrue('Only starred ones.'), ...notForAgents }),
    labelId: optional({ ...string('Only those with this label (`lbl_…`).', { maxLength: 100 }), ...notForAgents }),
    ...timeRange,
    q: optional(
      string('Only those with all of these words; the last can be the start of a word. Requires `messages:read`.', {
        minLength: 1,
        maxLength: 200,
      }),
    ),
    ...pageInput,
    ...formerTimeRange,
  },
  output: pageOf(Message),
  errors: ['not_found'],
  async run(ctx, input) {
    const { q } = input;
    // A search reveals content: which messages contain a word.
    if (q !== undefined) requireContent(ctx, 'messages');
    const show = async (page: readonly MessageRow[]) => page.map(await messageReader(ctx, page));
    if (q === undefined) return readPage('messages', messagesOf(ctx, input), 'message_id', input, show);
    const { after, limit, rows } = pageStart('search', input);
    const found = await search(ctx, input, wordsOf(q), after, rows);
    return toPage('search', found, limit, ({ seq }) => String(seq), show);
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
  readonly labelId?: string | undefined;
  readonly afterTime?: string | undefined;
  readonly beforeTime?: string | undefined;
}

function messagesOf(
  ctx: Context,
  filters: Filters,
  creator: Pick<QueryCreator<Schema>, 'selectFrom'> = ctx.database.longReader.kysely,
) {
  let select = creator.selectFrom('messages as m').selectAll('m').where('m.account_id', '=', ctx.accountId);
  const sessionIds = sessionsOf(ctx);
  const { sessionId, chatId, from, direction, type, status, origin, afterTime, beforeTime, starred, labelId } = filters;
  if (sessionId !== undefined) select = select.where('m.session_id', '=', sessionId);
  else if (sessionIds !== undefined) select = select.where('m.session_id', 'in', sessionIds);
  if (chatId !== undefined) select = select.where('m.chat_id', '=', chatId);
  if (from !== undefined) select = select.where('m.from_number', '=', phoneNumber('from', from));
  if (direction !== undefined) select = select.where('m.direction', '=', direction);
  if (type !== undefined) select = select.where('m.type', '=', type);
  if (status !== undefined) select = select.where('m.status', '=', status);
  // A literal, so that the planner can use the partial index.
  if (origin === 'history') select = select.where('m.origin', '=', sql.lit('history' as const));
  if (origin === 'live') select = select.where('m.origin', 'is', null);
  // Redundant, but exactly the condition of the index `messages_status`, so that SQLite uses it.
  if (status !== undefined && rareStatuses.includes(status))
    select = select.where(
      'm.status',
      'in',
      rareStatuses.map((rare) => sql.lit(rare)),
    );
  if (status === 'pending_approval') select = select.where('m.status', '=', sql.lit('pending_approval' as const));
  if (starred === true) select = select.where('m.starred_at', 'is not', null);
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

/** Few messages have one of these for long. */
const rareStatuses: readonly MessageStatus[] = ['queued', 'scheduled', 'sent', 'failed'];

/** How many of the newest messages are scanned in order, before an unordered index is queried for all. */
const NEWEST_SCANNED = 20_000;

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
  const { kysely, dialect } = ctx.database.longReader;
  const matches = dialect.search.matches('w', dialect.search.terms([accountWord(ctx.accountId), ...words]));
  const end = cursor === undefined ? await endOfMessages(ctx) : Number(cursor);
  const start = dialect.search.isOrdered ? 0 : Math.max(0, end - NEWEST_SCANNED);
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
  const last = await lastMessage.first(database.longReader, {});
  return (last?.rowid ?? 0) + 1;
}

const lastMessage = query((db) => db.selectFrom('message_words').select('rowid').orderBy('rowid', 'desc').limit(1));
