import type { Client } from '@switchboard/sdk';
import type { Chatwoot } from './chatwoot/client.ts';
import type { ChatwootMessage } from './chatwoot/payload.ts';
import type { InboxSettings, Settings } from './config.ts';
import type { Locks } from './locks.ts';
import type { Log } from './log.ts';
import type { Queue } from './queue/queue.ts';
import type { State } from './state.ts';

/** The common parts of both directions. */
export interface Parts {
  readonly settings: Settings;
  readonly state: State;
  readonly chatwoot: Chatwoot;
  readonly switchboard: Client;
  readonly log: Log;
  readonly toChatwoot: Queue;
  readonly toWhatsapp: Queue;
  /** Serialize what opens or moves a chat, by its lane. */
  readonly locks: Locks;
  /** The settings of an inbox by its session. */
  readonly inboxes: ReadonlyMap<string, InboxSettings>;
}

/** The id that the bridge gives a message of Chatwoot. It marks our own messages in webhooks. */
export const SOURCE_PREFIX = 'switchboard:';

/** Whether an agent, or Chatwoot itself, wrote a message for the contact. */
export const isForContact = ({ isPrivate, type }: ChatwootMessage) =>
  !isPrivate && (type === 'outgoing' || type === 'template');

export const laneOf = (sessionId: string, chatId: string) => `${sessionId}:${chatId}`;
