import { sleep } from '../async.ts';
import { type Clock, systemClock } from '../clock.ts';
import type { Tx } from '../db/commit.ts';
import type { Database } from '../db/database.ts';
import type { Queryable } from '../db/dialect.ts';
import { query } from '../db/query.ts';
import { AppError } from '../errors.ts';
import type { ContentStore } from './store.ts';

interface Options {
  readonly database: Database;
  readonly store: ContentStore;
  readonly clock: Clock;
}

/**
 * How long a content is kept after its last file was deleted. A message that was being sent, and an upload that was
 * being stored, are finished by then.
 */
const GRACE_MS = 60 * 60_000;
/** How long one removal may take; several times the deadline of an S3 request. */
const REMOVAL_MS = 5 * 60_000;
const CHUNK = 100;
const CHECK_MS = 200;
const WAIT_MS = 30_000;

/**
 * Contents to which possibly no file of any account refers any longer. A content is marked in the transaction that
 * deletes a file of it, and removed an hour later if nothing refers to it by then. Only one node removes a content at a
 * time, and while it does, an upload of the same content waits.
 */
export class UnusedContents {
  readonly #options: Options;

  constructor(options: Options) {
    this.#options = options;
  }

  /**
   * Makes sure that nobody removes a content that is about to be stored.
   * @throws {AppError} `storage_unavailable` if a removal does not end
   */
  async claim(hash: string): Promise<void> {
    const { database } = this.#options;
    for (let waitedMs = 0; waitedMs < WAIT_MS; waitedMs += CHECK_MS) {
      // Rarely is there a mark, and a read is cheaper than a transaction.
      if ((await findMark.first(database.reader, { hash })) === undefined) return;
      const unmarked = await database.commit((tx) => unmark.run(tx, { hash, now: this.#options.clock.now() }));
      if (unmarked > 0) return;
      await sleep(systemClock, CHECK_MS);
    }
    throw new AppError('storage_unavailable', 'The same file is being deleted; try again');
  }

  /**
   * Marks the content of a file, in the transaction that deletes the file. Whether others refer to it is found later.
   */
  async mark(tx: Tx, hash: string): Promise<void> {
    await addMark.run(tx, { hash, unusedAt: this.#options.clock.now() });
  }

  /** Removes contents that were marked an hour ago. Returns their number. */
  async removeDue(isStopped: () => boolean = () => false): Promise<number> {
    const { database, clock } = this.#options;
    let removed = 0;
    const due = await findDue.all(database.reader, { before: clock.now() - GRACE_MS, now: clock.now(), limit: CHUNK });
    for (const { hash } of due) {
      if (isStopped()) break;
      if (await this.#remove(hash)) removed += 1;
    }
    return removed;
  }

  async #remove(hash: string): Promise<boolean> {
    const { database, store, clock } = this.#options;
    const now = clock.now();
    // Passes all rows of the sandbox. A later reference comes from a file, whose deletion marks the content again, or
    // from a reference that exists now.
    const isInSandbox = await isPassedOn(database.longReader, hash);
    const isOurs = await database.commit(async (tx) => {
      const until = now + REMOVAL_MS;
      if ((await beginRemoval.run(tx, { hash, before: now - GRACE_MS, now, until })) === 0) return false;
      if (!isInSandbox && (await findFile.first(tx, { hash })) === undefined) return true;
      await endRemoval.run(tx, { hash });
      return false;
    });
    if (!isOurs) return false;
    await store.remove(hash);
    await database.commit((tx) => endRemoval.run(tx, { hash }));
    return true;
  }
}

/** Whether the sandbox, which passes files on by their hash, refers to a content. */
async function isPassedOn(on: Queryable, hash: string): Promise<boolean> {
  const text = `%${hash}%`;
  const places = [inMailbox, inProfile, inGroup, inChannel];
  for (const place of places) if ((await place.first(on, { text })) !== undefined) return true;
  return false;
}

const findFile = query((db, p: { hash: string }) =>
  db.selectFrom('media').select('hash').where('hash', '=', p.hash).limit(1),
);

const inMailbox = query((db, p: { text: string }) =>
  db.selectFrom('sandbox_mailbox').select('mail_id').where('event', 'like', p.text).limit(1),
);

const inProfile = query((db, p: { text: string }) =>
  db.selectFrom('sandbox_numbers').select('number').where('profile', 'like', p.text).limit(1),
);

const inGroup = query((db, p: { text: string }) =>
  db.selectFrom('sandbox_groups').select('network_id').where('state', 'like', p.text).limit(1),
);

const inChannel = query((db, p: { text: string }) =>
  db.selectFrom('sandbox_channels').select('network_id').where('state', 'like', p.text).limit(1),
);

const findMark = query((db, p: { hash: string }) =>
  db.selectFrom('unused_contents').select('hash').where('hash', '=', p.hash),
);

const addMark = query((db, p: { hash: string; unusedAt: number }) =>
  db
    .insertInto('unused_contents')
    .values({ hash: p.hash, unused_at: p.unusedAt, removing_until: null })
    .onConflict((conflict) => conflict.column('hash').doUpdateSet({ unused_at: p.unusedAt })),
);

const unmark = query((db, p: { hash: string; now: number }) =>
  db
    .deleteFrom('unused_contents')
    .where('hash', '=', p.hash)
    .where((eb) => eb.or([eb('removing_until', 'is', null), eb('removing_until', '<', p.now)])),
);

const findDue = query((db, p: { before: number; now: number; limit: number }) =>
  db
    .selectFrom('unused_contents')
    .select('hash')
    .where('unused_at', '<=', p.before)
    .where((eb) => eb.or([eb('removing_until', 'is', null), eb('removing_until', '<', p.now)]))
    .orderBy('unused_at')
    .limit(p.limit),
);

const beginRemoval = query((db, p: { hash: string; before: number; now: number; until: number }) =>
  db
    .updateTable('unused_contents')
    .set({ removing_until: p.until })
    .where('hash', '=', p.hash)
    .where('unused_at', '<=', p.before)
    .where((eb) => eb.or([eb('removing_until', 'is', null), eb('removing_until', '<', p.now)])),
);

const endRemoval = query((db, p: { hash: string }) => db.deleteFrom('unused_contents').where('hash', '=', p.hash));
