import type { Fields } from '../../objects.ts';

/*
 * Keeps an answer small enough for a model's context, whatever third parties have written: long texts and lists are cut
 * and marked, and a page ends when it is full. REST responses are not affected.
 */

/** The part of a JSON Schema that decides which objects can be marked as truncated. */
export type Schema = Readonly<Record<string, unknown>>;

export const PAGE_ENTRIES = 20;

/** Limit for a name from the input that an error repeats. */
export const MAX_NAME_LENGTH = 200;

/** The rest of the 60,000 bytes of an answer is for the notice, the cursor and the JSON-RPC envelope. */
const ROOM_BYTES = 55_000;

interface Limits {
  /** UTF-16 code units of a text. */
  readonly text: number;
  /** Entries of an inner list, and names of a map. */
  readonly entries: number;
}

/** For an entry of a page. A page of texts of that length has less than 20,000 characters. */
const LISTED: Limits = { text: 600, entries: 20 };
/** For an object inside an entry that has a list of its own, such as the last message of a chat. */
const PREVIEW: Limits = { text: 200, entries: 5 };

/** For a single object, tried in order until it fits. The last one always fits, because everything in it is bounded. */
const STEPS: readonly Limits[] = [
  { text: 2048, entries: 500 },
  { text: 2048, entries: 200 },
  { text: 2048, entries: 50 },
  { text: 1024, entries: 20 },
  { text: 512, entries: 10 },
  { text: 128, entries: 5 },
  { text: 32, entries: 0 },
];

/** Factor for a text that the caller asked for, compared with one that is merely included. */
const SLICE_FACTOR = 4;
/** Entries of a list inside a list. */
const INNER_ENTRIES = 20;
/** Names that stay in a map, so that its subject is still clear. */
const MIN_NAMES = 16;

/** The field of an output that is read in parts. */
export interface Slice {
  readonly field: string;
  /** Characters of a text or entries of a list to skip; undefined if the caller did not ask for a part. */
  readonly offset: number | undefined;
}

export interface Page {
  readonly data: readonly unknown[];
  readonly nextCursor: string | null;
}

/**
 * Returns as many entries of a page as fit, and the cursor after the last of them. The first entry is always included,
 * cut if necessary, so that paging always makes progress.
 *
 * @param cursors the cursor after each entry
 */
export function fitPage(page: Page, schema: Schema, cursors: readonly string[]): Fields {
  const entry = itemsOf(propertiesOf(schema)['data']);
  const kept: unknown[] = [];
  let room = ROOM_BYTES;
  for (const whole of page.data) {
    const { value } = cutEntry(whole as Fields, entry);
    const cost = costOf(value);
    if (cost > room && kept.length > 0) break;
    kept.push(cost > room ? fitOne(whole as Fields, entry) : value);
    room -= cost;
  }
  const isWhole = kept.length === page.data.length;
  return { data: kept, nextCursor: isWhole ? page.nextCursor : (cursors[kept.length - 1] ?? page.nextCursor) };
}

/** Cuts an entry of a page. An object inside it that is named, and so has a list of its own, is only a preview. */
function cutEntry(entry: Fields, schema: Schema): Cut<Fields> {
  const properties = propertiesOf(schema);
  const isNamed = (name: string) => objectOf(properties[name] ?? {})['title'] !== undefined;
  const members = Object.entries(entry).map(([name, member]) => [
    name,
    isNamed(name) && typeof member === 'object' && member !== null ? withoutRepeated(member as Fields, entry) : member,
  ]);
  return cutObject(Object.fromEntries(members), schema, (name) => (isNamed(name) ? PREVIEW : LISTED));
}

/** Leaves out what the entry around it says as well, such as the chat of its last message. */
function withoutRepeated(inner: Fields, outer: Fields): Fields {
  return Object.fromEntries(Object.entries(inner).filter(([name, value]) => value !== outer[name]));
}

/** Cuts an object as far as necessary. Marks it with `truncated` if it is cut, and `nextOffset` to continue. */
export function fitOne(output: Fields, schema: Schema, slice?: Slice): Fields {
  let shown: Fields = {};
  for (const limits of STEPS) {
    shown = show(output, schema, limits, slice);
    if (costOf(shown) <= ROOM_BYTES) break;
  }
  return shown;
}

/** The beginning of a text, without half a character at its end. */
export function beginningOf(text: string, length: number): string {
  if (text.length <= length) return text;
  return text.slice(0, isSplit(text, length) ? length - 1 : length);
}

