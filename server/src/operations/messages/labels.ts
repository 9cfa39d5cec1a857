import { KeyedQueue } from '../../async.ts';
import { unindexed } from '../../db/query.ts';
import type { LabelTable } from '../../db/schema.ts';
import { AppError } from '../../errors.ts';
import { integer, list, named, notBlank, object, onlyTrue, optional, string } from '../../invoke/input/fields.ts';
import { ref } from '../../invoke/input/references.ts';
import { type Context, defineOperation, type SessionContext, sessionsOf } from '../../invoke/operation.ts';
import { requireMessage } from '../../invoke/resources.ts';
import {
  hasRoomFor,
  LABEL_CHARACTERS,
  labelsOfChats,
  MAX_CHAT_LABELS,
  MAX_LABELS,
  putLabel,
  removeLabel,
  setChatLabel,
  setMessageLabel,
} from '../../messages/chats/labels.ts';
import { chatOf, keyOf } from '../../messages/messages/outgoing.ts';
import { type SessionRef, sessionOf } from '../../messages/store.ts';
import { ListedSessionId, listedSessions, OptionalSessionId, SessionId } from '../shared/sessionFields.ts';
import { requireChat } from './chatRemoval.ts';
import { ChatId, LabelIds } from './chats.ts';
import { requireSent } from './messageChanges.ts';
import { Message, MessageId, readMessage } from './messages.ts';

/* The network comes first: if it refuses a change, nothing has changed here and the call can be repeated. */

const LabelId = string('Id of the label (`lbl_…`).', { ...ref('label'), maxLength: 100 });
const Name = notBlank(string('Name of the label.', { minLength: 1, maxLength: LABEL_CHARACTERS }));
const Color = integer('Index into the palette of the network; WhatsApp has 20 colors.', { minimum: 0, maximum: 19 });

const Label = named('Label', {
  labelId: LabelId,
  sessionId: SessionId,
  name: string('Name of the label; empty until the network has reported it.'),
  color: integer('Index into the palette of the network.'),
});

const changing = {
  owner: { field: 'sessionId' },
  permission: 'chats:write',
  scope: 'sessionId',
  effect: 'write',
  errors: ['not_found', 'session_required', 'session_not_connected', 'session_state', 'not_supported', 'send_failed'],
} as const;

export const listLabels = defineOperation({
  id: 'labels.list',
  route: 'GET /labels',
  permission: 'chats:metadata',
  scope: 'filtered',
  effect: 'read',
  summary: 'List labels',
  description:
    'List the labels of a session, or of all sessions, in the order in which they were created. List the chats with a label with `labelId`. On WhatsApp, only business accounts have labels.',
  input: { sessionId: ListedSessionId },
  output: object({ data: list(Label, 'The labels.') }),
  errors: ['not_found'],
  async run(ctx, { sessionId }) {
    const sessionIds = await listedSessions(ctx, sessionId);
    const all = ctx.database.longReader.kysely.selectFrom('labels').selectAll();
    const allowed = sessionIds ?? sessionsOf(ctx);
    const wanted =
      allowed === undefined
        ? all.where('account_id', '=', ctx.accountId)
        : all.where(unindexed('account_id'), '=', ctx.accountId).where('session_id', 'in', allowed);
    return { data: (await wanted.orderBy('label_id').execute()).map(toLabel) };
  },
});

export const createLabel = defineOperation({
  id: 'labels.create',
  route: 'POST /labels',
  ...changing,
  approval: 'free',
  status: 201,
  uses: ['emit'],
  summary: 'Create a label',
  description: 'Create a label, on the phone as well.',
  input: { sessionId: OptionalSessionId, name: Name, color: optional(Color) },
  output: Label,
  errors: [...changing.errors, 'too_many'],
  example: { name: 'New order', color: 3 },
  async run(ctx, { name, color = 0 }) {
    const { session } = ctx;
    const labels = await ctx.liveSessions.part(session, 'labels');
    return creations.run(session.sessionId, async () => {
      const label = { networkId: await freeNetworkId(ctx, session), name, color };
      await labels.put(label);
      const row = await ctx.database.commit((tx) => putLabel(ctx, tx, session, label), session.sessionId);
      if (row === undefined) throw tooMany();
      return toLabel(row);
    });
  },
});

