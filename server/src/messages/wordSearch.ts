import { sql } from 'kysely';
import type { Queryable, WordBuckets } from '../db/dialect.ts';
import { accountWord } from './search.ts';

interface WordQuery {
  readonly accountId: string;
  /** The last one also matches as a prefix if it is long enough. */
  readonly words: readonly string[];
  /** Only messages with a smaller `seq`. */
  readonly before: number | undefined;
  /** Maximum number of messages. */
  readonly most: number;
}

interface WordMatches {
  /** `seq` of the messages, newest first. */
  readonly seqs: readonly number[];
  /** The search continues with smaller ones; undefined if none are left. */
  readonly end: number | undefined;
}

/** A prefix of one or two letters matches too many words. */
const MIN_PREFIX_LENGTH = 3;
const hasPrefix = (words: readonly string[]) => (words.at(-1)?.length ?? 0) >= MIN_PREFIX_LENGTH;

/**
 * Finds messages that contain all words, newest first. It may end early, so that its cost has a bound.
 * @param elapsed milliseconds since any moment
 */
export function findByWords(
  on: Queryable,
  wanted: WordQuery,
  elapsed: () => number = () => performance.now(),
): Promise<WordMatches> {
  const { buckets } = on.dialect.search;
  return buckets === undefined ? findByIndex(on, wanted) : findInBuckets(on, buckets, wanted, elapsed);
}

/** Buckets that one statement reads. A prefix of a word that every message contains takes about 8 ms in each. */
const BUCKETS_READ = 8;
/** Duration in ms after which a search ends early. */
const LONGEST_MS = 50;

async function findInBuckets(
  on: Queryable,
  buckets: WordBuckets,
  { accountId, words, before, most }: WordQuery,
  elapsed: () => number,
): Promise<WordMatches> {
  const { newest, former } = await readNewest(on, buckets);
  const top = Math.min(before ?? Number.MAX_SAFE_INTEGER, Math.max(newest, former) + 1);
  const terms = [accountWord(accountId), ...words];
  // Before the others: a message that moves in between is found twice, and not missed.
  const unmoved = former === 0 ? [] : await readFormer(on, buckets, terms, top, most);
  const found: number[] = [];
  const startedAt = elapsed();
  let bucket = Math.floor((top - 1) / buckets.size);
  let each = most;
  do {
    const limit = Math.min(BUCKETS_READ, Math.ceil((most - found.length) / each));
    const read = Array.from({ length: Math.min(BUCKETS_READ, bucket + 1) }, (_, n) => bucket - n);
    const rows = await readBuckets(on, buckets, terms, read, { top, most, limit });
    for (const { seqs } of rows) found.push(...seqs);
    const last = rows.at(-1);
    if (last !== undefined) each = last.seqs.length;
    bucket = last !== undefined && rows.length === limit ? last.bucket - 1 : bucket - read.length;
  } while (bucket >= 0 && found.length < most && elapsed() - startedAt <= LONGEST_MS);
  const searched = found.length < most ? (bucket + 1) * buckets.size : (found[most - 1] ?? 0);
  const floor = Math.max(searched, unmoved.length < most ? 0 : (unmoved.at(-1) ?? 0));
  const all = [...new Set([...found, ...unmoved])].filter((seq) => seq >= floor).sort((a, b) => b - a);
  return cut(all.slice(0, most), most, floor);
}

/** Ends a search at its last message, or at the number down to which all messages were searched. */
const cut = (seqs: readonly number[], most: number, floor: number): WordMatches => ({
  seqs,
  end: seqs.length === most ? seqs.at(-1) : floor > 0 ? floor : undefined,
});

/** Returns the newest message of each table; 0 if it is empty. */
async function readNewest({ kysely, dialect }: Queryable, { former }: WordBuckets) {
  const newestOf = (table: string) => sql`coalesce((
    select rowid from ${sql.table(table)} order by rowid desc limit 1), 0)`;
  const { rows } = await sql<{ newest: number; former: number }>`
    select ${newestOf(dialect.search.table)} as newest, ${newestOf(former.table)} as former`.execute(kysely);
  return rows[0] ?? { newest: 0, former: 0 };
}

