/*
 * Markdown of Chatwoot's editor to the formatting of WhatsApp. WhatsApp has `*bold*`, `_italic_`, `~strike~`, code,
 * quotes and lists; its marks end with their line, so emphasis over several lines becomes one pair of marks per line.
 */

interface Mark {
  readonly delimiter: string;
  readonly wrap: readonly string[];
}

/** Longest first. */
const MARKS: readonly Mark[] = [
  { delimiter: '***', wrap: ['_', '*'] },
  { delimiter: '___', wrap: ['_', '*'] },
  { delimiter: '**', wrap: ['*'] },
  { delimiter: '__', wrap: ['*'] },
  { delimiter: '~~', wrap: ['~'] },
  { delimiter: '*', wrap: ['_'] },
  { delimiter: '_', wrap: ['_'] },
];
const MAX_DEPTH = 6;
const FENCE = /^ {0,3}(`{3,}|~{3,})/;
const LINK = /!?\[([^\]\n]{0,300})\]\(<?([^)\s>]{1,2000})>?(?: "[^"\n]{0,300}")?\)/y;
const AUTOLINK = /<((?:https?:\/\/|mailto:)[^\s<>]{1,2000})>/y;
/** The editor escapes signs in addresses too. */
const ADDRESS = /https?:\/\/(?:\\[\\`*_{}[\]()#+\-.!~>|]|[^\s<>)]){1,2000}/y;
const CODE = /(`{1,2})([^`\n]{1,2000})\1(?!`)/y;
const ESCAPE = /\\([\\`*_{}[\]()#+\-.!~>|])/g;

/** Resolves escapes in a text that is otherwise literal. */
export const unescaped = (text: string) => text.replace(ESCAPE, '$1');

export function toWhatsappText(markdown: string): string {
  const output: string[] = [];
  let paragraph: string[] = [];
  let fence: string | undefined;
  const flush = () => {
    if (paragraph.length > 0) output.push(inline(paragraph.join('\n'), 0));
    paragraph = [];
  };
  for (const line of markdown.replace(/\r\n?/g, '\n').split('\n')) {
    const opening = FENCE.exec(line)?.[1];
    if (fence !== undefined) {
      const isEnd = opening?.startsWith(fence) && line.trim() === opening;
      output.push(isEnd ? '```' : line);
      if (isEnd) fence = undefined;
    } else if (opening !== undefined) {
      flush();
      fence = opening;
      output.push('```');
    } else if (line.trim() === '') {
      flush();
      output.push('');
    } else {
      // The editor writes a line break as a backslash at the end (webhook_content_normalizer.rb).
      paragraph.push(blockOf(line.replace(/\\$/, '')));
    }
  }
  flush();
  if (fence !== undefined) output.push('```');
  return output.join('\n').trim();
}

function blockOf(line: string): string {
  const heading = /^ {0,3}#{1,6}\s+(\S.*)$/.exec(line)?.[1];
  if (heading !== undefined)
    return `**${withoutEnd(heading.trimEnd(), '#')
      .trimEnd()
      .replace(/\*\*|__/g, '')}**`;
  return line.replace(/^(\s*)[*+]\s+/, '$1- ');
}

/** Removes a run of one character. A pattern would take quadratic time. */
function withoutEnd(text: string, character: string): string {
  let end = text.length;
  while (text[end - 1] === character) end--;
  return text.slice(0, end);
}

/** Removes marks from the end, except escaped ones. */
function withoutMarks(text: string): string {
  let end = text.length;
  while ('*_~'.includes(text[end - 1] ?? ' ') && text[end - 2] !== '\\') end--;
  return text.slice(0, end);
}

function inline(text: string, depth: number): string {
  let output = '';
  /** Delimiters without an end in the rest of the text. */
  const endless = new Set<string>();
  for (let at = 0; at < text.length; ) {
    const copied = verbatimAt(text, at);
    if (copied !== undefined) {
      output += copied.output;
      at += copied.length;
      continue;
    }
    const mark = MARKS.find(({ delimiter }) => text.startsWith(delimiter, at));
    if (mark === undefined || depth > MAX_DEPTH) {
      output += text[at++];
      continue;
    }
    const { delimiter, wrap } = mark;
    const end = endless.has(delimiter) || !opens(text, at, delimiter) ? -1 : endOf(text, at, delimiter);
    if (end === -1) {
      if (opens(text, at, delimiter)) endless.add(delimiter);
      output += delimiter;
      at += delimiter.length;
      continue;
    }
    const after = end + delimiter.length;
    // WhatsApp emphasizes no part of a word. A single sign, as in `5*3=15`, is a character; longer marks are left out.
    const isInWord = isWordCharacter(text[at - 1]) || isWordCharacter(text[after]);
    if (isInWord && delimiter.length === 1) {
      output += delimiter;
      at++;
      continue;
    }
    const inner = inline(text.slice(at + delimiter.length, end), depth + 1);
    output += isInWord ? inner : wrap.reduce((wrapped, sign) => perLine(wrapped, sign), inner);
    at = after;
  }
  return output;
}

/** Escapes, code, links and addresses. Nothing inside them is emphasized. */
function verbatimAt(text: string, at: number): { readonly output: string; readonly length: number } | undefined {
  const first = text[at];
  if (first === '\\') {
    const next = text[at + 1] ?? '';
    return /[\\`*_{}[\]()#+\-.!~>|]/.test(next) ? { output: next, length: 2 } : undefined;
  }
  if (first === '`') {
    const code = matchAt(CODE, text, at);
    return code && { output: `\`${code[2]}\``, length: code[0].length };
  }
  if (first === '[' || (first === '!' && text[at + 1] === '[')) {
    const link = matchAt(LINK, text, at);
    if (link === undefined) return undefined;
    const [all, label = '', url = ''] = link;
    const name = label.replace(/[*_~]{2,3}/g, '').trim();
    return { output: name === '' || sameAddress(name, url) ? url : `${name} (${url})`, length: all.length };
  }
  if (first === '<') {
    const link = matchAt(AUTOLINK, text, at);
    return link && { output: (link[1] ?? '').replace(/^mailto:/, ''), length: link[0].length };
  }
  if (first === 'h') {
    const address = matchAt(ADDRESS, text, at);
    return address && { output: unescaped(address[0]), length: address[0].length };
  }
  return undefined;
}

const sameAddress = (label: string, url: string) =>
  label === url || url === `http://${label}` || url === `https://${label}` || url === `mailto:${label}`;

function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | undefined {
  pattern.lastIndex = at;
  return pattern.exec(text) ?? undefined;
}

function opens(text: string, at: number, delimiter: string): boolean {
  const next = text[at + delimiter.length];
  if (next === undefined || /\s/.test(next)) return false;
  return !delimiter.startsWith('_') || !isWordCharacter(text[at - 1]);
}

function endOf(text: string, start: number, delimiter: string): number {
  for (let at = start + delimiter.length + 1; at < text.length; at++) {
    if (text[at] === '\\') {
      at++;
      continue;
    }
    const address = text[at] === 'h' ? matchAt(ADDRESS, text, at) : undefined;
    if (address !== undefined) {
      // Signs inside an address end no mark; those behind it can.
      at += withoutMarks(address[0]).length - 1;
      continue;
    }
    if (!text.startsWith(delimiter, at) || /\s/.test(text[at - 1] ?? ' ')) continue;
    const after = text[at + delimiter.length];
    const sign = delimiter[0];
    // A longer run belongs to another mark, as in `*a **b***`.
    if (after === sign && text[at - 1] !== sign && delimiter.length < 3) {
      const run = /^(.)\1*/.exec(text.slice(at, at + 8))?.[0].length ?? 1;
      if (run - delimiter.length < 3 && run !== 3) {
        at += run - 1;
        continue;
      }
      return at + run - delimiter.length;
    }
    if (sign === '_' && isWordCharacter(after)) continue;
    return at;
  }
  return -1;
}

const isWordCharacter = (character: string | undefined) => character !== undefined && /[\p{L}\p{N}]/u.test(character);

function perLine(text: string, sign: string): string {
  return text
    .split('\n')
    .map((line) => {
      const end = line.trimEnd().length;
      const start = Math.min(end, /^\s*(?:[-•]\s+|>\s?)?/.exec(line)?.[0].length ?? 0);
      return start === end ? line : `${line.slice(0, start)}${sign}${line.slice(start, end)}${sign}${line.slice(end)}`;
    })
    .join('\n');
}
