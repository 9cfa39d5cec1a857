import { createDecipheriv, createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { PassThrough, pipeline, type Readable } from 'node:stream';
import type { WAMessage } from 'baileys';
import { request } from 'undici';
import { withTimeout } from '../../../async.ts';
import { type FileReference, parseContent } from '../content/incomingContent.ts';
import type { Session } from '../session.ts';

/** A phone that is off does not answer, and Baileys would wait forever. */
const PHONE_MS = 30_000;
const GONE: readonly number[] = [404, 410];
/** The host no longer has the file. */
export class GoneError extends Error {}

export interface FileKeys {
  readonly cipherKey: Uint8Array;
  readonly iv: Uint8Array;
  readonly macKey: Uint8Array;
}

/**
 * A file that the host has deleted is requested from the sender's phone. Baileys is not used for the download: it would
 * contact any host that a message names, follow redirects anywhere, and check neither the MAC nor the hashes.
 */
export async function openIncomingFile(session: Session, message: WAMessage, ask = askPhone): Promise<Readable> {
  try {
    return await download(session, message);
  } catch (error) {
    if (!(error instanceof GoneError)) throw error;
    return download(session, await ask(session, message));
  }
}

async function download({ baileys, settings, files }: Session, { message }: WAMessage): Promise<Readable> {
  const file = parseContent(baileys, message ?? {})?.media?.file;
  if (file === undefined) throw new Error('the message does not say what its file is');
  const { cipherKey, iv, macKey } = await baileys.getMediaKeys(file.mediaKey, file.keyType);
  if (!macKey) throw new Error('the file has no key');
  const { statusCode, body } = await request(`https://${settings.whatsappMediaHost}${file.directPath}`, {
    headers: { origin: baileys.DEFAULT_ORIGIN },
    dispatcher: files,
  });
  if (statusCode !== 200) {
    await body.dump().catch(() => {});
    const message = `the host answered ${statusCode}`;
    throw GONE.includes(statusCode) ? new GoneError(message) : new Error(message);
  }
  const content = new PassThrough();
  // An error on either side ends the other, and the reader gets it.
  pipeline(
    body,
    (encrypted) => decrypt(encrypted, file, { cipherKey, iv, macKey }),
    content,
    () => {},
  );
  return content;
}

/** A file that is not encrypted, because everybody can see it. Untrusted: anybody may own a channel. */
export interface PlainFile {
  /** Begins with a slash. */
  readonly directPath: string;
  /** SHA-256 of the file. */
  readonly hash: Uint8Array;
  readonly mimeType: string;
  readonly size: number;
}

export async function openPlainFile({ baileys, settings, files }: Session, file: PlainFile): Promise<Readable> {
  const { statusCode, body } = await request(`https://${settings.whatsappMediaHost}${file.directPath}`, {
    headers: { origin: baileys.DEFAULT_ORIGIN },
    dispatcher: files,
  });
  if (statusCode !== 200) {
    await body.dump().catch(() => {});
    throw new Error(`the host answered ${statusCode}`);
  }
  const content = new PassThrough();
  pipeline(
    body,
    (plain) => verify(plain, file.hash),
    content,
    () => {},
  );
  return content;
}

/** Fails at the end if the hash differs. */
async function* verify(body: AsyncIterable<Buffer>, wanted: Uint8Array): AsyncGenerator<Buffer> {
  const hash = createHash('sha256');
  for await (const chunk of body) {
    hash.update(chunk);
    yield chunk;
  }
  if (!timingSafeEqual(hash.digest(), wanted)) throw new Error(CORRUPT);
}

/** Returns the message with a file that the phone has uploaded again. */
export async function askPhone({ link, host }: Session, message: WAMessage): Promise<WAMessage> {
  if (link.socket === undefined) throw new Error('the session is not connected');
  const answer = link.socket.updateMediaMessage(message);
  return withTimeout(host.clock, PHONE_MS, answer, () => new Error('the phone does not answer'));
}

const MAC_LENGTH = 10;
const CORRUPT = 'the file is corrupt or does not match its hash';

/** AES-256-CBC, then 10 bytes of an HMAC-SHA256 over IV and ciphertext. Fails at the end if MAC or hashes differ. */
export async function* decrypt(
  body: AsyncIterable<Buffer>,
  file: FileReference,
  keys: FileKeys,
): AsyncGenerator<Buffer> {
  const decipher = createDecipheriv('aes-256-cbc', keys.cipherKey, keys.iv);
  const mac = createHmac('sha256', keys.macKey).update(keys.iv);
  const hash = createHash('sha256');
  const encryptedHash = createHash('sha256');
  // The last bytes so far, which are the MAC at the end.
  let tail: Buffer = Buffer.alloc(0);
  for await (const chunk of body) {
    encryptedHash.update(chunk);
    const held = Buffer.concat([tail, chunk]);
    const end = Math.max(0, held.length - MAC_LENGTH);
    const encrypted = held.subarray(0, end);
    tail = held.subarray(end);
    mac.update(encrypted);
    const content = decipher.update(encrypted);
    hash.update(content);
    yield content;
  }
  const isWhole =
    tail.length === MAC_LENGTH &&
    timingSafeEqual(mac.digest().subarray(0, MAC_LENGTH), tail) &&
    timingSafeEqual(encryptedHash.digest(), file.encryptedHash);
  if (!isWhole) throw new Error(CORRUPT);
  const last = decipher.final();
  if (!timingSafeEqual(hash.update(last).digest(), file.hash)) throw new Error(CORRUPT);
  yield last;
}
