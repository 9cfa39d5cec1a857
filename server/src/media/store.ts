import { randomUUID } from 'node:crypto';
import { mkdir, open, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { AppError } from '../errors.ts';

/** Bytes from `first` to `last`, inclusive. */
export interface ByteRange {
  readonly first: number;
  readonly last: number;
}

/** Contents, each under the SHA-256 of its bytes, so that the same content is stored once. */
export interface ContentStore {
  /** Moves a finished, synced file into the store. Once it resolves, the content survives a crash. */
  put(hash: string, file: string, size: number): Promise<void>;
  /** @throws {AppError} `storage_unavailable` if the store is unreachable or has lost the content */
  open(hash: string, range?: ByteRange): Promise<Readable>;
  /** Does nothing if it is missing. */
  remove(hash: string): Promise<void>;
  /** Identifies this store on every node. The first call may create the identity. */
  identity(): Promise<string>;
  close(): Promise<void>;
}

/** Contents as files, in 65,536 folders by the first digits of the hash, so that no folder grows too large to list. */
export function createDiskStore(folder: string): ContentStore {
  const pathOf = (hash: string) => contentPath(folder, hash);
  return {
    async put(hash, file) {
      const path = pathOf(hash);
      await mkdir(dirname(path), { recursive: true, mode: 0o700 });
      // Replaces an existing file too: the bytes are the same, and a damaged file is repaired.
      await rename(file, path);
      // Syncs the directory entries as well: of the file, and of the folders that may have been created for it.
      for (let at = dirname(path); at.length >= folder.length; at = dirname(at)) await sync(at);
    },
    async open(hash, range) {
      const handle = await open(pathOf(hash)).catch((cause: unknown) => {
        throw new AppError('storage_unavailable', 'The media store does not contain this file', { cause });
      });
      return handle.createReadStream(range && { start: range.first, end: range.last });
    },
    async remove(hash) {
      await rm(pathOf(hash), { force: true });
    },
    async identity() {
      const place = join(folder, 'store-id');
      const read = () => readFile(join(place, 'id'), 'utf8');
      const known = await read().catch(() => undefined);
      if (known !== undefined) return `disk ${known}`;
      // Renaming a folder onto one that is not empty fails: of several nodes that start at once, one names the store,
      // and nobody reads half a name. Hard links would do the same, but not on every shared file system.
      const own = `${place}.${randomUUID()}`;
      await mkdir(own, { recursive: true, mode: 0o700 });
      await writeFile(join(own, 'id'), randomUUID(), { mode: 0o600, flush: true });
      await rename(own, place).catch(() => rm(own, { recursive: true }));
      return `disk ${await read()}`;
    },
    async close() {},
  };
}

/** The file of a content below the folder of a disk store. */
export function contentPath(folder: string, hash: string): string {
  return join(folder, hash.slice(0, 2), hash.slice(2, 4), hash);
}

async function sync(folder: string): Promise<void> {
  const handle = await open(folder);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
