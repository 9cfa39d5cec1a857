import { hash } from 'node:crypto';
import { cacheOf } from '../cache.ts';
import type { Clock } from '../clock.ts';
import type { Database } from '../db/database.ts';
import { Pace } from '../db/pace.ts';
import { query } from '../db/query.ts';
import { AppError } from '../errors.ts';
import type { AppTokens } from './appTokens.ts';
import { CredentialWatches, type Watch } from './credentialWatches.ts';
import { FailureLimit } from './failureLimit.ts';
import { type KeyScope, limitNames, readScope, scopeOf } from './keyScope.ts';
import { cookieToken } from './loginCookie.ts';
import type { Permission } from './permissions.ts';
import { hashApiKey, keyIdOf, type LoginTokens, sameHash } from './tokens.ts';

export interface Caller {
  readonly accountId: string;
  readonly credential: Credential;
}

/** Returns the id of the caller's API key; null for a login. */
export function callerKeyId({ caller: { credential } }: { readonly caller: Caller }): string | null {
  return credential.type === 'api_key' ? credential.keyId : null;
}

export type Credential =
  | { readonly type: 'jwt'; readonly permissions: readonly ['*'] }
  | {
      readonly type: 'api_key';
      readonly keyId: string;
      readonly permissions: readonly string[];
      /** Undefined if the key has no limits. */
      readonly scope?: KeyScope | undefined;
      /** Whether it is an access token of a connected app, which only the MCP endpoint accepts. */
      readonly isAppToken?: true;
    };

/** `cookie` is the dashboard's login. The deprecated `x-api-key` and `query` get a `Deprecation` header. */
export type CredentialForm = 'bearer' | 'cookie' | 'x-api-key' | 'query';

export interface Presented {
  readonly form: CredentialForm;
  readonly value: string;
}

/** How long a lookup is cached, and so how long a revoked key may still work on a node that missed the signal. */
const REMEMBERED_MS = 5000;
const REMEMBERED = 10_000;
const LAST_USE_EVERY_MS = 10_000;
const ADVICE = 'send the header `Authorization: Bearer <API key or login token>`';

/**
 * Finds the credential of a request: `Authorization: Bearer`, then `X-API-Key`, then `?key=`. The contract prefers the
 * first and keeps the others for compatibility ("Authentication", 2 to 4). The dashboard uses its cookie.
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
  return token === undefined ? undefined : { form: 'cookie', value: token };
}

const LEGACY: readonly CredentialForm[] = ['x-api-key', 'query'];
/** By the setting QUERY_KEY_AUTH. */
const ACCEPTED: Readonly<Record<'on' | 'header' | 'off', readonly CredentialForm[]>> = {
  on: LEGACY,
  header: ['x-api-key'],
  off: [],
};

/** Forms that accept only API keys. */
export function isLegacy({ form }: Pick<Presented, 'form'>): boolean {
  return LEGACY.includes(form);
}

interface AuthenticatorDeps {
  readonly database: Database;
  readonly tokens: LoginTokens;
  readonly clock: Clock;
  /** Whether `X-API-Key` and `?key=` are accepted. */
  readonly legacyForms: 'on' | 'header' | 'off';
  /** Wrong credentials that one address may present per minute; 0 for no limit. */
  readonly failuresPerMinute: number;
  /** Undefined unless OAuth is on. */
  readonly appTokens?: AppTokens | undefined;
  /** Notifies the other nodes that a credential of this account changed. */
  readonly announce: (accountId: string) => void;
}

interface Found {
  readonly caller: Caller;
  readonly expiresAt: number;
}

/** Authenticates callers, and ends waiting calls whose credential has ended. */
export class Authenticator {
  readonly #deps: AuthenticatorDeps;
  // Keyed by hash, so that no credential stays in memory longer than its request.
  readonly #remembered = cacheOf<Found & { readonly until: number }>(REMEMBERED);
  readonly #failures: FailureLimit;
  readonly #watches: CredentialWatches;
  readonly #lastUses = new Map<string, { accountId: string; at: number }>();
  #cancelRecording = () => {};
  #recording: Promise<void> = Promise.resolve();
  /** Incremented when credentials change: a lookup that began earlier may have read the old state. */
  #generation = 0;

