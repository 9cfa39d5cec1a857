import { sql } from 'kysely';
import { recordIdOf } from '../auth/appTokens.ts';
import { deleteKey } from '../auth/keyChanges.ts';
import { allows, permissions as allPermissions } from '../auth/permissions.ts';
import type { Clock } from '../clock.ts';
import type { Tx } from '../db/commit.ts';
import type { Database } from '../db/database.ts';
import { FIRST_ROWS } from '../db/pace.ts';
import type { OAuthModel } from '../db/tables/accounts.ts';
import type { Cleaning } from '../jobs/cleaning.ts';

/** The fields that the OAuth server stores with a code, a token, a request or a client. */
export type Payload = Readonly<Record<string, unknown>>;

/** A key that stands for an app, as the OAuth server sees it. */
export interface Connection {
  readonly keyId: string;
  readonly accountId: string;
  readonly clientId: string;
  /** The permissions that its scopes can name. */
  readonly permissions: readonly string[];
  readonly createdAt: number;
  readonly expiresAt: number | null;
}

/** A registered client that no account has connected is forgotten after this time. */
const UNUSED_CLIENT_MS = 24 * 60 * 60 * 1000;
/** Clients that nobody has connected, and requests that nobody has answered: the oldest make room for new ones. */
const MAX_WAITING = 5000;
/** Codes and tokens of one connected app. The oldest that are used up go first. */
const MAX_TOKENS = 500;
const CLEANUP_INTERVAL = 100;
/** Longest life of an access token, in milliseconds; see `LONE_ACCESS_TOKEN_SECONDS`. */
const SPENT_MS = 60 * 60 * 1000;

/** The rows of the OAuth server. All nodes share them. */
export class OAuthRecords {
  readonly #database: Database;
  readonly #clock: Clock;
  #written = 0;

  constructor(database: Database, clock: Clock) {
    this.#database = database;
    this.#clock = clock;
  }

  /** @param expiresInMs ignored for clients */
  put(model: OAuthModel, id: string, payload: Payload, expiresInMs: number): Promise<void> {
    return this.#put(model, id, payload, expiresInMs, async () => {});
  }

  /**
   * Stores a token that is issued for a code or refresh token.
   * @throws {TokensEndedError} the tokens of the app have ended since
   */
  issue(model: OAuthModel, id: string, payload: Payload, expiresInMs: number): Promise<void> {
    return this.#put(model, id, payload, expiresInMs, requireLiveGrant);
  }

