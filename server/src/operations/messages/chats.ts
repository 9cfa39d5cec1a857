import { type RawBuilder, sql } from 'kysely';
import { Type } from 'typebox';
import { isoTime } from '../../clock.ts';
import type { ChatChange } from '../../connectors/contract/chatActions.ts';
import { LISTED_ROWS } from '../../db/pace.ts';
import { listed, query } from '../../db/query.ts';
import type { ChatTable } from '../../db/schema.ts';
import { AppError, invalidField } from '../../errors.ts';
import { userIdFields } from '../../events/parts.ts';
import { isGroupId } from '../../ids.ts';
import {
  boolean,
  integer,
  list,
  named,
  notForAgents,
  object,
  oneOf,
  optional,
  orNull,
  string,
  time,
} from '../../invoke/input/fields.ts';
import { typed } from '../../invoke/input/phoneNumbers.ts';
import { ref } from '../../invoke/input/references.ts';
import { parseTime } from '../../invoke/input/validate.ts';
import { type Context, defineOperation, requireContent, requireNoApproval } from '../../invoke/operation.ts';
import { pageInput, pageOf } from '../../invoke/pages.ts';
import { requirePerson } from '../../invoke/recipients.ts';
import { readSessionPage } from '../../invoke/sessionPages.ts';
import {
  type ChatSettings,
  changeChat,
  markRead,
  setDisappearing,
  unreadIn,
} from '../../messages/chats/chatChanges.ts';
import { changeChatMetadata, changedMetadata, metadataOf } from '../../messages/chats/chatMetadata.ts';
import { namesOfChats } from '../../messages/chats/chatNames.ts';
import { fewChatsWith, findLabel, hasLabel, labelsOfChats } from '../../messages/chats/labels.ts';
import { addressPart, contentOf } from '../../messages/content.ts';
import { finishIdentities } from '../../messages/identities/identities.ts';
import { chatOf } from '../../messages/messages/outgoing.ts';
import { addressOf, networkIdsOfGroups } from '../../messages/networkNames.ts';
import type { SessionRef } from '../../messages/store.ts';
import { readUserIds } from '../../messages/userIds.ts';
import { MetadataChange, requireShortKeys } from '../shared/metadata.ts';
import { chatReferralFilters } from '../shared/referralFilters.ts';
import { ListedSessionId, listedSessions, OptionalSessionId, SessionId } from '../shared/sessionFields.ts';
import { requireTimer } from '../shared/timers.ts';
import { passOn, Synchronized } from './chatSync.ts';
import { Message, messageReader } from './messages.ts';

export const ChatId = string('Phone number digits of the other person, or the id of the group (`grp_…`).', {
  ...ref('chat'),
  ...typed,
  maxLength: 200,
});

export const LabelIds = list(Type.String(), 'Ids of its labels (`lbl_…`).');

const Chat = named('Chat', {
  chatId: ChatId,
  sessionId: SessionId,
  type: oneOf(['direct', 'group'], '`direct` is a chat with one person.'),
  name: orNull(Type.String(), 'Name that the person chose, or subject of the group; null if it is not known.'),
  unreadCount: integer('Incoming messages that are not marked as read.', { minimum: 0 }),
  archived: boolean('Whether the chat is archived.'),
  pinned: boolean('Whether the chat is pinned.'),
  mutedUntil: orNull(time(), 'Until when the chat is muted; null if it is not.'),
  lastMessage: orNull(Message, 'Newest message; null if there is none.'),
  markedUnread: {
    ...boolean('Whether the chat is marked as unread, whatever its messages are.'),
    ...notForAgents,
  },
  disappearingSeconds: {
    ...orNull(Type.Integer(), 'After how many seconds new messages disappear; null if they stay.'),
    ...notForAgents,
  },
  labelIds: { ...LabelIds, ...notForAgents },
  metadata: {
    ...Type.Record(Type.String(), Type.String(), { description: 'Your own data, as you set it.' }),
    ...notForAgents,
  },
  ...userIdFields('the person in a direct chat'),
  networkChatId: optional({
    ...string('Address of the chat at the network, such as `491701234567@s.whatsapp.net`.'),
    ...notForAgents,
  }),
});

