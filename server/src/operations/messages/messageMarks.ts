import { oneOf, optional } from '../../invoke/input/fields.ts';
import { type Context, defineOperation } from '../../invoke/operation.ts';
import { requireMessage } from '../../invoke/resources.ts';
import { setPinned, setStarred } from '../../messages/messages/marks.ts';
import { keyOf } from '../../messages/messages/outgoing.ts';
import { sessionOf } from '../../messages/store.ts';
import { requireSent } from './messageChanges.ts';
import { Message, MessageId, readMessage } from './messages.ts';

const marking = {
  owner: { field: 'messageId' },
  scope: 'messageId',
  messageContent: 'messages',
  effect: 'write',
  isRepeatable: true,
  thirdPartyText: true,
  output: Message,
} as const;
const onMessage = [
  'not_found',
  'session_not_connected',
  'session_state',
  'not_supported',
  'message_state',
  'send_failed',
] as const;

export const starMessage = defineOperation({
  id: 'messages.star',
  route: 'PUT /messages/{messageId}/star',
  ...marking,
  approval: 'free',
  permission: 'chats:write',
  uses: ['sender', 'media', 'emit'],
  summary: 'Star a message',
  description: 'Star a message, on the phone as well. Nobody else sees it. List starred messages with `starred`.',
  input: { messageId: MessageId },
  errors: onMessage,
  run: (ctx, { messageId }) => ctx.sender.change(messageId, () => star(ctx, messageId, true)),
});

export const unstarMessage = defineOperation({
  id: 'messages.unstar',
  route: 'DELETE /messages/{messageId}/star',
  ...marking,
  approval: 'free',
  permission: 'chats:write',
  uses: ['sender', 'media', 'emit'],
  summary: 'Remove the star of a message',
  description: 'Remove the star of a message, on the phone as well.',
  input: { messageId: MessageId },
  errors: onMessage,
  run: (ctx, { messageId }) => ctx.sender.change(messageId, () => star(ctx, messageId, false)),
});

const DAY_SECONDS = 86_400;
const DURATIONS = { '24h': DAY_SECONDS, '7d': 7 * DAY_SECONDS, '30d': 30 * DAY_SECONDS };

export const pinMessage = defineOperation({
  id: 'messages.pin',
  route: 'POST /messages/{messageId}/pin',
  ...marking,
  permission: 'messages:send',
  recipients: 'messageId',
  uses: ['sender', 'media', 'emit'],
  summary: 'Pin a message',
  description:
    'Pin a message at the top of its chat, for everyone in it. In some groups only admins may. Networks limit how many messages of a chat are pinned at a time, and show the newest pins.',
  input: {
    messageId: MessageId,
    duration: optional(oneOf(['24h', '7d', '30d'], 'How long the message stays pinned; `7d` by default.')),
  },
  errors: [...onMessage, 'network_denied'],
  example: { messageId: 'msg_01JZ0000000000000000000000', duration: '7d' },
  run: (ctx, { messageId, duration = '7d' }) =>
    ctx.sender.change(messageId, () => pin(ctx, messageId, DURATIONS[duration])),
});

export const unpinMessage = defineOperation({
  id: 'messages.unpin',
  route: 'DELETE /messages/{messageId}/pin',
  ...marking,
  permission: 'messages:send',
  recipients: 'messageId',
  uses: ['sender', 'media', 'emit'],
  summary: 'Unpin a message',
  description: 'Remove the pin of a message, for everyone in the chat.',
  input: { messageId: MessageId },
  errors: [...onMessage, 'network_denied'],
  run: (ctx, { messageId }) => ctx.sender.change(messageId, () => pin(ctx, messageId, null)),
});

async function star(ctx: Context<'media' | 'emit'>, messageId: string, isStarred: boolean) {
  const row = await requireSent(ctx, messageId);
  const change = await ctx.liveSessions.part(sessionOf(row), 'star');
  await change(await keyOf(ctx.database.reader, row), isStarred);
  await ctx.database.commit((tx) => setStarred(ctx, tx, row, isStarred), row.session_id);
  return readMessage(ctx, await requireMessage(ctx, messageId));
}

async function pin(ctx: Context<'media' | 'emit'>, messageId: string, seconds: number | null) {
  const row = await requireSent(ctx, messageId);
  const session = sessionOf(row);
  const change = await ctx.liveSessions.part(session, 'pin');
  await change(await keyOf(ctx.database.reader, row), seconds);
  const at = ctx.clock.now();
  const until = seconds === null ? null : at + seconds * 1000;
  const from = ctx.liveSessions.find(session)?.phoneNumber ?? '';
  await ctx.database.commit((tx) => setPinned(ctx, tx, row, until, { from, fromMe: true, at }), row.session_id);
  return readMessage(ctx, await requireMessage(ctx, messageId));
}
