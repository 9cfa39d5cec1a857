import { createHash, randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { addAbortSignal, type Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import type { Clock } from '../clock.ts';
import type { MediaFacts } from '../connectors/contract/media.ts';
import type { Database } from '../db/database.ts';
import { query } from '../db/query.ts';
import type { MediaTable } from '../db/schema.ts';
import type { OutgoingConnections } from '../egress/outgoing.ts';
import { AppError, invalidField, noSuch } from '../errors.ts';
import type { NewId } from '../ids.ts';
import type { Log } from '../log.ts';
import { type Content, cleanFileName, tooLarge } from './content.ts';
import type { UseFetched } from './fetch.ts';
import { sniffType } from './sniff.ts';
import type { ByteRange, ContentStore } from './store.ts';
import type { StoredBytes } from './storedBytes.ts';
import type { UnusedContents } from './unusedContents.ts';

export interface MediaOptions {
  readonly store: ContentStore;
  readonly contents: UnusedContents;
  readonly storedBytes: StoredBytes;
  /** Folder for incoming files, used by this process alone. */
  readonly incoming: string;
  readonly fetching: UseFetched;
  readonly outgoing: OutgoingConnections;
  readonly maxBytes: number;
  /** The URL at which callers reach the server; undefined if it is not configured. */
  readonly publicUrl: URL | undefined;
  readonly database: Database;
  readonly newId: NewId;
  readonly clock: Clock;
  readonly log: Log;
}

const PENDING = '.pending';

/**
 * Files of accounts. A file is first written to a temporary one, then hashed and typed, then moved to the store, and
 * only then gets its row: a row always has its content. While it is stored, an empty file `{hash}.pending` marks that
 * the store may contain a content without a row. The next start checks such marks, after a crash as after a failed
 * commit.
 */
export class Media {
  readonly #options: MediaOptions;

  constructor(options: MediaOptions) {
    this.#options = options;
  }

  /** Removes partial uploads of an earlier process. */
  async start(): Promise<void> {
    const { incoming, log } = this.#options;
    await mkdir(incoming, { recursive: true, mode: 0o700 });
    for (const name of await readdir(incoming)) {
      // If the store is unavailable, the next start cleans up.
      await this.#removePartial(name).catch((err) =>
        log.warn({ err, file: name }, 'failed to remove a partial upload'),
      );
    }
  }

  close(): Promise<void> {
    return this.#options.store.close();
  }

  /**
   * Stores a file for an account. The same content returns the row that the account already has for it.
   * @param requireType throws if the media type is not wanted; then nothing is stored
   * @throws {AppError} `payload_too_large`; `too_many` if the account stores too many bytes; `validation_failed` if it
   * is empty
   */
  async keep(accountId: string, content: Content, requireType?: (mimeType: string) => void): Promise<MediaTable> {
    const { store, incoming, maxBytes, storedBytes } = this.#options;
    const { stream, fileName, mimeType: declared, declaredBytes = 0, isTransient = false } = content;
    const file = join(incoming, randomUUID());
    let reserved = 0;
    try {
      if (declaredBytes > maxBytes) throw tooLarge(maxBytes);
      const { hash, size } = await receive(stream, file, maxBytes);
      if (size === 0) throw invalidField('body', 'The file is empty', 'empty');
      const mimeType = await sniffType(file, declared);
      requireType?.(mimeType);
      if (storedBytes.isLimited && !(await this.#isKnown(accountId, hash))) {
        if (content.isUnlimited === true) await storedBytes.add(accountId, size);
        else await storedBytes.reserve(accountId, size);
        reserved = size;
      }
      const pending = join(incoming, hash + PENDING);
      await writeFile(pending, '');
      await this.#options.contents.claim(hash);
      await store.put(hash, file, size);
      const row = await this.#storeRow(accountId, {
        hash,
        size,
        mime_type: mimeType,
        file_name: cleanFileName(fileName),
        transient_since: isTransient ? this.#options.clock.now() : null,
      });
      await rm(pending, { force: true });
      return row;
    } catch (error) {
      await storedBytes.add(accountId, -reserved);
      throw isDiskFailure(error) ? new AppError('storage_unavailable', NO_ROOM, { cause: error }) : error;
    } finally {
      stream.destroy();
      await rm(file, { force: true });
    }
  }

  /**
   * Stores the file at a URL, like `keep`.
   * @throws {AppError} `validation_failed` for the URL, `fetch_failed`, `payload_too_large`, `rate_limited`
   */
  fetch(accountId: string, url: string, requireType?: (mimeType: string) => void): Promise<MediaTable> {
    const { outgoing, fetching } = this.#options;
    return outgoing.use(accountId, () => fetching(url, (content) => this.keep(accountId, content, requireType)));
  }

  /** @throws {AppError} `not_found` if the account has no such media */
  async find(accountId: string, mediaId: string): Promise<MediaTable> {
    const row = await findById.first(this.#options.database.reader, { accountId, mediaId });
    if (row === undefined) throw noSuch('file', mediaId);
    return row;
  }

  /** Opens the content of a row that the caller has found. Callers must read or destroy the stream. */
  open(hash: string, range?: ByteRange): Promise<Readable> {
    return this.#options.store.open(hash, range);
  }

  /** Reads the content into memory. Only for small files. @param signal ends the read */
  async read(hash: string, signal?: AbortSignal): Promise<Buffer> {
    const stream = await this.open(hash);
    return buffer(signal === undefined ? stream : addAbortSignal(signal, stream));
  }

  /** Notes that a file is used, so that it is kept for `MEDIA_RETENTION_DAYS` from now on. */
  async touch(row: MediaTable): Promise<void> {
    const { account_id: accountId, media_id: mediaId, used_at: usedAt, transient_since: transientSince } = row;
    const today = dayOf(this.#options.clock.now());
    if (usedAt === today && transientSince === null) return;
    await this.#options.database.commit((tx) => setUsed.run(tx, { accountId, mediaId, usedAt: today }));
  }

  /** Adds to what is known of a file. Returns its row. */
  async addFacts(row: MediaTable, facts: MediaFacts, thumbnail?: Uint8Array): Promise<MediaTable> {
    const known = thumbnail === undefined ? {} : { thumbnail: Buffer.from(thumbnail).toString('base64') };
    const changed = { ...row, facts: JSON.stringify({ ...factsOf(row), ...facts }), ...known };
    if (changed.facts === row.facts && changed.thumbnail === row.thumbnail) return row;
    const { account_id: accountId, media_id: mediaId } = row;
    const change = { accountId, mediaId, facts: changed.facts, thumbnail: changed.thumbnail };
    await this.#options.database.commit((tx) => setFacts.run(tx, change));
    return changed;
  }

  /** Reads the thumbnail of a content, a JPEG; null if there is none. */
  async thumbnail(hash: string): Promise<Buffer | null> {
    const row = await findThumbnail.first(this.#options.database.reader, { hash });
    return row?.thumbnail ? Buffer.from(row.thumbnail, 'base64') : null;
  }

  /** The address of the content: an absolute URL if `publicUrl` is set, otherwise a path of this server. */
  urlOf(mediaId: string): string {
    const { publicUrl } = this.#options;
    const path = `/api/v1/media/${mediaId}/content`;
    return publicUrl === undefined ? path : new URL(path, publicUrl).href;
  }

  async #isKnown(accountId: string, hash: string): Promise<boolean> {
    return (await findOwnByHash.first(this.#options.database.reader, { accountId, hash })) !== undefined;
  }

  #storeRow(
    accountId: string,
    file: Pick<MediaTable, 'hash' | 'size' | 'mime_type' | 'file_name' | 'transient_since'>,
  ): Promise<MediaTable> {
    const { database, newId, clock } = this.#options;
    const now = clock.now();
    const unknown = { facts: null, thumbnail: null };
    const row = {
      account_id: accountId,
      media_id: newId('med'),
      ...file,
      ...unknown,
      created_at: now,
      used_at: dayOf(now),
    };
    return database.commit(({ kysely }) =>
      kysely
        .insertInto('media')
        .values(row)
        // Returns the earlier row of the same content, which is in use again.
        .onConflict((conflict) =>
          conflict.columns(['hash', 'account_id']).doUpdateSet({
            used_at: row.used_at,
            // A file that was used for something else stays.
            transient_since: ({ eb, ref }) =>
              eb
                .case()
                .when('media.transient_since', 'is', null)
                .then(null)
                .else(ref('excluded.transient_since'))
                .end(),
          }),
        )
        .returningAll()
        .executeTakeFirstOrThrow(),
    );
  }

  async #removePartial(name: string): Promise<void> {
    const { store, incoming, database } = this.#options;
    if (name.endsWith(PENDING)) {
      const hash = name.slice(0, -PENDING.length);
      if ((await findAnyByHash.first(database.reader, { hash })) === undefined) await store.remove(hash);
    }
    await rm(join(incoming, name), { force: true });
  }
}

const DAY_MS = 24 * 60 * 60 * 1000;

/** The start of the day, so that a file that is used often is written once a day. */
const dayOf = (now: number) => now - (now % DAY_MS);

/** Undefined if nothing is known. */
export function factsOf({ facts }: Pick<MediaTable, 'facts'>): MediaFacts | undefined {
  return facts === null ? undefined : JSON.parse(facts);
}

const NO_ROOM = 'The file was not stored because the disk is full or failing';

/** A disk that is full, over its quota, read-only or broken; not a caller who hung up. */
const isDiskFailure = (error: unknown) =>
  error instanceof Error && 'code' in error && ['ENOSPC', 'EDQUOT', 'EROFS', 'EIO'].includes(String(error.code));

/** Writes a stream to a file, syncs it, and returns its hash and size. */
async function receive(stream: Readable, file: string, maxBytes: number): Promise<{ hash: string; size: number }> {
  const hash = createHash('sha256');
  let size = 0;
  const writer = createWriteStream(file, { flags: 'wx', mode: 0o600, flush: true });
  const closed = new Promise((resolve) => writer.once('close', resolve));
  try {
    await pipeline(
      stream,
      async function* (chunks: AsyncIterable<Buffer>) {
        for await (const chunk of chunks) {
          size += chunk.length;
          if (size > maxBytes) throw tooLarge(maxBytes);
          hash.update(chunk);
          yield chunk;
        }
      },
      writer,
    );
  } finally {
    // A failing pipeline does not wait for its file, which may be created only now.
    await closed;
  }
  return { hash: hash.digest('hex'), size };
}

const findById = query((db, p: { accountId: string; mediaId: string }) =>
  db.selectFrom('media').selectAll().where('account_id', '=', p.accountId).where('media_id', '=', p.mediaId),
);

/** Of any account: whether a content is still in use. */
const findAnyByHash = query((db, p: { hash: string }) =>
  db.selectFrom('media').select('media_id').where('hash', '=', p.hash).limit(1),
);

const findOwnByHash = query((db, p: { accountId: string; hash: string }) =>
  db.selectFrom('media').select('media_id').where('hash', '=', p.hash).where('account_id', '=', p.accountId),
);

const findThumbnail = query((db, p: { hash: string }) =>
  db.selectFrom('media').select('thumbnail').where('hash', '=', p.hash).where('thumbnail', 'is not', null).limit(1),
);

const setUsed = query((db, p: { accountId: string; mediaId: string; usedAt: number }) =>
  db
    .updateTable('media')
    .set({ used_at: p.usedAt, transient_since: null })
    .where('account_id', '=', p.accountId)
    .where('media_id', '=', p.mediaId),
);

const setFacts = query((db, p: { accountId: string; mediaId: string; facts: string; thumbnail: string | null }) =>
  db
    .updateTable('media')
    .set({ facts: p.facts, thumbnail: p.thumbnail })
    .where('account_id', '=', p.accountId)
    .where('media_id', '=', p.mediaId),
);
