/** Controls, also those that reverse the text around them, such as U+202E. */
const CONTROLS = /[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu;
/** Letters of scripts that are written from right to left. */
const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;

/** Removes the characters of a name that would show nothing, or change the order of other text. */
export function plainName(name: string): string {
  return name.replace(/\s/g, ' ').replace(CONTROLS, '').replace(/ +/g, ' ').trim();
}

/**
 * A name that somebody chose, to be shown alone or within a sentence. One that is written from right to left gets
 * isolates around it (https://www.w3.org/International/questions/qa-bidi-unicode-controls), which also work where no
 * element can stand: in the title of the page, in options and in labels.
 */
export function displayName(name: string): string {
  const plain = plainName(name);
  return RIGHT_TO_LEFT.test(plain) ? `\u2068${plain}\u2069` : plain;
}
