import type { Tx } from '../../db/commit.ts';
import type { MessageRow } from '../../db/schema.ts';
import { AppError, invalidField } from '../../errors.ts';
import { isGroupId } from '../../ids.ts';
import { notForAgents, oneOf, optional, string } from '../../invoke/input/fields.ts';
import { type Context, defineOperation, needsApproval, requireNoApproval } from '../../invoke/operation.ts';
import { requireMessage } from '../../invoke/resources.ts';
import { contentOf } from '../../messages/content.ts';
import { storeDeletion, storeEdit, storeReaction } from '../../messages/messages/changes.ts';
import { keyOf } from '../../messages/messages/outgoing.ts';
import { isCancelled } from '../../messages/status.ts';
import { sessionOf } from '../../messages/store.ts';
import { deleteForMe } from './chatRemoval.ts';
import { Message, MessageId, readMessage, receipt } from './messages.ts';

/* The network comes first: if it refuses a change, nothing has changed here and the call can be repeated. */

export const changing = {
  owner: { field: 'messageId' },
  permission: 'messages:send',
  scope: 'messageId',
  recipients: 'messageId',
  messageContent: 'messages',
  effect: 'destructive',
  tool: true,
  thirdPartyText: true,
  output: Message,
  receipt,
  errors: ['not_found', 'session_not_connected', 'not_supported', 'network_denied', 'message_state'],
} as const;

export const reactToMessage = defineOperation({
  id: 'messages.react',
  route: 'PUT /messages/{messageId}/reaction',
  ...changing,
  effect: 'write',
  isRepeatable: true,
  uses: ['sender', 'media', 'emit'],
  summary: 'React to a message',
  description: 'React to a message with one emoji. It replaces the previous reaction of the session.',
  input: {
    messageId: MessageId,
    emoji: string('A single emoji, such as 👍. Empty removes the reaction.', { maxLength: 32 }),
  },
  example: { messageId: 'msg_01JZ0000000000000000000000', emoji: '👍' },
  async run(ctx, { messageId, emoji }) {
    const value = reactionOf(emoji);
    return ctx.sender.change(messageId, () => react(ctx, messageId, value));
  },
});

async function react(ctx: Context<'media' | 'emit'>, messageId: string, emoji: string | null) {
  const row = await requireSent(ctx, messageId);
  const session = sessionOf(row);
  const change = await ctx.liveSessions.part(session, 'react');
  await change(await keyOf(ctx.database.reader, row), emoji);
  const from = ctx.liveSessions.find(session)?.phoneNumber ?? '';
  return storeChange(ctx, row, (tx) => storeReaction(ctx, tx, row, emoji, { from, fromMe: true, at: ctx.clock.now() }));
}

export const editMessage = defineOperation({
  id: 'messages.edit',
  route: 'PATCH /messages/{messageId}',
  ...changing,
  approval: 'checked',
  permission: 'messages:edit',
  uses: ['sender', 'media', 'emit'],
  summary: 'Edit a message',
  description:
    'Replace the text of a message that the session sent, or the caption of a file, for everyone in the chat. Some networks do not allow editing a caption. Polls, locations and contact cards cannot be edited.',
  input: {
    messageId: MessageId,
    message: string('New text; it replaces the old one completely. An empty text removes the caption of a file.', {
      maxLength: 65_536,
    }),
  },
  example: { messageId: 'msg_01JZ0000000000000000000000', message: 'Hello again' },
  async run(ctx, { messageId, message }) {
    if (needsApproval(ctx))
      throw new AppError('permission_denied', 'The messages of this API key need approval; send a new message instead');
    return ctx.sender.change(messageId, () => edit(ctx, messageId, message));
  },
});

async function edit(ctx: Context<'media' | 'emit'>, messageId: string, text: string) {
  const row = await requireOutgoing(ctx, messageId);
  requireEditable(row, text);
  const change = await ctx.liveSessions.part(sessionOf(row), 'edit');
  if (row.type !== 'text') await ctx.liveSessions.requireCapability(sessionOf(row), 'edit_captions');
  await change(await keyOf(ctx.database.reader, row), text, row.type);
  return storeChange(ctx, row, (tx) => storeEdit(ctx, tx, row, text, ownAuthor(ctx, row)));
}

export const deleteMessage = defineOperation({
  id: 'messages.delete',
  route: 'DELETE /messages/{messageId}',
  ...changing,
  approval: 'checked',
  permission: 'messages:delete',
  uses: ['sender', 'media', 'emit'],
  summary: 'Delete a message',
  description:
    'Delete a message that the session sent, for everyone in the chat. This cannot be undone. The message stays in lists without its text, marked `deleted`. A scheduled message is cancelled instead: it stays with the status `failed`.',
  input: {
    messageId: MessageId,
    for: optional({
      ...oneOf(
        ['everyone', 'me'],
        '`me` deletes any message, also a received one, for the session only: it leaves all lists, here and on the phone. That requires `chats:delete`. `everyone` by default.',
      ),
      ...notForAgents,
    }),
  },
  async run(ctx, { messageId, for: audience }) {
    if (audience === 'me') return deleteForMe(ctx, messageId);
    return ctx.sender.change(messageId, () => deleteForEveryone(ctx, messageId));
  },
});

