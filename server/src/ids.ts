import { randomBytes } from 'node:crypto';
import type { Clock } from './clock.ts';

/** The resource of an id, by its prefix. */
export type IdPrefix =
  | 'acc' // account
  | 'att' // attempt
  | 'cal' // tool call
  | 'chn' // channel
  | 'dlv' // delivery
  | 'evt' // event
  | 'grp' // group
  | 'key' // API key
  | 'lbl' // label
  | 'med' // media
  | 'msg' // message
  | 'nod' // node
  | 'pst' // post in a channel
  | 'req' // request
  | 'ses' // session
  | 'sts' // status
  | 'whk' // webhook
  | 'whs'; // webhook of an event subscription

/** Makes an id such as `msg_01JD3V0Z5W8QK4T0N9R2X7C6BA`. */
export type NewId = (prefix: IdPrefix) => string;

// Crockford's base 32: without I, L, O and U, so an id can be read aloud. In ASCII order, so ids sort as text.
const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const TIME_DIGITS = 10;
const RANDOM_DIGITS = 16;
/** Random bytes read at once, because each read costs more than the bytes. */
const RANDOM_BYTES = 256 * RANDOM_DIGITS;

/**
 * Makes ids as in the ULID specification: 48 bits of milliseconds, 80 random bits, Crockford's base 32. Within a
 * process they strictly increase, even within one millisecond. The order of lists depends on this, so the milliseconds
 * are those of steady time, which continues after the newest stored id after a restart. Source:
 * https://github.com/ulid/spec
 */
export function createIds(clock: Clock): NewId {
  let lastMs = -1;
  let timePart = '';
  const random = new Uint8Array(RANDOM_DIGITS);
  let bytes = new Uint8Array(0);
  let used = 0;

  function increment(): void {
    for (let i = RANDOM_DIGITS - 1; i >= 0; i--) {
      const digit = random[i] ?? 0;
      if (digit < 31) {
        random[i] = digit + 1;
        return;
      }
      random[i] = 0;
    }
    moveTo(lastMs + 1); // 2^80 ids in one millisecond: uses the next one
  }

  function moveTo(ms: number): void {
    lastMs = ms;
    timePart = encodeTime(ms);
    if (used === bytes.length) {
      bytes = randomBytes(RANDOM_BYTES);
      used = 0;
    }
    // 5 bits of each byte: 80 random bits without arithmetic on big integers.
    for (let i = 0; i < RANDOM_DIGITS; i++) random[i] = (bytes[used++] ?? 0) & 31;
  }

  return (prefix) => {
    const now = clock.now();
    if (now > lastMs) moveTo(now);
    else increment();
    let id = `${prefix}_${timePart}`;
    for (let i = 0; i < RANDOM_DIGITS; i++) id += ALPHABET[random[i] ?? 0];
    return id;
  };
}

/** How many ids of the same millisecond `idAt` keeps in order. */
const PLACES = 32 ** 3;

/**
 * Makes an id of a moment in the past, such as that of a message from the history.
 * @param place orders the ids of one moment
 */
export function idAt(prefix: IdPrefix, ms: number, place: number): string {
  const order = Math.min(place, PLACES - 1);
  const digits = [order >> 10, order >> 5, order, ...randomBytes(RANDOM_DIGITS - 3)];
  return `${prefix}_${encodeTime(Math.max(0, ms))}${digits.map((digit) => ALPHABET[digit & 31]).join('')}`;
}

/** Whether the id of a chat is that of a group. A direct chat has that of a person: digits. */
export function isGroupId(chatId: string): boolean {
  return chatId.startsWith('grp_');
}

export function isChannelId(chatId: string): boolean {
  return chatId.startsWith('chn_');
}

/** The smallest id of a type that can have been made at `ms` or later: the start of a time range. */
export function firstIdAt(prefix: IdPrefix, ms: number): string {
  return `${prefix}_${encodeTime(Math.max(0, ms))}${'0'.repeat(RANDOM_DIGITS)}`;
}

/** The greatest id that sorts before an id. */
export function idBefore(id: string): string {
  const digits = [...id];
  for (let at = digits.length - 1; digits[at] !== '_' && at >= 0; at--) {
    const value = ALPHABET.indexOf(digits[at] ?? '');
    digits[at] = ALPHABET[value > 0 ? value - 1 : ALPHABET.length - 1] ?? '';
    if (value > 0) return digits.join('');
  }
  return id; // the first one of all
}

/** Digits of `hashOfId`. */
const HASH_DIGITS = 6;

/** Returns 30 bits of an id, which few ids of the same time share. */
export function hashOfId(id: string): number {
  let hash = 0;
  for (const digit of id.slice(-HASH_DIGITS)) hash = hash * 32 + Math.max(0, ALPHABET.indexOf(digit));
  return hash;
}

/** The milliseconds in an id; 0 if the text is not an id. */
export function timeOfId(id: string): number {
  const digits = id.slice(id.indexOf('_') + 1).slice(0, TIME_DIGITS);
  let ms = 0;
  for (const digit of digits) {
    const value = ALPHABET.indexOf(digit);
    if (value < 0) return 0;
    ms = ms * 32 + value;
  }
  return digits.length === TIME_DIGITS ? ms : 0;
}

function encodeTime(ms: number): string {
  let text = '';
  for (let i = 0, rest = ms; i < TIME_DIGITS; i++, rest = Math.floor(rest / 32)) text = ALPHABET[rest % 32] + text;
  return text;
}
