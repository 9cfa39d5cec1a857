import { sql } from 'kysely';
import type { Clock } from '../clock.ts';
import type { Tx } from '../db/commit.ts';
import type { Database } from '../db/database.ts';
import type { Queryable } from '../db/dialect.ts';
import { messagesInOutbox } from '../db/outbox.ts';
import { query, unindexed } from '../db/query.ts';
import { AppError, noSuch } from '../errors.ts';
import type { Log } from '../log.ts';
import type { StoredBytes } from './storedBytes.ts';
import type { UnusedContents } from './unusedContents.ts';

interface Options {
  readonly database: Database;
  readonly contents: UnusedContents;
  readonly storedBytes: StoredBytes;
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

interface FileRef {
  readonly accountId: string;
  readonly mediaId: string;
}

interface File extends FileRef {
  readonly hash: string;
  readonly size: number;
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
    const { database } = this.#options;
    const waiting = await WaitingUsers.read(database, [{ accountId, mediaId }]);
    await database.commit(async (tx) => {
      const row = await tx.kysely
        .selectFrom('media')
        .select(['hash', 'size'])
        .where('account_id', '=', accountId)
        .where('media_id', '=', mediaId)
        .executeTakeFirst();
      if (row === undefined) throw noSuch('file', mediaId);
      const user = await waiting.userOf(tx, { accountId, mediaId });
      if (user !== undefined) throw new AppError('message_state', `The file is in use: ${user}`);
      await this.#deleteRow(tx, { accountId, mediaId, ...row });
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
      const old = await findOld.all(database.longReader, { before, after, limit: CHUNK });
      const last = old.at(-1);
      if (last === undefined) return total;
      after = last.mediaId; // those in use stay, and must not come again
      total += await this.#deleteUnused(old, before, findStillOld);
    }
    return total;
  }

  async #pruneTransient(): Promise<number> {
    const { database, clock } = this.#options;
    const before = clock.now() - TRANSIENT_MS;
    let total = 0;
    for (let after = ''; !this.#isStopped; ) {
      const unused = await findUnusedTransient.all(database.longReader, { before, after, limit: CHUNK });
      const last = unused.at(-1);
      if (last === undefined) return total;
      after = last.mediaId;
      total += await this.#deleteUnused(unused, before, findStillTransient);
    }
    return total;
  }

  /** @param findStill finds a file that has not been used since it was read */
  async #deleteUnused(files: readonly File[], before: number, findStill: typeof findStillOld): Promise<number> {
    const { database } = this.#options;
    const waiting = await WaitingUsers.read(database, files);
    return database.commit(async (tx) => {
      let deleted = 0;
      for (const file of files) {
        if ((await waiting.userOf(tx, file)) !== undefined) continue;
        if ((await findStill.first(tx, { ...file, before })) === undefined) continue;
        await this.#deleteRow(tx, file);
        deleted += 1;
      }
      return deleted;
    });
  }

  async #deleteRow(tx: Tx, { accountId, mediaId, hash, size }: File): Promise<void> {
    await deleteConversions.run(tx, { accountId, mediaId });
    await deleteConversionsOf.run(tx, { accountId, hash });
    await deleteKeyMedia.run(tx, { accountId, mediaId });
    await deleteMedia.run(tx, { accountId, mediaId });
    await this.#options.contents.mark(tx, hash);
    // Not in the transaction, which can be repeated, and which must not wait for a sum that is being read.
    tx.afterCommit(() => void this.#options.storedBytes.add(accountId, -Number(size)));
  }
}

/**
 * The messages that will be sent with some files. An account can have many that wait, so they are read outside of the
 * transaction that deletes a file, which then looks only at those that were stored after that.
 */
class WaitingUsers {
  readonly #found: ReadonlyMap<string, string>;
  readonly #seen: number;

  private constructor(found: ReadonlyMap<string, string>, seen: number) {
    this.#found = found;
    this.#seen = seen;
  }

