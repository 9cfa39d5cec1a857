import type { Tx } from '../db/commit.ts';
import { query } from '../db/query.ts';
import type { Cleaning } from '../jobs/cleaning.ts';
import type { Authenticator } from './authenticate.ts';
import { allows } from './permissions.ts';

/** The subscriptions of API keys, which must not outlive them. */
interface Subscriptions {
  /** Applies what a key may see now, and ends everything of a key that has ended. */
  review(accountId: string, keyId: string): Promise<void>;
  endOfKey(accountId: string, keyId: string, notice: string): Promise<void>;
}

/** Applies every change of an API key at once: on all nodes, and to what the key has subscribed to. */
export class KeyChanges {
  readonly #authenticator: Pick<Authenticator, 'changed'>;
  readonly #subscriptions: Subscriptions;

  constructor(authenticator: Pick<Authenticator, 'changed'>, subscriptions: Subscriptions) {
    this.#authenticator = authenticator;
    this.#subscriptions = subscriptions;
  }

  /** Call it after the transaction that changed or deleted the key. */
  async changed(accountId: string, keyId: string): Promise<void> {
    this.#authenticator.changed(accountId);
    await this.#subscriptions.review(accountId, keyId);
  }

  /** Call it after the tokens of a connected app have ended, which stays connected. */
  async tokensEnded(accountId: string, keyId: string): Promise<void> {
    this.#authenticator.changed(accountId);
    await this.#subscriptions.endOfKey(accountId, keyId, 'The tokens of the app have ended');
  }
}

interface OwnKey {
  readonly accountId: string;
  readonly keyId: string;
}

/**
 * Deletes a key with its OAuth records. `prunesKeyFiles` deletes the list of its files, which can be long. Webhooks of
 * a key that can read files pass to the account, and so keep the files in their deliveries. Others keep the key's id,
 * and stay without files.
 * @returns whether the account had the key
 */
export async function deleteKey({ kysely }: Pick<Tx, 'kysely'>, { accountId, keyId }: OwnKey): Promise<boolean> {
  const own = { account_id: accountId, key_id: keyId };
  const deleted = await kysely
    .deleteFrom('api_keys')
    .where((eb) => eb.and(own))
    .returning('permissions')
    .executeTakeFirst();
  if (deleted === undefined) return false;
  if (allows(JSON.parse(deleted.permissions), 'media:read'))
    await kysely
      .updateTable('webhooks')
      .set({ set_by_key: null })
      .where('account_id', '=', accountId)
      .where('set_by_key', '=', keyId)
      .execute();
  await kysely.deleteFrom('oauth_records').where('key_id', '=', keyId).execute();
  return true;
}

/** Deletes the lists of files that deleted keys have added. Ids of keys are never used again. */
export const prunesKeyFiles: Cleaning = {
  name: 'file lists of deleted keys',
  async run(steps) {
    const { longReader } = steps.database;
    let total = 0;
    for (let key: OwnKey = { accountId: '', keyId: '' }; !steps.isStopped; ) {
      // From key to key, because one can have a million files.
      const next = (await nextOfAccount.first(longReader, key)) ?? (await nextOfAll.first(longReader, key));
      if (next === undefined) break;
      key = next;
      if ((await keyById.first(longReader, key)) !== undefined) continue;
      const own = key;
      total += await steps.repeat((tx, limit) => deleteFiles.run(tx, { ...own, limit }));
    }
    return total;
  },
};

const nextOfAccount = query<OwnKey, OwnKey>((db, p) =>
  db
    .selectFrom('key_media')
    .select(['account_id as accountId', 'key_id as keyId'])
    .where('account_id', '=', p.accountId)
    .where('key_id', '>', p.keyId)
    .orderBy('key_id')
    .limit(1),
);

const nextOfAll = query<OwnKey, OwnKey>((db, p) =>
  db
    .selectFrom('key_media')
    .select(['account_id as accountId', 'key_id as keyId'])
    .where('account_id', '>', p.accountId)
    .orderBy('account_id')
    .orderBy('key_id')
    .limit(1),
);

const keyById = query((db, p: OwnKey) =>
  db.selectFrom('api_keys').select('key_id').where('account_id', '=', p.accountId).where('key_id', '=', p.keyId),
);

const deleteFiles = query((db, p: OwnKey & { limit: number }) =>
  db
    .deleteFrom('key_media')
    .where('account_id', '=', p.accountId)
    .where('key_id', '=', p.keyId)
    .where('media_id', 'in', (eb) =>
      eb
        .selectFrom('key_media')
        .select('media_id')
        .where('account_id', '=', p.accountId)
        .where('key_id', '=', p.keyId)
        .limit(p.limit),
    ),
);