export const listChats = defineOperation({
  id: 'chats.list',
  route: 'GET /chats',
  permission: 'chats:read',
  scope: 'filtered',
  messageContent: 'chats',
  effect: 'read',
  tool: true,
  thirdPartyText: true,
  uses: ['media'],
  summary: 'List chats',
  description:
    'List chats with their name, last message and unread count, the most recent first. Use it to find a `chatId` or unread messages. Read a chat with `messages.list`.',
  input: {
    sessionId: ListedSessionId,
    unread: optional(boolean('`true`: only chats with unread messages; `false`: only others.')),
    archived: optional(boolean('`true`: only archived chats; `false`: only others.')),
    ...chatReferralFilters,
    labelId: optional(string('Only chats with this label (`lbl_…`).', { ...ref('label'), maxLength: 100 })),
    ...pageInput,
  },
  output: pageOf(Chat),
  errors: ['not_found'],
  async run(ctx, input) {
    const sessionIds = await listedSessions(ctx, input.sessionId);
    const { labelId } = input;
    if (input.hasReferral !== undefined || input.adId !== undefined) requireContent(ctx, 'messages');
    const show = async (rows: readonly ChatTable[]) => {
      const read = await chatReader(ctx, rows);
      return rows.slice(0, read.complete).map(read.show);
    };
    if (labelId === undefined)
      return readSessionPage(ctx, { ...recent, filter: allOf(filtersOf(input)) }, sessionIds, input, show);
    const label = await findLabel(ctx.database.longReader, ctx.accountId, labelId);
    if (label === undefined || !(sessionIds?.includes(label.session_id) ?? true))
      return readSessionPage(ctx, recent, [], input, show);
    const few = await fewChatsWith(ctx.database.longReader, label);
    const chats = few === undefined ? undefined : ctx.database.longReader.dialect.texts(JSON.stringify(few));
    const filter = allOf([...filtersOf(input), ...(chats === undefined ? [hasLabel(label)] : [])]);
    const list =
      chats === undefined
        ? { ...recent, filter }
        : {
            ...recent,
            index: undefined,
            session: sql<string>`r.session_id`,
            path: sql<boolean>`r.chat_id in ${chats}`,
            filter,
          };
    return readSessionPage(ctx, list, [label.session_id], input, show);
  },
});

/**
 * The newest first. Ids of messages sort by time, and those of chats, for chats without a message, before all of them.
 */
const recent = {
  list: 'chats',
  order: 'desc',
  index: 'chats_recent',
  session: listed('r.session_id'),
  key: sql<string>`coalesce(r.last_message_id, r.chat_id)`,
} as const;

interface ChatFilters {
  readonly unread?: boolean | undefined;
  readonly archived?: boolean | undefined;
  readonly hasReferral?: true | undefined;
  readonly adId?: string | undefined;
}

/** Conditions for chats `r`. A page passes a bounded number of chats, and looks up one ad for each. */
function filtersOf({ unread, archived, hasReferral, adId }: ChatFilters): RawBuilder<boolean>[] {
  const isOfAd = adId === undefined ? sql`` : sql`and a.ad_id = ${adId}`;
  const hasAd = sql<boolean>`exists (select 1 from chat_ads as a
    where a.session_id = r.session_id and a.chat_id = r.chat_id ${isOfAd})`;
  return [
    unread === undefined ? [] : unread ? sql<boolean>`r.unread_count > 0` : sql<boolean>`r.unread_count = 0`,
    archived === undefined ? [] : sql<boolean>`r.archived = ${Number(archived)}`,
    hasReferral === true || adId !== undefined ? hasAd : [],
  ].flat();
}

const allOf = (conditions: readonly RawBuilder<boolean>[]) =>
  conditions.length === 0 ? undefined : sql<boolean>`${sql.join(conditions, sql` and `)}`;

export const getChat = defineOperation({
  id: 'chats.get',
  route: 'GET /chats/{chatId}',
  permission: 'chats:read',
  scope: 'sessionId',
  messageContent: 'chats',
  effect: 'read',
  uses: ['media'],
  summary: 'Get a chat',
  description: 'Get one chat with its last message, unread count and settings.',
  input: { chatId: ChatId, sessionId: OptionalSessionId },
  output: Chat,
  errors: ['not_found', 'session_required'],
  async run(ctx, { chatId }) {
    return readChat(ctx, ctx.session, chatId);
  },
});

