import { type Inspector, UnexpectedData } from './inspection.ts';

/*
 * Frames of AMQP 0-9-1: of the connection, and of the one channel that publishes. The client keeps an array of the
 * messages that are not confirmed and believes the numbers of the broker, so that a confirmation of the message
 * 4,000,000,000 would make it walk an array of that length. It keeps the content of a returned message until it is
 * complete.
 *
 * Source: https://www.rabbitmq.com/resources/specs/amqp0-9-1.pdf, 4.2
 */

const METHOD = 1;
const HEADER = 2;
const BODY = 3;
const HEARTBEAT = 8;

/** Type, channel and length. */
const PREFIX_BYTES = 7;
/** Of a payload: class, method and delivery tag of a method; class, weight and body length of a header. */
const INSPECTED_BYTES = 13;
const END_BYTES = 1;

const CHANNEL = 1;

const method = (classId: number, methodId: number) => classId * 0x10000 + methodId;
const ACK = method(60, 80);
const NACK = method(60, 120);

/** start, secure, tune, open-ok, close, close-ok, blocked, unblocked */
const ofConnection: ReadonlySet<number> = new Set([10, 20, 30, 41, 50, 51, 60, 61].map((id) => method(10, id)));
/** open-ok, close, close-ok, confirm.select-ok, basic.return, basic.ack, basic.nack */
const ofChannel: ReadonlySet<number> = new Set([
  ...[11, 40, 41].map((id) => method(20, id)),
  method(85, 11),
  ...[method(60, 50), ACK, NACK],
]);

export class AmqpFrames implements Inspector {
  readonly #maxPayload: number;
  readonly #head = Buffer.alloc(PREFIX_BYTES + INSPECTED_BYTES);
  #headBytes = 0;
  /** Bytes of the frame that are not inspected and are left. */
  #left = 0;
  #published = 0;
  /** Numbers of the messages that are not confirmed, in order. */
  readonly #unconfirmed = new Set<number>();
  #longestBody = 0;

  /** @param maxPayload of a frame, in bytes */
  constructor(maxPayload: number) {
    this.#maxPayload = maxPayload;
  }

  /** Call it for each message, before it is sent. */
  publish(bodyLength: number): void {
    this.#unconfirmed.add(++this.#published);
    this.#longestBody = Math.max(this.#longestBody, bodyLength);
  }

  read(chunk: Buffer): number {
    for (let at = 0; at < chunk.length; ) {
      const missing = this.#left > 0 ? 0 : this.#wanted() - this.#headBytes;
      const taken = Math.min(missing || this.#left, chunk.length - at);
      if (missing === 0) this.#left -= taken;
      else this.#headBytes += chunk.copy(this.#head, this.#headBytes, at, at + taken);
      at += taken;
      if (missing === taken) this.#inspect();
    }
    return 0;
  }

  /** Returns the number of bytes that the inspected part of the frame has, as far as it is known. */
  #wanted(): number {
    if (this.#headBytes < PREFIX_BYTES) return PREFIX_BYTES;
    return PREFIX_BYTES + Math.min(this.#head.readUInt32BE(3), INSPECTED_BYTES);
  }

  #inspect(): void {
    const head = this.#head.subarray(0, this.#headBytes);
    const length = head.readUInt32BE(3);
    if (length > this.#maxPayload) throw new UnexpectedData(`sent a frame of ${length} bytes`);
    // The prefix alone was complete.
    if (this.#headBytes < this.#wanted()) return;
    const payload = head.subarray(PREFIX_BYTES);
    this.#check(head.readUInt8(0), head.readUInt16BE(1), payload);
    this.#left = length - payload.length + END_BYTES;
    this.#headBytes = 0;
  }

  #check(type: number, channel: number, payload: Buffer): void {
    if (type === HEARTBEAT && channel === 0) return;
    const isKnown = type === METHOD || (channel === CHANNEL && (type === HEADER || type === BODY));
    if (!isKnown || channel > CHANNEL) throw new UnexpectedData('sent a frame of an unknown type or channel');
    if (type === METHOD) this.#checkMethod(channel, payload);
    else if (type === HEADER) this.#checkHeader(payload);
  }

  #checkMethod(channel: number, payload: Buffer): void {
    const id = payload.length < 4 ? 0 : payload.readUInt32BE(0);
    if (!(channel === 0 ? ofConnection : ofChannel).has(id)) throw new UnexpectedData('sent an unexpected method');
    if (id === ACK || id === NACK) this.#confirm(payload);
  }

  #confirm(payload: Buffer): void {
    if (payload.length < INSPECTED_BYTES) throw new UnexpectedData('sent a confirmation that is too short');
    const tag = Number(payload.readBigUInt64BE(4));
    const isMultiple = (payload.readUInt8(12) & 1) === 1;
    const isExpected = isMultiple ? tag > 0 && tag <= this.#published : this.#unconfirmed.has(tag);
    if (!isExpected) throw new UnexpectedData('confirmed a message that was not sent');
    if (!isMultiple) this.#unconfirmed.delete(tag);
    else
      for (const one of this.#unconfirmed) {
        if (one > tag) return;
        this.#unconfirmed.delete(one);
      }
  }

  #checkHeader(payload: Buffer): void {
    const length = payload.length < 12 ? Infinity : Number(payload.readBigUInt64BE(4));
    if (length > this.#longestBody) throw new UnexpectedData('returned a message that is longer than each one sent');
  }
}
