import { AppError } from '../../errors.ts';
import { defineOperation } from '../../invoke/operation.ts';
import { requireMessage } from '../../invoke/resources.ts';
import { isCancelled } from '../../messages/status.ts';
import { Message, MessageId, toMessage } from './messages.ts';

export const cancelMessage = defineOperation({
  id: 'messages.cancel',
  route: 'POST /messages/{messageId}/cancel',
  approval: 'free',
  permission: 'messages:send',
  scope: 'messageId',
  messageContent: 'messages',
  effect: 'destructive',
  uses: ['sender', 'media'],
  summary: 'Cancel a scheduled message',
  description:
    'Cancel a message that waits for its `sendAt` or for approval. It stays in lists with the status `failed`. Messages that are no longer `scheduled` or `pending_approval` cannot be cancelled. Repeating the call changes nothing.',
  input: { messageId: MessageId },
  output: Message,
  errors: ['not_found', 'message_state'],
  async run(ctx, { messageId }) {
    const row = await requireMessage(ctx, messageId);
    await ctx.sender.cancel(row);
    const now = await requireMessage(ctx, messageId);
    if (!isCancelled(now))
      throw new AppError(
        'message_state',
        `Only a message that is scheduled or waits for approval can be cancelled; this one is ${now.status}`,
      );
    return toMessage(ctx, now);
  },
});
