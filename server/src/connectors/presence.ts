/* The presence that people and the session show. Types only. */

/** Whether the session shows its owner as online. */
export type OwnPresence = 'online' | 'offline';

export interface SetPresence {
  readonly presence: OwnPresence;
  /** When the session goes offline by itself; null if it is offline already, or never does. */
  readonly until: number | null;
}