  async #put(
    model: OAuthModel,
    id: string,
    payload: Payload,
    expiresInMs: number,
    check: (tx: Tx, keyId: string) => Promise<void>,
  ): Promise<void> {
    const { jti: _, grantId, ...rest } = payload;
    const now = this.#clock.now();
    const keyId = typeof grantId === 'string' ? grantId : null;
    const row = {
      payload: JSON.stringify(withoutId(rest, id)),
      expires_at: now + (model === 'Client' ? UNUSED_CLIENT_MS : expiresInMs),
      key_id: keyId,
    };
    const isCleanup = this.#written++ % CLEANUP_INTERVAL === 0;
    await this.#database.commit(async (tx) => {
      if (keyId !== null) await check(tx, keyId);
      await tx.kysely
        .insertInto('oauth_records')
        .values({ ...row, model, record_id: nameOf(model, id), created_at: now, consumed_at: null })
        .onConflict((conflict) => conflict.columns(['model', 'record_id']).doUpdateSet(row))
        .execute();
      if (keyId !== null) await trimTokens(tx, keyId);
      if (!isCleanup) return;
      await deleteExpired(tx, now, FIRST_ROWS);
      await trimWaiting(tx);
    });
  }

  /** Undefined for an expired record, and for a client that expired before anybody connected it. */
  async find(model: OAuthModel, id: string): Promise<Payload | undefined> {
    const row = await this.#database.reader.kysely
      .selectFrom('oauth_records')
      .select(['payload', 'key_id', 'consumed_at'])
      .where('model', '=', model)
      .where('record_id', '=', nameOf(model, id))
      .where((eb) => eb.or([eb('expires_at', '>', this.#clock.now()), ...(model === 'Client' ? [isConnected] : [])]))
      .executeTakeFirst();
    if (row === undefined) return undefined;
    return {
      ...withId(JSON.parse(row.payload), id),
      ...(model !== 'Client' && { jti: id }),
      ...(row.key_id !== null && { grantId: row.key_id }),
      ...(row.consumed_at !== null && { consumed: Math.floor(row.consumed_at / 1000) }),
    };
  }

  /** @returns whether this call used it up, which exactly one of several at the same time does */
  async consume(model: OAuthModel, id: string): Promise<boolean> {
    const now = this.#clock.now();
    // Kept for as long as its access tokens live, so that its reuse ends them.
    const until = now + SPENT_MS;
    const { numUpdatedRows } = await this.#database.commit(({ kysely }) =>
      kysely
        .updateTable('oauth_records')
        .set({
          consumed_at: now,
          expires_at: sql<number>`case when expires_at < ${until} then ${until} else expires_at end`,
        })
        .where('model', '=', model)
        .where('record_id', '=', nameOf(model, id))
        .where('consumed_at', 'is', null)
        .executeTakeFirstOrThrow(),
    );
    return numUpdatedRows > 0n;
  }

  async remove(model: OAuthModel, id: string): Promise<void> {
    await this.#database.commit(({ kysely }) =>
      kysely
        .deleteFrom('oauth_records')
        .where('model', '=', model)
        .where('record_id', '=', nameOf(model, id))
        .execute(),
    );
  }

  /** Ends all codes and tokens of an app, which stays connected until a person revokes it. */
  async removeTokens(keyId: string): Promise<void> {
    await this.#database.commit(async (tx) => {
      await lockKey(tx, keyId);
      await removeAllOf(tx, keyId);
    });
  }

  /** Removes an app that has disconnected itself. @returns its account; undefined if there was no such app */
  async disconnect(keyId: string): Promise<string | undefined> {
    const connection = await this.connection(keyId);
    if (connection === undefined) return undefined;
    const { accountId } = connection;
    const isRemoved = await this.#database.commit((tx) => deleteKey(tx, { accountId, keyId }));
    return isRemoved ? accountId : undefined;
  }

  /** Whether an account has connected the client. */
  async isConnectedClient(clientId: string): Promise<boolean> {
    const row = await this.#database.reader.kysely
      .selectFrom('api_keys')
      .select('key_id')
      .where('oauth_client_id', '=', clientId)
      .limit(1)
      .executeTakeFirst();
    return row !== undefined;
  }

  async connection(keyId: string): Promise<Connection | undefined> {
    const row = await this.#database.reader.kysely
      .selectFrom('api_keys')
      .select(['account_id', 'oauth_client_id', 'permissions', 'created_at', 'expires_at'])
      .where('key_id', '=', keyId)
      .executeTakeFirst();
    if (row === undefined || row.oauth_client_id === null) return undefined;
    const grants: string[] = JSON.parse(row.permissions);
    return {
      keyId,
      accountId: row.account_id,
      clientId: row.oauth_client_id,
      permissions: allPermissions.filter((one) => allows(grants, one)),
      createdAt: row.created_at,
      expiresAt: row.expires_at,
    };
  }
}

/**
 * Stores the answer to a request of an app, once.
 * @param answer its result, and the parameters of the request that it replaces
 * @returns false if the request has expired or was answered before
 */
export async function putAnswer(
  { kysely }: Tx,
  id: string,
  { result, params }: { readonly result: Payload; readonly params: Payload },
  now: number,
): Promise<boolean> {
  const row = await kysely
    .selectFrom('oauth_records')
    .select('payload')
    .where('model', '=', 'Interaction')
    .where('record_id', '=', recordIdOf(id))
    .where('expires_at', '>', now)
    .where('consumed_at', 'is', null)
    .executeTakeFirst();
  if (row === undefined) return false;
  const stored: { readonly params: Payload } & Payload = JSON.parse(row.payload);
  const payload = JSON.stringify({ ...stored, params: { ...stored.params, ...params }, result });
  const { numUpdatedRows } = await kysely
    .updateTable('oauth_records')
    .set({ payload, consumed_at: now })
    .where('model', '=', 'Interaction')
    .where('record_id', '=', recordIdOf(id))
    .where('consumed_at', 'is', null)
    .executeTakeFirstOrThrow();
  return numUpdatedRows > 0n;
}