/** Two labels at a time would get the same network id. All labels of a session are created on the node that owns it. */
const creations = new KeyedQueue();

export const updateLabel = defineOperation({
  id: 'labels.update',
  route: 'PATCH /labels/{labelId}',
  ...changing,
  approval: 'free',
  isRepeatable: true,
  uses: ['emit'],
  summary: 'Change a label',
  description: 'Change the name or color of a label, on the phone as well. Fields that you leave out do not change.',
  input: { labelId: LabelId, sessionId: OptionalSessionId, name: optional(Name), color: optional(Color) },
  output: Label,
  example: { labelId: 'lbl_01JZ0000000000000000000000', name: 'Paid' },
  async run(ctx, { labelId, name, color }) {
    const { session } = ctx;
    const row = await requireLabel(ctx, session, labelId);
    const labels = await ctx.liveSessions.part(session, 'labels');
    const label = { networkId: row.network_id, name: name ?? row.name, color: color ?? row.color };
    await labels.put(label);
    const changed = await ctx.database.commit((tx) => putLabel(ctx, tx, session, label), session.sessionId);
    return toLabel(changed ?? row);
  },
});

export const deleteLabel = defineOperation({
  id: 'labels.delete',
  route: 'DELETE /labels/{labelId}',
  ...changing,
  approval: 'free',
  effect: 'destructive',
  uses: ['deletions'],
  summary: 'Delete a label',
  description: 'Delete a label, on the phone as well, and take it off all chats and messages.',
  input: { labelId: LabelId, sessionId: OptionalSessionId },
  output: object({ labelId: LabelId, deleted: onlyTrue() }),
  async run(ctx, { labelId }) {
    const { session } = ctx;
    const label = await requireLabel(ctx, session, labelId);
    const { network_id: networkId, name, color } = label;
    const labels = await ctx.liveSessions.part(session, 'labels');
    await labels.remove({ networkId, name, color });
    await removeLabel(ctx, session, networkId);
    return { labelId, deleted: true as const };
  },
});

const onChat = {
  ...changing,
  isRepeatable: true,
  input: { chatId: ChatId, labelId: LabelId, sessionId: OptionalSessionId },
  output: object({ chatId: ChatId, labelIds: LabelIds }),
} as const;

export const labelChat = defineOperation({
  id: 'chats.add_label',
  route: 'PUT /chats/{chatId}/labels/{labelId}',
  ...onChat,
  approval: 'free',
  uses: ['emit'],
  summary: 'Put a label on a chat',
  description: 'Put a label on a chat, on the phone as well. Nobody else sees it.',
  errors: [...changing.errors, 'too_many'],
  run: (ctx, input) => setOnChat(ctx, input, true),
});

export const unlabelChat = defineOperation({
  id: 'chats.remove_label',
  route: 'DELETE /chats/{chatId}/labels/{labelId}',
  ...onChat,
  approval: 'free',
  uses: ['emit'],
  summary: 'Take a label off a chat',
  description: 'Take a label off a chat, on the phone as well.',
  run: (ctx, input) => setOnChat(ctx, input, false),
});

const onMessage = {
  ...changing,
  owner: { field: 'messageId' },
  scope: 'messageId',
  messageContent: 'messages',
  thirdPartyText: true,
  isRepeatable: true,
  input: { messageId: MessageId, labelId: LabelId },
  output: Message,
  errors: ['not_found', 'session_not_connected', 'session_state', 'not_supported', 'message_state', 'send_failed'],
} as const;