  constructor(deps: AuthenticatorDeps) {
    this.#deps = deps;
    this.#failures = new FailureLimit(deps.failuresPerMinute, deps.clock);
    this.#watches = new CredentialWatches(async (value) => {
      const { caller, expiresAt } = await this.#find({ form: 'bearer', value }, hashOf({ value }));
      return { permissions: caller.credential.permissions, scope: scopeOf(caller), expiresAt };
    }, deps.clock);
  }

  /** @throws {AppError} `unauthorized`, `rate_limited` */
  async authenticate(presented: Presented | undefined, address: string): Promise<Caller> {
    if (presented === undefined)
      throw new AppError('unauthorized', `The request has no API key and no login token; ${ADVICE}`);
    if (isLegacy(presented) && !ACCEPTED[this.#deps.legacyForms].includes(presented.form))
      throw new AppError('unauthorized', `This server does not accept this form of credential; ${ADVICE}`);
    const digest = hashOf(presented);
    const { caller } = await this.#failures.limit(address, digest, () => this.#find(presented, digest));
    if (caller.credential.type === 'api_key') {
      this.#lastUses.set(caller.credential.keyId, { accountId: caller.accountId, at: this.#deps.clock.now() });
    }
    return caller;
  }

  /** Accepts a new credential even from an address that is throttled for wrong ones. */
  made(value: string): void {
    this.#failures.prove(hashOf({ value }));
  }

  watch(caller: Caller, credential: string, permission: Permission | null): Watch {
    return this.#watches.open(caller, credential, permission);
  }

  /** Applies a change of an account's credentials at once on every node. */
  changed(accountId: string): void {
    this.forget(accountId);
    this.#deps.announce(accountId);
  }

  /** Drops cached credentials and rechecks waiting calls: of an account, or of all if signals may have been missed. */
  forget(accountId?: string): void {
    this.#generation++;
    for (const [key, { caller }] of this.#remembered.entries())
      if (accountId === undefined || caller.accountId === accountId) this.#remembered.delete(key);
    this.#watches.check(accountId);
  }

  start(): void {
    this.#cancelRecording = this.#deps.clock.after(LAST_USE_EVERY_MS, () => {
      // A lost "last used" is not worth an error: the next use writes it again.
      this.#recording = this.#recordLastUses().catch(() => {});
      this.start();
    });
  }

  async stop(): Promise<void> {
    this.#cancelRecording();
    await this.#recording;
    await this.#recordLastUses().catch(() => {});
  }

  /** @throws {AppError} `unauthorized` */
  async #find(presented: Presented, digest: string): Promise<Found> {
    const now = this.#deps.clock.now();
    const elapsed = this.#deps.clock.elapsed();
    // A login token accepted as Bearer is not accepted in any other form.
    const key = `${presented.form} ${digest}`;
    const known = this.#remembered.get(key);
    if (known !== undefined && known.until > elapsed && known.expiresAt > now) return known;
    const begunAt = this.#generation;
    const found = await this.#lookUp(presented, now);
    if (found === undefined) throw new AppError('unauthorized', 'The credential is unknown, revoked or expired');
    const until = elapsed + REMEMBERED_MS;
    if (begunAt === this.#generation) this.#remembered.set(key, { ...found, until });
    return found;
  }

  async #lookUp({ form, value }: Presented, now: number): Promise<Found | undefined> {
    const keyId = keyIdOf(value);
    if (keyId !== undefined && form !== 'cookie') return this.#lookUpKey(keyId, value, now);
    if (form === 'bearer' && isOpaque(value)) return this.#deps.appTokens?.find(value, now);
    return isLegacy({ form }) ? undefined : this.#lookUpToken(value);
  }

  async #lookUpKey(keyId: string, key: string, now: number): Promise<Found | undefined> {
    const row = await findKey.first(this.#deps.database.reader, { keyId });
    if (row === undefined || !sameHash(row.key_hash, hashApiKey(key))) return undefined;
    const expiresAt = row.expires_at ?? Number.POSITIVE_INFINITY;
    if (expiresAt <= now) return undefined;
    const permissions: string[] = JSON.parse(row.permissions);
    const credential: Credential = { type: 'api_key', keyId, permissions, scope: readScope(row) };
    return { caller: { accountId: row.account_id, credential }, expiresAt };
  }

  async #lookUpToken(token: string): Promise<Found | undefined> {
    const claims = await this.#deps.tokens.verify(token);
    if (claims === undefined) return undefined;
    const account = await findTokenVersion.first(this.#deps.database.reader, claims);
    if (account?.token_version !== claims.version) return undefined;
    const caller: Caller = { accountId: claims.accountId, credential: { type: 'jwt', permissions: ['*'] } };
    return { caller, expiresAt: claims.expiresAt };
  }

  async #recordLastUses(): Promise<void> {
    if (this.#lastUses.size === 0) return;
    const uses = [...this.#lastUses];
    this.#lastUses.clear();
    await new Pace().inSlices(this.#deps.database.commit, uses, async (tx, slice) => {
      for (const [keyId, { accountId, at }] of slice) await recordLastUse.run(tx, { accountId, keyId, at });
      return slice.length;
    });
  }
}

/** Login tokens have dots, access tokens of apps have none. */
const isOpaque = (value: string) => !value.includes('.');

const hashOf = ({ value }: Pick<Presented, 'value'>) => hash('sha256', value, 'base64');

const findKey = query((db, p: { keyId: string }) =>
  db
    .selectFrom('api_keys')
    .select(['account_id', 'permissions', 'key_hash', 'expires_at', ...limitNames])
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
