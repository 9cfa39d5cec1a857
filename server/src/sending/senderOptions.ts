import type { Clock } from '../clock.ts';
import type { Cluster } from '../cluster/cluster.ts';
import type { Database } from '../db/database.ts';
import type { Log } from '../log.ts';
import type { Media } from '../media/media.ts';
import type { Inbox } from '../messages/inbox.ts';
import type { NewRow } from '../messages/store.ts';
import type { LiveSessions } from '../sessions/liveSessions.ts';

/** The dependencies of all parts of the sender. */
export interface SenderOptions {
  readonly database: Database;
  readonly cluster: Cluster;
  readonly inbox: Inbox;
  readonly media: Media;
  readonly live: LiveSessions;
  /** How many messages an account may have scheduled. */
  readonly maxScheduled: number;
  /** How many messages of an account may wait for approval. */
  readonly maxPendingApprovals: number;
  readonly clock: Clock;
  readonly log: Log;
  /** Returns the reason why the API key of a message may no longer send it; undefined if it may. */
  readonly keyRefusal: KeyRefusal;
}

/** @param row a message with a `key_id` */
export type KeyRefusal = (
  row: Pick<NewRow, 'account_id' | 'session_id' | 'chat_id' | 'key_id' | 'approval'>,
) => Promise<string | undefined>;
