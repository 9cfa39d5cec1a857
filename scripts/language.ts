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
  { pattern: /\bwhat (?:is|are|has|have|does|do|can) not[.;,]?$/i, instead: 'name the thing with a noun' },
  { pattern: /^which \w+ (?:is|are|was|were)\b(?!.*\?)/i, instead: 'start with the subject' },
  { pattern: /\b(?:is|are) meant\b(?! (?:to|for|as)\b)/i, instead: '"refers to", or name the thing' },
  { pattern: /\bit is (?:not )?(?:this|that) [^.,;:]* (?:that|who) /i, instead: 'start with the subject' },
  { pattern: /^so long\b(?! as\b)/i, instead: '"how long"' },
  {
    pattern: /^how (?:long|many|much|often) [^,.?]*, and [^,.?]*, /i,
    instead: 'name the quantity: the age, the number, the rate',
  },
  { pattern: /^there (?:is|are) as (?:many|much)\b/i, instead: 'start with the subject: "The account has reached …"' },
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
  { pattern: /\b(?:who|as (?:this|that|the|another) \w+) has it\b/i, instead: '"owner"' },
  { pattern: /\bnodes? gets? (?:it|a|the|this|that|while|when|before|after)\b/i, instead: '"acquires"' },
  { pattern: /\b(?:its|their|the) makers?\b/i, instead: '"creator", or name the actor' },
  {
    pattern: /\bma(?:ke|kes|de) no\b(?! (?:difference|sense|calls?|requests?|attempts?|changes?|promises?)\b)/i,
    instead: '"does not …"',
  },
  { pattern: /\b(?:stand|stands|stood) with\b/i, instead: '"is stored on" or "belongs to"' },
  {
    pattern: /\b(?:is|are|was|were) by (?!then\b|far\b|default\b|design\b)/i,
    instead: '"is written by", "comes from"',
  },
  { pattern: /\b(?:hence|thence|whence|lest|upon|thereby|therein|hereby|thereof|wherein)\b/i, instead: 'a plain word' },
  { pattern: /\bfor ever\b/i, instead: '"forever"' },
  { pattern: /\ball the same(?=[.,;:]|$)/i, instead: '"anyway"' },
  { pattern: /\bhear(?:s|d|ing)? of\b/i, instead: '"get", "receive" or "be notified"' },
  {
    pattern:
      /[,:;] for (?:(?:it|they|he|she|nobody|there|this|that) (?:is|are|was|has|have|may|can|would|could)|(?:an?|the|its|their|every|each|no|all) (?:(?!that |which |who )[\w-]+ ){1,4}(?:is|are|has|have|was|were))\b/i,
    instead: '"because"',
  },
  {
    pattern:
      /\b(?:behaviour|colou?r(?<=our)|favour|honour|neighbour|centre|catalogue)(?:s|ed|ing|ful)?\b|\b\w+(?:ognis|rganis|ormalis|chronis|uthoris|itialis|egoris|inimis|aximis|ptimis|erialis)(?:e|es|ed|ing|ation)\b/i,
    instead: 'American spelling',
  },
];

/** A construction that is too frequent to be refused, but must not become more frequent. */
interface Ratchet extends Pick<Rule, 'pattern'> {
  readonly name: string;
  /** Whether it is wrong only in comments. */
  readonly isOfComments?: true;
}

const PARTS =
  'names?|texts?|limits?|pages?|pictures?|members|reasons?|history|lists?|status|settings|form|files?|messages?|options?|tests?|keys|sender|owner';
const RESOURCES =
  'message|session|group|chat|key|webhook|account|phone|network|server|page|event|file|request|tool|contact|channel|poll|call|node|connector';

