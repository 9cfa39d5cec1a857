/*
 * Texts without what people do not see. Numbers are copied with such marks, and texts for models can hide words in
 * them.
 */

/**
 * Code points without a glyph: controls, format characters and tags, variation selectors, and fillers of Hangul and
 * Khmer.
 */
const INVISIBLE =
  /\p{Cf}|\p{Variation_Selector}|\u034f|[\u115f\u1160\u3164\uffa0]|\u17b4|\u17b5|[\u{e0000}-\u{e0fff}]/gu;

/** Returns the text without all characters that have no glyph. */
export function withoutInvisible(text: string): { readonly text: string; readonly removed: number } {
  let removed = 0;
  const kept = text.replace(INVISIBLE, () => {
    removed++;
    return '';
  });
  return { text: kept, removed };
}

/** Code points that are not displayed (Unicode's default ignorable ones), and marks of interlinear notes. */
const HIDDEN = /[\p{Default_Ignorable_Code_Point}\u{fff9}-\u{fffb}]+/gu;

/** Scripts in which joiners change how letters are written (Unicode Standard Annex #31, section 2.3). */
const JOINING =
  '[\\p{Script=Arabic}\\p{Script=Syriac}\\p{Script=Mongolian}\\p{Script=Devanagari}\\p{Script=Bengali}\\p{Script=Gurmukhi}\\p{Script=Gujarati}\\p{Script=Oriya}\\p{Script=Tamil}\\p{Script=Telugu}\\p{Script=Kannada}\\p{Script=Malayalam}\\p{Script=Sinhala}\\p{Script=Khmer}]';
const JOINED = new RegExp(`^${JOINING}$`, 'u');
const EMOJI = /^[\p{Extended_Pictographic}\p{Emoji_Modifier}]$/u;
/** The tags of the flags of England, Scotland and Wales, the only ones that are displayed. */
const FLAG_TAGS = ['gbeng', 'gbsct', 'gbwls'].map(
  (region) => [...region].map((letter) => String.fromCodePoint(0xe0000 + letter.charCodeAt(0))).join('') + '\u{e007f}',
);
const BLACK_FLAG = '🏴';

/**
 * Returns the text as a person sees it: without tags, bidirectional controls and characters of zero width, which can
 * hide words from people that a model reads. Characters that change the display stay: joiners in emoji and in scripts
 * with joined letters, one variation selector after a character, and the tags of flags.
 */
export function withoutHidden(text: string): { readonly text: string; readonly removed: number } {
  let removed = 0;
  const kept = text.replace(HIDDEN, (run, at: number) => {
    const end = at + run.length;
    const [before, after] = [text.slice(Math.max(0, at - 2), at), text.slice(end, end + 2)];
    const shown = shownOf(run, [...before].at(-1) ?? '', [...after][0] ?? '');
    removed += [...run].length - [...shown].length;
    return shown;
  });
  return { text: kept, removed };
}

/** Returns the part of a run of hidden characters that changes how its neighbors are displayed. */
function shownOf(run: string, before: string, after: string): string {
  if (before === BLACK_FLAG) {
    const tags = FLAG_TAGS.find((flag) => run.startsWith(flag));
    if (tags !== undefined) return tags + (isJoiner(run.slice(tags.length), '🏴', after) ? '\u200d' : '');
  }
  const [first = ''] = run;
  const selector = isSelector(first, before) ? first : '';
  const rest = run.slice(selector.length);
  return selector + (isJoiner(rest, before, after) ? rest : '');
}

function isJoiner(text: string, before: string, after: string): boolean {
  if (text === '\u200d' && EMOJI.test(before) && EMOJI.test(after)) return true;
  return (text === '\u200d' || text === '\u200c') && JOINED.test(before) && JOINED.test(after);
}

/** Whether a variation selector chooses the form of the character before it. */
function isSelector(character: string, before: string): boolean {
  if (!/^\p{Variation_Selector}$/u.test(character)) return false;
  if (/^[\u{e0100}-\u{e01ef}]$/u.test(character)) return /^\p{Script=Han}$/u.test(before);
  return /^[^\s\p{Cc}\p{Cf}]$/u.test(before);
}

/** Returns the text with decimal digits of any script as 0 to 9. Unicode assigns them in runs of ten. */
export const asciiDigits = (text: string): string =>
  text.replace(/(?![0-9])\p{Nd}/gu, (digit) => {
    const point = digit.codePointAt(0) ?? 0;
    let value = 0;
    while (value < 9 && /\p{Nd}/u.test(String.fromCodePoint(point - value - 1))) value++;
    return String(value);
  });
