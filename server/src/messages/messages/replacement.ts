/** The clocks of this server and of the network may differ by this much. */
export const CLOCKS_MS = 60_000;

/** The person who made a change, and the moment. */
export interface Author {
  /** Digits. */
  readonly from: string;
  /** Whether it is the session's own number. */
  readonly fromMe: boolean;
  readonly at: number;
  /**
   * Time of the latest change that this one replaces. A network can deliver an older change after a newer one, such as
   * one that could not be decrypted at first. Without it, the change is made here and now, and replaces all others.
   */
  readonly replacesUntil?: number;
}

/**
 * Returns until when a change that a network reports replaces others. Networks give seconds, so the later arrival wins
 * within one. Changes of the account itself are stored with the time of this server, too.
 */
export function replacedUntil({ fromMe, at }: Pick<Author, 'fromMe' | 'at'>): number {
  return Math.floor(at / 1000) * 1000 + 999 + (fromMe ? CLOCKS_MS : 0);
}

/** Whether a newer change is stored. @param before its time; null if there is none */
export const isReplaced = ({ replacesUntil = Infinity }: Author, before: number | null): boolean =>
  before !== null && before > replacesUntil;

/** The condition that the stored time of the change in force must meet. */
export const latestReplaced = ({ replacesUntil = Number.MAX_SAFE_INTEGER }: Author): number => replacesUntil;