const ratchets: readonly Ratchet[] = [
  { name: 'that of', pattern: /\b(?:that|those) of\b/i },
  { name: 'of its own', pattern: /\bof (?:its|their|our) own\b/i },
  { name: 'the own', pattern: /\b(?:the|an|only|with|of) own [a-z]/i },
  { name: 'at once', pattern: /\bat once\b/i },
  { name: 'answers with a status', pattern: /\banswer(?:s|ed)? (?:with )?(?:x|\d{3})\b/i },
  { name: 'also behind the noun', pattern: /, also |\balso (?:for|with|by|of|those|after)\b/i },
  { name: 'is none', pattern: /\b(?:is|are|was|were) none\b/i },
  { name: 'they are no', pattern: /\b(?:they|it|that|which) (?:is|are) no (?!longer|more|such|way|need)/i },
  { name: 'beside, meanwhile', pattern: /\bbeside\b|\bmeanwhile\b/i },
  { name: 'is away', pattern: /\b(?:is|are|was|were) (?:away|absent)\b/i },
  { name: 'says why', pattern: /\b(?:says?|said) (?:why|how|what|which|who)\b/i },
  { name: 'names', pattern: /\b(?:it|that|which|who|call|key|input|error|field|caller|request) names?\b/i },
  { name: ', whatever', pattern: /, (?:whatever|whichever|however)\b/i },
  {
    name: 'preposition and which',
    pattern: /\b(?:to|from|with|by|in|of|for|on|at|under|through|until|after) (?:which|whom)\b/i,
  },
  { name: 'noun of noun', pattern: new RegExp(`\\b(?:${PARTS}) of (?:an? |the |its )?(?:${RESOURCES})s?\\b`, 'i') },
  { name: 'Of, By, Also first', pattern: /^(?:Of|By|Also|As) (?!default|long|of|soon|the)/, isOfComments: true },
  { name: 'question word first', pattern: /^(?:When|Why|How|What|Where|Which) (?!.*\?)/, isOfComments: true },
];

/** The number of sentences in a file with each construction. */
export function countRatchets(path: string, text: string): Map<string, number> {
  const counts = new Map(ratchets.map(({ name }) => [name, 0]));
  for (const { words, isComment } of proseOf(path, text))
    for (const sentence of sentencesOf(words))
      for (const { name, pattern, isOfComments } of ratchets)
        if ((isComment || !isOfComments) && pattern.test(sentence)) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
}

const VERBS =
  'Add|Allow|Avoid|Batch|Bump|Cache|Clarify|Deduplicate|Document|Enforce|Expose|Extract|Fix|Handle|Inline|Log|Move|Prevent|Regenerate|Reject|Remove|Rename|Retry|Return|Revert|Simplify|Simulate|Support|Test|Update|Validate';
const MAX_SUBJECT = 72;

const subjectRules: readonly Rule[] = [
  { pattern: new RegExp(`^(?!(?:${VERBS}) )`), instead: `begin with one of ${VERBS.replaceAll('|', ', ')}` },
  { pattern: /\b(?:what|whatever|whose|whom)\b/i, instead: 'name the thing with a noun' },
  { pattern: /\bin (?:one|the same) (?:way|place)\b/i, instead: '"Deduplicate"' },
  { pattern: /\banew\b|\balike\b/i, instead: 'a plain word' },
  { pattern: /^\w+ (?:no|nothing)\b/i, instead: '"Avoid", "Prevent" or "Remove"' },
  { pattern: new RegExp(`^.{${MAX_SUBJECT + 1}}`), instead: `at most ${MAX_SUBJECT} characters` },
];

/** Returns the rules that the subject of a commit breaks. */
export const checkSubject = (subject: string): string[] =>
  subjectRules.flatMap(({ pattern, instead }) => (pattern.test(subject) ? [instead] : []));

/** Returns the findings in one file, in the order of its lines. */
export function checkText(path: string, text: string): Finding[] {
  const wide = /\.tsx?$/.test(path) ? wideComments(text) : [];
  const sentences = [...proseOf(path, text)].flatMap(({ line, words }) =>
    sentencesOf(words).flatMap((sentence) =>
      rules.flatMap(({ pattern, instead }) => {
        const match = pattern.exec(sentence);
        if (match === null) return [];
        return [{ line, found: sentence.slice(match.index, match.index + SHOWN), instead }];
      }),
    ),
  );
  return [...wide, ...sentences].toSorted((a, b) => a.line - b.line);
}

