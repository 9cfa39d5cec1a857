import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';

export class SealError extends Error {
  override readonly name = 'SealError';
}

const SEALED = 'sealed:v1:';
/** Marks a plain text that starts like a sealed one, because callers choose their secrets freely. */
const PLAIN = 'plain:v1:';
const CIPHER = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/**
 * Encryption at rest of the secrets in rows: webhook secrets, and the data of connectors. AES-256-GCM with a key
 * derived from `ENCRYPTION_KEY`. Without that setting values are stored as plain text, and values from before it was
 * set stay readable.
 *
 * A sealed text is `sealed:v1:` and base64url of nonce (12 bytes), ciphertext and tag (16 bytes). `about` names its
 * place, such as `webhooks/whk_…/secret`. A sealed text cannot be opened in another place, so an attacker who can write
 * to the database but does not have the key cannot use one account's secret for another one.
 */
export class Seal {
  readonly #key: Buffer | undefined;

  /** @param secret of 32 characters or more; empty for no encryption */
  constructor(secret: string) {
    // A secret of that length needs no slow key derivation; HKDF (RFC 5869) gives the key its length and binds it to
    // one purpose.
    this.#key = secret === '' ? undefined : Buffer.from(hkdfSync('sha256', secret, '', 'switchboard seal v1', 32));
  }

  close(text: string, about: string): string {
    if (this.#key === undefined) return isMarked(text) ? PLAIN + text : text;
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv(CIPHER, this.#key, nonce).setAAD(Buffer.from(about));
    const sealed = Buffer.concat([nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]);
    return SEALED + sealed.toString('base64url');
  }

  /** @throws {SealError} if it was sealed with another key or for another place, or is damaged */
  open(stored: string, about: string): string {
    if (stored.startsWith(PLAIN)) return stored.slice(PLAIN.length);
    if (!stored.startsWith(SEALED)) return stored;
    if (this.#key === undefined) throw new SealError(`${about} is encrypted, and ENCRYPTION_KEY is not set`);
    return decrypt(this.#key, Buffer.from(stored.slice(SEALED.length), 'base64url'), about);
  }
}

function isMarked(text: string): boolean {
  return text.startsWith(SEALED) || text.startsWith(PLAIN);
}

function decrypt(key: Buffer, sealed: Buffer, about: string): string {
  try {
    const cipher = createDecipheriv(CIPHER, key, sealed.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES })
      .setAAD(Buffer.from(about))
      .setAuthTag(sealed.subarray(-TAG_BYTES));
    const text = cipher.update(sealed.subarray(NONCE_BYTES, -TAG_BYTES));
    return Buffer.concat([text, cipher.final()]).toString('utf8');
  } catch (cause) {
    throw new SealError(`${about} cannot be decrypted: it was sealed with another ENCRYPTION_KEY, or is damaged`, {
      cause,
    });
  }
}
