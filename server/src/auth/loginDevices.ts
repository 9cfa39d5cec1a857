import { createHmac, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto';

/**
 * Devices that logged in to an account, recognized by a token that their browser keeps ("device cookies", OWASP). A
 * device has its own limit of failed logins, so that strangers cannot lock the owner out, not even from the same
 * address. The token gives no access, and nothing is stored on the server.
 */
export class LoginDevices {
  readonly #key: Buffer;

  constructor(secret: string) {
    this.#key = Buffer.from(hkdfSync('sha256', secret, '', 'switchboard: devices that logged in', 32));
  }

  issue(email: string): string {
    const id = randomBytes(16).toString('base64url');
    return `${id}.${this.#mac(id, email).toString('base64url')}`;
  }

  /** Returns the id of the device; undefined unless the token was issued for this email. */
  recognize(email: string, token: string | undefined): string | undefined {
    const [, id = '', mac = ''] = /^([\w-]{22})\.([\w-]{43})$/.exec(token ?? '') ?? [];
    if (id === '') return undefined;
    return timingSafeEqual(Buffer.from(mac, 'base64url'), this.#mac(id, email)) ? id : undefined;
  }

  #mac(id: string, email: string): Buffer {
    return createHmac('sha256', this.#key).update(`${id}\n${email}`).digest();
  }
}
