import { open } from 'node:fs/promises';

const UNKNOWN = 'application/octet-stream';
/** Bytes that are read to recognize text. */
const HEAD_BYTES = 8192;
/** A file can have an excessively long table of contents. */
const TIMEOUT_MS = 3000;
const MAX_READ_BYTES = 16 * 1024 * 1024;

/**
 * The media type of a file, by its content. The declared type counts only for text formats, which look alike. Any other
 * unrecognized file is `application/octet-stream`, whatever its declared type.
 */
export async function sniffType(file: string, declared: string | null): Promise<string> {
  const found = await recognize(file);
  if (found !== undefined && found !== 'application/xml') return found;
  const essence = essenceOf(declared);
  if (found === 'application/xml') return /^(text|application)\/xml$|\+xml$/.test(essence) ? essence : found;
  if (!(await isText(file))) return UNKNOWN;
  return isKindOfText(essence) ? essence : 'text/plain';
}

async function recognize(file: string): Promise<string | undefined> {
  const { fileTypeFromFile } = await import('file-type'); // few servers get files
  try {
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    return (await fileTypeFromFile(file, { signal, maxBufferSize: MAX_READ_BYTES }))?.mime;
  } catch {
    return undefined; // looks like a format but is malformed
  }
}

function essenceOf(declared: string | null): string {
  const essence = (declared ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';
  return /^[\w!#$&^.+-]{1,60}\/[\w!#$&^.+-]{1,60}$/.test(essence) ? essence : '';
}

function isKindOfText(essence: string): boolean {
  return /^text\/|[/+](json|xml|yaml)$|^application\/(javascript|x-ndjson|sql|graphql)$/.test(essence);
}

async function isText(file: string): Promise<boolean> {
  const handle = await open(file);
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0);
    // `stream`: a character may be cut in two by the end of the head.
    const text = new TextDecoder('utf-8', { fatal: true }).decode(buffer.subarray(0, bytesRead), { stream: true });
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what tells text from anything else
    return !/[\u0000-\u0008\u000b\u000e-\u001a\u001c-\u001f]/.test(text);
  } catch {
    return false;
  } finally {
    await handle.close();
  }
}
