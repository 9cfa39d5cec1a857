import type { Clock } from '../clock.ts';
import type { Cluster } from '../cluster/cluster.ts';
import type { Database } from '../db/database.ts';
import type { Log } from '../log.ts';
import type { Media } from '../media/media.ts';
import type { Inbox } from '../messages/inbox.ts';
import type { LiveSessions } from '../sessions/liveSessions.ts';
import type { SteadyClock } from '../steadyClock.ts';

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
  /** Determines the order of queued messages. */
  readonly steady: SteadyClock;
  readonly log: Log;
}
