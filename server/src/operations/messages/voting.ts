import { Type } from 'typebox';
import { AppError, invalidField } from '../../errors.ts';
import { list } from '../../invoke/input/fields.ts';
import { type Context, defineOperation } from '../../invoke/operation.ts';
import { contentOf } from '../../messages/content.ts';
import { storeVote } from '../../messages/messages/changes.ts';
import { keyOf } from '../../messages/messages/outgoing.ts';
import { sessionOf } from '../../messages/store.ts';
import { changing, requireSent, storeChange } from './messageChanges.ts';
import { MessageId } from './messages.ts';

export const voteInPoll = defineOperation({
  id: 'messages.vote',
  route: 'POST /messages/{messageId}/vote',
  ...changing,
  tool: undefined,
  effect: 'write',
  isRepeatable: true,
  uses: ['sender', 'media', 'emit'],
  summary: 'Vote in a poll',
  description: 'Vote in a poll that the session received or sent. The vote replaces the previous one of the session.',
  input: {
    messageId: MessageId,
    options: list(Type.String({ minLength: 1, maxLength: 100 }), 'The chosen options; empty withdraws the vote.', {
      maxItems: 12,
      uniqueItems: true,
    }),
  },
  example: { messageId: 'msg_01JZ0000000000000000000000', options: ['Today'] },
  run: (ctx, { messageId, options }) => ctx.sender.change(messageId, () => vote(ctx, messageId, options)),
});

async function vote(ctx: Context<'media' | 'emit'>, messageId: string, options: readonly string[]) {
  const row = await requireSent(ctx, messageId);
  const { poll } = contentOf(row);
  if (row.type !== 'poll' || poll === undefined) throw new AppError('message_state', 'The message is not a poll');
  const unknown = options.find((option) => !poll.options.includes(option));
  if (unknown !== undefined) throw invalidField('options', `The poll has no option "${unknown}"`, 'unknown');
  if (options.length > poll.maxSelections)
    throw invalidField('options', `must have at most ${poll.maxSelections}, as the poll says`, 'maxItems');
  const session = sessionOf(row);
  const change = await ctx.liveSessions.part(session, 'vote');
  const key = await keyOf(ctx.database.reader, row);
  await change(key, { poll: poll.options, options });
  const from = ctx.liveSessions.find(session)?.phoneNumber ?? '';
  const event = { type: 'vote', networkId: row.network_id, chat: key.chat, from, options } as const;
  return storeChange(ctx, row, async (tx) => {
    await storeVote(ctx, tx, session, { ...event, timestamp: ctx.clock.now() });
  });
}
