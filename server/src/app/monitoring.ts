import { sql } from 'kysely';
import { withTimeout } from '../async.ts';
import type { Children } from '../childHealth.ts';
import { systemClock } from '../clock.ts';
import type { Cluster } from '../cluster/cluster.ts';
import { BUILT_IN } from '../connectors/whatsapp/link/webVersion.ts';
import type { Database } from '../db/database.ts';
import { createReadiness, type IsReady } from '../db/readiness.ts';
import { atMostEvery, type Metrics, type Totals, throttle } from '../metrics.ts';
import type { Sessions } from '../sessions/sessions.ts';
import type { Engine } from '../webhooks/lanes/engine.ts';
import type { Foundation } from './foundation.ts';

const TIMEOUT_MS = 2000;
/** Rendering takes milliseconds of the main thread. */
const RENDER_EVERY_MS = 1000;

/** Reports readiness to load balancers and metrics to Prometheus. */
export class Monitoring {
  readonly #database: Database;
  readonly #metrics: Metrics;
  readonly #cluster: Cluster;
  readonly #engine: Engine;
  readonly #children: Children;
  readonly #canWork: IsReady;
  readonly #readTotals: () => Promise<Totals>;
  #isDraining = false;

  constructor(
    { database, settings, metrics, children }: Foundation,
    cluster: Cluster,
    engine: Engine,
    sessions: Sessions,
  ) {
    this.#database = database;
    this.#metrics = metrics;
    this.#cluster = cluster;
    this.#engine = engine;
    this.#children = children;
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

  /** Returns what the node works without: signals of other nodes, or parts that run in child processes and threads. */
  degraded(): string[] {
    return this.#parts().flatMap(({ part, isFailing }) => (isFailing ? [part] : []));
  }

  #parts(): { readonly part: string; readonly isFailing: boolean }[] {
    return [{ part: 'signals', isFailing: !this.#cluster.counts().isListening }, ...this.#children.states()];
  }

  /** Returns the metrics in the format of Prometheus, at most one second old. */
  readonly readMetrics = atMostEvery(RENDER_EVERY_MS, () => this.#renderMetrics());

  async #renderMetrics(): Promise<{ contentType: string; text: string }> {
    const [isDatabaseUp, totals] = await Promise.all([
      withTimeout(systemClock, TIMEOUT_MS, this.#pingDatabase()).catch(() => false),
      withTimeout(systemClock, TIMEOUT_MS, this.#readTotals()).catch(() => undefined),
    ]);
    return this.#metrics.read({
      inFlight: this.#engine.inFlight(),
      isReady: await this.isReady(),
      degraded: Object.fromEntries(this.#parts().map(({ part, isFailing }) => [part, Number(isFailing)])),
      cluster: this.#database.shared && this.#cluster.counts(),
      pool: this.#database.poolUse?.(),
      isDatabaseUp,
      webVersionAgeMs: systemClock.now() - BUILT_IN.releasedAt,
      totals: isDatabaseUp ? totals : undefined,
    });
  }

  async #pingDatabase(): Promise<true> {
    await sql`select 1`.execute(this.#database.reader.kysely);
    return true;
  }
}
