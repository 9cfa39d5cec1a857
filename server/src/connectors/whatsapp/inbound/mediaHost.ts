import { createDecipheriv, createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { pipeline, type Readable, Transform, type TransformCallback } from 'node:stream';
import type { MediaType, WAMessage } from 'baileys';
import { type Dispatcher, request } from 'undici';
import { withTimeout } from '../../../async.ts';
import type { MessageType } from '../../connector.ts';
import type { Session } from '../session.ts';
import { type FileReference, parseContent } from './incomingContent.ts';

/** A phone that is off does not answer, and Baileys would wait forever. */
const PHONE_MS = 30_000;
/** Statuses with which the host reports a deleted file. */
const GONE: readonly number[] = [404, 410];
/** The key type for the encryption of each type of file. */
const KEY_TYPES: Readonly<Partial<Record<MessageType, MediaType>>> = {
  image: 'image',
  video: 'video',
  audio: 'audio',
  voice: 'audio',
  document: 'document',
  sticker: 'sticker',
};

class GoneError extends Error {}

/**
 * Downloads the encrypted files of messages from the network's media host. Baileys is not used for that: it would
 * contact any host that a message names, follow redirects anywhere, and check neither the MAC nor the hashes.
 */
export class MediaHost {
  readonly #session: Session;
  readonly #dispatcher: Dispatcher;

  /** @param dispatcher connects to no other host, within limits (see `pinnedHosts.ts`) */
  constructor(session: Session, dispatcher: Dispatcher) {
    this.#session = session;
    this.#dispatcher = dispatcher;
  }

  /** Opens the decrypted file as a stream. A file that the host has deleted is requested from the sender's phone. */
  async download(message: WAMessage): Promise<Readable> {
    try {
      return await this.#open(message);
    } catch (error) {
      if (!(error instanceof GoneError)) throw error;
      return this.#open(await this.#askPhone(message));
    }
  }

  async #open({ message }: WAMessage): Promise<Readable> {
    const { baileys, settings } = this.#session;
    const { content, media } = parseContent(baileys, message ?? {}) ?? {};
    const keyType = content && KEY_TYPES[content.type];
    const file = media?.file;
    if (file === undefined || keyType === undefined) throw new Error('the message does not say what its file is');
    const { cipherKey, iv, macKey } = await baileys.getMediaKeys(file.mediaKey, keyType);
    if (!macKey) throw new Error('the file has no key');
    const { statusCode, body } = await request(`https://${settings.mediaHost}${file.directPath}`, {
      headers: { origin: baileys.DEFAULT_ORIGIN },
      dispatcher: this.#dispatcher,
    });
    if (statusCode !== 200) {
      await body.dump().catch(() => {});
      const words = `the host answered ${statusCode}`;
      throw GONE.includes(statusCode) ? new GoneError(words) : new Error(words);
    }
    const decryption = new FileDecryption(file, { cipherKey, iv, macKey });
    // An error on either side ends the other, and the reader gets it.
    pipeline(body, decryption, () => {});
    return decryption;
  }

  async #askPhone(message: WAMessage): Promise<WAMessage> {
    const { link, host } = this.#session;
    if (link.socket === undefined) throw new Error('the session is not connected');
    const answer = link.socket.updateMediaMessage(message);
    return withTimeout(host.clock, PHONE_MS, answer, () => new Error('the phone does not answer'));
  }
}

const MAC_LENGTH = 10;

/**
 * Decrypts a file as a stream: AES-256-CBC, followed by 10 bytes of an HMAC-SHA256 over IV and ciphertext. Fails at the
 * end unless the MAC and both hashes of the message match.
 */
class FileDecryption extends Transform {
  readonly #file: FileReference;
  readonly #decipher;
  readonly #mac;
  readonly #hash = createHash('sha256');
  readonly #encryptedHash = createHash('sha256');
  /** The last bytes so far, which are the MAC at the end. */
  #tail: Buffer = Buffer.alloc(0);

  constructor(file: FileReference, keys: { cipherKey: Uint8Array; iv: Uint8Array; macKey: Uint8Array }) {
    super();
    this.#file = file;
    this.#decipher = createDecipheriv('aes-256-cbc', keys.cipherKey, keys.iv);
    this.#mac = createHmac('sha256', keys.macKey).update(keys.iv);
  }

  override _transform(chunk: Buffer, _: BufferEncoding, done: TransformCallback): void {
    this.#encryptedHash.update(chunk);
    const held = Buffer.concat([this.#tail, chunk]);
    const end = Math.max(0, held.length - MAC_LENGTH);
    const encrypted = held.subarray(0, end);
    this.#tail = held.subarray(end);
    this.#mac.update(encrypted);
    this.#pass(this.#decipher.update(encrypted));
    done();
  }

  override _flush(done: TransformCallback): void {
    try {
      const mac = this.#mac.digest().subarray(0, MAC_LENGTH);
      const isWhole =
        this.#tail.length === MAC_LENGTH &&
        timingSafeEqual(mac, this.#tail) &&
        timingSafeEqual(this.#encryptedHash.digest(), this.#file.encryptedHash);
      if (!isWhole) throw new Error('the file is corrupt or does not match its hash');
      this.#pass(this.#decipher.final());
      if (!timingSafeEqual(this.#hash.digest(), this.#file.hash))
        throw new Error('the file is corrupt or does not match its hash');
      done();
    } catch (error) {
      done(error as Error);
    }
  }

  #pass(content: Buffer): void {
    this.#hash.update(content);
    this.push(content);
  }
}
