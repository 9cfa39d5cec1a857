import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Clock } from '../clock.ts';
import type { Database } from '../db/database.ts';
import { query } from '../db/query.ts';
import { AppError } from '../errors.ts';
import { cookieToken } from './loginCookie.ts';
import { hashApiKey, keyIdOf, type LoginTokens, sameHash } from './tokens.ts';

/** Who calls, and what the credential lets them do. */
export interface Caller {
  readonly accountId: string;
  readonly credential: Credential;
}

export type Credential =
  | { readonly type: 'jwt'; readonly permissions: readonly ['*'] }
  | { readonly type: 'api_key'; readonly keyId: string; readonly permissions: readonly string[] };

/**
 * How the credential came: the dashboard's login by its cookie; `x-api-key` and `query` are kept for compatibility and
 * answered with a `Deprecation` header.
 */
export type CredentialForm = 'bearer' | 'cookie' | 'x-api-key' | 'query';

export interface Presented {
  readonly form: CredentialForm;
  readonly value: string;
}

export interface Authenticator {
  /** @throws {AppError} `unauthorized` */
  authenticate(presented: Presented | undefined): Promise<Caller>;
  /** Drops what is remembered of an account's credentials, after one of them was changed. */
  forget(accountId: string): void;
  start(): void;
  stop(): Promise<void>;
}

/** A credential is looked up once in this time: how long a revoked key may still work on another node. */
const REMEMBERED_MS = 5000;
const REMEMBERED = 10_000;
const LAST_USE_EVERY_MS = 10_000;

/**
 * Finds the credential of a request: `Authorization: Bearer`, then `X-API-Key`, then `?key=`. The contract prefers
 * the first and keeps the others for compatibility ("Authentication", 2 to 4). The dashboard has its cookie.
 */
export function presentedCredential(
  headers: Readonly<Record<string, string | string[] | undefined>>,
  queryKey: unknown,
): Presented | undefined {
  const bearer = /^Bearer +(\S+) *$/i.exec(String(headers['authorization'] ?? ''))?.[1];
  if (bearer !== undefined) return { form: 'bearer', value: bearer };
  const legacy = headers['x-api-key'];
  if (typeof legacy === 'string' && legacy !== '') return { form: 'x-api-key', value: legacy };
  if (typeof queryKey === 'string' && queryKey !== '') return { form: 'query', value: queryKey };
  const token = cookieToken(headers);
  if (token !== undefined) return { form: 'cookie', value: token };
  return undefined;
}

/** Forms that only API keys come in. */
export function isLegacy({ form }: Pick<Presented, 'form'>): boolean {
  return form === 'x-api-key' || form === 'query';
}

export function createAuthenticator({
  database,
  tokens,
  clock,
  legacyForms,
}: {
  database: Database;
  tokens: LoginTokens;
  clock: Clock;
  /** Whether `X-API-Key` and `?key=` are taken. */
  legacyForms: boolean;
}): Authenticator {
  // By hash, so that no credential lies in memory longer than its request.
  const remembered = new LRUCache<string, { caller: Caller; until: number }>({ max: REMEMBERED });
  const lastUses = new Map<string, { accountId: string; at: number }>();
  let cancelRecording = () => {};
  /** Raised by `forget`: a lookup that began before may have read what has been changed since. */
  let generation = 0;

  async function authenticate(presented: Presented | undefined): Promise<Caller> {
    if (presented === undefined)
      throw new AppError('unauthorized', 'Send a credential: Authorization: Bearer <JWT or API key>');
    if (isLegacy(presented) && !legacyForms) {
      throw new AppError(
        'unauthorized',
        'This server takes credentials only as Authorization: Bearer <JWT or API key>',
      );
    }
    const hash = createHash('sha256').update(presented.value).digest('base64');
    const now = clock.now();
    // What is remembered came as Bearer perhaps; a login token is taken in no other form.
    const known = remembered.get(`${presented.form} ${hash}`);
    const caller = known !== undefined && known.until > now ? known.caller : await lookUp(presented, hash, now);
    if (caller.credential.type === 'api_key') {
      lastUses.set(caller.credential.keyId, { accountId: caller.accountId, at: now });
    }
    return caller;
  }

  async function lookUp({ form, value }: Presented, hash: string, now: number): Promise<Caller> {
    const keyId = keyIdOf(value);
    const begunAt = generation;
    const found =
      keyId !== undefined && form !== 'cookie'
        ? await lookUpKey(keyId, value, now)
        : isLegacy({ form })
          ? undefined
          : await lookUpToken(value);
    if (found === undefined) throw new AppError('unauthorized', 'The credential is unknown, revoked or expired');
    const until = Math.min(now + REMEMBERED_MS, found.expiresAt);
    if (begunAt === generation) remembered.set(`${form} ${hash}`, { caller: found.caller, until });
    return found.caller;
  }

  async function lookUpKey(keyId: string, key: string, now: number) {
    const row = await findKey.first(database.reader, { keyId });
    if (row === undefined || !sameHash(row.key_hash, hashApiKey(key))) return undefined;
    const expiresAt = row.expires_at ?? Number.POSITIVE_INFINITY;
    if (expiresAt <= now) return undefined;
    const permissions: string[] = JSON.parse(row.permissions);
    const caller: Caller = { accountId: row.account_id, credential: { type: 'api_key', keyId, permissions } };
    return { caller, expiresAt };
  }

  async function lookUpToken(token: string) {
    const claims = await tokens.verify(token);
    if (claims === undefined) return undefined;
    const account = await findTokenVersion.first(database.reader, claims);
    if (account?.token_version !== claims.version) return undefined;
    const caller: Caller = { accountId: claims.accountId, credential: { type: 'jwt', permissions: ['*'] } };
    return { caller, expiresAt: claims.expiresAt };
  }

  async function recordLastUses(): Promise<void> {
    if (lastUses.size === 0) return;
    const uses = [...lastUses];
    lastUses.clear();
    await database.commit(async (tx) => {
      for (const [keyId, { accountId, at }] of uses) await recordLastUse.run(tx, { accountId, keyId, at });
    });
  }

  function schedule(): void {
    cancelRecording = clock.after(LAST_USE_EVERY_MS, () => {
      // Losing a "last used" is not worth an error: the next use writes it again.
      recordLastUses().catch(() => {});
      schedule();
    });
  }

  return {
    authenticate,
    forget(accountId) {
      generation++;
      for (const [hash, { caller }] of remembered.entries())
        if (caller.accountId === accountId) remembered.delete(hash);
    },
    start: schedule,
    async stop() {
      cancelRecording();
      await recordLastUses().catch(() => {});
    },
  };
}

const findKey = query((db, p: { keyId: string }) =>
  db
    .selectFrom('api_keys')
    .select(['account_id', 'permissions', 'key_hash', 'expires_at'])
    .where('key_id', '=', p.keyId),
);

const findTokenVersion = query((db, p: { accountId: string }) =>
  db.selectFrom('accounts').select('token_version').where('account_id', '=', p.accountId),
);

const recordLastUse = query((db, p: { accountId: string; keyId: string; at: number }) =>
  db
    .updateTable('api_keys')
    .set({ last_used_at: p.at })
    .where('account_id', '=', p.accountId)
    .where('key_id', '=', p.keyId),
);
