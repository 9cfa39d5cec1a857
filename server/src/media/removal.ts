import { sql } from 'kysely';
import type { Clock } from '../clock.ts';
import type { Tx } from '../db/commit.ts';
import type { Database } from '../db/database.ts';
import type { Queryable } from '../db/dialect.ts';
import { query } from '../db/query.ts';
import { AppError, noSuch } from '../errors.ts';
import type { Log } from '../log.ts';
import type { UnusedContents } from './unusedContents.ts';

interface Options {
  readonly database: Database;
  readonly contents: UnusedContents;
  readonly clock: Clock;
  readonly log: Log;
  /** How long a file is kept after its last use; 0 keeps it until it is deleted. */
  readonly retentionDays: number;
}

const DAY_MS = 24 * 60 * 60 * 1000;
const EVERY_MS = 10 * 60 * 1000;
/** A file is stored shortly before the status or the post that it belongs to. */
const TRANSIENT_MS = 60 * 60 * 1000;
/** Files per transaction. */
const CHUNK = 100;

interface File {
  readonly accountId: string;
  readonly mediaId: string;
  readonly hash: string;
}

/**
 * Deletes files: those that their account deletes, those that were not used for `retentionDays`, and those of statuses
 * and posts that are gone. A file stays while a message that has not been sent yet, or a group, needs it. Messages that
 * were sent stay, without their file.
 */
export class MediaRemoval {
  readonly #options: Options;
  #cancel = () => {};
  #isStopped = false;
  #running = Promise.resolve();

  constructor(options: Options) {
    this.#options = options;
  }

  start(): void {
    this.#cancel();
    this.#cancel = this.#options.clock.after(EVERY_MS, () => {
      this.#running = this.#runLogged();
    });
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#cancel();
    await this.#running;
  }

  /**
   * Deletes a file of an account.
   * @throws {AppError} `not_found`; `message_state` if a message or a group still needs it
   */
  async delete(accountId: string, mediaId: string): Promise<void> {
    await this.#options.database.commit(async (tx) => {
      const row = await tx.kysely
        .selectFrom('media')
        .select('hash')
        .where('account_id', '=', accountId)
        .where('media_id', '=', mediaId)
        .executeTakeFirst();
      if (row === undefined) throw noSuch('file', mediaId);
      const user = await userOf(tx, accountId, mediaId);
      if (user !== undefined) throw new AppError('message_state', `The file is in use: ${user}`);
      await this.#deleteRow(tx, { accountId, mediaId, hash: row.hash });
    }, accountId);
  }

  /** Deletes what is due. */
  async run(): Promise<{ files: number; contents: number }> {
    const { contents, retentionDays } = this.#options;
    const old = retentionDays === 0 ? 0 : await this.#prune(retentionDays);
    const files = old + (await this.#pruneTransient());
    return { files, contents: await contents.removeDue(() => this.#isStopped) };
  }

  async #runLogged(): Promise<void> {
    const { log } = this.#options;
    try {
      const { files, contents } = await this.run();
      if (files + contents > 0) log.info({ files, contents }, 'removed files');
    } catch (error) {
      log.error({ err: error }, 'failed to remove files; trying again later');
    }
    if (!this.#isStopped) this.start();
  }

  async #prune(retentionDays: number): Promise<number> {
    const { database, clock } = this.#options;
    const before = clock.now() - retentionDays * DAY_MS;
    let total = 0;
    for (let after = ''; !this.#isStopped; ) {
      const old = await findOld.all(database.reader, { before, after, limit: CHUNK });
      const last = old.at(-1);
      if (last === undefined) return total;
      after = last.media_id; // those in use stay, and must not come again
      total += await database.commit((tx) => this.#pruneRows(tx, old, before));
    }
    return total;
  }

  async #pruneRows(tx: Tx, old: readonly Old[], before: number): Promise<number> {
    let deleted = 0;
    for (const { account_id: accountId, media_id: mediaId, hash } of old) {
      if ((await userOf(tx, accountId, mediaId)) !== undefined) continue;
      // It may have been used since it was read.
      if ((await findStillOld.first(tx, { accountId, mediaId, before })) === undefined) continue;
      await this.#deleteRow(tx, { accountId, mediaId, hash });
      deleted += 1;
    }
    return deleted;
  }

  async #pruneTransient(): Promise<number> {
    const { database, clock } = this.#options;
    const before = clock.now() - TRANSIENT_MS;
    let total = 0;
    for (let after = ''; !this.#isStopped; ) {
      const unused = await findUnusedTransient.all(database.longReader, { before, after, limit: CHUNK });
      const last = unused.at(-1);
      if (last === undefined) return total;
      after = last.media_id;
      total += await database.commit(async (tx) => {
        let deleted = 0;
        for (const { account_id: accountId, media_id: mediaId, hash } of unused) {
          if ((await userOf(tx, accountId, mediaId)) !== undefined) continue;
          // It may have been used since it was read.
          if ((await findStillTransient.first(tx, { accountId, mediaId, before })) === undefined) continue;
          await this.#deleteRow(tx, { accountId, mediaId, hash });
          deleted += 1;
        }
        return deleted;
      });
    }
    return total;
  }

  async #deleteRow(tx: Tx, { accountId, mediaId, hash }: File): Promise<void> {
    await deleteConversions.run(tx, { accountId, mediaId, hash });
    await deleteKeyMedia.run(tx, { accountId, mediaId });
    await deleteMedia.run(tx, { accountId, mediaId });
    await this.#options.contents.mark(tx, hash);
  }
}

