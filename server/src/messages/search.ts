import { sql } from 'kysely';
import type { LateWriter, Tx } from '../db/commit.ts';
import type { Dialect, Queryable, WordBuckets } from '../db/dialect.ts';
import { batch, query } from '../db/query.ts';
import type { MessageRow } from '../db/schema.ts';
import { contentOf, searchText } from './content.ts';

/** Limits the different words that are indexed of a very long message. */
const WORDS_KEPT = 5000;
const MAX_WORD_LENGTH = 64;

/*
 * `WordIndexer` writes the words of new messages in the background, in the order of their `seq`, and moves the cursor
 * of `search_cursor` in the same transaction. The message's own transaction writes no words, so a search reads the
 * messages after the cursor themselves. A change of a message up to the cursor replaces its words in its transaction;
 * a later message gets its words from its latest content.
 */

interface Searchable {
  readonly seq: number;
  readonly accountId: string;
  readonly text: string;
}

/** The columns of a message that its words come from. */
export type SearchedRow = Pick<MessageRow, 'seq' | 'account_id' | 'body' | 'content'>;

export const searchableOf = (row: SearchedRow): Searchable => ({
  seq: row.seq,
  accountId: row.account_id,
  text: searchText(row.body, contentOf(row)),
});

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

/** The words of a message, each once, with its account. */
export const indexedWords = ({ accountId, text }: Omit<Searchable, 'seq'>): ReadonlySet<string> =>
  new Set([accountWord(accountId), ...wordsOf(text).slice(0, WORDS_KEPT)]);

const ACCOUNT_LENGTH = 6;

/**
 * The random end of the account's id as a word, so that one index query covers account and words. Two accounts with the
 * same end only cost each other time. The first character occurs in no word, and does not separate words.
 */
export const accountWord = (accountId: string): string =>
  `·${accountId.replaceAll('_', '').slice(-ACCOUNT_LENGTH).toLowerCase()}`;

/** Returns the `seq` up to which messages are in the index. */
export const readCursor = async (on: Queryable): Promise<number> => (await cursorRow.first(on, {}))?.seq ?? 0;

const cursorRow = query((db) => db.selectFrom('search_cursor').select('seq'));

/**
 * Returns the cursor, which stays until the transaction ends if it is before `newest`: no batch then indexes a former
 * state of a message that the transaction changes. Otherwise the cursor has passed the messages for good.
 */
async function cursorDuringChange(tx: Queryable, newest: number): Promise<number> {
  const cursor = await readCursor(tx);
  const { concurrency } = tx.dialect.search;
  if (newest <= cursor || concurrency === undefined) return cursor;
  await tx.connection.query(concurrency.exclude, []);
  return readCursor(tx);
}

/** Replaces the words of a message whose content the transaction has changed. */
export async function changeWords(tx: Tx, row: SearchedRow): Promise<void> {
  const [isIndexed] = await dropWords(tx, [row.seq]);
  if (isIndexed === true) tx.writeLater(indexWords, searchableOf(row));
}

/**
 * Removes messages from the index, by their `seq`. Call it after deleting the messages.
 * @returns whether each was indexed
 */
export async function dropWords(tx: Tx, seqs: readonly number[]): Promise<boolean[]> {
  const cursor = await cursorDuringChange(tx, Math.max(...seqs));
  const indexed = seqs.filter((seq) => seq <= cursor);
  for (const seq of indexed) tx.writeLater(indexWords, { seq, isDropped: true });
  if (indexed.length > 0) await deleteWords.run(tx, { rowids: JSON.stringify(indexed) });
  // The next message can get the number of the last one that was deleted.
  if (!tx.dialect.hasConcurrentWriters) await lowerCursor.run(tx, {});
  return seqs.map((seq) => seq <= cursor);
}

const lowerCursor = query(
  () => sql`
    update search_cursor set seq = (select coalesce(max(seq), 0) from messages)
    where seq > (select coalesce(max(seq), 0) from messages)`,
);

/** Characters of the texts of a batch, unless its first text is longer. */
const BATCH_LENGTH = 50_000;

/**
 * Adds the next messages after the cursor to the index, in order, and moves the cursor. Every message up to `upTo` must
 * be committed or rolled back.
 * @returns the number of messages
 */