  static async read({ reader, longReader }: Database, files: readonly FileRef[]): Promise<WaitingUsers> {
    const newest = await newestMessage.first(reader, {});
    const found = new Map<string, string>();
    for (const { accountId, mediaId } of files) {
      const messageId = await findWaiting(longReader, { accountId, text: contentOf(mediaId) });
      if (messageId !== undefined) found.set(mediaId, messageId);
    }
    return new WaitingUsers(found, Number(newest?.seq ?? 0));
  }

  /** Returns the user of a file, as a clause; undefined if there is none. */
  async userOf(tx: Tx, { accountId, mediaId }: FileRef): Promise<string | undefined> {
    const after = { accountId, text: contentOf(mediaId), seq: this.#seen };
    const messageId = this.#found.get(mediaId) ?? (await findNewer.first(tx, after))?.message_id;
    if (messageId !== undefined) return `the message ${messageId} will be sent`;
    const group = await findGroup.first(tx, { accountId, mediaId });
    return group && `it is the picture of the group ${group.group_id}`;
  }
}

const contentOf = (mediaId: string) => `%"mediaId":"${mediaId}"%`;

const lastUse = sql<number>`coalesce(used_at, created_at)`;

const findOld = query((db, p: { before: number; after: string; limit: number }) =>
  db
    .selectFrom('media')
    .select(['account_id as accountId', 'media_id as mediaId', 'hash', 'size'])
    .where(lastUse, '<', p.before)
    .where('media_id', '>', p.after)
    .orderBy('media_id')
    .limit(p.limit),
);

const findUnusedTransient = query((db, p: { before: number; after: string; limit: number }) =>
  db
    .selectFrom('media as m')
    .select(['m.account_id as accountId', 'm.media_id as mediaId', 'm.hash', 'm.size'])
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

/** Finds a message that waits and contains a text. */
async function findWaiting(on: Queryable, p: { accountId: string; text: string }): Promise<string | undefined> {
  for (const waiting of waitingWith) {
    const message = await waiting.first(on, p);
    if (message !== undefined) return message.message_id;
  }
  return undefined;
}

/** In the order in which a message can go from one to the next between two reads. */
const waitingWith = (['pending_approval', 'scheduled', 'queued'] as const).map((status) =>
  query((db, p: { accountId: string; text: string }) =>
    messagesInOutbox(db, status)
      .select('m.message_id')
      .where('o.account_id', '=', p.accountId)
      .where('m.content', 'like', p.text)
      .limit(1),
  ),
);

const newestMessage = query((db, _: object) => db.selectFrom('messages').select(({ fn }) => fn.max('seq').as('seq')));

/** Of those that were stored later, whatever their account. */
const findNewer = query((db, p: { accountId: string; text: string; seq: number }) =>
  db
    .selectFrom('messages')
    .select('message_id')
    .where('seq', '>', p.seq)
    .where(unindexed('account_id'), '=', p.accountId)
    .where('status', 'in', ['pending_approval', 'queued', 'scheduled'])
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

const deleteConversions = query((db, p: FileRef) =>
  db.deleteFrom('media_conversions').where('account_id', '=', p.accountId).where('media_id', '=', p.mediaId),
);

const deleteConversionsOf = query((db, p: { accountId: string; hash: string }) =>
  db.deleteFrom('media_conversions').where('account_id', '=', p.accountId).where('hash', '=', p.hash),
);

/** From key to key, because one can have a million files. `prunesKeyFiles` deletes those of deleted keys. */
const deleteKeyMedia = query((db, p: FileRef) =>
  db
    .deleteFrom('key_media')
    .where('account_id', '=', p.accountId)
    .where('key_id', 'in', (eb) =>
      eb.selectFrom('api_keys').select('key_id').where('api_keys.account_id', '=', p.accountId),
    )
    .where('media_id', '=', p.mediaId),
);

const deleteMedia = query((db, p: { accountId: string; mediaId: string }) =>
  db.deleteFrom('media').where('account_id', '=', p.accountId).where('media_id', '=', p.mediaId),
);
