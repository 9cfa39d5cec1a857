import { type SelectQueryBuilder, sql } from 'kysely';
import { type Static, type TObject, type TSchema, Type } from 'typebox';
import { invalidField } from '../errors.ts';
import { integer, list, object, optional, orNull, string } from './fields.ts';

/** The input fields of every paged list. */
export const pageInput = {
  limit: optional(integer('Number of entries per page.', { minimum: 1, maximum: 200, default: 50 })),
  cursor: optional(string('`nextCursor` of the previous page. Leave it out for the first page.', { maxLength: 500 })),
};

export const pageOf = <T extends TSchema>(item: T) =>
  object({
    data: list(item, 'Entries of this page.'),
    nextCursor: orNull(Type.String(), 'Pass it as `cursor` to get the next page; null on the last page.'),
  });

type PageInput = Static<TObject<typeof pageInput>>;

/** The lists that have cursors. A cursor contains the name of its list, because no other list can continue after it. */
type List =
  | 'api_keys'
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
  | 'search'
  | 'sessions'
  | 'status_views'
  | 'statuses'
  | 'subscriptions';

/**
 * Reads a page of rows, the newest first or, with `asc`, the smallest key first.
 * @param key a column of the result that orders it, and has no value twice
 * @param show converts the rows of the page
 */
export async function readPage<D, T extends keyof D, R, I>(
  list: List,
  select: SelectQueryBuilder<D, T, R>,
  key: string & keyof R,
  input: PageInput,
  show: (rows: readonly R[]) => readonly I[] | Promise<readonly I[]>,
  order: 'asc' | 'desc' = 'desc',
) {
  const { after, limit, rows } = pageStart(list, input);
  const column = sql.ref(key);
  const rest = after === undefined ? select : select.where(column, order === 'asc' ? '>' : '<', after);
  const found = await rest.orderBy(column, order).limit(rows).execute();
  return toPage(list, found, limit, (row) => String(row[key]), show);
}

/** The start of a page: the id after which it continues, and how many rows to read to know whether more follow. */
export function pageStart(list: List, input: PageInput) {
  const limit = input.limit ?? 50;
  return { after: input.cursor === undefined ? undefined : decodeCursor(list, input.cursor), limit, rows: limit + 1 };
}

/**
 * Turns rows (one more than the page holds, if there are more) into a page. `cursors` contains the cursor after each
 * entry, for callers that use fewer of them; it is never part of an answer.
 */
export async function toPage<R, I>(
  list: List,
  rows: readonly R[],
  limit: number,
  cursorOf: (row: R) => string,
  show: (rows: readonly R[]) => readonly I[] | Promise<readonly I[]>,
) {
  const page = rows.slice(0, limit);
  const cursors = page.map((row) => encodeCursor(list, cursorOf(row)));
  const nextCursor = rows.length > limit ? (cursors.at(-1) ?? null) : null;
  return { data: [...(await show(page))], nextCursor, cursors };
}

const encodeCursor = (list: List, key: string) => Buffer.from(`${list}~${key}`).toString('base64url');

/** @throws {AppError} `validation_failed` if it is a cursor of another list */
function decodeCursor(wanted: List, cursor: string): string {
  const text = Buffer.from(cursor, 'base64url').toString();
  // Ids and chat ids: no other values are used as keys. Cursors of earlier versions do not name their list.
  const { list = wanted, key } = /^(?:(?<list>\w+)~)?(?<key>[\w:|.@-]{1,200})$/.exec(text)?.groups ?? {};
  if (key === undefined || list !== wanted)
    throw invalidField('cursor', 'is not a cursor of this list; pass `nextCursor` of the previous page');
  return key;
}
