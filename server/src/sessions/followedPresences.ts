import { KeyedQueue } from '../async.ts';
import type { Clock } from '../clock.ts';
import type { Database } from '../db/database.ts';
import { query } from '../db/query.ts';
import { AppError } from '../errors.ts';
import type { Log } from '../log.ts';
import type { SessionRef } from '../messages/store.ts';
import type { LiveSession, LiveSessions } from './liveSessions.ts';

interface Options {
  readonly database: Database;
  readonly live: LiveSessions;
  readonly clock: Clock;
  readonly log: Log;
}

/** People whose presence a session follows: each is asked for again after every reconnect. */
const MAX_FOLLOWED = 50;

/**
 * The contacts whose presence sessions follow. Networks forget them with the connection, so they are asked for again.
 */
export class FollowedPresences {
  readonly #options: Options;
  /** By session and contact. */
  readonly #queue = new KeyedQueue();
  readonly #onConnected = (session: LiveSession) => {
    this.#renew(session).catch((error) =>
      this.#options.log.warn({ err: error, session: session.sessionId }, 'failed to follow the presence of contacts'),
    );
  };

  constructor(options: Options) {
    this.#options = options;
  }

  start(): void {
    this.stop();
    this.#options.live.on('connected', this.#onConnected);
  }

  stop(): void {
    this.#options.live.off('connected', this.#onConnected);
  }

  /**
   * @throws {MovedError} another node owns the session
   * @throws {AppError} `too_many`, `not_supported`, `session_not_connected`, or the network's error
   */
  follow(session: SessionRef, phoneNumber: string): Promise<void> {
    return this.#queue.run(`${session.sessionId} ${phoneNumber}`, async () => {
      const { live } = this.#options;
      const follow = await live.part(session, 'followPresence');
      // Stored first, because the network may report the presence before it answers.
      const isNew = await this.#store(session, phoneNumber);
      const presences = live.stateOf(session)?.presences;
      presences?.followed.add(phoneNumber);
      try {
        await follow(phoneNumber);
      } catch (error) {
        if (isNew) await this.unfollow(session, phoneNumber);
        throw error;
      }
    });
  }

  /** @returns whether the session did not follow the contact before */
  #store(session: SessionRef, phoneNumber: string): Promise<boolean> {
    const { database, clock } = this.#options;
    return database.commit(async (tx) => {
      const followed = await followedBy.all(tx, session);
      if (followed.some(({ phone_number }) => phone_number === phoneNumber)) return false;
      if (followed.length >= MAX_FOLLOWED)
        throw new AppError(
          'too_many',
          `The session follows the presence of ${MAX_FOLLOWED} contacts, which is the limit; stop following one first`,
        );
      await tx.kysely
        .insertInto('followed_presences')
        .values({
          account_id: session.accountId,
          session_id: session.sessionId,
          phone_number: phoneNumber,
          followed_at: clock.now(),
          presence: null,
          last_seen: null,
          updated_at: null,
        })
        .onConflict((conflict) => conflict.doNothing())
        .execute();
      return true;
    }, session.sessionId);
  }

  async unfollow(session: SessionRef, phoneNumber: string): Promise<void> {
    const { database, live } = this.#options;
    const { accountId, sessionId } = session;
    await database.commit(
      ({ kysely }) =>
        kysely
          .deleteFrom('followed_presences')
          .where('account_id', '=', accountId)
          .where('session_id', '=', sessionId)
          .where('phone_number', '=', phoneNumber)
          .execute(),
      sessionId,
    );
    live.stateOf(session)?.presences.followed.delete(phoneNumber);
  }

  async #renew(session: LiveSession): Promise<void> {
    const { followPresence } = session.connection;
    if (followPresence === undefined) return;
    const { database, log } = this.#options;
    const contacts = (await followedBy.all(database.reader, session)).map(({ phone_number }) => phone_number);
    for (const contact of contacts) session.presences.followed.add(contact);
    for (const contact of contacts) {
      try {
        await followPresence.call(session.connection, contact);
      } catch (error) {
        if (session.isEnding) return;
        log.warn({ err: error, session: session.sessionId, contact }, 'failed to follow the presence of a contact');
      }
    }
  }
}

const followedBy = query((db, p: SessionRef) =>
  db
    .selectFrom('followed_presences')
    .select('phone_number')
    .where('account_id', '=', p.accountId)
    .where('session_id', '=', p.sessionId),
);
