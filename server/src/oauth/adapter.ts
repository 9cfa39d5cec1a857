import { type Adapter, type AdapterPayload, errors } from 'oidc-provider';
import type { KeyChanges } from '../auth/keyChanges.ts';
import { includes } from '../auth/permissions.ts';
import type { Clock } from '../clock.ts';
import type { OAuthModel } from '../db/tables/accounts.ts';
import { type Connection, type OAuthRecords, TokensEndedError } from './records.ts';

const MODELS: readonly string[] = [
  'AccessToken',
  'AuthorizationCode',
  'RefreshToken',
  'Client',
  'Interaction',
  'Session',
] satisfies OAuthModel[];

const TOKENS: readonly string[] = ['AccessToken', 'RefreshToken'] satisfies OAuthModel[];

interface AdapterDeps {
  readonly records: OAuthRecords;
  /** The URL for which a grant is valid. */
  readonly resource: string;
  readonly keyChanges: KeyChanges;
  readonly clock: Clock;
}

/** The storage of `oidc-provider`. A grant is the API key that stands for the app, and has no record of its own. */
export class OAuthAdapter implements Adapter {
  readonly #name: string;
  readonly #deps: AdapterDeps;

  constructor(name: string, deps: AdapterDeps) {
    this.#name = name;
    this.#deps = deps;
  }

  async upsert(id: string, payload: AdapterPayload, expiresInSeconds = 0): Promise<void> {
    const { records } = this.#deps;
    const record = [this.#model, id, { ...payload }, expiresInSeconds * 1000] as const;
    if (!TOKENS.includes(this.#name)) return records.put(...record);
    try {
      await records.issue(...record);
    } catch (error) {
      if (error instanceof TokensEndedError) throw new errors.InvalidGrant('the tokens of the app have ended');
      throw error;
    }
  }

  async find(id: string): Promise<AdapterPayload | undefined> {
    const { records, resource, clock } = this.#deps;
    if (this.#name !== 'Grant') {
      const found = await records.find(this.#model, id);
      // The library recognizes the reuse only of what has not expired.
      if (found?.['consumed'] !== undefined && typeof found['grantId'] === 'string' && this.#name !== 'Interaction')
        await this.revokeByGrantId(found['grantId']);
      return this.#withGranted(found);
    }
    const connection = await records.connection(id);
    return connection && grantOf(connection, resource, clock.now());
  }

  /** Sessions are found by their cookie, which this server never reads, and devices have no codes. */
  async findByUid(): Promise<undefined> {}
  async findByUserCode(): Promise<undefined> {}

  /**
   * Uses up a code or refresh token.
   * @throws {errors.InvalidGrant} another request was faster. That request can be a thief's, so its tokens end, too.
   */
  async consume(id: string): Promise<void> {
    if (await this.#deps.records.consume(this.#model, id)) return;
    await this.find(id); // ends the tokens of a record that is used up
    throw new errors.InvalidGrant('it was used at the same time');
  }

  async destroy(id: string): Promise<void> {
    const { records, keyChanges } = this.#deps;
    if (this.#name !== 'Grant') return records.remove(this.#model, id);
    const accountId = await records.disconnect(id);
    if (accountId !== undefined) await keyChanges.changed(accountId, id);
  }

  async revokeByGrantId(keyId: string): Promise<void> {
    const { records, keyChanges } = this.#deps;
    await records.removeTokens(keyId);
    const connection = await records.connection(keyId);
    if (connection !== undefined) await keyChanges.tokensEnded(connection.accountId, keyId);
  }

  /**
   * A refresh token gives what is granted now, which can be more than when the app was connected. The library leaves
   * out what is no longer granted, and tells the app (RFC 6749, section 3.3).
   */
  async #withGranted(found: AdapterPayload | undefined): Promise<AdapterPayload | undefined> {
    if (found?.grantId === undefined || this.#name !== 'RefreshToken') return found;
    const { permissions = [] } = (await this.#deps.records.connection(found.grantId)) ?? {};
    const named = permissions.filter((one) => !permissions.some((other) => includes(other, one)));
    return { ...found, scope: [...new Set([...(found.scope ?? '').split(' '), ...named])].join(' ').trim() };
  }

  get #model(): OAuthModel {
    if (!MODELS.includes(this.#name)) throw new Error(`no records of the model ${this.#name} are expected`);
    return this.#name as OAuthModel; // one of the list
  }
}

/** A grant without an expiry needs one for the library. Every request reads it again. */
const GRANT_SECONDS = 24 * 60 * 60;

function grantOf(connection: Connection, resource: string, now: number): AdapterPayload {
  const { keyId, accountId, clientId, permissions, createdAt, expiresAt } = connection;
  const secondsOf = (ms: number) => Math.floor(ms / 1000);
  return {
    kind: 'Grant',
    jti: keyId,
    accountId,
    clientId,
    resources: { [resource]: permissions.join(' ') },
    iat: secondsOf(createdAt),
    exp: expiresAt === null ? secondsOf(now) + GRANT_SECONDS : secondsOf(expiresAt),
  };
}
