import { sql } from 'kysely';
import type { Queryable } from '../../db/dialect.ts';
import { batch, query } from '../../db/query.ts';
import type { OutcomeClass } from '../../db/tables/webhooks.ts';
import type { Outcome } from './outcome.ts';

export interface Figures {
  /** Attempts by outcome class. */
  readonly classes: Partial<Record<OutcomeClass, number>>;
  /** Deliveries by final state. */
  readonly states: Partial<Record<'delivered' | 'failed' | 'expired' | 'cancelled', number>>;
  /** Attempts by duration: `latencies[n]` took from 2^(n/4) to 2^((n+1)/4) ms. */
  readonly latencies: readonly number[];
}

export const noFigures: Figures = { classes: {}, states: {}, latencies: [] };

/** Quarter powers of two: a percentile is up to 19 % too high, and an hour fits in 88 buckets. */
const BUCKETS_PER_DOUBLING = 4;

export function minuteOf(ms: number): number {
  return ms - (ms % 60_000);
}

interface Counted {
  readonly outcome: Pick<Outcome, 'class' | 'durationMs'>;
  readonly state: 'pending' | 'delivered' | 'failed';
}

/** Counts attempts, and the final states of their deliveries. */
export function count(attempts: readonly Counted[]): Figures {
  const classes: Partial<Record<OutcomeClass, number>> = {};
  const states: Partial<Record<'delivered' | 'failed', number>> = {};
  const latencies: number[] = [];
  for (const { outcome, state } of attempts) {
    classes[outcome.class] = (classes[outcome.class] ?? 0) + 1;
    if (state !== 'pending') states[state] = (states[state] ?? 0) + 1;
    const bucket = Math.floor(Math.log2(Math.max(1, outcome.durationMs)) * BUCKETS_PER_DOUBLING);
    while (latencies.length <= bucket) latencies.push(0);
    latencies[bucket] = (latencies[bucket] ?? 0) + 1;
  }
  return { classes, states, latencies };
}

export function add(a: Figures, b: Figures): Figures {
  const longer = a.latencies.length >= b.latencies.length ? a.latencies : b.latencies;
  return {
    classes: addCounts(a.classes, b.classes),
    states: addCounts(a.states, b.states),
    latencies: longer.map((_, index) => (a.latencies[index] ?? 0) + (b.latencies[index] ?? 0)),
  };
}

/** Returns the duration in ms below which the share `q` (0 to 1) of all attempts was; null without attempts. */
export function percentile({ latencies }: Figures, q: number): number | null {
  const total = latencies.reduce((sum, n) => sum + n, 0);
  if (total === 0) return null;
  let seen = 0;
  for (let bucket = 0; bucket < latencies.length; bucket++) {
    seen += latencies[bucket] ?? 0;
    if (seen >= q * total) return Math.round(2 ** ((bucket + 1) / BUCKETS_PER_DOUBLING));
  }
  return null;
}

export interface MinuteFigures {
  readonly webhookId: string;
  readonly minute: number;
  readonly figures: Figures;
}

/** Adds the figures of several webhooks, each at most once. */
export async function addFigures(on: Queryable, added: readonly MinuteFigures[]): Promise<void> {
  const keys = added.map(({ webhookId, minute }) => ({ webhook_id: webhookId, minute }));
  const stored = new Map((await minuteFigures.all(on, keys)).map((row) => [row.webhook_id, row.figures]));
  const rows = added.map(({ webhookId, minute, figures }) => {
    const before = stored.get(webhookId);
    const sum = before === undefined ? figures : add(JSON.parse(before), figures);
    return { webhook_id: webhookId, minute, figures: JSON.stringify(sum) };
  });
  await putFigures.run(on, rows);
}

/** Reads the figures of each minute since `from`, oldest first. */
export async function readFigures(
  on: Queryable,
  webhookId: string,
  from: number,
): Promise<{ minute: number; figures: Figures }[]> {
  const rows = await figuresSince.all(on, { webhookId, from });
  return rows.map(({ minute, figures }) => ({ minute, figures: JSON.parse(figures) }));
}

function addCounts<T extends Partial<Record<string, number>>>(a: T, b: T): T {
  const sum: Partial<Record<string, number>> = { ...a };
  for (const [name, n] of Object.entries(b)) sum[name] = (sum[name] ?? 0) + (n ?? 0);
  // The names are those of the two terms.
  return sum as T;
}

const minuteFigures = batch(
  { webhook_id: 'text', minute: 'bigint' },
  ({ row, join }) => sql<{ webhook_id: string; figures: string }>`
    select m.webhook_id, m.figures from webhook_minutes m ${join}
    where m.webhook_id = ${row.webhook_id} and m.minute = ${row.minute}`,
);

const putFigures = batch(
  { webhook_id: 'text', minute: 'bigint', figures: 'text' },
  ({ row, from }) => sql`
    insert into webhook_minutes (webhook_id, minute, figures)
    select ${row.webhook_id}, ${row.minute}, ${row.figures} ${from} where true
    on conflict (webhook_id, minute) do update set figures = excluded.figures`,
);

const figuresSince = query((db, p: { webhookId: string; from: number }) =>
  db
    .selectFrom('webhook_minutes')
    .select(['minute', 'figures'])
    .where('webhook_id', '=', p.webhookId)
    .where('minute', '>=', p.from)
    .orderBy('minute'),
);