export const updateChat = defineOperation({
  id: 'chats.update',
  route: 'PATCH /chats/{chatId}',
  approval: 'checked',
  owner: { field: 'sessionId' },
  permission: 'chats:write',
  scope: 'sessionId',
  messageContent: 'chats',
  effect: 'write',
  uses: ['media', 'emit'],
  summary: 'Update a chat',
  description:
    'Archive, pin or mute a chat, on the phone as well if the network supports that and the session is connected. The other person sees only `disappearingSeconds`. Fields that you leave out do not change. `metadata` stays in Switchboard, and changes only the given keys.',
  input: {
    chatId: ChatId,
    sessionId: OptionalSessionId,
    archived: optional(boolean('true archives the chat, false restores it.')),
    pinned: optional(boolean('true pins the chat, false unpins it.')),
    mutedUntil: optional(orNull(time(), 'Mutes the chat until this time; null unmutes it.')),
    disappearingSeconds: optional(
      orNull(
        Type.Integer(),
        'After how many seconds new messages of a direct chat disappear, for both sides: 86400, 604800 or 7776000; null lets them stay. Requires a connected session. In a group, it is a setting of the group.',
      ),
    ),
    metadata: optional(MetadataChange),
  },
  output: named('UpdatedChat', { ...Chat.properties, synchronized: Synchronized }),
  errors: [
    'not_found',
    'session_required',
    'session_not_connected',
    'session_state',
    'not_supported',
    'network_denied',
    'send_failed',
  ],
  example: { chatId: '491707654321', archived: true },
  async run(ctx, { chatId, archived, pinned, mutedUntil, disappearingSeconds: seconds, metadata }) {
    const { session } = ctx;
    const until = typeof mutedUntil === 'string' ? parseTime('mutedUntil', mutedUntil) : mutedUntil;
    const settings = { archived, pinned, mutedUntil: until };
    if (metadata !== undefined) requireShortKeys(metadata);
    const before = await readChat(ctx, session, chatId); // before the network changes anything
    if (metadata !== undefined) changedMetadata(before.metadata, metadata);
    if (seconds !== undefined) await changeTimer(ctx, session, chatId, seconds);
    const change = definedOf(settings);
    const synchronized =
      Object.keys(change).length === 0
        ? seconds !== undefined
        : await passOn(ctx, session, chatId, (chats, { chat, last }) => chats.update(chat, change, last));
    await ctx.database.commit(async (tx) => {
      await changeChat(ctx, tx, session, chatId, settings);
      if (metadata !== undefined) await changeChatMetadata(tx, session, chatId, metadata);
    }, session.sessionId);
    return { ...(await readChat(ctx, session, chatId)), synchronized };
  },
});

/** @throws {AppError} `validation_failed`, `permission_denied`, `session_not_connected`, `not_supported` */
async function changeTimer(
  ctx: Context<'emit'>,
  session: SessionRef,
  chatId: string,
  seconds: number | null,
): Promise<void> {
  if (isGroupId(chatId))
    throw invalidField(
      'disappearingSeconds',
      'is a setting of the group; change it with `groups.update` (`settings.disappearingSeconds`)',
      'group',
    );
  requireTimer('disappearingSeconds', seconds, null);
  // Unlike the other settings, it reaches the other person.
  requireNoApproval(ctx, 'Change disappearing messages');
  await requirePerson(ctx, session.sessionId, chatId);
  const change = await ctx.liveSessions.part(session, 'setDisappearing');
  await change(await chatOf(ctx.database.reader, session, chatId), seconds);
  await ctx.database.commit((tx) => setDisappearing(ctx, tx, session, chatId, seconds), session.sessionId);
}

/** The settings that change, without those that are undefined. */
function definedOf({ archived, pinned, mutedUntil }: ChatSettings): ChatChange {
  return {
    ...(archived !== undefined && { archived }),
    ...(pinned !== undefined && { pinned }),
    ...(mutedUntil !== undefined && { mutedUntil }),
  };
}

