export interface Card {
  readonly name: string;
  readonly phoneNumbers: readonly string[];
}

const MAX_NUMBERS = 10;

/** Writes a vCard 3.0 (RFC 2426), which address books open. */
export function toVcard({ name, phoneNumbers }: Card): string {
  const lines = [
    'BEGIN:VCARD',
    'VERSION:3.0',
    `FN:${escaped(name)}`,
    `N:${escaped(name)};;;;`,
    ...phoneNumbers.map((number) => `TEL;TYPE=CELL:+${number.replace(/\D/g, '')}`),
    'END:VCARD',
    '',
  ];
  return lines.join('\r\n');
}

/** Reads the name and the numbers of the first card. @returns undefined without a number */
export function parseVcard(text: string): Card | undefined {
  const unfolded = text.replace(/\r?\n[ \t]/g, '');
  const end = unfolded.search(/^END:VCARD/im);
  const lines = unfolded.slice(0, end === -1 ? undefined : end).split(/\r?\n/);
  const values = (property: string) =>
    lines.flatMap((line) => new RegExp(`^(?:[\\w-]+\\.)?${property}(?:;[^:]*)?:(.*)$`, 'i').exec(line)?.[1] ?? []);
  const phoneNumbers = values('TEL')
    .map((value) => value.replace(/^tel:/i, '').replace(/\D/g, ''))
    .filter((digits) => digits.length >= 5 && digits.length <= 15)
    .slice(0, MAX_NUMBERS);
  if (phoneNumbers.length === 0) return undefined;
  const name = values('FN')[0] ?? values('N')[0]?.split(';').filter(Boolean).reverse().join(' ');
  return { name: unescaped(name?.trim() || `+${phoneNumbers[0]}`).slice(0, 200), phoneNumbers };
}

const escaped = (text: string) => text.replace(/[\\;,]/g, '\\$&').replace(/\s*[\r\n]+\s*/g, ' ');
const unescaped = (text: string) => text.replace(/\\([\\;,])/g, '$1').replace(/\\n/gi, ' ');