export const labelMessage = defineOperation({
  id: 'messages.add_label',
  route: 'PUT /messages/{messageId}/labels/{labelId}',
  ...onMessage,
  approval: 'free',
  uses: ['media', 'emit'],
  summary: 'Put a label on a message',
  description: 'Put a label on a message, on the phone as well. Nobody else sees it.',
  run: (ctx, input) => setOnMessage(ctx, input, true),
});

export const unlabelMessage = defineOperation({
  id: 'messages.remove_label',
  route: 'DELETE /messages/{messageId}/labels/{labelId}',
  ...onMessage,
  approval: 'free',
  uses: ['media', 'emit'],
  summary: 'Take a label off a message',
  description: 'Take a label off a message, on the phone as well.',
  run: (ctx, input) => setOnMessage(ctx, input, false),
});

async function setOnChat(
  ctx: SessionContext<'emit'>,
  input: { readonly chatId: string; readonly labelId: string },
  isSet: boolean,
) {
  const { session } = ctx;
  const { chatId } = input;
  await requireChat(ctx, session, chatId);
  const label = await requireLabel(ctx, session, input.labelId);
  const labels = await ctx.liveSessions.part(session, 'labels');
  if (isSet && !(await hasRoomFor(ctx.database.reader, label, chatId))) throw tooManyOnChats();
  await labels.setOnChat(label.network_id, await chatOf(ctx.database.reader, session, chatId), isSet);
  const isStored = await ctx.database.commit((tx) => setChatLabel(ctx, tx, label, chatId, isSet), session.sessionId);
  if (!isStored) throw tooManyOnChats();
  const rows = await labelsOfChats.all(ctx.database.reader, {
    accountId: ctx.accountId,
    sessionIds: JSON.stringify([session.sessionId]),
    chatIds: JSON.stringify([chatId]),
  });
  return { chatId, labelIds: rows.map(({ label_id }) => label_id) };
}

async function setOnMessage(
  ctx: Context<'media' | 'emit'>,
  { messageId, labelId }: { readonly messageId: string; readonly labelId: string },
  isSet: boolean,
) {
  const row = await requireSent(ctx, messageId);
  const session = sessionOf(row);
  const label = await requireLabel(ctx, session, labelId);
  const labels = await ctx.liveSessions.part(session, 'labels');
  await labels.setOnMessage(label.network_id, await keyOf(ctx.database.reader, row), isSet);
  await ctx.database.commit((tx) => setMessageLabel(ctx, tx, label, row, isSet), row.session_id);
  return readMessage(ctx, await requireMessage(ctx, messageId));
}

/** @throws {AppError} `not_found`, also for a label of another session */
async function requireLabel(ctx: Context, { sessionId }: SessionRef, labelId: string): Promise<LabelTable> {
  const row = await ctx.database.reader.kysely
    .selectFrom('labels')
    .selectAll()
    .where('account_id', '=', ctx.accountId)
    .where('session_id', '=', sessionId)
    .where('label_id', '=', labelId)
    .executeTakeFirst();
  if (row === undefined) throw new AppError('not_found', `The session has no label ${labelId}`);
  return row;
}

/**
 * Networks number labels, and the device that creates one chooses its number.
 * @throws {AppError} `too_many`
 */
async function freeNetworkId(ctx: Context, { sessionId }: SessionRef): Promise<string> {
  const rows = await ctx.database.reader.kysely
    .selectFrom('labels')
    .select('network_id')
    .where('account_id', '=', ctx.accountId)
    .where('session_id', '=', sessionId)
    .execute();
  if (rows.length >= MAX_LABELS) throw tooMany();
  const used = rows.map(({ network_id: id }) => Number(id)).filter(Number.isSafeInteger);
  return String(Math.max(0, ...used) + 1);
}

const tooMany = () => new AppError('too_many', `The session has ${MAX_LABELS} labels; delete one first`);

const tooManyOnChats = () =>
  new AppError('too_many', `The session has ${MAX_CHAT_LABELS} labels on chats; take some off first`);

function toLabel({ label_id: labelId, session_id: sessionId, name, color }: LabelTable) {
  return { labelId, sessionId, name, color };
}
