import { DEEPEST } from '../invoke/input/validate.ts';

/** No operation needs more: a bulk send has 1,000 recipients with 20 values each. To parse as many takes 3 ms. */
export const MAX_VALUES = 25_000;
/** The levels around a field: the body, and over MCP the batch, the call, its parameters and their arguments. */
const ENVELOPE_LEVELS = 5;

const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const OPENING: ReadonlySet<number> = new Set([0x5b, 0x7b]);
const CLOSING: ReadonlySet<number> = new Set([0x5d, 0x7d]);

interface Excess {
  readonly code: 'depth' | 'width';
  /** Position of the outermost member that has it. */
  readonly memberAt: number;
}

/**
 * Finds too many values or levels before the text is parsed: `JSON.parse` takes up to 30 times as long for a MiB of
 * values as for a MiB of text. The scan stops at the first value too many.
 */
export function excessIn(text: string): Excess | undefined {
  let values = 0;
  let depth = 0;
  let memberAt = 0;
  for (let at = 0; at < text.length; at++) {
    const char = text.charCodeAt(at);
    if (char === QUOTE) {
      at = endOfString(text, at);
      continue;
    }
    const isOpening = OPENING.has(char);
    if (isOpening) depth++;
    else if (CLOSING.has(char)) depth--;
    else if (char !== COMMA) continue;
    if (depth === 1 && (isOpening || char === COMMA)) memberAt = at + 1;
    if (isOpening || char === COMMA) values++;
    if (depth > DEEPEST + ENVELOPE_LEVELS) return { code: 'depth', memberAt };
    if (values > MAX_VALUES) return { code: 'width', memberAt };
  }
  return undefined;
}

/** A string ends at a quote that is preceded by an even number of backslashes. */
function endOfString(text: string, start: number): number {
  for (let at = start; ; ) {
    at = text.indexOf('"', at + 1);
    if (at < 0) return text.length;
    let escapes = 0;
    while (text.charCodeAt(at - 1 - escapes) === BACKSLASH) escapes++;
    if (escapes % 2 === 0) return at;
  }
}