/** The formatter wraps code and leaves comments. An address cannot be wrapped. */
function wideComments(text: string): Finding[] {
  return text.split('\n').flatMap((line, index) => {
    if (line.length <= MAX_COLUMNS || !/^\s*(?:\*|\/\/|\/\*)/.test(line) || /https?:\/\//.test(line)) return [];
    return [{ line: index + 1, found: line.trim().slice(0, SHOWN), instead: `at most ${MAX_COLUMNS} columns` }];
  });
}
const MAX_COLUMNS = 120;
const SHOWN = 60;

interface Prose {
  readonly line: number;
  readonly words: string;
  readonly isComment: boolean;
}

function proseOf(path: string, text: string): Generator<Prose> {
  if (path.endsWith('.md')) return proseOfMarkdown(text);
  return proseOfCode(text, /\.(?:[jt]sx?|mjs|go|php)$/.test(path) ? tokensOf(path) : hashToken);
}

const tokensOf = (path: string) => (path.endsWith('x') ? tsxToken : token);

/** Paragraphs, list items and table cells, without code. A heading such as "What limits you next" is no sentence. */
function* proseOfMarkdown(text: string): Generator<Prose> {
  const lines = text
    .replaceAll(/^```.*?^```/gms, (block) => block.replaceAll(/[^\n]/g, ''))
    .replaceAll(/`[^`\n]*`/g, 'x')
    .replaceAll(/\[([^\]\n]*)\]\([^)\n]*\)/g, '$1')
    .replaceAll('**', '')
    .split('\n');
  let paragraph: { readonly line: number; readonly words: string[] } | undefined;
  for (const [index, text] of lines.entries()) {
    const isRow = text.startsWith('|');
    if (isRow || /^(?:#|\s*$|[\s>]*(?:[-*+]|\d+\.)\s)/.test(text)) {
      if (paragraph !== undefined) yield { line: paragraph.line, words: paragraph.words.join(' '), isComment: false };
      paragraph = undefined;
    }
    if (isRow && !/^\|\s*:?-/.test(lines[index + 1] ?? ''))
      for (const cell of text.split('|')) yield { line: index + 1, words: cell.trim(), isComment: false };
    if (isRow || /^(?:#|\s*$)/.test(text)) continue;
    paragraph ??= { line: index + 1, words: [] };
    paragraph.words.push(text.replace(/^[\s>]*(?:(?:[-*+]|\d+\.)\s+)?/, '').trim());
  }
  if (paragraph !== undefined) yield { line: paragraph.line, words: paragraph.words.join(' '), isComment: false };
}

/** Comments, the text of JSX elements, and those strings that have a space: the others are names. */
function* proseOfCode(text: string, tokens: RegExp): Generator<Prose> {
  for (const { 0: found, index } of text.matchAll(tokens)) {
    const line = text.slice(0, index).split('\n').length;
    const isComment = /^(?:\/|#|"""|\{\{)/.test(found);
    const words = isComment
      ? found.replaceAll(/^\/\*+|\*\/$|^\/\/|\n\s*\*|^#+|\n\s*#|"""|\{\{-?\s*\/\*|\*\/\s*-?\}\}/g, ' ')
      : found.replaceAll(/^['"`]|['"`]$/g, '');
    const plain = words
      .replaceAll(/`[^`]*`|\$\{[^}]*\}/g, 'x')
      .replaceAll(/\s+/g, ' ')
      .trim();
    if (plain.includes(' ')) yield { line, words: plain, isComment };
  }
}
const token = /\/\*.*?\*\/|(?<!:)\/\/[^\n]*|'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`/gs;
/** Comments of Python, YAML, templates and Dockerfiles, in one piece if their lines follow each other. */
const hashToken =
  /""".*?"""|\{\{-?\s*\/\*.*?\*\/\s*-?\}\}|(?<=^|\s)#(?!!)[^\n]*(?:\n[ \t]*#[^\n]*)*|"(?:[^"\\\n]|\\.)*"/gs;
/** Between two tags or expressions, without what only code has. An apostrophe stands inside a word. */
const jsxText = /(?<=(?<!=)[>}]\s*)(?=[\w(])(?:[^<>{}=;'"`]|&\w+;|(?<=\w)'(?=\w))+(?=[<{])/;
const tsxToken = new RegExp(`${token.source}|${jsxText.source}`, 'gs');

const sentencesOf = (words: string): string[] => words.split(/(?<=[.!:;])\s+(?=[A-Z@"(]|$)|\s(?=@\w+)|(?<=\?)\s/);
