/*
 * The constructions that the project's prose avoids, and the parts of a file that are prose. `checkLanguage.ts` applies
 * them to the repository, so that they do not come back.
 */

export interface Finding {
  readonly line: number;
  /** The words that break the rule. */
  readonly found: string;
  readonly instead: string;
}

interface Rule {
  /** Matches within one sentence. */
  readonly pattern: RegExp;
  readonly instead: string;
}

const rules: readonly Rule[] = [
  {
    pattern: /^(?:who|what|that which|all that|of what)\b(?! (?:is|are|to|does|do|can|if)\b[^.]*\?)(?!.*\?)/i,
    instead: 'name the actor or the thing with a noun',
  },
  { pattern: /\bit is (?:not )?(?:this|that) [^.,;:]* (?:that|who) /i, instead: 'start with the subject' },
  { pattern: /\b(?:whoever|whomever|whosoever)\b/i, instead: 'name the actor: the caller, the reader, the next owner' },
  {
    pattern: /\b(?:is|are|was|were) (?:not )?to (?:be|have|own|get|go|keep|take|give|write|read)\b/i,
    instead: '"must" or "will"',
  },
  { pattern: /\bany ?more\b/i, instead: '"no longer"' },
  { pattern: /\bunder way\b/i, instead: '"running", "in progress" or "in flight"' },
  { pattern: /\banew\b/i, instead: '"again"' },
  { pattern: /\b(?:tell|tells|told|telling) of\b/i, instead: '"report"' },
  { pattern: /\b(?:speak|speaks|spoke|spoken) of\b/i, instead: '"refer to" or "mention"' },
  { pattern: /\bhand(?:s|ed|ing)? (?:over|in|on|out)\b/i, instead: '"dispatch", "pass" or "return"' },
  { pattern: /\bput(?:s|ting)? (?:down|away)\b/i, instead: '"release" or "store"' },
  { pattern: /\bt(?:ake|akes|ook|aken|aking) up\b(?! to\b)/i, instead: '"acquire"' },
  { pattern: /\b(?:bury|buries|buried)\b/i, instead: '"evict"' },
  { pattern: /\bcross(?:es|ed)? out\b/i, instead: '"acknowledge"' },
  { pattern: /\bmend(?:s|ed|ing)?\b/i, instead: '"fix" or "repair"' },
  { pattern: /\bsparingly\b/i, instead: '"throttled"' },
  { pattern: /\bwho has it\b/i, instead: '"owner"' },
  { pattern: /\b(?:hence|thence|whence|lest|upon|thereby|therein|hereby|thereof|wherein)\b/i, instead: 'a plain word' },
  { pattern: /\bfor ever\b/i, instead: '"forever"' },
  { pattern: /\ball the same(?=[.,;:]|$)/i, instead: '"anyway"' },
  { pattern: /\bhear(?:s|d|ing)? of\b/i, instead: '"get", "receive" or "be notified"' },
  {
    pattern: /[,:;] for (?:it|they|he|she|nobody|there|this|that) (?:is|are|was|has|have|may|can|would|could)\b/i,
    instead: '"because"',
  },
  {
    pattern:
      /\b(?:behaviour|colou?r(?<=our)|favour|honour|neighbour|centre|catalogue)(?:s|ed|ing|ful)?\b|\b\w+(?:ognis|rganis|ormalis|chronis|uthoris|itialis|egoris|inimis|aximis|ptimis|erialis)(?:e|es|ed|ing|ation)\b/i,
    instead: 'American spelling',
  },
];

/** Returns the findings in one file, in the order of its lines. */
export function checkText(path: string, text: string): Finding[] {
  const prose = path.endsWith('.md') ? proseOfMarkdown(text) : proseOfCode(text);
  return [...prose].flatMap(({ line, words }) =>
    sentencesOf(words).flatMap((sentence) =>
      rules.flatMap(({ pattern, instead }) => {
        const match = pattern.exec(sentence);
        if (match === null) return [];
        return [{ line, found: sentence.slice(match.index, match.index + SHOWN), instead }];
      }),
    ),
  );
}
const SHOWN = 60;

interface Prose {
  readonly line: number;
  readonly words: string;
}

/** Paragraphs and cells with a sentence, without code. A heading such as "What limits you next" is no sentence. */
function* proseOfMarkdown(text: string): Generator<Prose> {
  const prose = text
    .replaceAll(/^```.*?^```/gms, (block) => block.replaceAll(/[^\n]/g, ''))
    .replaceAll(/`[^`\n]*`/g, 'x');
  for (const [index, line] of prose.split('\n').entries())
    for (const cell of line.split('|').map((text) => text.replace(/^[\s>*\d.-]+/, '').trim()))
      if (/[.:!?]$/.test(cell)) yield { line: index + 1, words: cell };
}

/** Comments, and those strings that have a space: the others are names. */
function* proseOfCode(text: string): Generator<Prose> {
  const token = /\/\*.*?\*\/|(?<!:)\/\/[^\n]*|'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`/gs;
  for (const { 0: found, index } of text.matchAll(token)) {
    const line = text.slice(0, index).split('\n').length;
    const words = found.startsWith('/') ? found.replaceAll(/^\/\*+|\*\/$|^\/\/|\n\s*\*/g, ' ') : found.slice(1, -1);
    const plain = words
      .replaceAll(/`[^`]*`|\$\{[^}]*\}/g, 'x')
      .replaceAll(/\s+/g, ' ')
      .trim();
    if (plain.includes(' ')) yield { line, words: plain };
  }
}

const sentencesOf = (words: string): string[] => words.split(/(?<=[.!:;])\s+(?=[A-Z@"(]|$)|\s(?=@\w+)|(?<=\?)\s/);
