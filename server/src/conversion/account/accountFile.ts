import { createCipheriv, createDecipheriv, randomBytes, scrypt } from 'node:crypto';
import { type FileHandle, open, rename, rm } from 'node:fs/promises';
import { promisify } from 'node:util';
import { OperatorError } from '../../errors.ts';

/** The file cannot be read or written; the message explains what to do. */
export class AccountFileError extends OperatorError {}

/*
 * A file with one account: lines of JSON, encrypted as a whole. It begins with a magic text, a salt and a nonce prefix,
 * followed by frames: the length in 4 bytes, the ciphertext and its tag. The key is derived from the passphrase by
 * scrypt. Each frame is sealed with AES-256-GCM. Its nonce has the prefix, a number and a mark of the last frame, which
 * is the STREAM construction (https://eprint.iacr.org/2015/189): frames cannot be cut off, left out or reordered.
 */
const MAGIC = Buffer.from('switchboard account 1\n');
const SALT_BYTES = 16;
const PREFIX_BYTES = 7;
const TAG_BYTES = 16;
const FRAME_BYTES = 64 * 1024;
/** Longest line that is read, in bytes: a row, or a part of a file. */
const MAX_LINE_BYTES = 16 * 1024 ** 2;
/** Takes some 0.2 s and 64 MB. */
const SCRYPT = { N: 2 ** 16, r: 8, p: 1, maxmem: 128 * 1024 ** 2 };
const MAX_FRAMES = 2 ** 32;
export const LEAST_PASSPHRASE = 12;

const derive = promisify<string, Buffer, number, typeof SCRYPT, Buffer>(scrypt);

function nonceOf(prefix: Buffer, index: number, isLast: boolean): Buffer {
  const nonce = Buffer.alloc(12);
  prefix.copy(nonce);
  nonce.writeUInt32BE(index, PREFIX_BYTES);
  nonce[11] = isLast ? 1 : 0;
  return nonce;
}

export class AccountFileWriter {
  readonly #handle: FileHandle;
  readonly #path: string;
  readonly #key: Buffer;
  readonly #head: Buffer;
  #waiting: Buffer[] = [];
  #bytes = 0;
  #frames = 0;

  private constructor(handle: FileHandle, path: string, key: Buffer, head: Buffer) {
    this.#handle = handle;
    this.#path = path;
    this.#key = key;
    this.#head = head;
  }

  /** Creates a file, which appears under its name once it is complete. */
  static async create(path: string, passphrase: string): Promise<AccountFileWriter> {
    const salt = randomBytes(SALT_BYTES);
    const head = Buffer.concat([MAGIC, salt, randomBytes(PREFIX_BYTES)]);
    const existing = await open(path).catch(() => undefined);
    if (existing !== undefined) {
      await existing.close();
      throw new AccountFileError(`${path} exists already. Name a file that does not exist.`);
    }
    const handle = await open(`${path}.partial`, 'w', 0o600);
    await handle.chmod(0o600);
    await handle.write(head);
    return new AccountFileWriter(handle, path, await derive(passphrase, salt, 32, SCRYPT), head);
  }

