import type { ChatwootAttachment } from '../chatwoot/payload.ts';
import type { Settings } from '../config.ts';
import { FileTooLargeError, withFile } from '../temporaryFile.ts';

/** A file of an agent cannot be sent. The agent reads the message. */
export class FileError extends Error {
  override readonly name = 'FileError';
}

const TIMEOUT_MS = 120_000;
/** Paths of files that Rails serves or redirects to its storage (Active Storage). */
const STORED_FILE = /^\/rails\/active_storage\//;

/**
 * Downloads a file of an agent. Chatwoot names its files by its public address, which the bridge may not reach, so the
 * bridge reads them from the configured address. It refuses files on other servers.
 * @throws {FileError} if the file can never be sent
 */
export async function withAttachment<T>(
  attachment: ChatwootAttachment,
  settings: Pick<Settings, 'chatwootUrl' | 'maxFileBytes'>,
  use: (blob: Blob, name: string) => Promise<T>,
): Promise<T> {
  const url = fileUrl(attachment.url, settings.chatwootUrl);
  const response = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS) });
  if (response.status === 404) throw new FileError('the file is no longer in Chatwoot');
  if (!response.ok) throw new Error(`Chatwoot responded with ${response.status} for a file`);
  const type = response.headers.get('content-type') ?? 'application/octet-stream';
  try {
    return await withFile(response, { maxBytes: settings.maxFileBytes, type }, (blob) => use(blob, nameOf(url)));
  } catch (error) {
    if (error instanceof FileTooLargeError) throw new FileError('the file is too large');
    throw error;
  }
}

function fileUrl(given: string | undefined, chatwootUrl: string): URL {
  const url = URL.parse(given ?? '', chatwootUrl);
  if (url === null || !/^https?:$/.test(url.protocol)) throw new FileError('the file has no address');
  const base = new URL(chatwootUrl);
  if (STORED_FILE.test(url.pathname)) return new URL(`${base.origin}${url.pathname}${url.search}`);
  if (url.origin !== base.origin) throw new FileError('the file is not on the Chatwoot server');
  return url;
}

function nameOf(url: URL): string {
  const last = url.pathname.split('/').at(-1) ?? '';
  try {
    return decodeURIComponent(last).replace(/[\\/]/g, '_').slice(0, 200) || 'file';
  } catch {
    return 'file';
  }
}
