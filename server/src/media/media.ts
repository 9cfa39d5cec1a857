import { createHash, randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import type { Clock } from '../clock.ts';
import type { Database } from '../db/database.ts';
import { query } from '../db/query.ts';
import type { MediaTable } from '../db/schema.ts';
import { AppError, invalidField } from '../errors.ts';
import type { NewId } from '../ids.ts';
import type { Log } from '../log.ts';
import type { OutgoingConnections } from '../outgoing.ts';
import { type Content, cleanFileName, tooLarge } from './content.ts';
import type { UseFetched } from './fetch.ts';
import { sniffType } from './sniff.ts';
import type { ByteRange, ContentStore } from './store.ts';

export interface Media {
  /**
   * Stores a file for an account. The same content returns the row that the account already has for it.
   * @throws {AppError} `payload_too_large`; `validation_failed` if it is empty
   */
  keep(accountId: string, content: Content): Promise<MediaTable>;
  /** @throws {AppError} `validation_failed` for the URL, `fetch_failed`, `payload_too_large`, `rate_limited` */
  fetch(accountId: string, url: string): Promise<MediaTable>;
  /** @throws {AppError} `not_found` if the account has no such media */
  find(accountId: string, mediaId: string): Promise<MediaTable>;
  /** Opens the content of a row that the caller has found. Callers must read or destroy the stream. */
  open(hash: string, range?: ByteRange): Promise<Readable>;
  /** Reads the content into memory. Only for small files. */
  read(hash: string): Promise<Buffer>;
  /** The address of the content: an absolute URL if `publicUrl` is set, otherwise a path of this server. */
  urlOf(mediaId: string): string;
  /** Removes partial uploads of an earlier process. */
  start(): Promise<void>;
  close(): Promise<void>;
}

const PENDING = '.pending';

/**
 * Files of accounts. A file is first written to a temporary one, then hashed and typed, then moved to the store, and
 * only then gets its row: a row always has its content. While it is stored, an empty file `{hash}.pending` marks that
 * the store may contain a content without a row. The next start checks such marks, after a crash as after a failed
 * commit.
 */
export function createMedia({
  store,
  incoming,
  fetching,
  outgoing,
  maxBytes,
  publicUrl,
  database,
  newId,
  clock,
  log,
}: {
  store: ContentStore;
  /** Folder for incoming files, used by this process alone. */
  incoming: string;
  fetching: UseFetched;
  outgoing: OutgoingConnections;
  maxBytes: number;
  /** The URL at which callers reach the server; undefined if it is not configured. */
  publicUrl: URL | undefined;
  database: Database;
  newId: NewId;
  clock: Clock;
  log: Log;
}): Media {
  async function keep(accountId: string, content: Content): Promise<MediaTable> {
    const { stream, fileName, mimeType: declared, declaredBytes = 0 } = content;
    const file = join(incoming, randomUUID());
    try {
      if (declaredBytes > maxBytes) throw tooLarge(maxBytes);
      const { hash, size } = await receive(stream, file, maxBytes);
      if (size === 0) throw invalidField('body', 'The file is empty', 'empty');
      const mimeType = await sniffType(file, declared);
      const pending = join(incoming, hash + PENDING);
      await writeFile(pending, '');
      await store.put(hash, file, size);
      const added = {
        account_id: accountId,
        media_id: newId('med'),
        hash,
        mime_type: mimeType,
        size,
        file_name: cleanFileName(fileName),
        created_at: clock.now(),
      };
      const row = await database.commit(({ kysely }) =>
        kysely
          .insertInto('media')
          .values(added)
          // Changes nothing, but returns the earlier row of the same content.
          .onConflict((conflict) => conflict.columns(['hash', 'account_id']).doUpdateSet({ hash }))
          .returningAll()
          .executeTakeFirstOrThrow(),
      );
      await rm(pending, { force: true });
      return row;
    } catch (error) {
      throw isDiskFailure(error) ? new AppError('storage_unavailable', NO_ROOM, { cause: error }) : error;
    } finally {
      stream.destroy();
      await rm(file, { force: true });
    }
  }

  async function clearUp(name: string): Promise<void> {
    if (name.endsWith(PENDING)) {
      const hash = name.slice(0, -PENDING.length);
      if ((await findAnyByHash.first(database.reader, { hash })) === undefined) await store.remove(hash);
    }
    await rm(join(incoming, name), { force: true });
  }

  return {
    keep,
    fetch: (accountId, url) => outgoing.use(accountId, () => fetching(url, (content) => keep(accountId, content))),
    async find(accountId, mediaId) {
      const row = await findById.first(database.reader, { accountId, mediaId });
      if (row === undefined) throw new AppError('not_found', `The file ${mediaId} does not exist`);
      return row;
    },
    urlOf(mediaId) {
      const path = `/api/v1/media/${mediaId}/content`;
      return publicUrl === undefined ? path : new URL(path, publicUrl).href;
    },
    open: (hash, range) => store.open(hash, range),
    read: async (hash) => buffer(await store.open(hash)),
    async start() {
      await mkdir(incoming, { recursive: true, mode: 0o700 });
      for (const name of await readdir(incoming)) {
        // If the store is unavailable, the next start cleans up.
        await clearUp(name).catch((err: unknown) => log.warn({ err, file: name }, 'failed to remove a partial upload'));
      }
    },
    close: () => store.close(),
  };
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
