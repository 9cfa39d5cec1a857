import { randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, open, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { AppError } from '../errors.ts';

/** Bytes from `first` to `last`, both counted in. */
export interface ByteRange {
  readonly first: number;
  readonly last: number;
}

/** Where contents are kept, each under the SHA-256 of its bytes: the same content is there once, whoever sent it. */
export interface ContentStore {
  /** Takes a finished, synced file over. When it resolves, the content survives a crash. */
  put(hash: string, file: string, size: number): Promise<void>;
  /** @throws {AppError} `storage_unavailable` when the store cannot be reached or has lost the content */
  open(hash: string, range?: ByteRange): Promise<Readable>;
  /** Does nothing when it is not there. */
  remove(hash: string): Promise<void>;
  /** What tells it from other stores, whichever node asks. The first that asks may have to make it. */
  identity(): Promise<string>;
  close(): Promise<void>;
}

/** Contents as files, in 65,536 folders by the first digits of the hash: no folder grows too large to list. */
export function createDiskStore(folder: string): ContentStore {
  const pathOf = (hash: string) => join(folder, hash.slice(0, 2), hash.slice(2, 4), hash);
  return {
    async put(hash, file) {
      const path = pathOf(hash);
      await mkdir(dirname(path), { recursive: true, mode: 0o700 });
      // Over what is there already too: it is the same bytes, and mends a file that was damaged.
      await rename(file, path);
      // The new names as well as the bytes: of the file, and of the folders that were perhaps made for it.
      for (let at = dirname(path); at.length >= folder.length; at = dirname(at)) await sync(at);
    },
    async open(hash, range) {
      const handle = await open(pathOf(hash)).catch((cause: unknown) => {
        throw new AppError('storage_unavailable', 'The media store does not contain this file', { cause });
      });
      return createReadStream('', {
        fd: handle,
        ...(range && { start: range.first, end: range.last }),
      });
    },
    async remove(hash) {
      await rm(pathOf(hash), { force: true });
    },
    async identity() {
      const place = join(folder, 'store-id');
      const read = () => readFile(join(place, 'id'), 'utf8');
      const known = await read().catch(() => undefined);
      if (known !== undefined) return `disk ${known}`;
      // A folder is not moved over one that has something in it: of several nodes that start at once, one names the
      // store, and nobody reads half a name. Hard links could do the same, but not every file system that is shared has
      // them.
      const own = `${place}.${randomUUID()}`;
      await mkdir(own, { recursive: true, mode: 0o700 });
      await writeFile(join(own, 'id'), randomUUID(), { mode: 0o600, flush: true });
      await rename(own, place).catch(() => rm(own, { recursive: true }));
      return `disk ${await read()}`;
    },
    async close() {},
  };
}

async function sync(folder: string): Promise<void> {
  const handle = await open(folder);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