export async function indexNext(tx: Queryable, upTo: number, limit: number): Promise<number> {
  const after = await readCursor(tx);
  const next = await nextMessages.all(tx, { after, upTo, limit });
  let length = 0;
  const rows = next.filter(({ body, content }, n) => {
    length += body.length + (content?.length ?? 0);
    return n === 0 || length <= BATCH_LENGTH;
  });
  const last = rows.at(-1);
  if (last === undefined) return 0;
  // This range is empty, unless the cursor was set back to rebuild the index.
  await deleteRange.run(tx, { after, upTo: last.seq });
  const present = rows.filter(({ deleted_at }) => deleted_at === null).map(searchableOf);
  await writeWords(
    tx,
    present.map((message) => ({ rowid: message.seq, words: storedWords(tx.dialect, message) })),
  );
  await moveCursor.run(tx, { seq: last.seq });
  return rows.length;
}

/** Moves the cursor past the next message without adding it to the index. Returns its `seq`. */
export async function skipNext(tx: Tx, upTo: number): Promise<number | undefined> {
  const next = await nextMessages.first(tx, { after: await readCursor(tx), upTo, limit: 1 });
  if (next !== undefined) await moveCursor.run(tx, next);
  return next?.seq;
}

const nextMessages = query((db, p: { after: number; upTo: number; limit: number }) =>
  db
    .selectFrom('messages')
    .select(['seq', 'account_id', 'body', 'content', 'deleted_at'])
    .where('seq', '>', p.after)
    .where('seq', '<=', p.upTo)
    .orderBy('seq')
    .limit(p.limit),
);

const deleteRange = query((db, p: { after: number; upTo: number }) =>
  db.deleteFrom('message_words').where('rowid', '>', p.after).where('rowid', '<=', p.upTo),
);

const moveCursor = query((db, p: { seq: number }) => db.updateTable('search_cursor').set({ seq: p.seq }));

/** Stores the words of changed messages. If a transaction changes a message again, its last state counts. */
export const indexWords: LateWriter<Searchable | Dropped> = async (tx, messages) => {
  const last = new Map(messages.map((message) => [message.seq, message]));
  const rows = [...last.values()].flatMap((message) =>
    'isDropped' in message ? [] : [{ rowid: message.seq, words: storedWords(tx.dialect, message) }],
  );
  return tx.endWith(writeWords(tx, rows));
};

async function writeWords(tx: Queryable, rows: readonly StoredRow[]): Promise<void> {
  const { buckets } = tx.dialect.search;
  if (rows.length === 0) return;
  if (buckets === undefined) await insertWords.run(tx, rows);
  else await indexInBuckets(tx, buckets, rows);
}

/** A page of words written causes up to this many pages of merges, because each level of the index is merged. */
const PAGES_MERGED = 8;
const PAGE_LENGTH = 4000;

async function indexInBuckets(tx: Queryable, buckets: WordBuckets, rows: readonly StoredRow[]): Promise<void> {
  await insertWords.run(tx, rows);
  for (const bucket of new Set(rows.map(({ rowid }) => Math.floor(rowid / buckets.size)))) {
    const markers = markersOf(buckets, bucket);
    if ((await wordsById.first(tx, markers)) === undefined) await insertWords.run(tx, [markers]);
  }
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

/** Returns the words of a message as the search index stores them, separated by spaces. */
export function storedWords({ search: { buckets } }: Dialect, { seq, accountId, text }: Searchable): string {
  const words = [...indexedWords({ accountId, text })];
  if (buckets === undefined) return words.join(' ');
  const bucket = Math.floor(seq / buckets.size);
  return words.map((word) => buckets.word(word, bucket)).join(' ');
}

/** One statement for all rows: on SQLite, one for each row takes ten times as long. */
const deleteWords = query((db, p: { rowids: string }, dialect) =>
  db.deleteFrom('message_words').where('rowid', 'in', dialect.integers(p.rowids)),
);

const insertWords = batch(
  { rowid: 'bigint', words: 'text' },
  ({ row, from, dialect }) => sql`
    insert into message_words (rowid, words) select ${row.rowid}, ${dialect.search.stored(row.words)} ${from}`,
);

const wordsById = query((db, p: { rowid: number }) =>
  db.selectFrom('message_words').select('rowid').where('rowid', '=', p.rowid),
);
