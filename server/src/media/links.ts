import { createHmac, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Clock } from '../clock.ts';
import type { Database } from '../db/database.ts';
import { query } from '../db/query.ts';
import type { MediaTable } from '../db/schema.ts';
import { AppError } from '../errors.ts';

/** Lifetime limits of a link in seconds. The maximum is S3's for presigned URLs. */
export const LINK_SECONDS = { least: 60, usual: 3600, most: 7 * 86_400 } as const;

interface Claims {
  readonly accountId: string;
  readonly mediaId: string;
  /** Seconds since the epoch. */
  readonly expires: number;
  /** API key that made the link; empty for a login or the server. The link ends with it. */
  readonly keyId: string;
  /** Whether browsers must save the file instead of showing it. */
  readonly isDownload: boolean;
  /** Webhook that delivered the link; empty for other links. The link ends with it. */
  readonly webhookId: string;
}

export interface MadeLink {
  readonly url: string;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}

export interface OpenedLink {
  readonly accountId: string;
  readonly keyId: string | undefined;
  readonly isDownload: boolean;
  readonly file: MediaTable;
}

type NewLink = Pick<Claims, 'mediaId'> & {
  readonly lifetimeMs: number;
  readonly isDownload?: boolean;
  readonly webhookId?: string;
};

interface Options {
  /** The server secret, which all nodes share. */
  readonly secret: string;
  readonly database: Database;
  readonly clock: Clock;
  /** Undefined if it is not configured. */
  readonly publicUrl: URL | undefined;
}

/**
 * Signed links to files, like the presigned URLs of S3: they download the file without a credential until they expire.
 * Nothing is stored for a link. Its signature is an HMAC over everything in it, with a key that derives from the server
 * secret, a salt of the account, and the hash of the API key that made it. A new salt revokes all links of the account,
 * and the rotation of an API key revokes the links of that key.
 */
export class MediaLinks {
  readonly #options: Options;
  readonly #key: Buffer;

  constructor(options: Options) {
    this.#options = options;
    this.#key = Buffer.from(hkdfSync('sha256', options.secret, '', 'switchboard: links to files', 32));
  }

  /**
   * Returns the function that makes links for an account. It reads the salts once, for any number of links.
   * @param keyId API key that makes the links; undefined for a login or the server
   */
  async maker(accountId: string, keyId = ''): Promise<(link: NewLink) => MadeLink> {
    const { database, clock } = this.#options;
    const salt = (await saltOf.first(database.reader, { accountId, keyId })) ?? NO_SALT;
    return ({ mediaId, lifetimeMs, isDownload = false, webhookId = '' }) => {
      // Rounded up, so that a link never lives shorter than it says.
      const expires = Math.ceil((clock.now() + lifetimeMs) / 1000);
      const claims = { accountId, mediaId, expires, keyId, isDownload, webhookId };
      const token = `${textOf(claims)}.${this.#sign(claims, salt).toString('base64url')}`;
      return { url: this.#urlOf(mediaId, token), expiresAt: expires * 1000 };
    };
  }

  /**
   * Returns the file of a link. A link of another account, to a deleted file, or with a wrong signature gets the same
   * error, so that nobody learns which files exist. Expired links are refused first, even if they were never valid.
   * @throws {AppError} `link_invalid`
   */
  async open(mediaId: string, token: string): Promise<OpenedLink> {
    const { database, clock } = this.#options;
    const read = readToken(mediaId, token);
    if (read === undefined) throw new AppError('link_invalid');
    const { claims, signature } = read;
    if (claims.expires * 1000 <= clock.now()) throw new AppError('link_invalid', 'The link has expired');
    const { accountId, keyId, isDownload, webhookId } = claims;
    const salt = await saltOf.first(database.reader, { accountId, keyId });
    const isSigned = timingSafeEqual(signature, this.#sign(claims, salt ?? NO_SALT));
    const file = isSigned ? await fileById.first(database.reader, { accountId, mediaId }) : undefined;
    if (salt === undefined || file === undefined) throw new AppError('link_invalid');
    if (webhookId !== '' && (await webhookById.first(database.reader, { accountId, webhookId })) === undefined)
      throw new AppError('link_invalid');
    return { accountId, keyId: keyId || undefined, isDownload, file };
  }

  /** Revokes all links of an account by giving it another key. */
  async revoke(accountId: string): Promise<void> {
    // Random: a number would repeat itself after a restored backup, and bring revoked links back.
    const salt = randomBytes(16).toString('base64url');
    await this.#options.database.commit((tx) => setSalt.run(tx, { accountId, salt }), accountId);
  }

  #sign(claims: Claims, { link_salt, key_hash }: Salt): Buffer {
    return createHmac('sha256', this.#key)
      .update(`v1\n${claims.mediaId}\n${textOf(claims)}\n${link_salt ?? ''}${key_hash ? `\n${key_hash}` : ''}`)
      .digest();
  }

  #urlOf(mediaId: string, token: string): string {
    const { publicUrl } = this.#options;
    const path = `/api/v1/media/${mediaId}/file?token=${token}`;
    return publicUrl === undefined ? path : new URL(path, publicUrl).href;
  }
}

/** The claims as they are in the token, except for the media id, which is in the path. */
function textOf({ accountId, expires, keyId, isDownload, webhookId }: Claims): string {
  return `${accountId}.${expires}.${keyId}.${isDownload ? 'd' : ''}${webhookId && `.${webhookId}`}`;
}

/** A SHA-256 in base64url has 43 characters. */
const TOKEN = /^([\w-]{1,64})\.(\d{1,12})\.([\w-]{0,64})\.(d?)(?:\.([\w-]{1,64}))?\.([\w-]{43})$/;

/** Whether a link can have this file and token. Others get the same error as unknown links. */
export function isWellFormedLink(mediaId: string, token: unknown): token is string {
  return /^[\w-]{1,64}$/.test(mediaId) && typeof token === 'string' && TOKEN.test(token);
}

function readToken(mediaId: string, token: string): { claims: Claims; signature: Buffer } | undefined {
  const [, accountId = '', expires = '', keyId = '', download = '', webhookId = '', signature = ''] =
    TOKEN.exec(token) ?? [];
  if (accountId === '') return undefined;
  return {
    claims: { accountId, mediaId, expires: Number(expires), keyId, isDownload: download === 'd', webhookId },
    signature: Buffer.from(signature, 'base64url'),
  };
}

interface Salt {
  readonly link_salt: string | null;
  /** Null for a link that no key made. */
  readonly key_hash: string | null;
}

const NO_SALT: Salt = { link_salt: null, key_hash: null };

const saltOf = query((db, p: { accountId: string; keyId: string }) =>
  db
    .selectFrom('accounts')
    .leftJoin('api_keys', (join) =>
      join.onRef('api_keys.account_id', '=', 'accounts.account_id').on('api_keys.key_id', '=', p.keyId),
    )
    .select(['accounts.link_salt', 'api_keys.key_hash'])
    .where('accounts.account_id', '=', p.accountId),
);

const setSalt = query((db, p: { accountId: string; salt: string }) =>
  db.updateTable('accounts').set({ link_salt: p.salt }).where('account_id', '=', p.accountId),
);

const fileById = query((db, p: { accountId: string; mediaId: string }) =>
  db.selectFrom('media').selectAll().where('account_id', '=', p.accountId).where('media_id', '=', p.mediaId),
);

const webhookById = query((db, p: { accountId: string; webhookId: string }) =>
  db
    .selectFrom('webhooks')
    .select('webhook_id')
    .where('account_id', '=', p.accountId)
    .where('webhook_id', '=', p.webhookId),
);