async function readFormer(
  { kysely, dialect: { search } }: Queryable,
  { former: { table } }: WordBuckets,
  words: readonly string[],
  top: number,
  most: number,
): Promise<number[]> {
  const { rows } = await sql<{ rowid: number }>`
    select rowid from ${sql.table(table)}
    where ${search.matches(table, search.terms(words, hasPrefix(words)))} and rowid < ${top}
    order by rowid desc limit ${most}`.execute(kysely);
  return rows.map(({ rowid }) => rowid);
}

/**
 * Reads the matches of some buckets, in this order, until as many as `limit` have matches. FTS5 merges the lists of a
 * prefix before it looks at the other words, so a bucket is read only if it contains those.
 */
async function readBuckets(
  { kysely, dialect: { search } }: Queryable,
  buckets: WordBuckets,
  words: readonly string[],
  read: readonly number[],
  { top, most, limit }: { readonly top: number; readonly most: number; readonly limit: number },
) {
  const isPrefix = hasPrefix(words);
  const list = read.map((bucket) => {
    const terms = words.map((word) => buckets.word(word, bucket));
    return [bucket, search.terms(isPrefix ? terms.slice(0, -1) : terms, false), search.terms(terms, isPrefix)];
  });
  const table = sql.table(search.table);
  const whole = search.matches(search.table, sql`b.value ->> 1`);
  const matches = sql`${search.matches(search.table, sql`b.value ->> 2`)} and rowid < ${top}`;
  const { rows } = await sql<{ bucket: number; seqs: string }>`
    select b.value ->> 0 as bucket, (select json_group_array(rowid) from (
      select rowid from ${table} where ${matches} order by rowid desc limit ${most})) as seqs
    from json_each(${JSON.stringify(list)}) as b
    where exists (select 1 from ${table} where ${whole}) and exists (select 1 from ${table} where ${matches})
    limit ${limit}`.execute(kysely);
  return rows.map(({ bucket, seqs }) => ({ bucket, seqs: JSON.parse(seqs) as number[] }));
}

/** Number of the newest messages that are scanned in order, before an unordered index is queried for all. */
const NEWEST_SCANNED = 20_000;
/** Matches in the unordered index that are sorted. */
const MOST_SORTED = 20_000;
/** Messages that are scanned in order if the index has more matches. */
const OLDER_SCANNED = 100_000;

/**
 * A common word is found among the newest messages, where the order is free. Other words are rare, so all their
 * messages are found by the index and sorted. PostgreSQL cannot tell the two cases apart: left to choose, it scans a
 * million rows for a rare word (240 ms). A word that is common among older messages only is searched in order, in
 * parts.
 */
async function findByIndex(on: Queryable, { accountId, words, before, most }: WordQuery): Promise<WordMatches> {
  const { search } = on.dialect;
  const matches = search.matches(search.table, search.terms([accountWord(accountId), ...words], hasPrefix(words)));
  const top = before ?? (await endOfMessages(on));
  const scan = async (from: number, to: number, limit: number) => {
    const rows = await on.kysely
      .selectFrom('message_words')
      .select('rowid')
      .where(matches)
      .where('rowid', '<', to)
      .where('rowid', '>=', from)
      .orderBy('rowid', 'desc')
      .limit(limit)
      .execute();
    return rows.map(({ rowid }) => rowid);
  };
  const start = Math.max(0, top - NEWEST_SCANNED);
  const newest = await scan(start, top, most);
  if (newest.length === most || start === 0) return cut(newest, most, start);
  const left = most - newest.length;
  const { rows } = await sql<{ rowid: number; total: number }>`
    with older as materialized (
      select rowid from message_words where ${matches} and rowid < ${start} limit ${sql.lit(MOST_SORTED + 1)})
    select rowid, count(*) over () as total from older order by rowid desc limit ${left}`.execute(on.kysely);
  if (Number(rows[0]?.total ?? 0) <= MOST_SORTED) return cut([...newest, ...rows.map(({ rowid }) => rowid)], most, 0);
  const floor = Math.max(0, start - OLDER_SCANNED);
  return cut([...newest, ...(await scan(floor, start, left))], most, floor);
}

/** Returns a number above those of all messages. */
async function endOfMessages({ kysely }: Queryable): Promise<number> {
  const last = await kysely
    .selectFrom('message_words')
    .select('rowid')
    .orderBy('rowid', 'desc')
    .limit(1)
    .executeTakeFirst();
  return (last?.rowid ?? 0) + 1;
}
