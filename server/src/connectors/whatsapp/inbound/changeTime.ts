import type { proto } from 'baileys';

const DAY_MS = 86_400_000;

/** Arrival times of a stanza, in milliseconds. */
export interface Arrival {
  /** The server's time of this stanza. */
  readonly receivedAt: number;
  /** The server's time of the first stanza with the id, if that one could not be decrypted. */
  readonly firstReceivedAt?: number | undefined;
  /** Whether the sender sends it again. */
  readonly isResent?: boolean | undefined;
}

/**
 * Returns the time of a change, which decides between two changes. It is the server's time of the first stanza: the
 * clocks of two phones can differ by hours, even if one person owns both. A change that is sent again gets a later
 * time. If its first stanza is unknown, the phone's own time counts, within a day before the server's.
 */
export function changeTime(
  { reactionMessage, protocolMessage, pollUpdateMessage }: proto.IMessage,
  { receivedAt, firstReceivedAt, isResent }: Arrival,
): number {
  if (firstReceivedAt !== undefined) return Math.min(firstReceivedAt, receivedAt);
  if (isResent !== true) return receivedAt;
  const stated = Number(
    reactionMessage?.senderTimestampMs ?? protocolMessage?.timestampMs ?? pollUpdateMessage?.senderTimestampMs ?? 0,
  );
  return stated < receivedAt && stated > receivedAt - DAY_MS ? stated : receivedAt;
}
