import { sql } from 'kysely';
import type { Database } from '../../db/database.ts';
import type { Dialect, Queryable } from '../../db/dialect.ts';
import { query } from '../../db/query.ts';
import type { MessageRow, Schema } from '../../db/schema.ts';
import { NO_REACTION } from './changes.ts';

/** Reactions and votes on a page. A page with more ends earlier, but has at least one message. */
const MOST_REACTIONS = 2000;
const ALL = 2 ** 31 - 1;

type Reaction = Schema['reactions'];
type Vote = Schema['poll_votes'];

export interface ReactionRows {
  /** By the message's id. */
  readonly reactions: ReadonlyMap<string, readonly Reaction[]>;
  readonly votes: ReadonlyMap<string, readonly Vote[]>;
  /** Number of the first messages whose rows were read. */
  readonly complete: number;
}

/** Reads reactions and votes for the first messages on a page, until they are too many. */
export async function readReactions(
  database: Pick<Database, 'reader' | 'longReader'>,
  accountId: string,
  rows: readonly MessageRow[],
): Promise<ReactionRows> {
  const { reader, longReader } = database;
  const idsOf = (some: readonly MessageRow[]) => JSON.stringify(some.map(({ message_id }) => message_id));
  // Most pages have few, and need no thread. One message has at most one for each participant.
  const limit = rows.length > 1 ? MOST_REACTIONS : ALL;
  const read = await readSome(reader, { accountId, ids: idsOf(rows), limit }, rows);
  if (read.reactions.length + read.votes.length < limit) return grouped(read, rows.length);
  const counts = await countsOf(longReader, { accountId, ids: idsOf(rows) });
  let complete = 0;
  for (let sum = 0; complete < rows.length; complete++) {
    sum += counts.get(rows[complete]?.message_id ?? '') ?? 0;
    if (sum > MOST_REACTIONS && complete > 0) break;
  }
  const first = rows.slice(0, complete);
  return grouped(await readSome(longReader, { accountId, ids: idsOf(first), limit: ALL }, first), complete);
}

const grouped = ({ reactions, votes }: Awaited<ReturnType<typeof readSome>>, complete: number): ReactionRows => ({
  reactions: Map.groupBy(reactions.toSorted(byTime), ({ message_id }) => message_id),
  votes: Map.groupBy(votes.toSorted(byTime), ({ message_id }) => message_id),
  complete,
});

const byTime = (one: { readonly at: number }, other: { readonly at: number }) => one.at - other.at;

interface Ids {
  readonly accountId: string;
  readonly ids: string;
}

async function readSome(on: Queryable, p: Ids & { limit: number }, rows: readonly MessageRow[]) {
  const isAnyPoll = rows.some(({ type }) => type === 'poll' || type === 'event');
  return {
    reactions: rows.length === 0 ? [] : await reactionsTo.all(on, p),
    votes: isAnyPoll ? await votesFor.all(on, p) : [],
  };
}

async function countsOf(on: Queryable, p: Ids): Promise<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>();
  for (const { message_id, count } of await reactionCounts.all(on, p))
    counts.set(message_id, (counts.get(message_id) ?? 0) + Number(count));
  return counts;
}

/** Without an order, so that the limit ends the read. */
const reactionsTo = query((db, p: Ids & { limit: number }, dialect) =>
  db
    .selectFrom('reactions')
    .selectAll()
    .where('account_id', '=', p.accountId)
    .where('message_id', 'in', dialect.texts(p.ids))
    .where('emoji', '<>', NO_REACTION)
    .limit(p.limit),
);

const votesFor = query((db, p: Ids & { limit: number }, dialect) =>
  db
    .selectFrom('poll_votes')
    .selectAll()
    .where('account_id', '=', p.accountId)
    .where('message_id', 'in', dialect.texts(p.ids))
    .where('options', '<>', sql.lit('[]'))
    .limit(p.limit),
);

/** Each message of both tables, with removed reactions and votes, which are few. */
const reactionCounts = query((_, p: Ids, dialect) => {
  const countOf = (table: 'reactions' | 'poll_votes', ids: ReturnType<Dialect['texts']>) => sql`
    select message_id, count(*) as count from ${sql.table(table)}
    where account_id = ${p.accountId} and message_id in ${ids} group by message_id`;
  return sql<{ message_id: string; count: number }>`
    ${countOf('reactions', dialect.texts(p.ids))} union all ${countOf('poll_votes', dialect.texts(p.ids))}`;
});
