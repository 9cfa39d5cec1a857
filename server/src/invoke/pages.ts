import { type RawBuilder, type SelectQueryBuilder, sql } from 'kysely';
import { type Static, type TObject, type TSchema, Type } from 'typebox';
import type { Schema } from '../db/schema.ts';
import { invalidField } from '../errors.ts';
import { integer, list, object, optional, orNull, string, token } from './input/fields.ts';

/** The input fields of every paged list. */
export const pageInput = {
  limit: optional(integer('Number of entries per page.', { minimum: 1, maximum: 200, default: 50 })),
  cursor: optional(
    string('`nextCursor` of the previous page. Leave it out for the first page.', {
      ...token('exact'),
      maxLength: 500,
    }),
  ),
};

export const pageOf = <T extends TSchema>(item: T) =>
  object({
    data: list(item, 'Entries of this page.'),
    nextCursor: orNull(
      Type.String(),
      'Pass it as `cursor` to get the next page; null on the last page. A page can be short, and in a filtered list even empty, although more pages follow.',
    ),
  });

export type PageInput = Static<TObject<typeof pageInput>>;

/** The lists that have cursors. A cursor contains the name of its list, because no other list can continue after it. */
type List =
  | 'api_keys'
  | 'batches'
  | 'channel_posts'
  | 'channels'
  | 'chats'
  | 'communities'
  | 'contacts'
  | 'deliveries'
  | 'endpoints'
  | 'groups'
  | 'history'
  | 'key_calls'
  | 'messages'
  | 'receipts'
  | 'search'
  | 'sessions'
  | 'status_views'
  | 'statuses'
  | 'subscriptions';

/**
 * Rows that a page passes at most when its filter has no dedicated index. A page that has passed them ends there, with
 * a cursor, so a filter that matches nothing costs the same in a large account as in a small one.
 */
export const MOST_PASSED = 2000;

/**
 * Reads a page of rows, the newest first or, with `asc`, the smallest key first.
 * @param key a column of the result that orders it, and has no value twice
 * @param show converts the rows of the page
 * @param passed keys of the rows that have to be read to find the selected ones; undefined if an index finds them
 * @param within range of the keys; do not repeat it in the selections, because SQLite uses one bound on each side
 */
export async function readPage<D, T extends keyof D, R, I>(
  list: List,
  select: SelectQueryBuilder<D, T, R>,
  key: string & keyof R,
  input: PageInput,
  show: (rows: readonly R[]) => readonly I[] | Promise<readonly I[]>,
  order: 'asc' | 'desc' = 'desc',
  passed?: Keys,
  within: KeyRange = {},
) {
  const { after, limit, rows } = pageStart(list, input);
  const column = passed?.column ?? sql.ref(key);
  const bounds = boundsOf(order, after, within);
  const last = passed && (await endOfWindow(passed, bounds, order));
  const rest = bounds.first === undefined ? select : select.where(column, bounds.onward, bounds.first);
  const window = last === undefined ? ended(rest, column, bounds) : rest.where(column, `${bounds.back}=`, last);
  const found = await window.orderBy(column, order).limit(rows).execute();
  const page = await toPage(list, found, limit, (row) => String(row[key]), show);
  return last === undefined || page.nextCursor !== null ? page : { ...page, nextCursor: encodeCursor(list, last) };
}

/** Returns the keys of the rows of a selection. */
export const keysOf = <D, T extends keyof D>(select: SelectQueryBuilder<D, T, object>, key: string): Keys => {
  const column = sql<string>`${sql.ref(key)}`;
  // The caller's table is one of the schema; a window reads nothing else of it.
  return { select: select.select(column.as('key')) as unknown as Keys['select'], column };
};

/** A query of keys, in a column `key`. */
interface Keys {
  readonly select: SelectQueryBuilder<Schema, never, { key: string }>;
  readonly column: RawBuilder<string>;
}

/** A range of keys; neither end is part of it. */
export interface KeyRange {
  readonly after?: string;
  readonly end?: string;
}

/**
 * The bounds of a page, in its order: one on each side, because SQLite searches with one of them and checks the others
 * for each row.
 */
interface Bounds {
  readonly first: string | undefined;
  readonly end: string | undefined;
  readonly onward: '<' | '>';
  readonly back: '<' | '>';
}

function boundsOf(order: 'asc' | 'desc', cursor: string | undefined, { after, end }: KeyRange): Bounds {
  if (order === 'asc') return { first: later(cursor, after), end, onward: '>', back: '<' };
  return { first: earlier(cursor, end), end: after, onward: '<', back: '>' };
}

const later = (a: string | undefined, b: string | undefined) => (a === undefined || (b !== undefined && b > a) ? b : a);
const earlier = (a: string | undefined, b: string | undefined) =>
  a === undefined || (b !== undefined && b < a) ? b : a;

const ended = <D, T extends keyof D, R>(
  select: SelectQueryBuilder<D, T, R>,
  column: RawBuilder<unknown>,
  { end, back }: Bounds,
) => (end === undefined ? select : select.where(column, back, end));

/** Returns the last key of a window; undefined if fewer rows are left. */
async function endOfWindow({ select, column }: Keys, bounds: Bounds, order: 'asc' | 'desc') {
  const { first, onward } = bounds;
  const rest = first === undefined ? select : select.where(column, onward, first);
  const end = await ended(rest, column, bounds)
    .orderBy(column, order)
    .offset(MOST_PASSED - 1)
    .limit(1)
    .executeTakeFirst();
  return end?.key;
}

/** The start of a page: the id after which it continues, and how many rows to read to know whether more follow. */
export function pageStart(list: List, input: PageInput) {
  const limit = input.limit ?? 50;
  return { after: input.cursor === undefined ? undefined : decodeCursor(list, input.cursor), limit, rows: limit + 1 };
}

/**
 * Turns rows (one more than the page holds, if there are more) into a page. `cursors` contains the cursor after each
 * entry, for callers that use fewer of them; it is never part of an answer.
 * @param show converts the rows. It can leave out the last ones if they are large together: the page then ends earlier.
 */
export async function toPage<R, I>(
  list: List,
  rows: readonly R[],
  limit: number,
  cursorOf: (row: R) => string,
  show: (rows: readonly R[]) => readonly I[] | Promise<readonly I[]>,
) {
  const page = rows.slice(0, limit);
  const data = [...(await show(page))];
  const cursors = page.slice(0, data.length).map((row) => encodeCursor(list, cursorOf(row)));
  const nextCursor = rows.length > data.length ? (cursors.at(-1) ?? null) : null;
  return { data, nextCursor, cursors };
}

export const encodeCursor = (list: List, key: string) => Buffer.from(`${list}~${key}`).toString('base64url');

/** @throws {AppError} `validation_failed` if it is a cursor of another list */
function decodeCursor(wanted: List, cursor: string): string {
  const text = Buffer.from(cursor, 'base64url').toString();
  // Ids and chat ids: no other values are used as keys. The example of the API description names no list.
  const { list = wanted, key } = /^(?:(?<list>\w+)~)?(?<key>[\w:|.@-]{1,200})$/.exec(text)?.groups ?? {};
  if (key === undefined || list !== wanted)
    throw invalidField('cursor', 'is not a cursor of this list; pass `nextCursor` of the previous page');
  return key;
}
