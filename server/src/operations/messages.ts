import { Type } from 'typebox';
import { isoTime } from '../clock.ts';
import { query } from '../db/query.ts';
import type { MessageTable } from '../db/schema.ts';
import { AppError, invalidField } from '../errors.ts';
import { type Context, defineOperation } from './operation.ts';
import { pageInput, pageOf, pageStart, toPage } from './pages.ts';
import { phoneNumber } from './phoneNumbers.ts';
import { resolveSession, SessionId } from './sessions.ts';
import { parseTime } from './validate.ts';

const MessageId = Type.String({ description: 'Id of the message (`msg_…`).' });
const Time = Type.String({ format: 'date-time' });
const Direction = Type.Enum(['incoming', 'outgoing']);
const Status = Type.Enum(['queued', 'scheduled', 'sent', 'delivered', 'read', 'failed']);

export const Message = Type.Object({
  messageId: MessageId,
  sessionId: SessionId,
  chatId: Type.String({ description: 'Phone number digits, or the id of the group.' }),
  direction: Direction,
  type: Type.String({ description: '`text`' }),
  from: Type.String({ description: 'Digits of the sender.' }),
  to: Type.String({ description: 'Digits of the recipient, or the id of the group.' }),
  message: Type.String({ description: 'Text of the message.' }),
  status: Status,
  timestamp: Time,
  replyTo: Type.Optional(Type.String({ description: 'Id of the message it answers.' })),
  error: Type.Optional(Type.String({ description: 'Why it failed, in words.' })),
});

const MessageWithHistory = Type.Object({
  ...Message.properties,
  statusHistory: Type.Array(Type.Object({ status: Status, at: Time }), {
    description: 'What it went through, oldest first.',
  }),
});

const SendTo = Type.String({
  minLength: 1,
  maxLength: 100,
  description: 'Phone number in international form (+, spaces and dashes are taken off), or the id of a group.',
});

const IdempotencyKey = Type.Optional(
  Type.String({
    minLength: 1,
    maxLength: 255,
    description:
      'The same as the header `Idempotency-Key`: repeating the request within 24 h gives the first answer again.',
  }),
);

export const sendMessage = defineOperation({
  id: 'messages.send',
  method: 'POST',
  path: '/messages/send',
  credential: 'any',
  permission: 'messages:send',
  effect: 'write',
  tool: true,
  summary: 'Send a text message',
  description: 'Answers when the network has taken the message. What becomes of it comes by webhook.',
  status: 201,
  idempotent: true,
  input: Type.Object(
    {
      sessionId: Type.Optional(SessionId),
      to: SendTo,
      message: Type.String({ minLength: 1, maxLength: 65_536, description: 'Text of the message.' }),
      replyTo: Type.Optional(Type.String({ maxLength: 100, description: 'Id of the message it answers.' })),
      idempotencyKey: IdempotencyKey,
    },
    { additionalProperties: false },
  ),
  output: Message,
  errors: ['not_found', 'session_required', 'session_not_connected', 'send_failed'],
  example: { to: '491707654321', message: 'Hello' },
  async run(ctx, input) {
    const session = await resolveSession(ctx, input.sessionId);
    const to = recipient(input.to);
    if (input.replyTo !== undefined) await requireMessageOfSession(ctx, session.sessionId, input.replyTo);
    const row = await ctx.sessions.send(session, {
      to,
      text: input.message,
      replyTo: input.replyTo ?? null,
      messageId: ctx.resourceId === undefined ? ctx.newId('msg') : `msg_${ctx.resourceId}`,
    });
    return toMessage(row);
  },
});

