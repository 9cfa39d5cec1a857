import type { proto } from 'baileys';
import { request } from 'undici';
import { decrypt, GoneError } from '../inbound/incomingFile.ts';
import type { Session } from '../session.ts';
import { HistoryError } from './fieldStream.ts';

/** Compressed. The dispatcher has the same limit for the encrypted file. */
const MAX_BYTES = 64 * 1024 * 1024;
const KEY_BYTES = 32;
const GONE: readonly number[] = [404, 410];

/**
 * Returns a part of the history, compressed.
 * @throws {HistoryError} if it is gone or damaged: another attempt would not help
 */
export async function fetchPart(
  session: Session,
  { initialHistBootstrapInlinePayload: inline, ...file }: proto.Message.IHistorySyncNotification,
): Promise<Uint8Array> {
  if (inline && inline.length > 0) return inline;
  try {
    return await download(session, file);
  } catch (error) {
    if (error instanceof GoneError)
      throw new HistoryError('the phone has announced a part of the history that WhatsApp no longer has');
    throw error;
  }
}

async function download(
  { baileys, settings, ownFiles }: Session,
  { directPath, mediaKey, fileSha256, fileEncSha256 }: proto.Message.IHistorySyncNotification,
): Promise<Buffer> {
  const hasKeys = [mediaKey, fileSha256, fileEncSha256].every((bytes) => bytes?.length === KEY_BYTES);
  // The path must not extend the host name, as `@example.com/` would.
  if (!hasKeys || !mediaKey || !fileSha256 || !fileEncSha256 || !directPath || !/^\/[!-[\]-~]*$/.test(directPath))
    throw new HistoryError('the phone has announced a part of the history incompletely');
  const keyType = 'md-msg-hist';
  const { cipherKey, iv, macKey } = await baileys.getMediaKeys(mediaKey, keyType);
  if (!macKey) throw new HistoryError('a part of the history has no key');
  const { statusCode, body } = await request(`https://${settings.whatsappMediaHost}${directPath}`, {
    headers: { origin: baileys.DEFAULT_ORIGIN },
    dispatcher: ownFiles,
  });
  if (statusCode !== 200) {
    await body.dump().catch(() => {});
    const message = `the host answered ${statusCode}`;
    throw GONE.includes(statusCode) ? new GoneError(message) : new Error(message);
  }
  let bytes = 0;
  let broken: unknown;
  async function* received(): AsyncGenerator<Buffer> {
    try {
      for await (const chunk of body) {
        bytes += chunk.length;
        if (bytes > MAX_BYTES) throw new HistoryError('a part of the history is too large');
        yield chunk;
      }
    } catch (error) {
      broken = error;
      throw error;
    }
  }
  const reference = { directPath, mediaKey, keyType, hash: fileSha256, encryptedHash: fileEncSha256 } as const;
  const pieces: Buffer[] = [];
  try {
    for await (const piece of decrypt(received(), reference, { cipherKey, iv, macKey })) pieces.push(piece);
  } catch (error) {
    // An interrupted download may succeed later.
    if (error === broken) throw error;
    throw new HistoryError('a part of the history is damaged or does not match its hash', { cause: error });
  }
  return Buffer.concat(pieces);
}