async function deleteForEveryone(ctx: Context<'sender' | 'media' | 'emit'>, messageId: string) {
  const present = await requireMessage(ctx, messageId);
  if (['scheduled', 'pending_approval'].includes(present.status)) await ctx.sender.cancel(present);
  const now = await requireMessage(ctx, messageId);
  if (isCancelled(now)) return readMessage(ctx, now);
  requireNoApproval(ctx, 'Delete a message for everyone');
  const row = await requireSent(ctx, messageId);
  const session = sessionOf(row);
  if (row.direction === 'incoming' && isGroupId(row.chat_id)) {
    const removeAsAdmin = await ctx.liveSessions.part(session, 'removeAsAdmin');
    await removeAsAdmin(await keyOf(ctx.database.reader, row));
    const from = ctx.liveSessions.find(session)?.phoneNumber ?? '';
    return storeChange(ctx, row, (tx) => storeDeletion(ctx, tx, row, { from, fromMe: true, at: ctx.clock.now() }));
  }
  requireOwn(row);
  const remove = await ctx.liveSessions.part(session, 'remove');
  await remove(await keyOf(ctx.database.reader, row));
  return storeChange(ctx, row, (tx) => storeDeletion(ctx, tx, row, ownAuthor(ctx, row)));
}

/** @throws {AppError} `not_found`; `message_state` if the other side does not have the message yet, or no longer */
export async function requireSent(ctx: Context, messageId: string): Promise<MessageRow> {
  const row = await requireMessage(ctx, messageId);
  if (row.deleted_at !== null) throw new AppError('message_state', 'The message was deleted');
  if (['pending_approval', 'queued', 'scheduled', 'failed'].includes(row.status))
    throw new AppError('message_state', `The message has not been sent; it is ${row.status}`);
  return row;
}

const WITHOUT_TEXT: readonly MessageRow['type'][] = [
  'poll',
  'location',
  'contact',
  'sticker',
  'template',
  'interactive',
  'event',
  'product',
  'order',
  'group_invite',
  'unsupported',
];

/** @throws {AppError} `message_state` if messages of the type have no text to edit */
export function requireTextOf(type: MessageRow['type']): void {
  if (WITHOUT_TEXT.includes(type)) throw new AppError('message_state', `A message of type ${type} has no text to edit`);
}

/** Also of a new message. */
const MAX_CAPTION = 4096;

/** @throws {AppError} `validation_failed` */
export function requireCaption(text: string): void {
  if (text.length > MAX_CAPTION)
    throw invalidField('message', `A caption has at most ${MAX_CAPTION} characters`, 'length');
}

/** @throws {AppError} `message_state` if the message has neither a text nor a caption; `validation_failed` */
function requireEditable(row: MessageRow, text: string): void {
  requireTextOf(row.type);
  if (row.type === 'text' && text === '')
    throw invalidField('message', 'must not be empty; only captions can be removed', 'length');
  if (row.type === 'text') return;
  const isVideoNote = contentOf(row).isVideoNote === true;
  if (isVideoNote || row.type === 'audio' || row.type === 'voice')
    throw new AppError(
      'message_state',
      `A ${isVideoNote ? 'video note' : `message of type ${row.type}`} has no caption`,
    );
  requireCaption(text);
}

async function requireOutgoing(ctx: Context, messageId: string): Promise<MessageRow> {
  const row = await requireSent(ctx, messageId);
  requireOwn(row);
  return row;
}

function requireOwn({ direction }: MessageRow): void {
  if (direction !== 'outgoing')
    throw new AppError('message_state', 'Only a message that the session sent can be edited or deleted');
}

/** Stores what the network has done, and returns the message as it is now. */
export async function storeChange(
  ctx: Context<'media'>,
  { message_id, session_id }: MessageRow,
  store: (tx: Tx) => Promise<void>,
) {
  await ctx.database.commit(store, session_id);
  return readMessage(ctx, await requireMessage(ctx, message_id));
}

/** The session, as the sender of its own message. */
function ownAuthor({ clock }: Context, { from_number: from }: MessageRow) {
  return { from, fromMe: true, at: clock.now() };
}

/**
 * Returns the emoji of a reaction, or null for an empty text, which removes it.
 * @throws {AppError} `validation_failed` if it is not a single emoji
 */
export function reactionOf(emoji: string): string | null {
  if (emoji === '') return null;
  if (!isEmoji(emoji)) throw invalidField('emoji', `"${emoji}" is not a single emoji`, 'emoji');
  return emoji;
}

function isEmoji(text: string): boolean {
  return /^\p{RGI_Emoji}$/v.test(text) || /^\p{Extended_Pictographic}\ufe0f?$/u.test(text);
}
