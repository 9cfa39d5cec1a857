import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { Clock } from '../clock.ts';

const TOKEN_LIFETIME_MS = 12 * 60 * 60 * 1000;
const ISSUER = 'switchboard';
const ACCOUNT_ID = /^[\w-]{1,100}$/;

/** Login tokens: JWT, HS256 (RFC 7519). An account revokes all of its tokens by incrementing `version`. */
export class LoginTokens {
  readonly #key: Uint8Array;
  readonly #clock: Clock;

  constructor(secret: string, clock: Clock) {
    this.#key = new TextEncoder().encode(secret);
    this.#clock = clock;
  }

  /** Issues a token that expires in 12 hours. */
  async issue(accountId: string, version: number): Promise<{ token: string; expiresAt: number }> {
    const { SignJWT } = await import('jose');
    const now = this.#clock.now();
    const expiresAt = now + TOKEN_LIFETIME_MS;
    const token = await new SignJWT({ ver: version })
      .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
      .setIssuer(ISSUER)
      .setSubject(accountId)
      .setIssuedAt(Math.floor(now / 1000))
      .setExpirationTime(Math.floor(expiresAt / 1000))
      .sign(this.#key);
    return { token, expiresAt };
  }

  /** Returns undefined for a token that is forged, malformed or expired. */
  async verify(token: string): Promise<{ accountId: string; version: number; expiresAt: number } | undefined> {
    const { jwtVerify } = await import('jose');
    try {
      const { payload } = await jwtVerify(token, this.#key, {
        algorithms: ['HS256'],
        issuer: ISSUER,
        requiredClaims: ['sub', 'exp', 'ver'],
        currentDate: new Date(this.#clock.now()),
      });
      const { sub, exp, ver } = payload;
      // The secret may be shared with other programs, whose tokens can have claims of any type.
      if (typeof sub !== 'string' || !ACCOUNT_ID.test(sub)) return undefined;
      if (!Number.isSafeInteger(exp) || exp === undefined || !Number.isSafeInteger(ver)) return undefined;
      return { accountId: sub, version: Number(ver), expiresAt: exp * 1000 };
    } catch {
      return undefined;
    }
  }
}

const KEY_PATTERN = /^sb_([0-9A-HJKMNP-TV-Z]{26})_([0-9A-Za-z]{32})([0-9A-Za-z]{6})$/;
const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/**
 * Makes an API key `sb_<id>_<secret><checksum>`: the id finds it, 32 random characters (190 bits) make it secret, and
 * the checksum lets secret scanners recognize it offline.
 */
export function makeApiKey(keyId: string): { key: string; hash: string } {
  const secret = randomBase62(32);
  const body = `sb_${keyId.slice('key_'.length)}_${secret}`;
  const key = body + checksum(body);
  return { key, hash: hashApiKey(key) };
}

/** Returns the id inside a key; undefined if the text is not a key. */
export function keyIdOf(key: string): string | undefined {
  const match = KEY_PATTERN.exec(key);
  if (match === null || checksum(key.slice(0, -6)) !== match[3]) return undefined;
  return `key_${match[1]}`;
}

export function hashApiKey(key: string): string {
  return createHash('sha256').update(key).digest('hex');
}

/** Compares two hashes in constant time. */
export function sameHash(a: string, b: string): boolean {
  return a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b));
}

function checksum(text: string): string {
  let value = crc32(text);
  let digits = '';
  for (let i = 0; i < 6; i++, value = Math.floor(value / 62)) digits = BASE62[value % 62] + digits;
  return digits;
}

function randomBase62(length: number): string {
  let text = '';
  while (text.length < length) {
    // Bytes from 248 on are dropped, because they would make the first characters more likely.
    for (const byte of randomBytes(length)) if (byte < 248 && text.length < length) text += BASE62[byte % 62];
  }
  return text;
}