function show(output: Fields, schema: Schema, limits: Limits, slice: Slice | undefined): Fields {
  const whole = slice && output[slice.field];
  if (slice === undefined || !(typeof whole === 'string' || Array.isArray(whole)))
    return cutObject(output, schema, () => limits).value;
  const { field, offset = 0 } = slice;
  const start = typeof whole === 'string' && isSplit(whole, offset) ? offset - 1 : offset;
  const rest = whole.slice(start);
  const sliceLimits = {
    text: slice.offset === undefined ? limits.text : limits.text * SLICE_FACTOR,
    entries: Math.max(1, limits.entries),
  };
  const { value } = cutObject({ ...output, [field]: rest }, schema, (name) => (name === field ? sliceLimits : limits));
  const shown = value[field];
  const length = typeof shown === 'string' || Array.isArray(shown) ? shown.length : 0;
  return length < rest.length ? { ...value, nextOffset: start + length } : value;
}

interface Cut<T = unknown> {
  readonly value: T;
  /** Whether something is missing that the value itself does not mark. */
  readonly isCut: boolean;
}

function cut(value: unknown, schema: Schema, limits: Limits): Cut {
  if (typeof value === 'string') return { value: beginningOf(value, limits.text), isCut: value.length > limits.text };
  if (Array.isArray(value)) {
    const items = itemsOf(schema);
    const inner = { ...limits, entries: Math.min(limits.entries, INNER_ENTRIES) };
    const kept = value.slice(0, limits.entries).map((item) => cut(item, items, inner));
    return {
      value: kept.map((one) => one.value),
      isCut: kept.length < value.length || kept.some(({ isCut }) => isCut),
    };
  }
  if (typeof value !== 'object' || value === null) return { value, isCut: false };
  return cutObject(value as Fields, schema, () => limits);
}

function cutObject(value: Fields, schema: Schema, limitsOf: (name: string) => Limits): Cut<Fields> {
  const described = objectOf(schema);
  // An object whose fields all have the same type, such as a map of texts, has no place for a mark: its parent is
  // marked.
  const isMarkable = described['properties'] !== undefined;
  const properties = propertiesOf(described);
  const entries = Object.entries(value).filter(([name]) => properties[name]?.['x-not-for-agents'] !== true);
  const kept = entries.filter(([name], index) => {
    if (Object.hasOwn(properties, name)) return true;
    const { text, entries: most } = limitsOf(name);
    return index < (isMarkable ? Math.max(most, MIN_NAMES) : most) && name.length <= text;
  });
  const cuts = kept.map(([name, member]): [string, Cut] => {
    const known = Object.hasOwn(properties, name) ? properties[name] : undefined;
    return [name, cut(member, known ?? {}, limitsOf(name))];
  });
  const shown = Object.fromEntries(cuts.map(([name, one]) => [name, one.value]));
  const isCut = kept.length < entries.length || cuts.some(([, one]) => one.isCut);
  return isCut && isMarkable ? { value: { ...shown, truncated: true }, isCut: false } : { value: shown, isCut };
}

/**
 * The size of a value in an answer, in bytes: as structured content plus as JSON text. Counting stops when the room is
 * exceeded, so that a huge value costs no more than a slightly too large one.
 */
function costOf(value: unknown): number {
  if (typeof value === 'object' && value !== null) {
    let cost = 4;
    for (const [name, member] of Object.entries(value)) {
      // A colon or a comma each, in both forms.
      cost += costOf(member) + 2 + (Array.isArray(value) ? 0 : costOf(name) + 2);
      if (cost > ROOM_BYTES) break;
    }
    return cost;
  }
  const json = JSON.stringify(value) ?? '';
  return Buffer.byteLength(json) + Buffer.byteLength(JSON.stringify(json)) - 2;
}

/** Whether a cut at this place would split a surrogate pair. */
function isSplit(text: string, at: number): boolean {
  return isInRange(text.charCodeAt(at - 1), 0xd8_00) && isInRange(text.charCodeAt(at), 0xdc_00);
}

const isInRange = (unit: number, from: number) => unit >= from && unit < from + 0x4_00;

/** The object member of a union, such as of an object and null. */
function objectOf(schema: Schema): Schema {
  const { anyOf } = schema as { anyOf?: readonly Schema[] };
  return anyOf?.find((one) => 'properties' in one || 'items' in one) ?? schema;
}

function propertiesOf(schema: Schema): Readonly<Record<string, Schema>> {
  const { properties = {} } = objectOf(schema) as { properties?: Readonly<Record<string, Schema>> };
  return properties;
}

function itemsOf(schema: Schema = {}): Schema {
  const { items = {} } = objectOf(schema) as { items?: Schema };
  return items;
}
