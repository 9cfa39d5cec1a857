import { sql } from 'kysely';
import { Type } from 'typebox';
import { isoTime } from '../clock.ts';
import { messageTypes } from '../connectors/connector.ts';
import { query } from '../db/query.ts';
import type { MessageRow } from '../db/schema.ts';
import { AppError, invalidField } from '../errors.ts';
import { messageParts } from '../events.ts';
import { contentOf, contentParts } from '../sessions/messageContent.ts';
import { findMessage } from '../sessions/messageStore.ts';
import { accountWord, wordsOf } from '../sessions/search.ts';
import { type Context, defineOperation } from './operation.ts';
import { pageInput, pageOf, pageStart, toPage } from './pages.ts';
import { phoneNumber } from './phoneNumbers.ts';
import { SessionId } from './sessions.ts';
import { parseTime } from './validate.ts';

export const MessageId = Type.String({ maxLength: 100, description: 'Id of the message (`msg_…`).' });
const Time = Type.String({ format: 'date-time' });
const Direction = Type.Enum(['incoming', 'outgoing']);
const Status = Type.Enum(['queued', 'scheduled', 'sent', 'delivered', 'read', 'failed']);
const MessageType = Type.Enum([...messageTypes]);

export const Message = Type.Object(
  {
    messageId: MessageId,
    sessionId: SessionId,
    chatId: Type.String({ description: 'Phone number digits, or the id of the group.' }),
    direction: Direction,
    type: MessageType,
    from: Type.String({ description: 'Digits of the sender.' }),
    to: Type.String({ description: 'Digits of the recipient, or the id of the group.' }),
    message: Type.String({ description: 'Text, caption of the media, or question of the poll.' }),
    status: Status,
    timestamp: Type.String({ format: 'date-time', description: 'When it was sent, or is to be.' }),
    replyTo: Type.Optional(Type.String({ description: 'Id of the message it answers.' })),
    ...messageParts,
    votes: Type.Optional(
      Type.Array(Type.Object({ from: Type.String(), options: Type.Array(Type.String()) }), {
        description: 'Who has chosen what of the poll.',
      }),
    ),
    reactions: Type.Optional(Type.Array(Type.Object({ from: Type.String(), emoji: Type.String(), at: Time }))),
    edited: Type.Optional(Type.Literal(true)),
    deleted: Type.Optional(Type.Literal(true, { description: 'Deleted for everyone: its text is gone.' })),
    error: Type.Optional(Type.String({ description: 'Why it failed, in words.' })),
  },
  { title: 'Message' },
);

const MessageWithHistory = Type.Object(
  {
    ...Message.properties,
    statusHistory: Type.Array(Type.Object({ status: Status, at: Time }), {
      description: 'What it went through, oldest first.',
    }),
  },
  { title: 'MessageWithHistory' },
);

