/** What nodes tell one another: that something of this kind has changed. What it is now, they read themselves. */
export type Topic =
  /** A webhook has new deliveries. */
  | 'lane'
  /** A webhook itself was changed or removed. */
  | 'webhook'
  /** An account has new events. */
  | 'account'
  /** A key or the login tokens of an account were changed. */
  | 'credentials'
  /** A session has messages that are to go out now. */
  | 'outbox'
  /** A message was scheduled. */
  | 'schedule'
  /** Something waits for a number of the sandbox network. */
  | 'post'
  /** The disk of the database is full. */
  | 'storage'
  /** A node has come or gone, or has given something up that others can take. */
  | 'nodes';

/** Wake-ups between nodes. One may get lost: whoever relies on them also looks now and then. */
export interface Signals {
  /** Tells the other nodes, not this one. Many within a moment travel together. */
  send(topic: Topic, id: string): void;
  /** Calls `listener` with each id that another node has sent. */
  on(topic: Topic, listener: (id: string) => void): void;
  /** Calls `listener` when signals may have been missed. */
  onGap(listener: () => void): void;
}
