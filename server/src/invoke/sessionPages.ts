import { type RawBuilder, type Selectable, sql } from 'kysely';
import { columns } from '../db/columns.ts';
import { listed } from '../db/query.ts';
import type { Schema } from '../db/schema.ts';
import type { Context } from './operation.ts';
import { encodeCursor, MOST_PASSED, type PageInput, pageStart, toPage } from './pages.ts';

/*
 * Pages of lists whose index has the rows of each session in order. A page merges the next rows of several sessions, so
 * it reads as many rows of a large account as of a small one.
 */

interface SessionList {
  readonly list: 'chats' | 'contacts';
  readonly order: 'asc' | 'desc';
  /** SQL of the key that orders the rows `r` of a session, and has no value twice in a session. */
  readonly key: RawBuilder<string>;
  /** The index to read; undefined for the choice of the database. */
  readonly index?: string | undefined;
  /** The session of a row `r`, in the form of the index. */
  readonly session: RawBuilder<string>;
  /** Conditions of the index, in literals where it is partial. */
  readonly path?: RawBuilder<boolean> | undefined;
  /** Further conditions on `r`, for which a page passes a bounded number of rows. */
  readonly filter?: RawBuilder<boolean> | undefined;
}

/** A place in the list. */
interface Place {
  readonly position: string;
  readonly session_id: string;
}

/**
 * Reads a page of the rows of sessions.
 * @param sessionIds undefined for all sessions of the account
 * @param show converts the rows of the page
 */
export async function readSessionPage<L extends SessionList, I>(
  ctx: Context,
  list: L,
  sessionIds: readonly string[] | undefined,
  input: PageInput,
  show: (rows: readonly Row<L>[]) => readonly I[] | Promise<readonly I[]>,
) {
  const { after, limit, rows } = pageStart(list.list, input);
  const [position = '', session_id = ''] = after?.split('|') ?? [];
  const start = after === undefined ? undefined : { position, session_id };
  const { heads, end: endOfHeads } = await firstHeads(ctx, list, sessionIds, start, rows);
  const ends = list.filter === undefined ? [] : await endsOfWindows(ctx, list, heads, start);
  const compare = comparing(list);
  const [end] = [...ends, ...(endOfHeads === undefined ? [] : [endOfHeads])].sort(compare);
  let found: Row<L>[] = [];
  for (const head of heads) {
    const last = found.length < rows ? end : found.at(-1);
    // The next sessions begin even later.
    if (head.position !== undefined && last !== undefined && compare(last, { ...head, position: head.position }) < 0)
      break;
    found.push(...(await readRows(ctx, list, { sessionId: head.session_id, start, end: last, rows })));
    found = found.sort(compare).slice(0, rows);
  }
  const page = await toPage(list.list, found, limit, (row) => cursorOf(row), show);
  return end === undefined || page.nextCursor !== null
    ? page
    : { ...page, nextCursor: encodeCursor(list.list, cursorOf(end)) };
}

type Row<L extends SessionList> = Selectable<Schema[L['list']]> & Place;

const cursorOf = ({ position, session_id }: Place) => `${position}|${session_id}`;

/** A session and its next row, which is not read if there is only one session. */
interface Head {
  readonly session_id: string;
  readonly position?: string | undefined;
}

/**
 * Returns the sessions of a page in the order of their next rows, and the end of what they have in common with all
 * others: undefined if there are no others.
 */
async function firstHeads(
  ctx: Context,
  list: SessionList,
  given: readonly string[] | undefined,
  start: Place | undefined,
  rows: number,
): Promise<{ readonly heads: readonly Head[]; readonly end?: Place | undefined }> {
  if (given !== undefined && given.length < 2) return { heads: given.map((session_id) => ({ session_id })) };
  // An expression, because SQLite does not compare the expression of an index with a column of type text.
  const next = sql`select ${list.key} from ${tableOf(ctx, list)} where ${sql.join([...fixed(ctx, list, listed('s.session_id'))], sql` and `)}`;
  const parts = startsOf(list, start).map(
    ({ sessions, rows }) => sql`select s.session_id,
      (${next} and ${rows} order by ${list.key} ${direction(list)} limit 1) as position
      from sessions as s where s.account_id = ${ctx.accountId} and ${sessions}`,
  );
  const read = await sql<{ session_id: string; position: string | null }>`
    ${sql.join(parts, sql` union all `)}`.execute(ctx.database.longReader.kysely);
  const wanted = given === undefined ? undefined : new Set(given);
  const heads = read.rows
    .flatMap(({ session_id, position }) =>
      position !== null && (wanted?.has(session_id) ?? true) ? [{ session_id, position }] : [],
    )
    .sort(comparing(list));
  // Each of the first sessions has at least one row.
  return { heads: heads.slice(0, rows), end: heads.length <= rows ? undefined : heads[rows - 1] };
}