export const setTyping = defineOperation({
  id: 'chats.set_typing',
  route: 'POST /chats/{chatId}/typing',
  approval: 'free',
  owner: { field: 'sessionId' },
  permission: 'chats:write',
  scope: 'sessionId',
  recipients: 'chatId',
  effect: 'write',
  isRepeatable: true,
  tool: true,
  summary: 'Show a typing indicator',
  description: 'Show in a chat that the session is typing or recording. Networks hide it after some seconds.',
  input: {
    chatId: ChatId,
    sessionId: OptionalSessionId,
    state: oneOf(['typing', 'recording', 'paused'], '`recording` is for voice messages; `paused` hides the indicator.'),
  },
  output: object({ chatId: ChatId, state: string('State that is shown now.') }),
  errors: ['not_found', 'session_required', 'session_not_connected', 'not_supported'],
  example: { chatId: '491707654321', state: 'typing' },
  async run(ctx, { chatId, state }) {
    const { session } = ctx;
    const setTyping = await ctx.liveSessions.part(session, 'setTyping');
    await setTyping(await chatOf(ctx.database.reader, session, chatId), state);
    return { chatId, state };
  },
});

export const markChatRead = defineOperation({
  id: 'chats.mark_read',
  route: 'POST /chats/{chatId}/read',
  approval: 'free',
  owner: { field: 'sessionId' },
  permission: 'chats:write',
  scope: 'sessionId',
  recipients: 'chatId',
  effect: 'write',
  isRepeatable: true,
  tool: true,
  uses: ['deletions', 'emit'],
  summary: 'Mark a chat as read',
  description:
    'Mark all incoming messages of a chat as read. Senders get read receipts, so call it only once somebody has handled the messages.',
  input: { chatId: ChatId, sessionId: OptionalSessionId },
  output: object({
    chatId: ChatId,
    read: integer('Number of messages that were unread before.'),
  }),
  errors: ['not_found', 'session_required', 'session_not_connected', 'not_supported', 'send_failed'],
  async run(ctx, { chatId }) {
    const { session } = ctx;
    await finishIdentities(ctx.deletions, session);
    const chat = await ctx.database.reader.kysely
      .selectFrom('chats as c')
      .leftJoin('groups as g', (join) =>
        join.onRef('g.account_id', '=', 'c.account_id').onRef('g.group_id', '=', 'c.chat_id'),
      )
      .select(['c.type', 'c.marked_unread', 'g.network_id'])
      .where('c.account_id', '=', session.accountId)
      .where('c.session_id', '=', session.sessionId)
      .where('c.chat_id', '=', chatId)
      .executeTakeFirst();
    if (chat === undefined) throw new AppError('not_found', `The session has no chat ${chatId}`);
    const newest = await newestUnread.first(ctx.database.reader, { ...session, chatId });
    const confirm = newest && (await ctx.liveSessions.part(session, 'markRead'));
    let isMarked = chat.marked_unread === 1;
    let read = 0;
    for (let last = '', hasMore = true; hasMore; ) {
      const range = { chatId, after: last, upTo: newest?.message_id ?? '', limit: LISTED_ROWS };
      const unread = await unreadBetween.all(ctx.database.reader, { ...session, ...range });
      hasMore = unread.length === LISTED_ROWS;
      last = unread.at(-1)?.message_id ?? last;
      // The network first: if it fails, these are still unread and the call can be repeated.
      if (unread.length > 0)
        await confirm?.(
          { type: chat.type, id: chat.network_id ?? chatId },
          unread.map((row) => ({
            networkId: row.network_id,
            from: row.from_number,
            timestamp: row.timestamp,
            ...addressPart(contentOf(row)),
          })),
        );
      if (isMarked) await unmark(ctx, session, chatId);
      isMarked = false;
      await markRead(ctx, ctx.database.commit, session, chatId, last);
      read += unread.length;
    }
    return { chatId, read };
  },
});

type ChatRef = SessionRef & { readonly chatId: string };

const newestUnread = query((db, p: ChatRef) =>
  unreadIn(db, p).select('u.message_id').orderBy('u.message_id', 'desc').limit(1),
);

const unreadBetween = query((db, p: ChatRef & { after: string; upTo: string; limit: number }) =>
  unreadIn(db, p)
    .crossJoin('messages as m') // SQLite keeps this order of the two
    .whereRef('m.account_id', '=', 'u.account_id')
    .whereRef('m.message_id', '=', 'u.message_id')
    .select(['m.message_id', 'm.network_id', 'm.from_number', 'm.timestamp', 'm.content'])
    .where('u.message_id', '>', p.after)
    .where('u.message_id', '<=', p.upTo)
    .orderBy('u.message_id')
    .limit(p.limit),
);

/** Takes the mark off on the phone, unless that has not yet shared the keys for it. */
async function unmark(ctx: Context, session: SessionRef, chatId: string): Promise<void> {
  try {
    await passOn(ctx, session, chatId, (chats, { chat, last }) => chats.update(chat, { markedUnread: false }, last));
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'session_state') throw error;
  }
}

