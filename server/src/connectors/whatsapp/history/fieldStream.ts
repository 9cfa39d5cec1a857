import { createInflate } from 'node:zlib';

/** The history is not as the protocol says, or larger than allowed. Another attempt would not help. */
export class HistoryError extends Error {}

/** A part of some megabytes is usual. */
const MAX_INFLATED_BYTES = 256 * 1024 * 1024;
const GARBAGE = 'a part of the history cannot be read';

/**
 * Reads the fields of a compressed protobuf message one after the other, so that the message is never in memory as a
 * whole. Source: https://protobuf.dev/programming-guides/encoding/
 */
export class FieldStream {
  readonly #source: AsyncIterator<Buffer>;
  #chunk: Buffer = Buffer.alloc(0);
  #at = 0;
  #inflated = 0;
  #position = 0;
  readonly #close: () => void;

  constructor(compressed: Uint8Array) {
    const inflater = createInflate();
    inflater.end(compressed);
    this.#source = inflater[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
    this.#close = () => inflater.destroy();
  }

  /** Bytes read so far. */
  get position(): number {
    return this.#position;
  }

  close(): void {
    this.#close();
  }

  /** Returns the number and the wire type of the next field; undefined at the end. */
  async tag(): Promise<{ field: number; wire: number } | undefined> {
    if (this.#at === this.#chunk.length && !(await this.#fill())) return undefined;
    const tag = await this.varint();
    return { field: Math.floor(tag / 8), wire: tag % 8 };
  }

  /** Values beyond 2^53 lose precision. They are skipped, or read by `raw`. */
  async varint(): Promise<number> {
    let value = 0;
    for (let shift = 1, n = 0; n < 10; n++, shift *= 128) {
      const byte = await this.#byte();
      value += (byte & 127) * shift;
      if (byte < 128) return value;
    }
    throw new HistoryError(GARBAGE);
  }

  /** Reads the value of a field with its length, if it has one, as it is encoded. */
  async raw(wire: number, maxBytes: number): Promise<Buffer> {
    if (wire === 0) {
      const bytes: number[] = [];
      do bytes.push(await this.#byte());
      while ((bytes.at(-1) ?? 0) >= 128 && bytes.length < 10);
      return Buffer.from(bytes);
    }
    if (wire !== 2) return this.bytes(sizeOf(wire), maxBytes);
    const length = await this.varint();
    return Buffer.concat([encodeVarint(length), await this.bytes(length, maxBytes)]);
  }

  async bytes(length: number, maxBytes: number): Promise<Buffer> {
    if (length > maxBytes) throw new HistoryError('an entry of the history is too large');
    const held = this.#chunk.subarray(this.#at, this.#at + length);
    if (held.length === length) {
      this.#advance(length);
      return held;
    }
    const pieces: Buffer[] = [];
    for (let missing = length; missing > 0; ) {
      if (this.#at === this.#chunk.length && !(await this.#fill())) throw new HistoryError(GARBAGE);
      const piece = this.#chunk.subarray(this.#at, this.#at + missing);
      pieces.push(piece);
      this.#advance(piece.length);
      missing -= piece.length;
    }
    return Buffer.concat(pieces);
  }

  async skip(wire: number): Promise<void> {
    if (wire === 0) return void (await this.varint());
    let missing = wire === 2 ? await this.varint() : sizeOf(wire);
    while (missing > 0) {
      if (this.#at === this.#chunk.length && !(await this.#fill())) throw new HistoryError(GARBAGE);
      const skipped = Math.min(missing, this.#chunk.length - this.#at);
      this.#advance(skipped);
      missing -= skipped;
    }
  }

  async #byte(): Promise<number> {
    if (this.#at === this.#chunk.length && !(await this.#fill())) throw new HistoryError(GARBAGE);
    const byte = this.#chunk[this.#at] ?? 0;
    this.#advance(1);
    return byte;
  }

  #advance(bytes: number): void {
    this.#at += bytes;
    this.#position += bytes;
  }

  /** Returns whether there is more. */
  async #fill(): Promise<boolean> {
    try {
      const { done, value } = await this.#source.next();
      if (done === true) return false;
      this.#chunk = value;
      this.#at = 0;
      this.#inflated += value.length;
    } catch (cause) {
      throw new HistoryError('a part of the history cannot be decompressed', { cause });
    }
    if (this.#inflated > MAX_INFLATED_BYTES) {
      this.#close();
      throw new HistoryError(`a part of the history is larger than ${MAX_INFLATED_BYTES / 1024 / 1024} MiB`);
    }
    return true;
  }
}

function sizeOf(wire: number): number {
  if (wire === 1) return 8;
  if (wire === 5) return 4;
  throw new HistoryError(GARBAGE);
}

export function encodeVarint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 128; rest = Math.floor(rest / 128)) bytes.push((rest % 128) + 128);
  bytes.push(rest);
  return Buffer.from(bytes);
}
