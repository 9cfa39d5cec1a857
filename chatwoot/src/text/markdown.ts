/*
 * The formatting of WhatsApp to Markdown, as Chatwoot shows it. Characters that have a meaning only in Markdown are
 * escaped, so that `2*3*4` stays what the contact wrote.
 */

const SIGNS: Readonly<Record<string, string>> = { '*': '**', _: '*', '~': '~~' };
const MAX_DEPTH = 4;

export function toMarkdown(text: string): string {
  // Blocks of code are equal in both.
  return text
    .split(/(```[\s\S]*?```)/)
    .map((part, index) => (index % 2 === 1 ? blockOfCode(part) : part.split('\n').map(lineOf).join('\n')))
    .join('');
}

/** Markdown needs the fences on separate lines. */
function blockOfCode(part: string): string {
  const inner = part.slice(3, -3);
  return inner.includes('\n') ? `\`\`\`\n${inner.replace(/^\n|\n$/g, '')}\n\`\`\`` : `\`${inner.trim()}\``;
}

/**
 * Separates brackets from what makes them a link or the definition of one, so that contacts cannot show another address
 * than the one that opens. A backslash would not do: the parts that Markdown reads as code depend on the whole text,
 * and the contact can write one before it. The client removes U+0000.
 */
export const withoutLinks = (text: string) => text.replace(/\](?=\0*[([:])/g, ']\u2060');

function lineOf(line: string): string {
  const formatted = inline(line, 0);
  return /^ {0,3}#{1,6}\s/.test(formatted) ? formatted.replace('#', '\\#') : formatted;
}

function inline(text: string, depth: number): string {
  let output = '';
  const endless = new Set<string>();
  for (let at = 0; at < text.length; at++) {
    const character = text[at] ?? '';
    const copied = verbatimAt(text, at);
    if (copied !== undefined) {
      output += copied;
      at += copied.length - 1;
      continue;
    }
    const sign = SIGNS[character];
    if (sign === undefined) {
      output += character;
      continue;
    }
    const canOpen = !endless.has(character) && depth < MAX_DEPTH && opens(text, at);
    const end = canOpen ? endOf(text, at) : -1;
    if (end === -1) {
      if (canOpen) endless.add(character);
      output += literal(text, at);
      continue;
    }
    output += `${sign}${inline(text.slice(at + 1, end), depth + 1)}${sign}`;
    at = end;
  }
  return output;
}

/** Code and addresses, which Markdown leaves as they are. */
function verbatimAt(text: string, at: number): string | undefined {
  const rest = text.slice(at, at + 2000);
  if (text[at] === '`') return /^`[^`]+`/.exec(rest)?.[0];
  return text[at] === 'h' ? /^https?:\/\/[^\s\]]+/.exec(rest)?.[0] : undefined;
}

function opens(text: string, at: number): boolean {
  const [before, after] = [text[at - 1], text[at + 1]];
  return !isWord(before) && after !== undefined && !/\s/.test(after) && after !== text[at];
}

function endOf(text: string, start: number): number {
  const sign = text[start] ?? '';
  for (let at = text.indexOf(sign, start + 2); at !== -1; at = text.indexOf(sign, at + 1))
    if (!/\s/.test(text[at - 1] ?? ' ') && !isWord(text[at + 1])) return at;
  return -1;
}

/** A sign that WhatsApp shows as it is. Between spaces or, for `_`, inside a word, Markdown does the same. */
function literal(text: string, at: number): string {
  const sign = text[at] ?? '';
  const [before, after] = [text[at - 1], text[at + 1]];
  const isAlone = /\s/.test(before ?? ' ') && /\s/.test(after ?? ' ');
  const isInside = sign === '_' && isWord(before) && isWord(after);
  const isSingle = sign === '~' && before !== '~' && after !== '~';
  return isAlone || isInside || isSingle ? sign : `\\${sign}`;
}

const isWord = (character: string | undefined) => character !== undefined && /[\p{L}\p{N}]/u.test(character);