/** @throws {AppError} `not_found` */
async function readChat(ctx: Context<'media'>, { accountId, sessionId }: SessionRef, chatId: string) {
  const row = await ctx.database.reader.kysely
    .selectFrom('chats')
    .selectAll()
    .where('account_id', '=', accountId)
    .where('session_id', '=', sessionId)
    .where('chat_id', '=', chatId)
    .executeTakeFirst();
  if (row === undefined) throw new AppError('not_found', `The session has no chat ${chatId}`);
  return (await chatReader(ctx, [row])).show(row);
}

/** Reads the chats' last messages at the same time. The result is the same as with `messageReader`. */
async function chatReader(ctx: Context<'media'>, rows: readonly ChatTable[]) {
  const ids = JSON.stringify(rows.flatMap(({ last_message_id }) => last_message_id ?? []));
  const found = await messagesById.all(ctx.database.reader, { accountId: ctx.accountId, ids });
  const byId = new Map(found.map((row) => [row.message_id, row]));
  const last = rows.flatMap(({ last_message_id: id }) => (id === null ? [] : (byId.get(id) ?? [])));
  const read = await messageReader(ctx, last, 'chats');
  const messages = new Map(last.slice(0, read.complete).map((row) => [row.message_id, read.show(row)]));
  const end = last[read.complete]?.message_id;
  const connectorOf = await ctx.sessions.connectorsOf.of(rows.map(({ session_id }) => session_id));
  const addresses = await addressReader(ctx, rows, connectorOf);
  const people = rows.filter(({ type }) => type === 'direct').map(personOf);
  const userIdsOf = await readUserIds(ctx.database.reader, ctx.accountId, connectorOf, people);
  const nameOf = await namesOfChats(ctx.database.reader, ctx.accountId, rows);
  const labelled = await labelsOfChats.all(ctx.database.reader, {
    accountId: ctx.accountId,
    sessionIds: JSON.stringify([...new Set(rows.map(({ session_id }) => session_id))]),
    chatIds: JSON.stringify(rows.map(({ chat_id }) => chat_id)),
  });
  const labels = Map.groupBy(labelled, ({ session_id, chat_id }) => `${session_id}/${chat_id}`);
  const show = (row: ChatTable) => ({
    chatId: row.chat_id,
    sessionId: row.session_id,
    type: row.type,
    name: nameOf(row),
    ...(row.type === 'direct' && userIdsOf(personOf(row))),
    unreadCount: row.unread_count,
    archived: row.archived === 1,
    pinned: row.pinned === 1,
    mutedUntil: isoTime(row.muted_until),
    lastMessage: messages.get(row.last_message_id ?? '') ?? null,
    markedUnread: row.marked_unread === 1,
    disappearingSeconds: row.disappearing_seconds,
    labelIds: (labels.get(`${row.session_id}/${row.chat_id}`) ?? []).map(({ label_id }) => label_id),
    metadata: metadataOf(row),
    networkChatId: addresses(row),
  });
  const complete = end === undefined ? rows.length : rows.findIndex(({ last_message_id }) => last_message_id === end);
  return { show, complete };
}

type ConnectorOf = Awaited<ReturnType<Context['sessions']['connectorsOf']['of']>>;

const personOf = ({ session_id, chat_id }: ChatTable) => ({ session_id, phone_number: chat_id });

/** Returns a function that returns the network's address of a chat; undefined for a group that is gone. */
async function addressReader(ctx: Context, rows: readonly ChatTable[], connectorOf: ConnectorOf) {
  const ids = rows.filter(({ type }) => type === 'group').map(({ chat_id }) => chat_id);
  const groupIds = await networkIdsOfGroups(ctx.database.reader, ctx.accountId, ids);
  return ({ session_id, chat_id, type }: ChatTable): string | undefined => {
    const id = type === 'group' ? groupIds.get(chat_id) : chat_id;
    return id && addressOf({ type, id }, connectorOf(session_id));
  };
}

const messagesById = query((db, p: { accountId: string; ids: string }, dialect) =>
  db
    .selectFrom('messages')
    .selectAll()
    .where('account_id', '=', p.accountId)
    .where('message_id', 'in', dialect.texts(p.ids)),
);
