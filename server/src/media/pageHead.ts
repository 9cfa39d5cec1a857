import { Parser } from 'htmlparser2';
import { plainLine } from './content.ts';

/** Title, description and image that a page states in its head. */
export interface Head {
  readonly title?: string;
  readonly description?: string;
  readonly image?: string;
}

const TITLE_CHARACTERS = 200;
const DESCRIPTION_CHARACTERS = 500;
/** Longest value that is read before it is shortened. */
const VALUE_CHARACTERS = 4096;
const MAX_VALUES = 200;
/** The head of a page has a handful of levels. The parser's work per tag grows with the level. */
const MAX_DEPTH = 64;
const MAX_ELEMENTS = 5000;
/** Characters between checks whether the rest of the page is needed. */
const CHUNK = 4096;

/** Names of `<meta>` elements, the preferred one first. */
const TITLES = ['og:title', 'twitter:title'];
const DESCRIPTIONS = ['og:description', 'twitter:description', 'description'];
const IMAGES = ['og:image:secure_url', 'og:image', 'og:image:url', 'twitter:image'];

/** Reads a page up to the end of its head, or until it has more levels or elements than a head. */
export function readHead(bytes: Uint8Array, contentType: string | null): Head {
  const html = decoded(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength), contentType);
  const named = new Map<string, string>();
  let title = '';
  let isInTitle = false;
  let isDone = false;
  let depth = 0;
  let elements = 0;
  const parser = new Parser({
    onopentag(element, attributes) {
      depth += 1;
      elements += 1;
      if (element === 'body' || depth > MAX_DEPTH || elements > MAX_ELEMENTS) isDone = true;
      if (isDone) return;
      isInTitle = element === 'title' && title === '';
      const name = (attributes['property'] ?? attributes['name'] ?? '').toLowerCase();
      const content = attributes['content']?.slice(0, VALUE_CHARACTERS);
      if (element === 'meta' && content && !named.has(name) && named.size < MAX_VALUES) named.set(name, content);
    },
    ontext(text) {
      if (isInTitle && !isDone && title.length < TITLE_CHARACTERS) title += text.slice(0, VALUE_CHARACTERS);
    },
    onclosetag(element) {
      depth -= 1;
      if (element === 'title') isInTitle = false;
      if (element === 'head') isDone = true;
    },
  });
  for (let at = 0; at < html.length && !isDone; at += CHUNK) parser.write(html.slice(at, at + CHUNK));
  if (!isDone) parser.end();
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

/** Decodes a page by the character set that its server or the page itself names. */
function decoded(bytes: Buffer, contentType: string | null): string {
  const named =
    /charset\s*=\s*"?([\w-]+)/i.exec(contentType?.slice(0, 200) ?? '') ??
    /<meta[^>]{0,200}?charset\s*=\s*["']?([\w-]+)/i.exec(bytes.toString('latin1', 0, 2048));
  try {
    return new TextDecoder(named?.[1] ?? 'utf-8').decode(bytes);
  } catch {
    return bytes.toString(); // an unknown character set
  }
}

/** Makes one line of a text, without splitting a surrogate pair. */
const clean = (text: string, characters: number): string =>
  plainLine(text)
    .slice(0, characters)
    .replace(/[\ud800-\udbff]$/, '');
