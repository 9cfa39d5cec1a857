import type { MessageRow } from '../../db/schema.ts';
import { AppError, invalidField } from '../../errors.ts';
import { isGroupId } from '../../ids.ts';
import { contentOf } from '../../messages/content.ts';

export const messageChanges = [
  'edit',
  'delete',
  'react',
  'vote',
  'event_answer',
  'move',
  'better_media',
  'live_photo',
  'receipt',
] as const;

/** An action that changes an existing message. */
export type Change = (typeof messageChanges)[number];

export const isMessageChange = (action: string): action is Change => messageChanges.some((one) => one === action);

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
  if (action === 'better_media' && row.type !== 'image' && row.type !== 'video')
    throw wrongMessage('is not an image or a video');
  if (action === 'live_photo' && row.type !== 'image') throw wrongMessage('is not an image');
  if (action === 'receipt' && row.direction !== 'outgoing')
    throw wrongMessage('is not a message that the session sent');
  const isByAnybody = action === 'react' || action === 'vote' || action === 'event_answer';
  if (!isByAnybody || from === undefined || isGroupId(row.chat_id)) return;
  if (![row.chat_id, row.from_number, row.to_id].includes(from))
    throw invalidField('from', 'is not in the chat of the message');
}

const wrongMessage = (reason: string) => invalidField('messageId', reason);
