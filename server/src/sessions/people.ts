import type { SessionStore } from '../connectors/contract/host.ts';
import { isUserId, type NetworkPerson, placeholderOfUserId } from '../connectors/contract/people.ts';
import type { Database } from '../db/database.ts';
import type { Queryable } from '../db/dialect.ts';
import type { SessionRef } from '../messages/store.ts';
import { insertNamed } from '../messages/userIds.ts';
import type { SessionConnectors } from './sessionConnectors.ts';
import { storeOf } from './store.ts';

/** Looks up people in what the networks of sessions have stored about them. Needs no connection. */
export class People {
  readonly #database: Database;
  readonly #connectors: SessionConnectors;

  constructor(database: Database, connectors: SessionConnectors) {
    this.#database = database;
    this.#connectors = connectors;
  }

  /**
   * Returns the number under which a person is stored, and the network's ids of the person.
   * @param digits a phone number, or the placeholder of a hidden one
   */
  async find(sessionId: string, digits: string): Promise<NetworkPerson> {
    const connector = (await this.#connectors.of([sessionId]))(sessionId);
    if (connector?.personOf !== undefined) return connector.personOf(digits, storeOf(this.#database, sessionId));
    return { phoneNumber: digits, networkIds: [connector?.addressOf?.({ type: 'direct', id: digits }) ?? digits] };
  }

  /**
   * Returns the user ids that a person has at present, as far as the session knows them. A number can pass from one
   * person to another.
   * @param digits a phone number, or the placeholder of a hidden one
   */
  async userIdsOf(sessionId: string, digits: string, on: Queryable = this.#database.reader): Promise<string[]> {
    const connector = (await this.#connectors.of([sessionId], on))(sessionId);
    if (connector?.nameUser === undefined || connector.personOf === undefined) return [];
    const { networkIds } = await connector.personOf(digits, storeOf({ ...this.#database, reader: on }, sessionId));
    return networkIds.filter(isUserId);
  }

  /**
   * Lets the network of a session reach people by user ids that a caller passes, and makes new ones contacts.
   * @returns false if the network has no such ids
   */
  async name(session: SessionRef, userIds: readonly string[]): Promise<boolean> {
    const { sessionId } = session;
    const connector = (await this.#connectors.of([sessionId]))(sessionId);
    if (connector?.nameUser === undefined) return false;
    const store = storeOf(this.#database, sessionId);
    for (const userId of userIds) {
      const named = { ...session, phoneNumber: placeholderOfUserId(userId), userId };
      const set: SessionStore['set'] = async (key, value) => {
        // First: an id that the network has stored is not named again, even if we stopped before the contact was
        // stored.
        await this.#database.commit((tx) => insertNamed.run(tx, named), sessionId);
        await store.set(key, value);
      };
      await connector.nameUser(userId, { get: store.get, set });
    }
    return true;
  }
}