  async line(value: unknown): Promise<void> {
    const line = Buffer.from(`${JSON.stringify(value)}\n`);
    if (line.length > MAX_LINE_BYTES) throw new AccountFileError(`A row has more than ${MAX_LINE_BYTES} bytes.`);
    this.#waiting.push(line);
    this.#bytes += line.length;
    if (this.#bytes >= FRAME_BYTES) await this.#flush(false);
  }

  /** Writes the end, and gives the file its name. */
  async finish(): Promise<void> {
    await this.#flush(true);
    await this.#handle.sync();
    await this.#handle.close();
    await rename(`${this.#path}.partial`, this.#path);
  }

  async discard(): Promise<void> {
    await this.#handle.close();
    await rm(`${this.#path}.partial`, { force: true });
  }

  async #flush(isEnd: boolean): Promise<void> {
    const bytes = Buffer.concat(this.#waiting);
    let at = 0;
    for (; bytes.length - at >= FRAME_BYTES; at += FRAME_BYTES)
      await this.#frame(bytes.subarray(at, at + FRAME_BYTES), false);
    const rest = bytes.subarray(at);
    if (isEnd) await this.#frame(rest, true);
    this.#waiting = isEnd ? [] : [rest];
    this.#bytes = isEnd ? 0 : rest.length;
  }

  async #frame(bytes: Buffer, isLast: boolean): Promise<void> {
    if (this.#frames === MAX_FRAMES) throw new AccountFileError('The account is too large for one file.');
    const nonce = nonceOf(this.#head.subarray(-PREFIX_BYTES), this.#frames++, isLast);
    const cipher = createCipheriv('aes-256-gcm', this.#key, nonce).setAAD(this.#head);
    const sealed = Buffer.concat([cipher.update(bytes), cipher.final(), cipher.getAuthTag()]);
    const length = Buffer.alloc(4);
    length.writeUInt32BE(sealed.length);
    await this.#handle.write(Buffer.concat([length, sealed]));
  }
}

/**
 * Reads the lines of a file. Nothing of a frame is returned before it was verified.
 * @throws {AccountFileError} if it is damaged, cut off or of another kind, or the passphrase is wrong
 */
export async function* readLines(path: string, passphrase: string): AsyncGenerator<unknown, void, undefined> {
  const handle = await open(path).catch((cause: unknown) => {
    throw new AccountFileError(`${path} cannot be read.`, { cause });
  });
  try {
    let rest: Buffer[] = [];
    let bytes = 0;
    for await (const frame of readFrames(handle, path, passphrase)) {
      let from = 0;
      for (let end = frame.indexOf(10); end !== -1; end = frame.indexOf(10, from)) {
        yield parse(Buffer.concat([...rest, frame.subarray(from, end)]), path);
        from = end + 1;
        rest = [];
        bytes = 0;
      }
      rest.push(frame.subarray(from));
      bytes += frame.length - from;
      if (bytes > MAX_LINE_BYTES) throw damaged(path, 'a line is too long');
    }
    if (bytes > 0) throw damaged(path, 'its last line is not complete');
  } finally {
    await handle.close();
  }
}

async function* readFrames(handle: FileHandle, path: string, passphrase: string): AsyncGenerator<Buffer> {
  const read = async (bytes: number): Promise<Buffer> => {
    const buffer = Buffer.alloc(bytes);
    let at = 0;
    while (at < bytes) {
      const { bytesRead } = await handle.read(buffer, at, bytes - at);
      if (bytesRead === 0) break;
      at += bytesRead;
    }
    return buffer.subarray(0, at);
  };
  const head = await read(MAGIC.length + SALT_BYTES + PREFIX_BYTES);
  if (!head.subarray(0, MAGIC.length).equals(MAGIC))
    throw new AccountFileError(`${path} is not a file of switchboard admin export-account.`);
  const key = await derive(passphrase, head.subarray(MAGIC.length, MAGIC.length + SALT_BYTES), 32, SCRYPT);
  for (let index = 0; index < MAX_FRAMES; index++) {
    const length = await read(4);
    if (length.length < 4) throw damaged(path, 'it was cut off');
    const size = length.readUInt32BE();
    if (size < TAG_BYTES || size > FRAME_BYTES + TAG_BYTES) throw damaged(path, 'a frame has another size');
    const sealed = await read(size);
    if (sealed.length < size) throw damaged(path, 'it was cut off');
    const inner = openFrame({ key, head, index, isLast: false }, sealed);
    const frame = inner ?? openFrame({ key, head, index, isLast: true }, sealed);
    if (frame === undefined) throw undecipherable(path, index);
    yield frame;
    if (inner !== undefined) continue;
    if ((await read(1)).length > 0) throw damaged(path, 'it goes on after its end');
    return;
  }
}

const undecipherable = (path: string, index: number) =>
  new AccountFileError(
    index === 0
      ? `${path} cannot be decrypted: the passphrase is wrong, or the file is damaged.`
      : `${path} is damaged: a part of it cannot be decrypted. Export the account again.`,
  );

interface FramePlace {
  readonly key: Buffer;
  readonly head: Buffer;
  readonly index: number;
  readonly isLast: boolean;
}

function openFrame({ key, head, index, isLast }: FramePlace, sealed: Buffer): Buffer | undefined {
  const decipher = createDecipheriv('aes-256-gcm', key, nonceOf(head.subarray(-PREFIX_BYTES), index, isLast), {
    authTagLength: TAG_BYTES,
  })
    .setAAD(head)
    .setAuthTag(sealed.subarray(-TAG_BYTES));
  const bytes = decipher.update(sealed.subarray(0, -TAG_BYTES));
  try {
    return Buffer.concat([bytes, decipher.final()]);
  } catch {
    return undefined; // not with this nonce
  }
}

function parse(line: Buffer, path: string): unknown {
  try {
    return JSON.parse(line.toString('utf8'));
  } catch {
    throw damaged(path, 'a line is no JSON');
  }
}

const damaged = (path: string, why: string) =>
  new AccountFileError(`${path} is damaged: ${why}. Export the account again.`);
