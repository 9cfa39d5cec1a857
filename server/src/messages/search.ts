import { sql } from 'kysely';
import type { LateWriter } from '../db/commit.ts';
import type { Queryable } from '../db/dialect.ts';
import { batch, query } from '../db/query.ts';

/** Limits the different words that are indexed of a very long message. */
const WORDS_KEPT = 5000;
const MAX_WORD_LENGTH = 64;

interface Searchable {
  readonly seq: number;
  readonly accountId: string;
  readonly text: string;
}

/** Scripts that do not put spaces between words. */
const UNSPACED = String.raw`\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}`;
const unspaced = new RegExp(`[${UNSPACED}]`, 'u');
const characters = new RegExp(`[${UNSPACED}]|[^${UNSPACED}]+`, 'gu');

/** Lower case, without diacritics (`é` is `e`). In scripts without spaces between words, each character is a word. */
export function wordsOf(text: string): string[] {
  const plain = text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();
  return (plain.match(/[\p{L}\p{N}]+/gu) ?? [])
    .flatMap((word) => (unspaced.test(word) ? (word.match(characters) ?? []) : [word]))
    .map((word) => (word.length > MAX_WORD_LENGTH ? [...word].slice(0, MAX_WORD_LENGTH).join('') : word));
}

/** The account as a word, so that one index query covers account and words. */
export function accountWord(accountId: string): string {
  return accountId.replaceAll('_', '').toLowerCase();
}

export const indexWords: LateWriter<Searchable> = (tx, messages) => {
  const rows = messages.map(({ seq, accountId, text }) => ({
    rowid: seq,
    words: [accountWord(accountId), ...new Set(wordsOf(text).slice(0, WORDS_KEPT))].join(' '),
  }));
  return tx.endWith(insertWords.run(tx, rows));
};

/** Removes messages from the search, by their `seq`. */
export async function dropWords(tx: Queryable, seqs: readonly number[]): Promise<void> {
  await deleteWords.run(tx, { rowids: JSON.stringify(seqs) });
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
