import type { Tx } from '../db/commit.ts';
import type { Authenticator } from './authenticate.ts';

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

/** Deletes a key with everything that belongs to it. @returns whether the account had the key */
export async function deleteKey({ kysely }: Pick<Tx, 'kysely'>, { accountId, keyId }: OwnKey): Promise<boolean> {
  const own = { account_id: accountId, key_id: keyId };
  const { numDeletedRows } = await kysely
    .deleteFrom('api_keys')
    .where((eb) => eb.and(own))
    .executeTakeFirstOrThrow();
  if (numDeletedRows === 0n) return false;
  await kysely
    .deleteFrom('key_media')
    .where((eb) => eb.and(own))
    .execute();
  await kysely.deleteFrom('oauth_records').where('key_id', '=', keyId).execute();
  return true;
}
