import type { Queryable } from '../db/dialect.ts';
import { query } from '../db/query.ts';
import { add, type Figures, noFigures } from './stats.ts';

/* The figures of webhooks, one row per webhook and minute. */

/** Adds to the figures of a minute. */
export async function addFigures(on: Queryable, webhookId: string, minute: number, figures: Figures): Promise<void> {
  const row = await minuteFigures.first(on, { webhookId, minute });
  const sum = add(row === undefined ? noFigures : JSON.parse(row.figures), figures);
  await putFigures.run(on, { webhookId, minute, figures: JSON.stringify(sum) });
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

const minuteFigures = query((db, p: { webhookId: string; minute: number }) =>
  db
    .selectFrom('webhook_minutes')
    .select('figures')
    .where('webhook_id', '=', p.webhookId)
    .where('minute', '=', p.minute),
);

const putFigures = query((db, p: { webhookId: string; minute: number; figures: string }) =>
  db
    .insertInto('webhook_minutes')
    .values({ webhook_id: p.webhookId, minute: p.minute, figures: p.figures })
    .onConflict((conflict) => conflict.columns(['webhook_id', 'minute']).doUpdateSet({ figures: p.figures })),
);

const figuresSince = query((db, p: { webhookId: string; from: number }) =>
  db
    .selectFrom('webhook_minutes')
    .select(['minute', 'figures'])
    .where('webhook_id', '=', p.webhookId)
    .where('minute', '>=', p.from)
    .orderBy('minute'),
);
