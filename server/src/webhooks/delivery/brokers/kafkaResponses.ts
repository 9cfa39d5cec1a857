import { type Inspector, UnexpectedData } from './inspection.ts';

/*
 * Responses of Kafka, each with its length. The client fails on a length that is negative or too short for the id of
 * the request.
 *
 * Source: https://kafka.apache.org/protocol.html#protocol_common
 */

const LENGTH_BYTES = 4;
const ID_BYTES = 4;

export class KafkaResponses implements Inspector {
  /** Limit of one response, whose length arrives from now on, in bytes. */
  maxBytes: number;
  #length = 0;
  #lengthBytes = 0;
  #left = 0;

  constructor(maxBytes: number) {
    this.maxBytes = maxBytes;
  }

  read(chunk: Buffer): number {
    for (let at = 0; at < chunk.length; ) {
      if (this.#left > 0) {
        const skipped = Math.min(this.#left, chunk.length - at);
        this.#left -= skipped;
        at += skipped;
      } else this.#readLength(chunk[at++] ?? 0);
    }
    return 0;
  }

  #readLength(byte: number): void {
    this.#length = this.#length * 256 + byte;
    if (++this.#lengthBytes < LENGTH_BYTES) return;
    if (this.#length < ID_BYTES || this.#length > this.maxBytes)
      throw new UnexpectedData(`announced a response of ${this.#length} bytes`);
    this.#left = this.#length;
    this.#length = 0;
    this.#lengthBytes = 0;
  }
}
