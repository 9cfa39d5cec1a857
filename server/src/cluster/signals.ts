import { EventEmitter } from 'node:events';

/** The topics of signals between nodes, which then read the new state from the database. */
export const topics = [
  /** A webhook has new deliveries. */
  'lane',
  /** A webhook was changed or removed. */
  'webhook',
  /** An account has new events. */
  'account',
  /** A key or the login tokens of an account were changed. */
  'credentials',
  /** A session has queued messages. */
  'outbox',
  /** A message was scheduled. */
  'schedule',
  /** A session of a sandbox network has mail. */
  'mailbox',
  /** The disk of the database is full. */
  'storage',
  /** A node joined or left, or released something that others can acquire. */
  'nodes',
] as const;
export type Topic = (typeof topics)[number];

/**
 * Wake-ups between nodes. A signal can get lost, so every subscriber also polls. Emits the ids that other nodes send
 * for a topic, and `gap` when signals may have been missed.
 */
export abstract class Signals extends EventEmitter<Record<Topic, [id: string]> & { gap: [] }> {
  /** Sends a signal to the other nodes, not to this one. */
  abstract send(topic: Topic, id: string): void;
}
