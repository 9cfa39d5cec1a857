import { settledWithin } from '../async.ts';
import { systemClock } from '../clock.ts';
import type { Database } from '../db/database.ts';
import type { ClusterCounts } from '../metrics.ts';
import type { Leases } from './leases.ts';
import type { Signals } from './signals.ts';

/** This process among those that share its database. */
export interface Cluster {
  readonly nodeId: string;
  readonly signals: Signals;
  readonly sessions: Leases;
  readonly webhooks: Leases;
  /** Whether what this node holds is surely still its own. */
  isMember(): boolean;
  /** Whether there is another node. */
  hasOthers(): boolean;
  /** A node did not answer: for some seconds nothing is sent to it. */
  suspect(nodeId: string): void;
  /** Aborted when the node with this id dies. */
  lifeOf(nodeId: string): AbortSignal;
  /** What this node holds and whom it knows, for those who watch it. */
  counts(): ClusterCounts;
  /** Calls `listener` when this node has lost all that it held: at once, without asking anybody. */
  onLost(listener: () => void): void;
  /** Joins, and takes this node's share. */
  start(): Promise<void>;
  /** Tells the others where this node is reached. */
  listensAt(url: string): Promise<void>;
  /** Leaves: what this node held is free at once. Nothing of it may run here any more. */
  stop(): Promise<void>;
}

const TAKE_UP_MS = 5000;

/**
 * Resolves when what was taken is taken up, or after five seconds of real time. Whoever asks at once after a start is to
 * find its session; but no session is waited for that does not come.
 */
export async function forAWhile(takenUp: Promise<unknown>): Promise<void> {
  await settledWithin(systemClock, TAKE_UP_MS, takenUp);
}

/** The cluster of one process that has the database to itself: everything is here. */
export function createAlone(nodeId: string, { reader }: Database): Cluster {
  const nothing = async () => {};
  const here: Leases = {
    holds: () => true,
    isOurs: () => true,
    holderOf: async () => 'here',
    take: async () => 'here',
    giveUp: nothing,
    giveUpAll: nothing,
    onGain: () => {},
    onLetGo: () => {},
  };
  let gainSessions = async (_: readonly string[]) => {};
  return {
    nodeId,
    signals: { send: () => {}, on: () => {}, onGap: () => {} },
    sessions: { ...here, onGain: (listener) => (gainSessions = listener) },
    webhooks: here,
    isMember: () => true,
    hasOthers: () => false,
    suspect: () => {},
    lifeOf: () => new AbortController().signal,
    counts: () => ({ nodes: 1, nodesWithOtherFiles: 0, sessions: 0, webhooks: 0, isListening: true, clockSkewMs: 0 }),
    onLost: () => {},
    async start() {
      const wanted = reader.kysely.selectFrom('sessions').select('session_id').where('wanted', '=', 1);
      const rows = await wanted.orderBy('session_id').execute();
      await forAWhile(gainSessions(rows.map(({ session_id }) => session_id)));
    },
    listensAt: nothing,
    stop: nothing,
  };
}
