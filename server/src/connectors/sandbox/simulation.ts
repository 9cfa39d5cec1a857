import { randomUUID } from 'node:crypto';
import type { NetworkEvent, Simulation } from '../connector.ts';

type OfMessages = Extract<Simulation, { action: 'incoming' | 'edit' | 'delete' | 'react' | 'vote' | 'receipt' }>;

/** The event that a session gets when somebody on the network does this. */
export function eventOf(action: OfMessages, timestamp: number): NetworkEvent {
  switch (action.action) {
    case 'incoming': {
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
    case 'receipt': {
      const { networkId, status } = action;
      const error = status === 'failed' && { error: 'The simulated recipient could not receive it' };
      return { type: 'receipt', networkIds: [networkId], status, timestamp, ...error };
    }
    case 'edit':
      return { type: 'edited', networkId: action.networkId, from: action.from, text: action.message, timestamp };
    case 'delete':
      return { type: 'deleted', networkId: action.networkId, from: action.from, timestamp };
    case 'react':
      return { type: 'reaction', networkId: action.networkId, from: action.from, emoji: action.emoji, timestamp };
    case 'vote':
      return { type: 'vote', networkId: action.networkId, from: action.from, options: action.options, timestamp };
  }
}