/** Returns the user of a file, as a clause; undefined if there is none. */
async function userOf(on: Queryable, accountId: string, mediaId: string): Promise<string | undefined> {
  const message = await findWaiting.first(on, { accountId, text: `%"mediaId":"${mediaId}"%` });
  if (message !== undefined) return `the message ${message.message_id} will be sent`;
  const group = await findGroup.first(on, { accountId, mediaId });
  return group && `it is the picture of the group ${group.group_id}`;
}

interface Old {
  readonly account_id: string;
  readonly media_id: string;
  readonly hash: string;
}

const lastUse = sql<number>`coalesce(used_at, created_at)`;

const findOld = query((db, p: { before: number; after: string; limit: number }) =>
  db
    .selectFrom('media')
    .select(['account_id', 'media_id', 'hash'])
    .where(lastUse, '<', p.before)
    .where('media_id', '>', p.after)
    .orderBy('media_id')
    .limit(p.limit),
);

const findUnusedTransient = query((db, p: { before: number; after: string; limit: number }) =>
  db
    .selectFrom('media as m')
    .select(['m.account_id', 'm.media_id', 'm.hash'])
    .where('m.transient_since', '<', p.before)
    .where('m.media_id', '>', p.after)
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('statuses as s')
            .select('s.status_id')
            .whereRef('s.account_id', '=', 'm.account_id')
            .whereRef('s.media_id', '=', 'm.media_id'),
        ),
      ),
    )
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('channel_posts as c')
            .select('c.post_id')
            .whereRef('c.account_id', '=', 'm.account_id')
            .whereRef('c.media_id', '=', 'm.media_id'),
        ),
      ),
    )
    .orderBy('m.media_id')
    .limit(p.limit),
);

const findStillTransient = query((db, p: { accountId: string; mediaId: string; before: number }) =>
  db
    .selectFrom('media')
    .select('media_id')
    .where('account_id', '=', p.accountId)
    .where('media_id', '=', p.mediaId)
    .where('transient_since', '<', p.before),
);

const findStillOld = query((db, p: { accountId: string; mediaId: string; before: number }) =>
  db
    .selectFrom('media')
    .select('media_id')
    .where('account_id', '=', p.accountId)
    .where('media_id', '=', p.mediaId)
    .where(lastUse, '<', p.before),
);

/** Of the messages that wait, of which there are few. */
const findWaiting = query((db, p: { accountId: string; text: string }) =>
  db
    .selectFrom('messages')
    .select('message_id')
    .where('account_id', '=', p.accountId)
    .where('status', 'in', [
      sql.lit('pending_approval' as const),
      sql.lit('queued' as const),
      sql.lit('scheduled' as const),
    ])
    .where('content', 'like', p.text)
    .limit(1),
);

const findGroup = query((db, p: { accountId: string; mediaId: string }) =>
  db
    .selectFrom('groups')
    .select('group_id')
    .where('account_id', '=', p.accountId)
    .where('picture_media_id', '=', p.mediaId)
    .limit(1),
);

const deleteConversions = query((db, p: { accountId: string; mediaId: string; hash: string }) =>
  db
    .deleteFrom('media_conversions')
    .where('account_id', '=', p.accountId)
    .where((eb) => eb.or([eb('media_id', '=', p.mediaId), eb('hash', '=', p.hash)])),
);

const deleteKeyMedia = query((db, p: { accountId: string; mediaId: string }) =>
  db.deleteFrom('key_media').where('account_id', '=', p.accountId).where('media_id', '=', p.mediaId),
);

const deleteMedia = query((db, p: { accountId: string; mediaId: string }) =>
  db.deleteFrom('media').where('account_id', '=', p.accountId).where('media_id', '=', p.mediaId),
);
