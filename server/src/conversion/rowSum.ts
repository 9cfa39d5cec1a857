import { hash } from 'node:crypto';

/** Number of rows, and a hash that does not depend on their order. */
export interface Digest {
  readonly rows: number;
  readonly hash: string;
}

/** Adds up the SHA-256 of rows, as four numbers of 32 bits. */
export class RowSum {
  readonly #sums = new Uint32Array(4);
  #rows = 0;

  add(row: string): void {
    const digest = hash('sha256', row, 'buffer');
    for (let part = 0; part < this.#sums.length; part++)
      this.#sums[part] = (this.#sums[part] ?? 0) + digest.readUInt32LE(part * 4);
    this.#rows++;
  }

  digest(): Digest {
    return { rows: this.#rows, hash: Buffer.from(this.#sums.buffer).toString('hex') };
  }
}
