import MiniSearch, { type Query, type SearchResult } from 'minisearch';
import type { SearchDocument } from './searchDocument.ts';

/* The search of the documentation. It runs in the browser, and in the test of the readers' questions. */

export type Found = SearchResult & SearchDocument & { readonly hasAllWords: boolean };
type Result = SearchResult & SearchDocument;
export type SearchIndex = MiniSearch<SearchDocument>;

/** Words that say nothing about the subject of a question. */
const STOP_WORDS = new Set(
  'a an and are at be but by can could did do does for from get has have how i if in into is it its me my of on one or our should that the their this to was we were what when where which who why will with would you your'.split(
    ' ',
  ),
);

/** Names that would lose their ending, and become another word: "cors" and "cores", "windows" and "window". */
const FIXED_WORDS = new Set(['cors', 'macos', 'windows']);

/** Each line has words for the same thing. A reader who types one finds the others, at a lower score. */
const SYNONYMS = [
  'image picture photo',
  'transcribe transcription speech',
  'tenant customer account',
  'instance session',
  'story status',
  'ignore exclude filter',
  'avatar profile',
  'kick remove',
  'member participant',
  'newsletter channel',
  'button interactive',
  'quote reply',
  'pdf document',
  'swagger openapi',
  'voice audio sound recording',
  'note message',
  'message text',
  'bulk broadcast mass many',
  'schedule later sendat delay',
  'webhook endpoint receiver callback',
  'receipt status tick',
  'arrive receive deliver',
  'retry repeat attempt',
  'duplicate twice repeat',
  'key token credential',
  'limit quota restrict',
  'ban block restrict',
  'expire expiry lifetime',
  'kubernetes helm k8s',
  'https tls ssl certificate',
  'node cluster instance',
  'gdpr privacy erase personal',
  'forget reset lost',
  'signature verify sign hmac',
  'localhost local tunnel ngrok',
  'group chat',
  'number session phone',
  'everyone all everybody',
].map((line) => line.split(' ').map((word) => stem(word)));

const synonyms = new Map<string, Set<string>>();
for (const words of SYNONYMS)
  for (const word of words)
    synonyms.set(word, new Set([...(synonyms.get(word) ?? []), ...words.filter((other) => other !== word)]));

const SYNONYM_WEIGHT = 0.25;
/** More than any other field adds: the query is the verb and the nouns of the operation, or its summary. */
const OPERATION_WEIGHT = 4;
/** A page has many sections. Each one after its first counts less, so that other pages are seen. */
const NEXT_OF_PAGE = 0.6;
/** Results without all words come after those with all. The share of their words decides about the order. */
const PARTIAL_WEIGHT = 0.35;

export function createIndex(): SearchIndex {
  return new MiniSearch<SearchDocument>({
    fields: ['heading', 'page', 'keywords', 'operation', 'text'],
    storeFields: ['page', 'heading', 'text', 'weight', 'operation'],
    processTerm: (term) => stem(term.toLowerCase()),
    searchOptions: {
      boost: { heading: 4, page: 3, keywords: 6, operation: 3 },
      boostDocument: (_id, _term, stored) => Number(stored?.['weight'] ?? 1),
    },
  });
}

/** Finds the documents that have all words of the query, then those that have some of them. */
export function findDocuments(index: SearchIndex, query: string): readonly Found[] {
  const words = wordsOf(query);
  if (words.length === 0) return [];
  const queries = words.map((word, at) => alternativesOf(word, at === words.length - 1));
  const whole = index.search({ combineWith: 'AND', queries }) as Result[];
  const wholeIds = new Set(whole.map(({ id }) => id));
  const partial = (words.length > 1 ? index.search({ combineWith: 'OR', queries }) : []) as Result[];
  const scored = [
    ...whole.map((found) => ({
      ...found,
      hasAllWords: true,
      score: found.score * (isOperationOf(found, words) ? OPERATION_WEIGHT : 1),
    })),
    ...partial
      .filter(({ id }) => !wholeIds.has(id))
      .map((found) => ({
        ...found,
        hasAllWords: false,
        score: found.score * PARTIAL_WEIGHT * shareOf(found, words),
      })),
  ];
  return spread(scored.sort((a, b) => b.score - a.score));
}

/** The stems of the words that matter. All of them, if none does. */
function wordsOf(query: string): readonly string[] {
  const all = query
    .toLowerCase()
    .split(/[^\p{L}\p{N}_@+-]+/u)
    .flatMap((word) => word.split(/[._-]+/))
    .filter((word) => word !== '');
  const words = all.filter((word) => !STOP_WORDS.has(word));
  return [...new Set((words.length > 0 ? words : all).map((word) => stem(word)))];
}

/** @param isLast whether the reader may still be typing the word */
function alternativesOf(word: string, isLast: boolean): Query {
  return {
    combineWith: 'OR',
    queries: [
      { queries: [word], prefix: isLast && word.length > 1, fuzzy: word.length > 4 && 0.2 },
      ...[...(synonyms.get(word) ?? [])].map((synonym) => ({
        queries: [synonym],
        boostDocument: (_id: unknown, _term: string, stored?: Record<string, unknown>) =>
          SYNONYM_WEIGHT * Number(stored?.['weight'] ?? 1),
      })),
    ],
  };
}

function isOperationOf({ operation, heading }: Result, words: readonly string[]): boolean {
  if (operation === undefined) return false;
  const parts = operation.split(' ').map((part) => stem(part));
  const known = [...parts, ...wordsOf(heading)];
  return parts.every((part) => words.includes(part)) && words.every((word) => known.includes(word));
}

/** The share of the query's words that the document has, itself or by a synonym. */
function shareOf({ queryTerms }: Result, words: readonly string[]): number {
  const found = words.filter(
    (word) => queryTerms.includes(word) || [...(synonyms.get(word) ?? [])].some((other) => queryTerms.includes(other)),
  );
  return found.length / words.length;
}

/**
 * Lowers the score of every further section of a page, and sorts again. Otherwise, the first results would be sections
 * of one long page, without others that answer the question.
 */
function spread(results: readonly Found[]): readonly Found[] {
  const seen = new Map<string, number>();
  return results
    .map((found) => {
      const earlier = seen.get(found.page) ?? 0;
      seen.set(found.page, earlier + 1);
      return { ...found, score: found.score * NEXT_OF_PAGE ** earlier };
    })
    .sort((a, b) => b.score - a.score);
}

/** A word without the endings of English that change between a question and an answer. */
export function stem(word: string): string {
  if (word.length < 4 || FIXED_WORDS.has(word)) return word;
  const stemmed = word
    .replace(/ies$/, 'y')
    .replace(/(?:sses|shes|ches|xes)$/, (ending) => ending.slice(0, -2))
    .replace(/(?<=[^su])s$/, '')
    .replace(/(?<=\w{4})(?:ing|ed)$/, '')
    .replace(/([bdgmnprt])\1$/, '$1');
  return stemmed.length > 3 ? stemmed.replace(/e$/, '') : stemmed;
}
