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

/** The contacts whose presence sessions follow. Networks forget them with the connection, so they are asked for again. */
export class FollowedPresences {
  readonly #options: Options;
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
  async follow(session: SessionRef, phoneNumber: string): Promise<void> {
    const { database, live, clock } = this.#options;
    const follow = await live.part(session, 'followPresence');
    await database.commit(async (tx) => {
      const followed = await followedBy.all(tx, session);
      if (followed.some(({ phone_number }) => phone_number === phoneNumber)) return;
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
    }, session.sessionId);
    await follow(phoneNumber);
  }

  async unfollow({ accountId, sessionId }: SessionRef, phoneNumber: string): Promise<void> {
    await this.#options.database.commit(
      ({ kysely }) =>
        kysely
          .deleteFrom('followed_presences')
          .where('account_id', '=', accountId)
          .where('session_id', '=', sessionId)
          .where('phone_number', '=', phoneNumber)
          .execute(),
      sessionId,
    );
  }

  async #renew(session: LiveSession): Promise<void> {
    const { followPresence } = session.connection;
    if (followPresence === undefined) return;
    for (const { phone_number } of await followedBy.all(this.#options.database.reader, session))
      await followPresence.call(session.connection, phone_number);
  }
}

const followedBy = query((db, p: SessionRef) =>
  db
    .selectFrom('followed_presences')
    .select('phone_number')
    .where('account_id', '=', p.accountId)
    .where('session_id', '=', p.sessionId),
);
