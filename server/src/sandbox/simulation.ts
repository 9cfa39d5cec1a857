import { randomUUID } from 'node:crypto';
import type { NetworkEvent } from '../connectors/contract/events.ts';
import type { NoticeSimulation, Simulation } from './simulatedActions.ts';

const reported = [
  'incoming',
  'edit',
  'delete',
  'react',
  'vote',
  'receipt',
  'presence',
  'call',
  'call_end',
  'chat_update',
  'rename',
  'identify',
  'number_update',
  'own_message',
  'status',
  'status_delete',
  'status_view',
  'status_react',
  'event_answer',
  'move',
  'better_media',
  'live_photo',
  'chat_open',
  'call_permission',
  'marketing_choice',
  'status_mention',
  'number_request',
] as const;

/** An action that only becomes a report to the session: nothing changes on the network. */
export type Reported = Extract<Simulation, { action: (typeof reported)[number] }>;

export function isReported(action: Simulation): action is Reported {
  return reported.some((one) => one === action.action);
}

/**
 * The event that a session gets when somebody on the network does this.
 * @param ownNumber digits of the session
 */
export function eventOf(action: Reported, timestamp: number, ownNumber: string): NetworkEvent {
  switch (action.action) {
    case 'incoming': {
      const { from, senderName, content, group, replyTo, expiresInSeconds } = action;
      return {
        type: 'message',
        networkId: randomUUID(),
        chat: group === null ? { type: 'direct', id: from } : { type: 'group', id: group },
        from,
        ...(senderName !== null && { senderName }),
        content,
        timestamp,
        replyTo,
        ...(expiresInSeconds !== undefined && { expiresInSeconds }),
      };
    }
    case 'receipt': {
      const { networkId, status, by } = action;
      const error = status === 'failed' && FAILURE;
      return { type: 'receipt', networkIds: [networkId], status, timestamp, ...(by !== undefined && { by }), ...error };
    }
    case 'edit':
      return { type: 'edited', networkId: action.networkId, from: action.from, text: action.message, timestamp };
    case 'delete':
      return { type: 'deleted', networkId: action.networkId, from: action.from, timestamp };
    case 'react':
      return { type: 'reaction', networkId: action.networkId, from: action.from, emoji: action.emoji, timestamp };
    case 'presence': {
      const { chat, from, presence } = action;
      return { type: 'presence', chat, from, presence, timestamp };
    }
    case 'call':
    case 'call_end': {
      const { callId, from, isVideo } = action;
      const call = { callId, chat: { type: 'direct', id: from }, from, isVideo, timestamp } as const;
      return action.action === 'call'
        ? { type: 'call', ...call }
        : { type: 'call_ended', ...call, outcome: action.outcome };
    }
    case 'chat_update': {
      const { action: _, ...change } = action;
      return { type: 'chat_updated', ...change };
    }
    case 'number_update': {
      const { action: _, ...report } = action;
      return { type: 'number_updated', ...report, timestamp };
    }
    case 'own_message': {
      const { chat, message } = action;
      const content = { type: 'text', text: message } as const;
      const from = ownNumber;
      const networkId = randomUUID();
      return { type: 'message', networkId, chat, from, isOwn: true, content, timestamp, replyTo: null };
    }
    case 'status': {
      const { from, senderName, content } = action;
      const name = senderName !== null && { senderName };
      return { type: 'status', networkId: randomUUID(), from, ...name, content, timestamp };
    }
    case 'status_delete':
      return { type: 'status_deleted', networkId: action.networkId, from: action.from, timestamp };
    case 'status_view':
      return { type: 'status_viewed', networkId: action.networkId, from: action.from, timestamp };
    case 'status_react': {
      const { networkId, from, emoji } = action;
      return { type: 'status_reaction', networkId, from, emoji, timestamp };
    }
    case 'rename':
      return { type: 'contact_named', phoneNumber: action.from, name: action.name };
    case 'identify':
      return { type: 'identified', standIn: action.placeholder, phoneNumber: action.phoneNumber };
    case 'event_answer': {
      const { networkId, from, answer } = action;
      return { type: 'event_answer', networkId, from, answer, timestamp };
    }
    case 'move': {
      // The message again, with its new position.
      const { networkId, chat, from, location } = action;
      const content = { type: 'location', text: '', location } as const;
      return { type: 'message', networkId, chat, from, content, timestamp, replyTo: null };
    }
    case 'better_media':
    case 'live_photo': {
      const { action: type, ...file } = action;
      return { type, ...file, timestamp } as NetworkEvent; // each type has the fields of its action
    }
    case 'chat_open':
    case 'call_permission':
    case 'marketing_choice':
    case 'status_mention':
    case 'number_request':
      return noticeOf(action, timestamp);
    case 'vote':
      return { type: 'vote', networkId: action.networkId, from: action.from, options: action.options, timestamp };
  }
}

const FAILURE = { error: 'The simulated recipient could not receive it', errorCode: 'send_failed' } as const;

const NOTICES = {
  chat_open: 'chat_opened',
  call_permission: 'call_permission',
  marketing_choice: 'marketing_choice',
  status_mention: 'status_mentioned',
  number_request: 'number_requested',
} as const;

function noticeOf({ action, ...notice }: NoticeSimulation, timestamp: number): NetworkEvent {
  // Each type of the event has the fields of its action.
  return { type: NOTICES[action], networkId: randomUUID(), ...notice, timestamp } as NetworkEvent;
}
