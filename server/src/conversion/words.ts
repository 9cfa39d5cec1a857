import { sql } from 'kysely';
import { indexNext } from '../messages/search.ts';
import type { ConversionDatabase } from './conversionDatabase.ts';
import { type Reporter, RowReport } from './report.ts';

/** Messages per transaction. */
const BATCH = 500;

/**
 * Indexes the words of all messages, as a server would in the background. The cursor of the index is its progress, so
 * it continues after the last batch that was stored.
 */
export async function rebuildWords(db: ConversionDatabase, reporter: Reporter): Promise<void> {
  const { kysely } = db.on;
  const { rows } = await sql<{ n: number; last: number }>`
    select count(*) as n, coalesce(max(seq), 0) as last from messages
    where seq > (select seq from search_cursor)`.execute(kysely);
  const { n = 0, last = 0 } = rows[0] ?? {};
  const report = new RowReport(reporter, 'search index', Number(n));
  let indexed = 0;
  for (;;) {
    const added = await db.transaction(() => indexNext(db.on, last, BATCH));
    if (added === 0) break;
    indexed += added;
    report.at(indexed);
    reporter.stored?.('words');
  }
  report.done(indexed);
}
