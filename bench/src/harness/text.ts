import { spelled } from '../../../server/test/support/operations/words.ts';

/* Texts with the word frequencies of natural language, for searches. */

const VOCABULARY = 20_000;
const WORDS_PER_MESSAGE = 8;

/** Returns texts in which the n-th word of the vocabulary is 1/n as frequent as the first. */
export function createText(): () => string {
  let seed = 42;
  const random = () => {
    seed = (seed * 1_103_515_245 + 12_345) & 0x7fff_ffff;
    return seed / 0x7fff_ffff;
  };
  const word = () => spelled(Math.min(VOCABULARY - 1, Math.floor(VOCABULARY ** random())));
  return () => Array.from({ length: WORDS_PER_MESSAGE }, word).join(' ');
}

const queries = [
  (n: number) => spelled(1 + (n % 5)),
  (n: number) => spelled(100 + n),
  (n: number) => spelled(10_000 + n),
  (n: number) => `${spelled(1 + (n % 9))} ${spelled(10 + n)}`,
  (n: number) => `${spelled(5 + n)} ${spelled(n).slice(0, 3)}`,
  (n: number) => `${spelled(19_000 + n)} nowhere`,
];

/** Returns the path of the n-th search: common words, rare ones, two at a time, prefixes, and words without a match. */
export function searchPath(n: number): string {
  const q = queries[n % queries.length]?.(n % 1000) ?? '';
  return `/messages?q=${encodeURIComponent(q)}`;
}
