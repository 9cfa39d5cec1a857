/* Text for a terminal. Third parties write some of it, and a terminal obeys what looks like its control codes. */

/** CSI and OSC sequences, the other escape sequences, and then every control character and mark of direction. */
const SEQUENCE =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: removing control characters is the purpose
  /(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]?|(?:\x1b\]|\x9d)[^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)?|(?:\x1b[PX^_]|[\x90\x98\x9e\x9f])[^\x1b\x9c]*(?:\x1b\\|\x9c)?|\x1b[ -/]*[0-~]?/g;
const BREAK = /[\r\n\t\v\f\u0085\u2028\u2029]+/g;
const UNPRINTABLE = /[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/gu;

/** Returns a text as one harmless line: without escape sequences, control characters and marks that reorder it. */
export function clean(text: string): string {
  return text.toWellFormed().replace(SEQUENCE, '').replace(BREAK, ' ').replace(UNPRINTABLE, '');
}

/** Returns at most so many characters of a text. */
export function shorten(text: string, length: number): string {
  const characters = [...text];
  return characters.length <= length ? text : `${characters.slice(0, length - 1).join('')}…`;
}

/**
 * Control characters, and those that are invisible or reorder text, which `JSON.stringify` does not escape. Escaped,
 * they are the same JSON.
 */
const UNESCAPED = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** Returns a value as one line of JSON that a terminal can show. */
export function jsonLine(value: unknown): string {
  return JSON.stringify(value).replace(UNESCAPED, (found) =>
    Array.from({ length: found.length }, (_, at) => `\\u${found.charCodeAt(at).toString(16).padStart(4, '0')}`).join(
      '',
    ),
  );
}

const WIDE =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}/u;
const NARROW = /\p{Mn}|\p{Me}|[\u200b\u200c]|\u200d|[\ufe00-\ufe0f]/u;

/** Number of columns that a text takes in a terminal. */
export function widthOf(text: string): number {
  let width = 0;
  for (const character of text) width += NARROW.test(character) ? 0 : WIDE.test(character) ? 2 : 1;
  return width;
}
