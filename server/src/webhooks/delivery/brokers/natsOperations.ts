import { type Inspector, UnexpectedData } from './inspection.ts';

/*
 * Operations of a NATS server: lines, of which MSG and HMSG have a payload of a declared length. The client answers
 * each PING, so that a server that sends nothing else and never reads would fill the memory with answers.
 *
 * Source: https://docs.nats.io/reference/reference-protocols/nats-protocol
 */

const NEWLINE = 10;

const MAX_LINE = 4096;
/** Lists the servers of the cluster. */
const MAX_INFO = 64 * 1024;
/** A confirmation of JetStream has less than a kilobyte. */
const MAX_PAYLOAD = 64 * 1024;
const PONG_BYTES = 'PONG\r\n'.length;

const withoutPayload: ReadonlySet<string> = new Set(['INFO', 'PING', 'PONG', '+OK', '-ERR']);

export class NatsOperations implements Inspector {
  #line = '';
  /** Bytes of the payload and its line end that are left. */
  #left = 0;

  read(chunk: Buffer): number {
    let answered = 0;
    for (let at = 0; at < chunk.length; ) {
      if (this.#left > 0) {
        const skipped = Math.min(this.#left, chunk.length - at);
        this.#left -= skipped;
        at += skipped;
        if (this.#left === 0 && chunk[at - 1] !== NEWLINE) throw new UnexpectedData('sent a message without its end');
        continue;
      }
      const end = chunk.indexOf(NEWLINE, at);
      this.#line += chunk.toString('latin1', at, end < 0 ? chunk.length : end + 1);
      this.#checkLength();
      if (end < 0) return answered;
      at = end + 1;
      answered += this.#operate(this.#line.trimEnd());
      this.#line = '';
    }
    return answered;
  }

  #checkLength(): void {
    const isInfo = /^INFO\s/i.test(this.#line);
    if (this.#line.length > (isInfo ? MAX_INFO : MAX_LINE)) throw new UnexpectedData('sent a line that is too long');
  }

  /** Returns the length of the client's answer. */
  #operate(line: string): number {
    const [name = ''] = line.split(/[ \t]/, 1);
    const operation = name.toUpperCase();
    if (operation === 'PING') return PONG_BYTES;
    if (withoutPayload.has(operation)) return 0;
    if (operation !== 'MSG' && operation !== 'HMSG') throw new UnexpectedData('sent an unknown operation of NATS');
    const words = line.split(/[ \t]+/);
    const size = lengthOf(words.at(-1));
    if (operation === 'HMSG' && lengthOf(words.at(-2)) > size)
      throw new UnexpectedData('sent headers that are longer than their message');
    this.#left = size + '\r\n'.length;
    return 0;
  }
}

function lengthOf(word = ''): number {
  const length = /^\d{1,9}$/.test(word) ? Number(word) : Infinity;
  if (length > MAX_PAYLOAD) throw new UnexpectedData('announced a message that is too long');
  return length;
}
