import { sql } from 'kysely';
import type { LateWriter, Tx } from '../db/commit.ts';
import type { Dialect, Queryable, WordBuckets } from '../db/dialect.ts';
import { batch, query } from '../db/query.ts';

/** Limits the different words that are indexed of a very long message. */
const WORDS_KEPT = 5000;
const MAX_WORD_LENGTH = 64;

interface Searchable {
  readonly seq: number;
  readonly accountId: string;
  readonly text: string;
}

/** A message that the same transaction may have stored, and that is no longer found. */
interface Dropped {
  readonly seq: number;
  readonly isDropped: true;
}

/** Scripts that do not put spaces between words. */
const UNSPACED = String.raw`\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}`;
const unspaced = new RegExp(`[${UNSPACED}]`, 'u');
const characters = new RegExp(`[${UNSPACED}]|[^${UNSPACED}]+`, 'gu');

/**
 * Lower case, without diacritics (`é` is `e`). In scripts without spaces between words, each character is a word.
 *
 * Diacritics are removed before the normalization too: it sorts a run of them in quadratic time, 13 s for 65,536 that a
 * stranger sends in one message (https://www.unicode.org/reports/tr15/#Stream_Safe_Text_Format).
 */
export function wordsOf(text: string): string[] {
  const plain = withoutMarks(withoutMarks(text).normalize('NFKD')).toLowerCase();
  return (plain.match(/[\p{L}\p{N}]+/gu) ?? [])
    .flatMap((word) => (unspaced.test(word) ? (word.match(characters) ?? []) : [word]))
    .map((word) => (word.length > MAX_WORD_LENGTH ? [...word].slice(0, MAX_WORD_LENGTH).join('') : word));
}

const withoutMarks = (text: string) => text.replace(/\p{M}+/gu, '');

/** The account as a word, so that one index query covers account and words. */
export function accountWord(accountId: string): string {
  return accountId.replaceAll('_', '').toLowerCase();
}

/** Stores the words of messages. If a transaction changes a message again, its last state counts. */
export const indexWords: LateWriter<Searchable | Dropped> = async (tx, messages) => {
  const last = new Map(messages.map((message) => [message.seq, message]));
  const rows = [...last.values()].flatMap((message) =>
    'isDropped' in message ? [] : [{ rowid: message.seq, words: storedWords(tx.dialect, message) }],
  );
  if (rows.length === 0) return;
  const { buckets } = tx.dialect.search;
  return buckets === undefined ? tx.endWith(insertWords.run(tx, rows)) : indexInBuckets(tx, buckets, rows);
};

/** A page of words written causes up to this many pages of merges, because each level of the index is merged. */
const PAGES_MERGED = 8;
const PAGE_LENGTH = 4000;

async function indexInBuckets(tx: Queryable, buckets: WordBuckets, rows: readonly StoredRow[]): Promise<void> {
  await insertWords.run(tx, rows);
  for (const { rowid } of rows)
    if (rowid % buckets.size === 1) await insertMarkers.run(tx, markersOf(buckets, Math.floor(rowid / buckets.size)));
  const length = rows.reduce((sum, { words }) => sum + words.length, 0);
  await tx.connection.query(buckets.merge, [PAGES_MERGED * (1 + Math.ceil(length / PAGE_LENGTH))]);
}

/** Returns the row with the markers of a bucket, below those of all messages. */
export const markersOf = ({ markers, word }: WordBuckets, bucket: number): StoredRow => ({
  rowid: -1 - bucket,
  words: markers.map((marker) => word(marker, bucket)).join(' '),
});

interface StoredRow {
  readonly rowid: number;
  readonly words: string;
}

/** Removes messages from the search, by their `seq`, including those that the transaction has stored. */
export async function dropWords(tx: Tx, seqs: readonly number[]): Promise<void> {
  for (const seq of seqs) tx.writeLater(indexWords, { seq, isDropped: true });
  const rowids = JSON.stringify(seqs);
  await deleteWords.run(tx, { rowids });
  if (tx.dialect.search.buckets !== undefined) await deleteFormer.run(tx, { rowids });
}

/** Returns the words of a message as the search index stores them, separated by spaces. */
export function storedWords({ search: { buckets } }: Dialect, { seq, accountId, text }: Searchable): string {
  const words = [accountWord(accountId), ...new Set(wordsOf(text).slice(0, WORDS_KEPT))];
  if (buckets === undefined) return words.join(' ');
  const bucket = Math.floor(seq / buckets.size);
  return words.map((word) => buckets.word(word, bucket)).join(' ');
}

/** One statement for all rows: on SQLite, one for each row takes ten times as long. */
const deleteWords = query((db, p: { rowids: string }, dialect) =>
  db.deleteFrom(dialect.search.table).where('rowid', 'in', dialect.integers(p.rowids)),
);

const deleteFormer = query((db, p: { rowids: string }, dialect) =>
  db.deleteFrom('message_words').where('rowid', 'in', dialect.integers(p.rowids)),
);

const insertWords = batch(
  { rowid: 'bigint', words: 'text' },
  ({ row, from, dialect }) => sql`
    insert into ${sql.table(dialect.search.table)} (rowid, words) select ${row.rowid}, ${dialect.search.stored(row.words)} ${from}`,
);

const insertMarkers = query(
  (_, p: StoredRow) => sql`
    insert into bucketed_words (rowid, words) select ${p.rowid}, ${p.words}
    where not exists (select 1 from bucketed_words where rowid = ${p.rowid})`,
);
