import { EventEmitter } from 'node:events';
import { settledWithin } from '../async.ts';
import { systemClock } from '../clock.ts';
import type { Database } from '../db/database.ts';
import type { ClusterCounts } from '../metrics.ts';
import type { Leases, LeaseWorker } from './leases.ts';
import { Signals } from './signals.ts';

/** This process among those that share its database. Emits `lost` when it has lost all its leases. */
export interface Cluster extends EventEmitter<{ lost: [] }> {
  readonly nodeId: string;
  readonly signals: Signals;
  readonly sessions: Leases;
  readonly webhooks: Leases;
  /** Whether this node's leases are certain not to have expired. */
  isMember(): boolean;
  hasOthers(): boolean;
  /** Sends nothing to a node for some seconds, because it did not answer. */
  suspect(nodeId: string): void;
  /** Returns a signal that aborts when the node dies. */
  lifeOf(nodeId: string): AbortSignal;
  counts(): ClusterCounts;
  /** Joins, and acquires this node's share. */
  start(workers: Workers): Promise<void>;
  /** Tells the other nodes the URL of this one. */
  announce(url: string): Promise<void>;
  /** Leaves and frees all leases. None of their work may still be running. */
  stop(): Promise<void>;
}

export interface Workers {
  readonly sessions: LeaseWorker;
  readonly webhooks: LeaseWorker;
}

const START_MS = 5000;

/** Resolves when work has begun, or after 5 s: sessions should be available after a start, but may take longer. */
export async function begunSoon(work: Promise<unknown>): Promise<void> {
  await settledWithin(systemClock, START_MS, work);
}

/** The cluster of a process that has the database to itself, and so owns everything. */
export class SingleNode extends EventEmitter<{ lost: [] }> implements Cluster {
  readonly nodeId: string;
  readonly signals = new NoSignals();
  readonly sessions = ownsAll;
  readonly webhooks = ownsAll;
  readonly #database: Database;

  constructor(nodeId: string, database: Database) {
    super();
    this.nodeId = nodeId;
    this.#database = database;
  }

  isMember(): boolean {
    return true;
  }

  hasOthers(): boolean {
    return false;
  }

  suspect(): void {}

  lifeOf(): AbortSignal {
    return new AbortController().signal;
  }

  counts(): ClusterCounts {
    return { nodes: 1, nodesWithOtherFiles: 0, sessions: 0, webhooks: 0, isListening: true, clockSkewMs: 0 };
  }

  async start({ sessions }: Workers): Promise<void> {
    const { kysely } = this.#database.reader;
    const wanted = kysely.selectFrom('sessions').select('session_id').where('wanted', '=', 1);
    const rows = await wanted.orderBy('session_id').execute();
    await begunSoon(sessions.onAcquired(rows.map(({ session_id }) => session_id)));
  }

  async announce(): Promise<void> {}

  async stop(): Promise<void> {}
}

class NoSignals extends Signals {
  send(): void {}
}

const ownsAll: Leases = {
  owns: () => true,
  mayWrite: () => true,
  ownerOf: async () => 'here',
  nodeFor: async () => 'here',
  acquire: async () => 'here',
  release: async () => {},
  releaseAll: async () => {},
};
