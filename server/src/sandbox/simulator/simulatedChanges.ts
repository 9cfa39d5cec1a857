import type { MessageRow } from '../../db/schema.ts';
import { AppError, invalidField } from '../../errors.ts';
import { isGroupId } from '../../ids.ts';
import { contentOf } from '../../messages/content.ts';

type Change = 'edit' | 'delete' | 'react' | 'vote' | 'event_answer' | 'move' | 'receipt';

/**
 * Requires that a simulated change can have an effect. The session would drop it otherwise, as it must when it comes
 * from a network.
 * @throws {AppError} `message_state`, `validation_failed`
 */
export function requireApplicable(action: Change, row: MessageRow, from: string | undefined): void {
  if (row.deleted_at !== null && action !== 'receipt') throw new AppError('message_state', 'The message was deleted');
  const { poll, location } = contentOf(row);
  if (action === 'vote' && poll === undefined) throw wrongMessage('is not a poll');
  if (action === 'event_answer' && row.type !== 'event') throw wrongMessage('is not an event');
  if (action === 'move' && location?.live === undefined) throw wrongMessage('is not a live location');
  if (action === 'receipt' && row.direction !== 'outgoing')
    throw wrongMessage('is not a message that the session sent');
  const isByAnybody = action === 'react' || action === 'vote' || action === 'event_answer';
  if (!isByAnybody || from === undefined || isGroupId(row.chat_id)) return;
  if (![row.chat_id, row.from_number, row.to_id].includes(from))
    throw invalidField('from', 'is not in the chat of the message');
}

const wrongMessage = (reason: string) => invalidField('messageId', reason);
