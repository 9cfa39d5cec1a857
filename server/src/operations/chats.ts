import { Type } from 'typebox';
import { isoTime } from '../clock.ts';
import type { ChatTable } from '../db/schema.ts';
import { AppError } from '../errors.ts';
import { Message, toMessage } from './messages.ts';
import { defineOperation } from './operation.ts';
import { pageInput, pageOf, pageStart, toPage } from './pages.ts';
import { resolveSession, SessionId } from './sessions.ts';

const ChatId = Type.String({ maxLength: 100, description: 'Phone number digits, or the id of the group.' });

const Chat = Type.Object({
  chatId: ChatId,
  sessionId: SessionId,
  type: Type.Enum(['direct', 'group']),
  unreadCount: Type.Integer({ minimum: 0 }),
  archived: Type.Boolean(),
  pinned: Type.Boolean(),
  mutedUntil: Type.Union([Type.String({ format: 'date-time' }), Type.Null()]),
  lastMessage: Type.Union([Message, Type.Null()]),
});

export const listChats = defineOperation({
  id: 'chats.list',
  method: 'GET',
  path: '/chats',
  credential: 'any',
  permission: 'chats:read',
  effect: 'read',
  tool: true,
  summary: 'List the chats of a session, the latest first',
  input: Type.Object({ sessionId: Type.Optional(SessionId), ...pageInput }, { additionalProperties: false }),
  output: pageOf(Chat),
  errors: ['not_found', 'session_required'],
  async run(ctx, input) {
    const { accountId, sessionId } = await resolveSession(ctx, input.sessionId);
    const { after, limit, rows } = pageStart(input);
    const { kysely } = ctx.database.reader;
    // A chat without a message sorts as the oldest; message ids sort by time.
    let select = kysely
      .selectFrom('chats')
      .selectAll()
      .select((eb) => eb.fn.coalesce('last_message_id', eb.val('')).as('position'))
      .where('account_id', '=', accountId)
      .where('session_id', '=', sessionId);
    if (after !== undefined) {
      const [position = '', chatId = ''] = after.split('|');
      select = select.where((eb) => {
        const own = eb.fn.coalesce('last_message_id', eb.val(''));
        return eb.or([eb(own, '<', position), eb.and([eb(own, '=', position), eb('chat_id', '>', chatId)])]);
      });
    }
    const found = await select.orderBy('position', 'desc').orderBy('chat_id').limit(rows).execute();
    const lastIds = found.flatMap(({ last_message_id }) => last_message_id ?? []);
    const last =
      lastIds.length === 0
        ? []
        : await kysely
            .selectFrom('messages')
            .selectAll()
            .where('account_id', '=', accountId)
            .where('message_id', 'in', lastIds)
            .execute();
    const messages = new Map(last.map((row) => [row.message_id, toMessage(row)]));
    return toPage(
      found,
      limit,
      (row) => `${row.position}|${row.chat_id}`,
      (row) => toChat(row, messages.get(row.last_message_id ?? '')),
    );
  },
});

export const markChatRead = defineOperation({
  id: 'chats.mark_read',
  method: 'POST',
  path: '/chats/{chatId}/read',
  credential: 'any',
  permission: 'chats:write',
  effect: 'write',
  tool: true,
  summary: 'Mark a chat read',
  description: 'The senders get read receipts.',
  input: Type.Object({ chatId: ChatId, sessionId: Type.Optional(SessionId) }, { additionalProperties: false }),
  output: Type.Object({ chatId: ChatId, read: Type.Integer({ description: 'Messages that were unread.' }) }),
  errors: ['not_found', 'session_required', 'session_not_connected', 'not_supported'],
  async run(ctx, { chatId, sessionId: named }) {
    const session = await resolveSession(ctx, named);
    const { accountId, sessionId } = session;
    const { kysely } = ctx.database.reader;
    const chat = await kysely
      .selectFrom('chats as c')
      .leftJoin('groups as g', (join) =>
        join.onRef('g.account_id', '=', 'c.account_id').onRef('g.group_id', '=', 'c.chat_id'),
      )
      .select(['c.type', 'g.network_id'])
      .where('c.account_id', '=', accountId)
      .where('c.session_id', '=', sessionId)
      .where('c.chat_id', '=', chatId)
      .executeTakeFirst();
    if (chat === undefined) throw new AppError('not_found', `The session has no chat ${chatId}`);
    const unread = await kysely
      .selectFrom('messages')
      .select(['message_id', 'network_id', 'from_number'])
      .where('account_id', '=', accountId)
      .where('session_id', '=', sessionId)
      .where('chat_id', '=', chatId)
      .where('direction', '=', 'incoming')
      .where('status', '=', 'delivered')
      .orderBy('message_id')
      .execute();
    if (unread.length > 0) {
      const markRead = ctx.sessions.part(session, 'markRead');
      // The network first: when it does not take it, the chat is still unread and the call can be repeated.
      await markRead(
        { type: chat.type, id: chat.network_id ?? chatId },
        unread.map(({ network_id: networkId, from_number: from }) => ({ networkId, from })),
      );
    }
    const last = unread.at(-1)?.message_id ?? '';
    await ctx.database.commit(async (tx) => {
      await tx.kysely
        .updateTable('messages')
        .set({ status: 'read', read_at: ctx.clock.now() })
        .where('account_id', '=', accountId)
        .where('session_id', '=', sessionId)
        .where('chat_id', '=', chatId)
        .where('direction', '=', 'incoming')
        .where('status', '=', 'delivered')
        .where('message_id', '<=', last)
        .execute();
      // What came meanwhile stays unread.
      await tx.kysely
        .updateTable('chats')
        .set((eb) => ({
          unread_count: eb
            .selectFrom('messages')
            .select(({ fn }) => fn.countAll<number>().as('count'))
            .where('account_id', '=', accountId)
            .where('session_id', '=', sessionId)
            .where('chat_id', '=', chatId)
            .where('direction', '=', 'incoming')
            .where('status', '=', 'delivered'),
        }))
        .where('account_id', '=', accountId)
        .where('session_id', '=', sessionId)
        .where('chat_id', '=', chatId)
        .execute();
    }, sessionId);
    return { chatId, read: unread.length };
  },
});

function toChat(row: ChatTable, lastMessage: ReturnType<typeof toMessage> | undefined) {
  return {
    chatId: row.chat_id,
    sessionId: row.session_id,
    type: row.type,
    unreadCount: row.unread_count,
    archived: row.archived === 1,
    pinned: row.pinned === 1,
    mutedUntil: isoTime(row.muted_until),
    lastMessage: lastMessage ?? null,
  };
}
