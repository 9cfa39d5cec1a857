import { type Inspector, UnexpectedData } from './inspection.ts';

/*
 * Replies of Redis (RESP2) to AUTH, SELECT, PING and XADD: a status, an error, a number or a string. None of them is an
 * array, whose declared length the client allocates, at every level of nesting.
 *
 * Source: https://redis.io/docs/latest/develop/reference/protocol-spec/
 */

const STATUS = '+'.charCodeAt(0);
const ERROR = '-'.charCodeAt(0);
const NUMBER = ':'.charCodeAt(0);
const STRING = '$'.charCodeAt(0);
const RETURN = '\r'.charCodeAt(0);
const NEWLINE = '\n'.charCodeAt(0);
const ZERO = '0'.charCodeAt(0);

/** Of a line or a string, in bytes. The id of an entry has 41 at most. */
const MAX_LENGTH = 4096;

export class RedisReplies implements Inspector {
  /** Commands that have no reply yet. The client fails on a reply to no command. */
  #expected = 0;
  #state: 'type' | 'line' | 'length' | 'string' | 'end' = 'type';
  /** Bytes of the line so far, or bytes of the string that are left. */
  #count = 0;
  #hasDigit = false;

  /** Call it before each command. */
  expect(): void {
    this.#expected++;
  }

  read(chunk: Buffer): number {
    for (const byte of chunk) this.#next(byte);
    return 0;
  }

  #next(byte: number): void {
    switch (this.#state) {
      case 'type':
        this.#begin(byte);
        return;
      case 'line':
        if (++this.#count > MAX_LENGTH) throw new UnexpectedData('sent a line that is too long');
        if (byte === NEWLINE) this.#state = 'type';
        return;
      case 'length':
        this.#readLength(byte);
        return;
      case 'string':
        if (--this.#count === 0) this.#state = 'end';
        return;
      case 'end':
        if (byte === NEWLINE) this.#state = 'type';
        else if (byte !== RETURN) throw new UnexpectedData('sent a string without its end');
    }
  }

  #begin(byte: number): void {
    if (this.#expected === 0) throw new UnexpectedData('sent a reply to no command');
    this.#expected--;
    this.#count = 0;
    this.#hasDigit = false;
    if (byte === STRING) this.#state = 'length';
    else if (byte === STATUS || byte === ERROR || byte === NUMBER) this.#state = 'line';
    else throw new UnexpectedData('sent a reply of another type than a status, an error, a number or a string');
  }

  #readLength(byte: number): void {
    const digit = byte - ZERO;
    if (digit >= 0 && digit <= 9) {
      this.#hasDigit = true;
      this.#count = this.#count * 10 + digit;
      if (this.#count > MAX_LENGTH) throw new UnexpectedData('sent a string that is too long');
    } else if (byte === NEWLINE && this.#hasDigit) this.#state = this.#count === 0 ? 'end' : 'string';
    // Includes the null string, "-1".
    else if (byte !== RETURN) throw new UnexpectedData('sent a string without a length');
  }
}