/** Conditions by which the sessions `s` find their rows `r` after a place. */
function startsOf(list: SessionList, start: Place | undefined) {
  if (start === undefined) return [{ sessions: sql<boolean>`true`, rows: sql<boolean>`true` }];
  const { position, session_id } = start;
  return list.order === 'asc'
    ? [
        { sessions: sql<boolean>`s.session_id > ${session_id}`, rows: sql<boolean>`${list.key} >= ${position}` },
        { sessions: sql<boolean>`s.session_id <= ${session_id}`, rows: sql<boolean>`${list.key} > ${position}` },
      ]
    : [
        { sessions: sql<boolean>`s.session_id < ${session_id}`, rows: sql<boolean>`${list.key} <= ${position}` },
        { sessions: sql<boolean>`s.session_id >= ${session_id}`, rows: sql<boolean>`${list.key} < ${position}` },
      ];
}

/** Returns the last row of the window of each session that has more rows. */
async function endsOfWindows(
  ctx: Context,
  list: SessionList,
  heads: readonly Head[],
  start: Place | undefined,
): Promise<readonly Place[]> {
  const passed = Math.ceil(MOST_PASSED / heads.length);
  const ends: Place[] = [];
  for (const { session_id } of heads) {
    const conditions = [...fixed(ctx, list, sql`${session_id}`), ...(start ? [isAfter(list, session_id, start)] : [])];
    const { rows } = await sql<{ position: string }>`select ${list.key} as position from ${tableOf(ctx, list)}
      where ${sql.join(conditions, sql` and `)} order by ${list.key} ${direction(list)}
      limit 1 offset ${passed - 1}`.execute(ctx.database.longReader.kysely);
    ends.push(...rows.map(({ position }) => ({ position, session_id })));
  }
  return ends;
}

interface Bounds {
  readonly sessionId: string;
  readonly start: Place | undefined;
  readonly end: Place | undefined;
  readonly rows: number;
}

async function readRows<L extends SessionList>(
  ctx: Context,
  list: L,
  { sessionId, start, end, rows }: Bounds,
): Promise<Row<L>[]> {
  const conditions = [
    ...fixed(ctx, list, sql`${sessionId}`),
    ...(start ? [isAfter(list, sessionId, start)] : []),
    ...(end ? [isUpTo(list, sessionId, end)] : []),
    ...(list.filter ? [list.filter] : []),
  ];
  const names = sql.join(columns[list.list].map((name) => sql.ref(`r.${name}`)));
  const found = await sql<Row<L>>`select ${names}, ${list.key} as position from ${tableOf(ctx, list)}
    where ${sql.join(conditions, sql` and `)} order by ${list.key} ${direction(list)} limit ${rows}`.execute(
    ctx.database.longReader.kysely,
  );
  return found.rows;
}

function tableOf({ database }: Context, { list, index }: SessionList) {
  const hint = index === undefined ? sql`` : database.longReader.dialect.through(index);
  return sql`${sql.table(list)} as r ${hint}`;
}

const fixed = ({ accountId }: Context, { session, path }: SessionList, id: RawBuilder<unknown>) => [
  sql`${session} = ${id}`,
  sql`r.account_id = ${accountId}`,
  ...(path ? [path] : []),
];

const direction = ({ order }: SessionList) => (order === 'asc' ? sql`asc` : sql`desc`);

/** Whether a row of a session follows a place. Rows of two sessions can have the same key. */
function isAfter(list: SessionList, sessionId: string, { position, session_id: other }: Place) {
  if (list.order === 'asc') return sessionId > other ? sql`${list.key} >= ${position}` : sql`${list.key} > ${position}`;
  return sessionId < other ? sql`${list.key} <= ${position}` : sql`${list.key} < ${position}`;
}

/** Whether a row of a session is before a place or at it. */
function isUpTo(list: SessionList, sessionId: string, { position, session_id: other }: Place) {
  if (list.order === 'asc')
    return sessionId <= other ? sql`${list.key} <= ${position}` : sql`${list.key} < ${position}`;
  return sessionId >= other ? sql`${list.key} >= ${position}` : sql`${list.key} > ${position}`;
}

/** Compares places: the first one of a list comes first. */
const comparing =
  ({ order }: SessionList) =>
  (a: Place, b: Place): number => {
    const sign = order === 'asc' ? 1 : -1;
    return sign * (compareTexts(a.position, b.position) || compareTexts(a.session_id, b.session_id));
  };

const compareTexts = (a: string, b: string): number => (a === b ? 0 : a < b ? -1 : 1);