export const listMessages = defineOperation({
  id: 'messages.list',
  method: 'GET',
  path: '/messages',
  credential: 'any',
  permission: 'messages:read',
  effect: 'read',
  tool: true,
  thirdPartyText: true,
  summary: 'List messages, newest first, or search them',
  input: Type.Object(
    {
      sessionId: Type.Optional(SessionId),
      chatId: Type.Optional(Type.String({ maxLength: 100 })),
      from: Type.Optional(Type.String({ maxLength: 40, description: 'Phone number of the sender.' })),
      direction: Type.Optional(Direction),
      type: Type.Optional(MessageType),
      status: Type.Optional(Status),
      after: Type.Optional({ ...Time, description: 'Only messages from this moment on.' }),
      before: Type.Optional({ ...Time, description: 'Only messages before this moment.' }),
      q: Type.Optional(
        Type.String({
          minLength: 1,
          maxLength: 200,
          description: 'Words that are all to be in the message, the last of which may be the beginning of one.',
        }),
      ),
      ...pageInput,
    },
    { additionalProperties: false },
  ),
  output: pageOf(Message),
  errors: [],
  async run(ctx, input) {
    const { after, limit, rows } = pageStart(input);
    const { kysely, dialect } = ctx.database.reader;
    let select = kysely.selectFrom('messages as m').selectAll('m').where('m.account_id', '=', ctx.accountId);
    if (input.sessionId !== undefined) select = select.where('m.session_id', '=', input.sessionId);
    if (input.chatId !== undefined) select = select.where('m.chat_id', '=', input.chatId);
    if (input.from !== undefined) select = select.where('m.from_number', '=', phoneNumber('from', input.from));
    if (input.direction !== undefined) select = select.where('m.direction', '=', input.direction);
    if (input.type !== undefined) select = select.where('m.type', '=', input.type);
    if (input.status !== undefined) select = select.where('m.status', '=', input.status);
    if (input.after !== undefined) select = select.where('m.timestamp', '>=', parseTime('after', input.after));
    if (input.before !== undefined) select = select.where('m.timestamp', '<', parseTime('before', input.before));
    const words = wordsOf(input.q ?? '');
    if (input.q !== undefined && words.length === 0) return { data: [], nextCursor: null };
    if (input.q === undefined) {
      if (after !== undefined) select = select.where('m.message_id', '<', after);
      select = select.orderBy('m.message_id', 'desc');
    } else {
      // The search index is read from its end, in the order in which messages were stored.
      const terms = dialect.search.terms([accountWord(ctx.accountId), ...words]);
      const found = select
        .innerJoin('message_words as w', 'w.rowid', 'm.seq')
        .where(dialect.search.matches('w', terms))
        .orderBy('w.rowid', 'desc');
      if (after !== undefined && !/^\d{1,15}$/.test(after)) throw invalidField('cursor', 'is not a cursor of a search');
      select = after === undefined ? found : found.where('w.rowid', '<', Number(after));
    }
    const found = await select.limit(rows).execute();
    const toItem = await messageReader(ctx, found.slice(0, limit));
    return toPage(found, limit, (row) => (input.q === undefined ? row.message_id : String(row.seq)), toItem);
  },
});

export const getMessage = defineOperation({
  id: 'messages.get',
  method: 'GET',
  path: '/messages/{messageId}',
  credential: 'any',
  permission: 'messages:read',
  effect: 'read',
  tool: true,
  thirdPartyText: true,
  summary: 'Show a message and what it went through',
  input: Type.Object({ messageId: MessageId }, { additionalProperties: false }),
  output: MessageWithHistory,
  errors: ['not_found'],
  async run(ctx, { messageId }) {
    const row = await requireMessage(ctx, messageId);
    return { ...(await readMessage(ctx, row)), statusHistory: historyOf(row) };
  },
});

/** @throws {AppError} `not_found`, also for a message of another account */
export async function requireMessage(ctx: Context, messageId: string): Promise<MessageRow> {
  const row = await findMessage(ctx.database.reader, ctx.accountId, messageId);
  if (row === undefined) throw new AppError('not_found', `There is no message ${messageId}`);
  return row;
}

/** The message as it is now, with what others have added to it. */
export async function readMessage(ctx: Context, row: MessageRow) {
  return (await messageReader(ctx, [row]))(row);
}

/** Reads at once what belongs to these messages, and shows each with its own. */
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

/** A message by itself: as it is when it has just been sent. */
export function toMessage({ media }: Context, row: Omit<MessageRow, 'seq'>) {
  return {
    messageId: row.message_id,
    sessionId: row.session_id,
    chatId: row.chat_id,
    direction: row.direction,
    // Both written by us, from the same lists.
    type: row.type as 'text',
    status: row.status as 'queued',
    from: row.from_number,
    to: row.to_id,
    message: row.body,
    timestamp: isoTime(row.timestamp),
    ...(row.reply_to !== null && { replyTo: row.reply_to }),
    ...contentParts(contentOf(row), media),
    ...(row.edited_at !== null && row.deleted_at === null && { edited: true as const }),
    ...(row.deleted_at !== null && { deleted: true as const }),
    ...(row.error !== null && { error: row.error }),
  };
}

function historyOf(row: MessageRow) {
  const moments = [
    ['scheduled', row.scheduled_at === null ? null : row.created_at],
    ['queued', row.direction === 'outgoing' && row.scheduled_at === null ? row.created_at : null],
    ['sent', row.sent_at],
    ['delivered', row.delivered_at],
    ['read', row.read_at],
    ['failed', row.failed_at],
  ] as const;
  return moments.flatMap(([status, at]) => (at === null ? [] : [{ status, at: isoTime(at) }]));
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
