/* The presence that people and the session show. */

/** Whether the session shows its owner as online. */
export type OwnPresence = 'online' | 'offline';

export interface SetPresence {
  readonly presence: OwnPresence;
  /** When the session goes offline by itself; null if it is offline already, or never does. */
  readonly until: number | null;
}

export type TypingState = 'typing' | 'recording' | 'paused';

/** `paused` means that the person stopped typing or recording. */
export const presences = ['online', 'offline', 'typing', 'recording', 'paused'] as const;

export type Presence = (typeof presences)[number];
