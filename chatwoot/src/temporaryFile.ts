import { createWriteStream, openAsBlob } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { messageOf } from './log.ts';

/** Deadline of a copy. A body that stalls would hold back the messages behind it. */
export const COPY_TIMEOUT_MS = 600_000;

/** A file is larger than the limit. */
export class FileTooLargeError extends Error {
  override readonly name = 'FileTooLargeError';
}

/**
 * Writes the body of a response to a temporary file and passes it on. A file on disk has a known length and can be sent
 * again, and does not occupy memory.
 * @throws {FileTooLargeError}
 */
export async function withFile<T>(
  response: Response,
  { maxBytes, type }: { readonly maxBytes: number; readonly type: string },
  use: (blob: Blob) => Promise<T>,
): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'switchboard-chatwoot-'));
  try {
    const path = join(folder, 'file');
    let size = 0;
    const limit = new Transform({
      transform(chunk: Uint8Array, _encoding, callback) {
        size += chunk.byteLength;
        callback(size > maxBytes ? new FileTooLargeError(`The file is larger than ${maxBytes} bytes`) : null, chunk);
      },
    });
    const body = response.body;
    // The DOM type of the stream and the one of Node are the same class.
    const source =
      body === null ? Readable.from([]) : Readable.fromWeb(body as import('node:stream/web').ReadableStream);
    await pipeline(source, limit, createWriteStream(path, { mode: 0o600 }), {
      signal: AbortSignal.timeout(COPY_TIMEOUT_MS),
    }).catch((cause) => {
      // The network and the disk fail with errors of many classes, among them the ones of bugs.
      throw cause instanceof FileTooLargeError
        ? cause
        : new Error(`The copy broke off: ${messageOf(cause)}`, { cause });
    });
    return await use(await openAsBlob(path, { type }));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
