import type { Readable } from 'node:stream';
import { Parser } from 'htmlparser2';
import type { Log } from '../log.ts';
import type { OutgoingConnections } from '../outgoing.ts';
import { plainLine } from './content.ts';
import type { UseFetched } from './fetch.ts';

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
const TITLE_CHARACTERS = 200;
const DESCRIPTION_CHARACTERS = 500;
/** A decoded picture of this many pixels takes 64 MB, and one is decoded at a time. */
const MAX_PIXELS = 16_000_000;
const MAX_SECONDS = 5;
const SIDE = 320;
/** Goes with the message to each device of the recipient. */
const THUMBNAIL_BYTES = 40 * 1024;
const MAX_WAITING = 16;

interface Options {
  /** Fetches pages; vets the URL and each redirect. */
  readonly fetching: UseFetched;
  /** The same for pictures, with their limit. */
  readonly fetchingImage: UseFetched;
  readonly outgoing: OutgoingConnections;
  readonly log: Log;
}

/**
 * Reads the titles, descriptions and pictures of pages. The account chooses the URL, so it is vetted like that of a file to send (see
 * `fetch.ts`), and bytes, pixels and time are bounded. Only https is fetched.
 */
export class LinkPreviews {
  readonly #options: Options;
  #waiting = 0;
  #last: Promise<unknown> = Promise.resolve();

  constructor(options: Options) {
    this.#options = options;
  }

  /** Never rejects: a page that cannot be read has no preview. */
  async of(accountId: string, url: string): Promise<Page | undefined> {
    const { fetching, outgoing, log } = this.#options;
    try {
      const found = await outgoing.use(accountId, () =>
        fetching(url, ({ stream, mimeType }) => readPage(stream, mimeType)),
      );
      if (found?.title === undefined) return undefined;
      const thumbnail = found.image && (await this.#thumbnailAt(accountId, found.image, url));
      return {
        title: found.title,
        ...(found.description && { description: found.description }),
        ...(thumbnail && { thumbnail }),
      };
    } catch (error) {
      log.debug({ err: error }, 'failed to make the preview of a link');
      return undefined;
    }
  }

  /** Fetches a picture. Throws if the URL is not allowed, or the picture cannot be fetched. */
  fetchThumbnail(accountId: string, url: string): Promise<string | undefined> {
    const { fetchingImage, outgoing } = this.#options;
    return outgoing.use(accountId, () =>
      fetchingImage(url, async ({ stream }) => this.thumbnail(await readUpTo(stream, PREVIEW_IMAGE_BYTES + 1))),
    );
  }

  /** Scales a picture down. Returns undefined if it is none, is too large, or there is no image library. */
  async thumbnail(picture: Buffer): Promise<string | undefined> {
    if (picture.length > PREVIEW_IMAGE_BYTES || this.#waiting >= MAX_WAITING) return undefined;
    this.#waiting += 1;
    const turn = this.#last.then(() => scale(picture));
    this.#last = turn.catch(() => {});
    try {
      return (await turn)?.toString('base64');
    } catch {
      return undefined; // damaged, or too many pixels
    } finally {
      this.#waiting -= 1;
    }
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

interface Head {
  readonly title?: string;
  readonly description?: string;
  readonly image?: string;
}

async function readPage(stream: Readable, contentType: string | null): Promise<Head | undefined> {
  if (contentType !== null && !/^\s*(text\/html|application\/xhtml\+xml)\b/i.test(contentType)) return undefined;
  const bytes = await readUpTo(stream, PAGE_BYTES);
  return readHead(decoded(bytes, contentType));
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

/** Decodes a page by the character set that its server or the page itself names. */
function decoded(bytes: Buffer, contentType: string | null): string {
  const named =
    /charset\s*=\s*"?([\w-]+)/i.exec(contentType ?? '') ??
    /<meta[^>]{0,200}?charset\s*=\s*["']?([\w-]+)/i.exec(bytes.toString('latin1', 0, 2048));
  try {
    return new TextDecoder(named?.[1] ?? 'utf-8').decode(bytes);
  } catch {
    return bytes.toString(); // an unknown character set
  }
}

/** Names of `<meta>` elements, the preferred one first. */
const TITLES = ['og:title', 'twitter:title'];
const DESCRIPTIONS = ['og:description', 'twitter:description', 'description'];
const IMAGES = ['og:image:secure_url', 'og:image', 'og:image:url', 'twitter:image'];

/** Exported for tests. */
export function readHead(html: string): Head {
  const named = new Map<string, string>();
  let title = '';
  let isInTitle = false;
  let isDone = false;
  const parser = new Parser({
    onopentag(element, attributes) {
      if (element === 'body') isDone = true;
      if (isDone) return;
      isInTitle = element === 'title' && title === '';
      const name = (attributes['property'] ?? attributes['name'] ?? '').toLowerCase();
      const content = attributes['content'];
      if (element === 'meta' && content && !named.has(name) && named.size < 200) named.set(name, content);
    },
    ontext(text) {
      if (isInTitle && title.length < TITLE_CHARACTERS) title += text;
    },
    onclosetag(element) {
      if (element === 'title') isInTitle = false;
      if (element === 'head') isDone = true;
    },
  });
  parser.write(html);
  parser.end();
  const first = (names: readonly string[]) => names.map((name) => named.get(name)).find(Boolean);
  const shown = clean(first(TITLES) ?? title, TITLE_CHARACTERS);
  const description = clean(first(DESCRIPTIONS) ?? '', DESCRIPTION_CHARACTERS);
  const image = first(IMAGES);
  return {
    ...(shown && { title: shown }),
    ...(description && { description }),
    ...(image && { image: image.trim() }),
  };
}

/** Makes one line of a text, without splitting a surrogate pair. */
const clean = (text: string, characters: number): string =>
  plainLine(text)
    .slice(0, characters)
    .replace(/[\ud800-\udbff]$/, '');
