import { sql } from 'kysely';
import { withTimeout } from '../async.ts';
import { systemClock } from '../clock.ts';
import type { Cluster } from '../cluster/cluster.ts';
import type { Database } from '../db/database.ts';
import { createReadiness, type IsReady } from '../db/readiness.ts';
import { type Metrics, type Totals, throttle } from '../metrics.ts';
import type { Sessions } from '../sessions/sessions.ts';
import type { Engine } from '../webhooks/engine.ts';
import type { Foundation } from './foundation.ts';

const TIMEOUT_MS = 2000;

/** Reports readiness to load balancers and metrics to Prometheus. */
export class Monitoring {
  readonly #database: Database;
  readonly #metrics: Metrics;
  readonly #cluster: Cluster;
  readonly #engine: Engine;
  readonly #canWork: IsReady;
  readonly #readTotals: () => Promise<Totals>;
  #isDraining = false;

  constructor({ database, settings, metrics }: Foundation, cluster: Cluster, engine: Engine, sessions: Sessions) {
    this.#database = database;
    this.#metrics = metrics;
    this.#cluster = cluster;
    this.#engine = engine;
    const { dataDir, diskReserveBytes: reserveBytes } = settings;
    this.#canWork = createReadiness({ database, dataDir, reserveBytes, signals: cluster.signals });
    this.#readTotals = throttle(async () => ({
      sessions: await sessions.countByStatus(),
      risks: await sessions.countByRisk(),
      ...(await engine.totals()),
    }));
  }

  /** Reports the server as not ready, because it is stopping. */
  drain(): void {
    this.#isDraining = true;
  }

  async isReady(): Promise<boolean> {
    return !this.#isDraining && this.#cluster.isMember() && (await this.#canWork());
  }

  async readMetrics(): Promise<{ contentType: string; text: string }> {
    const [isDatabaseUp, totals] = await Promise.all([
      withTimeout(systemClock, TIMEOUT_MS, this.#pingDatabase()).catch(() => false),
      withTimeout(systemClock, TIMEOUT_MS, this.#readTotals()).catch(() => undefined),
    ]);
    return this.#metrics.read({
      inFlight: this.#engine.inFlight(),
      isReady: await this.isReady(),
      cluster: this.#database.shared && this.#cluster.counts(),
      pool: this.#database.poolUse?.(),
      isDatabaseUp,
      totals: isDatabaseUp ? totals : undefined,
    });
  }

  async #pingDatabase(): Promise<true> {
    await sql`select 1`.execute(this.#database.reader.kysely);
    return true;
  }
}