export const listMessages = defineOperation({
  id: 'messages.list',
  method: 'GET',
  path: '/messages',
  credential: 'any',
  permission: 'messages:read',
  effect: 'read',
  tool: true,
  summary: 'List messages, newest first',
  input: Type.Object(
    {
      sessionId: Type.Optional(SessionId),
      chatId: Type.Optional(Type.String({ maxLength: 100 })),
      from: Type.Optional(Type.String({ maxLength: 40, description: 'Phone number of the sender.' })),
      direction: Type.Optional(Direction),
      type: Type.Optional(Type.String({ maxLength: 20 })),
      status: Type.Optional(Status),
      after: Type.Optional({ ...Time, description: 'Only messages from this moment on.' }),
      before: Type.Optional({ ...Time, description: 'Only messages before this moment.' }),
      ...pageInput,
    },
    { additionalProperties: false },
  ),
  output: pageOf(Message),
  errors: [],
  async run(ctx, input) {
    const { after, limit, rows } = pageStart(input);
    let select = ctx.database.reader.kysely.selectFrom('messages').selectAll().where('account_id', '=', ctx.accountId);
    if (input.sessionId !== undefined) select = select.where('session_id', '=', input.sessionId);
    if (input.chatId !== undefined) select = select.where('chat_id', '=', input.chatId);
    if (input.from !== undefined) select = select.where('from_number', '=', phoneNumber('from', input.from));
    if (input.direction !== undefined) select = select.where('direction', '=', input.direction);
    if (input.type !== undefined) select = select.where('type', '=', input.type);
    if (input.status !== undefined) select = select.where('status', '=', input.status);
    if (input.after !== undefined) select = select.where('timestamp', '>=', parseTime('after', input.after));
    if (input.before !== undefined) select = select.where('timestamp', '<', parseTime('before', input.before));
    if (after !== undefined) select = select.where('message_id', '<', after);
    const found = await select.orderBy('message_id', 'desc').limit(rows).execute();
    return toPage(found, limit, ({ message_id }) => message_id, toMessage);
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
  summary: 'Show a message and what it went through',
  input: Type.Object({ messageId: MessageId }, { additionalProperties: false }),
  output: MessageWithHistory,
  errors: ['not_found'],
  async run(ctx, { messageId }) {
    const row = await messageById.first(ctx.database.reader, { accountId: ctx.accountId, messageId });
    if (row === undefined) throw new AppError('not_found', `There is no message ${messageId}`);
    return { ...toMessage(row), statusHistory: historyOf(row) };
  },
});

async function requireMessageOfSession(ctx: Context, sessionId: string, messageId: string): Promise<void> {
  const row = await messageById.first(ctx.database.reader, { accountId: ctx.accountId, messageId });
  if (row?.session_id !== sessionId)
    throw invalidField('replyTo', `The session has no message ${messageId}`, 'not_found');
}

/** The chat that `to` names: a group of the session, or a phone number. */
function recipient(to: string): string {
  return to.startsWith('grp_') ? to : phoneNumber('to', to);
}

export function toMessage(row: MessageTable) {
  return {
    messageId: row.message_id,
    sessionId: row.session_id,
    chatId: row.chat_id,
    direction: row.direction,
    type: row.type,
    from: row.from_number,
    to: row.to_id,
    message: row.body,
    // Written by us, from the same list.
    status: row.status as 'queued',
    timestamp: isoTime(row.timestamp),
    ...(row.reply_to !== null && { replyTo: row.reply_to }),
    ...(row.error !== null && { error: row.error }),
  };
}

function historyOf(row: MessageTable) {
  const moments = [
    ['queued', row.direction === 'outgoing' ? row.created_at : null],
    ['sent', row.sent_at],
    ['delivered', row.delivered_at],
    ['read', row.read_at],
    ['failed', row.failed_at],
  ] as const;
  return moments.flatMap(([status, at]) => (at === null ? [] : [{ status, at: isoTime(at) }]));
}

const messageById = query((db, p: { accountId: string; messageId: string }) =>
  db.selectFrom('messages').selectAll().where('account_id', '=', p.accountId).where('message_id', '=', p.messageId),
);
