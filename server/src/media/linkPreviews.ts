import type { Readable } from 'node:stream';
import { FairTurns, KeyedQueue, withTimeout } from '../async.ts';
import type { ChildHealth } from '../childHealth.ts';
import { systemClock } from '../clock.ts';
import type { OutgoingConnections } from '../egress/outgoing.ts';
import type { Log } from '../log.ts';
import { ThreadPool } from '../threadPool.ts';
import type { Content } from './content.ts';
import type { UseFetched } from './fetch.ts';
import type { Head } from './pageHead.ts';
import type { PageResult, PageTask } from './pageThread.ts';

/** The title, description and picture of a page. */
export interface Page {
  readonly title: string;
  readonly description?: string;
  /** A small JPEG in base64. */
  readonly thumbnail?: string;
}

/** How much of a page is read: the head is at its beginning. */
const PAGE_BYTES = 512 * 1024;
/** Largest picture of a page. */
export const PREVIEW_IMAGE_BYTES = 1024 * 1024;
/** For a page, and again for its picture, including redirects. */
export const PREVIEW_MS = 4000;
/** Pages of one account that may wait for one another. The others have no preview. */
const PAGES_PER_ACCOUNT = 8;
/** Milliseconds after which the thread that reads pages ends. */
const IDLE_MS = 60_000;
/** A decoded picture of this many pixels takes 64 MB, and one is decoded at a time. */
const MAX_PIXELS = 16_000_000;
const MAX_SECONDS = 5;
const SIDE = 320;
/** Goes with the message to each device of the recipient. */
const THUMBNAIL_BYTES = 40 * 1024;
const MAX_WAITING = { inAll: 16, perKey: 4 };

interface Options {
  /** Fetches pages; vets the URL and each redirect. */
  readonly fetching: UseFetched;
  /** The same for pictures, with their limit. */
  readonly fetchingImage: UseFetched;
  readonly outgoing: OutgoingConnections;
  readonly health: ChildHealth;
  readonly log: Log;
}

/**
 * Reads the titles, descriptions and pictures of pages. The account chooses the URL, so it is vetted like that of a
 * file to send (see `fetch.ts`), and bytes, pixels and time are bounded. Only https is fetched. A thread parses the
 * pages, and each account has one page in progress.
 */
export class LinkPreviews {
  readonly #options: Options;
  readonly #pages = new KeyedQueue();
  readonly #pictures = new FairTurns(MAX_WAITING);
  readonly #parsing: ThreadPool<PageTask, PageResult>;

  constructor(options: Options) {
    this.#options = options;
    this.#parsing = new ThreadPool({
      script: new URL('./pageThread.ts', import.meta.url),
      size: 1,
      timeoutMs: PREVIEW_MS,
      idleMs: IDLE_MS,
      health: options.health,
      purpose: 'read pages',
    });
  }

  async stop(): Promise<void> {
    await this.#parsing.stop();
  }

  /** Never rejects: a page that cannot be read has no preview. */
  async of(accountId: string, url: string): Promise<Page | undefined> {
    if (this.#pages.length(accountId) >= PAGES_PER_ACCOUNT) return undefined;
    let isLate = false;
    const page = this.#pages.run(accountId, async () => (isLate ? undefined : this.#read(accountId, url)));
    try {
      return await withTimeout(systemClock, 3 * PREVIEW_MS, page);
    } catch (error) {
      isLate = true;
      this.#options.log.debug({ err: error }, 'failed to make the preview of a link');
      return undefined;
    }
  }

  /** Fetches a picture. Throws if the URL is not allowed, or the picture cannot be fetched. */
  fetchThumbnail(accountId: string, url: string): Promise<string | undefined> {
    const { fetchingImage, outgoing } = this.#options;
    return outgoing.use(accountId, () =>
      fetchingImage(url, async ({ stream }) =>
        this.thumbnail(accountId, await readUpTo(stream, PREVIEW_IMAGE_BYTES + 1)),
      ),
    );
  }

  /** Scales a picture down. Returns undefined if it is none, is too large, or there is no image library. */
  async thumbnail(accountId: string, picture: Buffer): Promise<string | undefined> {
    if (picture.length > PREVIEW_IMAGE_BYTES || !this.#pictures.hasRoomFor(accountId)) return undefined;
    // It may be damaged, or have too many pixels.
    const scaled = await this.#pictures.run(accountId, () => scale(picture)).catch(() => undefined);
    return scaled?.toString('base64');
  }

  async #read(accountId: string, url: string): Promise<Page | undefined> {
    const { fetching, outgoing } = this.#options;
    const found = await outgoing.use(accountId, () => fetching(url, (content) => this.#headOf(content)));
    if (found?.title === undefined) return undefined;
    const thumbnail = found.image && (await this.#thumbnailAt(accountId, found.image, url));
    return {
      title: found.title,
      ...(found.description && { description: found.description }),
      ...(thumbnail && { thumbnail }),
    };
  }

  async #headOf({ stream, mimeType: contentType }: Content): Promise<Head | undefined> {
    if (contentType !== null && !/^\s*(text\/html|application\/xhtml\+xml)\b/i.test(contentType)) return undefined;
    const bytes = await readUpTo(stream, PAGE_BYTES);
    return (await this.#parsing.run({ bytes, contentType })) ?? undefined;
  }

  async #thumbnailAt(accountId: string, image: string, page: string): Promise<string | undefined> {
    if (!URL.canParse(image, page)) return undefined;
    return this.fetchThumbnail(accountId, new URL(image, page).href).catch(() => undefined);
  }
}

/** Formats that are decoded. The library supports more. */
const FORMATS: ReadonlySet<string> = new Set(['png', 'jpeg', 'webp', 'gif']);

async function scale(picture: Buffer): Promise<Buffer | undefined> {
  const library = await import('sharp').catch(() => undefined);
  if (library === undefined) return undefined;
  const open = () =>
    library.default(picture, { limitInputPixels: MAX_PIXELS, failOn: 'error' }).timeout({ seconds: MAX_SECONDS });
  const { format } = await open().metadata();
  if (!FORMATS.has(format)) return undefined;
  for (const quality of [70, 40]) {
    const scaled = await open()
      .rotate()
      .resize({ width: SIDE, height: SIDE, fit: 'inside', withoutEnlargement: true })
      .flatten({ background: '#ffffff' })
      .jpeg({ quality })
      .toBuffer();
    if (scaled.length <= THUMBNAIL_BYTES) return scaled;
  }
  return undefined;
}

async function readUpTo(stream: Readable, limit: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of stream) {
    chunks.push(chunk);
    size += chunk.length;
    if (size >= limit) break;
  }
  return Buffer.concat(chunks).subarray(0, limit);
}
