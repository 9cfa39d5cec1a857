import { setImmediate } from 'node:timers/promises';
import { sql } from 'kysely';
import type { Queryable, WordBuckets } from '../db/dialect.ts';
import { query } from '../db/query.ts';
import { contentOf, searchText } from './content.ts';
import { accountWord, indexedWords, readCursor } from './search.ts';

interface WordQuery {
  readonly accountId: string;
  /** The last one also matches as a prefix if it is long enough. */
  readonly words: readonly string[];
  /** Only messages with a smaller `seq`. */
  readonly before: number | undefined;
  /** Maximum number of messages. */
  readonly most: number;
}

/** A query of the index, which has all messages before this one. */
type IndexQuery = WordQuery & { readonly before: number };

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
 *
 * Messages that are not in the index yet are searched first: one that is indexed meanwhile has been found already.
 * @param elapsed milliseconds since any moment
 */
export async function findByWords(
  on: Queryable,
  wanted: WordQuery,
  elapsed: () => number = () => performance.now(),
): Promise<WordMatches> {
  const cursor = await readCursor(on);
  const newest = await findAfter(on, cursor, wanted, elapsed);
  if (newest.end !== undefined) return newest;
  const { buckets } = on.dialect.search;
  const indexed = {
    ...wanted,
    before: Math.min(wanted.before ?? Number.MAX_SAFE_INTEGER, cursor + 1),
    most: wanted.most - newest.seqs.length,
  };
  const older = await (buckets === undefined ? findByIndex(on, indexed) : findInBuckets(on, buckets, indexed, elapsed));
  return { seqs: [...newest.seqs, ...older.seqs], end: older.end };
}

/** Messages that one statement reads without the index, and number of these statements. */
const UNINDEXED = { read: 200, reads: 25 };

/** Searches the messages after a `seq` without the index. */
async function findAfter(
  on: Queryable,
  cursor: number,
  { accountId, words, before = Number.MAX_SAFE_INTEGER, most }: WordQuery,
  elapsed: () => number,
): Promise<WordMatches> {
  const found: number[] = [];
  let spentMs = 0; // without the reads, which take longer the more others read
  let top = before;
  for (let reads = 0; top > cursor + 1; reads++) {
    if (reads === UNINDEXED.reads) return { seqs: found, end: top };
    const rows = await unindexed.all(on, { accountId, after: cursor, before: top, limit: UNINDEXED.read });
    const startedAt = elapsed();
    for (const { seq, body, content } of rows) {
      if (body === null) continue;
      if (hasWords(indexedWords({ accountId, text: searchText(body, contentOf({ content })) }), words)) found.push(seq);
      // Even among these, because a few long texts take as long as many short ones.
      const isLate = spentMs + elapsed() - startedAt > LONGEST_MS;
      if (found.length === most || isLate) return { seqs: found, end: seq };
    }
    spentMs += elapsed() - startedAt;
    top = rows.length < UNINDEXED.read ? 0 : (rows.at(-1)?.seq ?? 0);
    await setImmediate(); // requests that have arrived go first
  }
  return { seqs: found, end: undefined };
}

/** Whether a message with `present` words would be found by its row in the index. */
function hasWords(present: ReadonlySet<string>, words: readonly string[]): boolean {
  const last = words.at(-1);
  if (last === undefined || !hasPrefix(words)) return words.every((word) => present.has(word));
  return words.slice(0, -1).every((word) => present.has(word)) && [...present].some((word) => word.startsWith(last));
}

/** Messages of other accounts come without their text, because they count as read. */
const unindexed = query((db, p: { accountId: string; after: number; before: number; limit: number }) =>
  db
    .selectFrom('messages')
    .select(({ eb }) => {
      const isOwn = eb('account_id', '=', p.accountId).and('deleted_at', 'is', null);
      const own = <T extends 'body' | 'content'>(column: T) =>
        eb.case().when(isOwn).then(eb.ref(column)).else(null).end().as(column);
      return ['seq' as const, own('body'), own('content')];
    })
    .where('seq', '>', p.after)
    .where('seq', '<', p.before)
    .orderBy('seq', 'desc')
    .limit(p.limit),
);

/** Buckets that one statement reads. A prefix of a word that every message contains takes about 8 ms in each. */
const BUCKETS_READ = 8;
/** Duration in ms after which a search ends early. */
const LONGEST_MS = 50;

async function findInBuckets(
  on: Queryable,
  buckets: WordBuckets,
  { accountId, words, before: top, most }: IndexQuery,
  elapsed: () => number,
): Promise<WordMatches> {
  const terms = [accountWord(accountId), ...words];
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
  return cut(found.slice(0, most), most, (bucket + 1) * buckets.size);
}

/** Ends a search at its last message, or at the number down to which all messages were searched. */
const cut = (seqs: readonly number[], most: number, floor: number): WordMatches => ({
  seqs,
  end: seqs.length === most ? seqs.at(-1) : floor > 0 ? floor : undefined,
});

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
  const whole = search.matches(sql`b.value ->> 1`);
  const matches = sql`${search.matches(sql`b.value ->> 2`)} and rowid < ${top}`;
  const { rows } = await sql<{ bucket: number; seqs: string }>`
    select b.value ->> 0 as bucket, (select json_group_array(rowid) from (
      select rowid from message_words where ${matches} order by rowid desc limit ${most})) as seqs
    from json_each(${JSON.stringify(list)}) as b
    where exists (select 1 from message_words where ${whole}) and exists (select 1 from message_words where ${matches})
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
async function findByIndex(on: Queryable, { accountId, words, before: top, most }: IndexQuery): Promise<WordMatches> {
  const { search } = on.dialect;
  const matches = search.matches(search.terms([accountWord(accountId), ...words], hasPrefix(words)));
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
