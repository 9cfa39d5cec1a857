import { randomUUID } from 'node:crypto';
import type { NetworkEvent, Simulation } from '../connector.ts';

type OfMessages = Extract<Simulation, { action: 'incoming' | 'edit' | 'delete' | 'react' | 'vote' | 'receipt' }>;

/** The event that a session gets when somebody on the network does this. */
export function eventOf(action: OfMessages, timestamp: number): NetworkEvent {
  if (action.action === 'incoming') {
    const { from, senderName, content, group, replyTo } = action;
    return {
      type: 'message',
      networkId: randomUUID(),
      chat: group === null ? { type: 'direct', id: from } : { type: 'group', id: group },
      from,
      ...(senderName !== null && { senderName }),
      content,
      timestamp,
      replyTo,
    };
  }
  const { networkId } = action;
  if (action.action === 'receipt') {
    const error = 'The simulated recipient could not receive it';
    const { status } = action;
    return { type: 'receipt', networkIds: [networkId], status, timestamp, ...(status === 'failed' && { error }) };
  }
  const { from } = action;
  switch (action.action) {
    case 'edit':
      return { type: 'edited', networkId, from, text: action.message, timestamp };
    case 'delete':
      return { type: 'deleted', networkId, from, timestamp };
    case 'react':
      return { type: 'reaction', networkId, from, emoji: action.emoji, timestamp };
    case 'vote':
      return { type: 'vote', networkId, from, options: action.options, timestamp };
  }
}
