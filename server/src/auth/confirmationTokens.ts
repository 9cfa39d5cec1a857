import { hkdfSync } from 'node:crypto';
import type { Clock } from '../clock.ts';

/** How long a person has to answer. */
const LIFETIME_MS = 10 * 60 * 1000;

export interface ConfirmationToken {
  /** Unique, so that it can be used once. */
  readonly id: string;
  readonly expiresAt: number;
}

/**
 * Tokens that stand for a question to the user of a key: JWT, HS256 (RFC 7519), signed with a key of their own. A token
 * is bound to one subject, the digest of the caller, the call and the question, and says nothing about it.
 */
export class ConfirmationTokens {
  readonly #key: Uint8Array;
  readonly #clock: Clock;

  constructor(secret: string, clock: Clock) {
    this.#key = new Uint8Array(hkdfSync('sha256', secret, '', 'switchboard: confirmations of calls', 32));
    this.#clock = clock;
  }

  async issue(id: string, subject: string): Promise<{ token: string; expiresAt: number }> {
    const { SignJWT } = await import('jose');
    const expiresAt = Math.floor((this.#clock.now() + LIFETIME_MS) / 1000) * 1000;
    const token = await new SignJWT({})
      .setProtectedHeader({ alg: 'HS256' })
      .setJti(id)
      .setSubject(subject)
      .setExpirationTime(expiresAt / 1000)
      .sign(this.#key);
    return { token, expiresAt };
  }

  /** Returns undefined for a token that is forged, malformed, expired, or bound to another subject. */
  async verify(token: string, subject: string): Promise<ConfirmationToken | undefined> {
    const { jwtVerify } = await import('jose');
    try {
      const { payload } = await jwtVerify(token, this.#key, {
        algorithms: ['HS256'],
        subject,
        requiredClaims: ['jti', 'exp'],
        currentDate: new Date(this.#clock.now()),
      });
      const { jti: id, exp } = payload;
      return id === undefined || exp === undefined ? undefined : { id, expiresAt: exp * 1000 };
    } catch {
      return undefined;
    }
  }
}
