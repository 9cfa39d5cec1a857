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
   * Takes a file in for an account. The same content gives the row that the account has of it already.
   * @throws {AppError} `payload_too_large`; `validation_failed` when it is empty
   */
  keep(accountId: string, content: Content): Promise<MediaTable>;
  /**
   * Takes in what is behind an https URL.
   * @throws {AppError} `validation_failed` when it may not be called, `fetch_failed`, `payload_too_large`, `rate_limited`
   */
  fetch(accountId: string, url: string): Promise<MediaTable>;
  /** @throws {AppError} `not_found` when the account has no such media */
  find(accountId: string, mediaId: string): Promise<MediaTable>;
  /** The bytes of a row that the caller has found. Whoever asks must read or destroy them. */
  open(hash: string, range?: ByteRange): Promise<Readable>;
  /** The same, in memory: for what is known to be small. */
  read(hash: string): Promise<Buffer>;
  /** Where callers read the content: a path of this server, or a whole URL when the server knows its own. */
  urlOf(mediaId: string): string;
  /** Clears up what a crash has left. */
  start(): Promise<void>;
  close(): Promise<void>;
}

const PENDING = '.pending';

/**
 * Files of accounts. A file comes in as a temporary one, gets its hash and its type, goes into the store, and only
 * then gets its row: a row always has its content. In between, an empty file `{hash}.pending` says that the store may
 * hold a content that no row speaks of; the next start looks after it, after a crash as after a failed commit.
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
  /** Folder for files on their way in. Nobody else's. */
  incoming: string;
  fetching: UseFetched;
  outgoing: OutgoingConnections;
  maxBytes: number;
  /** Under which callers reach the server; undefined when nobody has said. */
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
      const row = await addRow({
        account_id: accountId,
        media_id: newId('med'),
        hash,
        mime_type: mimeType,
        size,
        file_name: cleanFileName(fileName),
        created_at: clock.now(),
      });
      await rm(pending, { force: true });
      return row;
    } catch (error) {
      throw isDiskFailure(error) ? new AppError('storage_unavailable', NO_ROOM, { cause: error }) : error;
    } finally {
      stream.destroy();
      await rm(file, { force: true });
    }
  }

  function addRow(row: MediaTable): Promise<MediaTable> {
    return database.commit(async (tx) => {
      await tx.kysely
        .insertInto('media')
        .values(row)
        .onConflict((conflict) => conflict.columns(['hash', 'account_id']).doNothing())
        .execute();
      // The one that is there: this one, or an earlier one of the same content.
      return (await findByHash.first(tx, { accountId: row.account_id, hash: row.hash })) ?? row;
    });
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
      if (row === undefined) throw new AppError('not_found', `The media ${mediaId} does not exist`);
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
        // What cannot be cleared up now, with the store away, is left for the next start.
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

/** Writes a stream to a file, synced, and says what went through. */
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
    // A pipeline that fails does not wait for its file, which may only now come to be.
    await closed;
  }
  return { hash: hash.digest('hex'), size };
}

const findById = query((db, p: { accountId: string; mediaId: string }) =>
  db.selectFrom('media').selectAll().where('account_id', '=', p.accountId).where('media_id', '=', p.mediaId),
);

const findByHash = query((db, p: { accountId: string; hash: string }) =>
  db.selectFrom('media').selectAll().where('account_id', '=', p.accountId).where('hash', '=', p.hash),
);

/** Of any account: only whether a content is still spoken of. */
const findAnyByHash = query((db, p: { hash: string }) =>
  db.selectFrom('media').select('media_id').where('hash', '=', p.hash).limit(1),
);
