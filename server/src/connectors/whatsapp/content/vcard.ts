import type { ContactCard } from '../../contract/contentParts.ts';

/*
 * Contact cards, as strangers write them: vCard 3.0 and 4.0 (RFC 2426, RFC 6350), and vCard 2.1, where Android's
 * address book encodes names as quoted-printable.
 */

/** Longest part of a card that is read. A picture comes after the names and numbers. */
const CARD_CHARACTERS = 65_536;
/** Longest line that is read, before it is decoded. */
const LINE_CHARACTERS = 4096;

/** Reads the name and numbers. WhatsApp puts the digits into a separate parameter, `waid`. */
export function readVcard(vcard: string): ContactCard {
  const properties = propertiesOf(vcard.slice(0, CARD_CHARACTERS));
  const textOf = (name: string) => properties.find((one) => one.name === name && one.value.trim() !== '')?.value;
  const numbers = properties.flatMap(({ name, parameters, value }) => {
    if (name !== 'TEL') return [];
    const digits = /waid=(\d+)/i.exec(parameters)?.[1] ?? value.replace(/\D/g, '');
    return digits === '' ? [] : [digits];
  });
  const written = unescaped(textOf('FN') ?? '').trim() || fullName(textOf('N') ?? '');
  return { name: written || fieldsOf(textOf('ORG') ?? '').join(', ') || (numbers[0] ?? ''), phoneNumbers: numbers };
}

interface Property {
  /** In upper case, without its group. */
  readonly name: string;
  readonly parameters: string;
  /** Decoded, and still with the escapes of the format. */
  readonly value: string;
}

function propertiesOf(vcard: string): Property[] {
  return linesOf(vcard).flatMap((line) => {
    const [, name, parameters = '', value = ''] =
      /^(?:[\w-]+\.)?([a-z-]+)((?:;[^:]*)?):(.*)$/is.exec(line.slice(0, LINE_CHARACTERS)) ?? [];
    if (name === undefined) return [];
    const decoded = isQuotedPrintable(parameters) ? fromQuotedPrintable(value, charsetOf(parameters)) : value;
    return [{ name: name.toUpperCase(), parameters, value: decoded }];
  });
}

/** A line continues after a line break and a space, or after `=` at its end if it is quoted-printable. */
function linesOf(vcard: string): string[] {
  const lines: string[][] = [];
  let present: string[] = [];
  let isEncoded = false;
  let isSoft: boolean = false;
  for (const line of vcard.split(/\r\n|\n|\r/)) {
    const isFolded: boolean = !isSoft && /^[ \t]/.test(line);
    if (!isSoft && !isFolded) {
      present = [];
      lines.push(present);
      isEncoded = isQuotedPrintable(line.slice(0, LINE_CHARACTERS).split(':', 1)[0] ?? '');
    }
    const text: string = isFolded ? line.slice(1) : line;
    isSoft = isEncoded && text.endsWith('=');
    present.push(isSoft ? text.slice(0, -1) : text);
  }
  return lines.map((parts) => parts.join(''));
}

/** In vCard 2.1, the name of the parameter is optional. */
const isQuotedPrintable = (parameters: string): boolean => /;(?:ENCODING=)?"?QUOTED-PRINTABLE/i.test(parameters);

const charsetOf = (parameters: string): string => /;CHARSET="?([\w.:-]+)/i.exec(parameters)?.[1] ?? 'utf-8';

/** Decodes quoted-printable (RFC 2045, 6.7). Text that is not encoded stays. */
function fromQuotedPrintable(value: string, charset: string): string {
  const parts = value.split(/((?:=[0-9a-f]{2})+)/i).map((part, index) => {
    const isEncoded = index % 2 === 1;
    return isEncoded ? Buffer.from(part.replaceAll('=', ''), 'hex') : Buffer.from(part);
  });
  return decoderOf(charset).decode(Buffer.concat(parts));
}

function decoderOf(charset: string): TextDecoder {
  try {
    return new TextDecoder(charset);
  } catch {
    return new TextDecoder();
  }
}

/** Returns a name from its parts: family, given, additional, prefix and suffix. */
function fullName(value: string): string {
  const [family, given, additional, prefix, suffix] = fieldsOf(value);
  return [prefix, given, additional, family, suffix].filter(Boolean).join(' ');
}

/** Splits a value at the semicolons that are not escaped. */
const fieldsOf = (value: string): string[] =>
  (value.match(/(?:^|;)(?:\\.|[^;\\])*/gs) ?? []).map((field) => unescaped(field.replace(/^;/, '')).trim());

/** Unescapes a text of a vCard (RFC 6350, 3.4). */
function unescaped(value: string): string {
  return value.replace(/\\(.)/g, (_, sign: string) => (sign.toLowerCase() === 'n' ? '\n' : sign));
}