/** The tokens of the app have ended while a request was issuing another one. */
export class TokensEndedError extends Error {}

/**
 * Requires that the code or refresh token for which a token is issued still exists. It is used up before, and deleted
 * with everything of the app when it is used again: a token that was stored after that would survive.
 * @throws {TokensEndedError}
 */
async function requireLiveGrant(tx: Tx, keyId: string): Promise<void> {
  await lockKey(tx, keyId);
  const spent = await tx.kysely
    .selectFrom('oauth_records')
    .select('record_id')
    .where('key_id', '=', keyId)
    .where('model', 'in', ['AuthorizationCode', 'RefreshToken'])
    .where('consumed_at', 'is not', null)
    .limit(1)
    .executeTakeFirst();
  if (spent === undefined) throw new TokensEndedError();
}

/** Serializes the transactions that store and end the tokens of an app. */
async function lockKey({ kysely, dialect }: Tx, keyId: string): Promise<void> {
  if (dialect.hasConcurrentWriters)
    await kysely.selectFrom('api_keys').select('key_id').where('key_id', '=', keyId).forUpdate().execute();
}

async function removeAllOf({ kysely }: Tx, keyId: string): Promise<void> {
  await kysely.deleteFrom('oauth_records').where('key_id', '=', keyId).execute();
}

/** Stands for the id of a request in the address where its browser continues. */
const ID = '{id}';

/** The library stores that address with a request, and the id would let a reader of the database answer it. */
function withoutId({ returnTo, ...payload }: Payload, id: string): Payload {
  if (typeof returnTo !== 'string') return payload;
  return { ...payload, returnTo: returnTo.endsWith(`/${id}`) ? returnTo.slice(0, -id.length) + ID : returnTo };
}

function withId({ returnTo, ...payload }: Payload, id: string): Payload {
  if (typeof returnTo !== 'string') return payload;
  return { ...payload, returnTo: returnTo.endsWith(`/${ID}`) ? returnTo.slice(0, -ID.length) + id : returnTo };
}

/** Ids of clients are public, and `isConnected` compares them. */
const nameOf = (model: OAuthModel, id: string) => (model === 'Client' ? id : recordIdOf(id));

/** Whether an account has connected the client of a record. */
const isConnected = sql<boolean>`exists (
  select 1 from api_keys where api_keys.oauth_client_id = oauth_records.record_id)`;

/** Deletes what has expired, except clients that an account has connected. */
export function prunesOAuthRecords(clock: Clock): Cleaning {
  return { name: 'OAuth records', run: (steps) => steps.repeat((tx, limit) => deleteExpired(tx, clock.now(), limit)) };
}

/** Deletes a chunk. Returns the number of records. */
async function deleteExpired({ kysely }: Pick<Tx, 'kysely'>, now: number, limit: number): Promise<number> {
  const { numAffectedRows = 0n } = await sql`delete from oauth_records where (model, record_id) in (
    select model, record_id from oauth_records
    where expires_at <= ${now} and not (model = 'Client' and ${isConnected}) limit ${limit})`.execute(kysely);
  return Number(numAffectedRows);
}

async function trimTokens({ kysely }: Tx, keyId: string): Promise<void> {
  await sql`delete from oauth_records where key_id = ${keyId} and record_id not in (
    select record_id from oauth_records where key_id = ${keyId}
    order by case when consumed_at is null then 0 else 1 end, created_at desc, record_id limit ${MAX_TOKENS})`.execute(
    kysely,
  );
}

async function trimWaiting({ kysely }: Tx): Promise<void> {
  for (const model of ['Client', 'Interaction'] satisfies OAuthModel[]) {
    await sql`delete from oauth_records where model = ${model} and not ${isConnected} and record_id not in (
      select record_id from oauth_records where model = ${model} and not ${isConnected}
      order by created_at desc, record_id limit ${MAX_WAITING})`.execute(kysely);
  }
}
