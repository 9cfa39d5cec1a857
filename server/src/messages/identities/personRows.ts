import { type RawBuilder, sql } from 'kysely';
import type { IdentityChange } from '../../connectors/contract/events.ts';
import type { Tx } from '../../db/commit.ts';
import type { Database } from '../../db/database.ts';
import type { Queryable } from '../../db/dialect.ts';
import { FIRST_ROWS, MESSAGES, PASSED_ROWS, Pace } from '../../db/pace.ts';
import { type Query, query, unindexed } from '../../db/query.ts';
import type { MessageRow } from '../../db/schema.ts';
import { countAgain, removeRows, unreadAmong } from '../chats/chatRemoval.ts';
import type { SessionRef } from '../store.ts';

/* The rows of a person that a session can have very many of. */

/** A person who is known under two ids: everything of the first belongs to the second. */
export interface Person extends SessionRef {
  /** Digits of the placeholder, or of a former number. */
  readonly placeholder: string;
  readonly phoneNumber: string;
  readonly change?: IdentityChange;
}

/** Some rows of a person in one table. */
interface RowSet {
  /** Passes the rows of the placeholder, of all sessions, in the order of the ids. */
  readonly pass: Query<Range, Passed>;
  /** Moves the rows with the ids to the number. */
  readonly move: (tx: Tx, person: Person, ids: readonly string[]) => Promise<Removed>;
}

interface Range extends Person {
  /** The id before the first. */
  readonly after: string;
  readonly limit: number;
}

interface Passed {
  /** Id of the message or group of the row. */
  readonly id: string;
  readonly isOfSession: boolean | number;
}

/** How many unread messages were removed from each chat that lost some, because the number has them already. */
type Removed = ReadonlyMap<string, number>;

const NONE: Removed = new Map();

/** Moves the rows of a person, those that come first in slices, and the rest in the transaction that ends the move. */
export class PersonRows {
  readonly #person: Person;
  /** The last id of each set that has been passed. */
  readonly #passed = new Map<RowSet, string>();
  /** Unread messages among those removed from the chat with the number, if any were. The chat may not exist yet. */
  #fewer: number | undefined;

  constructor(person: Person) {
    this.#person = person;
  }

  /** Whether one transaction can move all rows. */
  async areFew(on: Queryable): Promise<boolean> {
    for (const set of SETS)
      if ((await set.pass.all(on, { ...this.#person, after: '', limit: FIRST_ROWS })).length === FIRST_ROWS)
        return false;
    return true;
  }

  /** Moves the rows that are there now, in transactions with few of them. Running it again continues. */
  async moveInSlices(
    { longReader, commit }: Pick<Database, 'longReader' | 'commit'>,
    isStopped: () => boolean,
  ): Promise<void> {
    const pace = new Pace(MESSAGES);
    for (const set of SETS)
      for (let isLast = false; !isLast && !isStopped(); ) {
        const rows = await this.#next(longReader, set, PASSED_ROWS);
        const move = async (tx: Tx, ids: readonly string[]) => {
          const fewer = await this.#move(tx, set, ids);
          tx.afterCommit(() => {
            this.#fewer = sumOf(this.#fewer, fewer);
          });
          return ids.length;
        };
        await pace.inSlices(commit, idsOf(rows), move, { key: this.#person.sessionId, isStopped });
        isLast = rows.length < PASSED_ROWS;
        const last = rows.at(-1);
        if (last !== undefined) this.#passed.set(set, last.id);
      }
  }

  /**
   * Moves the rows that are left. Returns how many unread messages were removed from the chat with the number;
   * undefined if no message was.
   */
  async moveRest(tx: Tx): Promise<number | undefined> {
    let fewer = this.#fewer;
    for (const set of SETS) {
      const rows = await this.#next(tx, set, ALL);
      fewer = sumOf(fewer, await this.#move(tx, set, idsOf(rows)));
    }
    return fewer;
  }

  #next(on: Queryable, set: RowSet, limit: number): Promise<Passed[]> {
    return set.pass.all(on, { ...this.#person, after: this.#passed.get(set) ?? '', limit });
  }

  async #move(tx: Tx, set: RowSet, ids: readonly string[]): Promise<number | undefined> {
    if (ids.length === 0) return undefined;
    const removed = await set.move(tx, this.#person, ids);
    const { phoneNumber } = this.#person;
    for (const [chatId, fewer] of removed)
      if (chatId !== phoneNumber) await countAgain(tx, this.#person, chatId, fewer);
    return removed.get(phoneNumber);
  }
}

const sumOf = (first: number | undefined, second: number | undefined) =>
  first === undefined ? second : first + (second ?? 0);

/** More rows than a table has. */
const ALL = 2 ** 31 - 1;

const idsOf = (rows: readonly Passed[]) => rows.flatMap(({ id, isOfSession }) => (isOfSession ? [id] : []));

/**
 * Reads rows in the order of an index, and decides of each whether it belongs to the session: another session of the
 * account may have many rows of the same person.
 */
function passing(
  table: string,
  { id, person, ofSession }: { id: string; person: string; ofSession: (p: Range) => RawBuilder<boolean> },
): Query<Range, Passed> {
  return query<Range, Passed>((_, p) => {
    const [name, key, column] = [sql.table(table), sql.ref(id), sql.ref(person)];
    return sql<Passed>`
      select id, ${ofSession(p)} as "isOfSession"
      from (
        select account_id, ${key} as id from ${name}
        where account_id = ${p.accountId} and ${column} = ${p.placeholder} and ${key} > ${p.after}
        order by ${key} limit ${p.limit}
      ) as passed`;
  });
}

const hasMessage = (p: Range) => sql<boolean>`exists (
  select 1 from messages as m
  where m.account_id = passed.account_id and m.message_id = passed.id and ${unindexed('m.session_id')} = ${p.sessionId})`;
const hasGroup = (p: Range) => sql<boolean>`exists (
  select 1 from groups as g
  where g.account_id = passed.account_id and g.group_id = passed.id and ${unindexed('g.session_id')} = ${p.sessionId})`;

const ofMessages = { id: 'message_id', ofSession: hasMessage };
const ofGroups = { id: 'group_id', ofSession: hasGroup };

const SETS: readonly RowSet[] = [
  { pass: passing('messages', { ...ofMessages, person: 'chat_id' }), move: moveMessages },
  { pass: passing('messages', { ...ofMessages, person: 'from_number' }), move: moveMessages },
  { pass: passing('reactions', { ...ofMessages, person: 'from_number' }), move: moveAnswers('reactions') },
  { pass: passing('poll_votes', { ...ofMessages, person: 'from_number' }), move: moveAnswers('poll_votes') },
  { pass: passing('message_receipts', { ...ofMessages, person: 'phone_number' }), move: moveReceipts },
  {
    pass: passing('group_participants', { ...ofGroups, person: 'phone_number' }),
    move: moveMembers('group_participants'),
  },
  {
    pass: passing('group_former_members', { ...ofGroups, person: 'phone_number' }),
    move: moveMembers('group_former_members'),
  },
  {
    pass: passing('group_join_requests', { ...ofGroups, person: 'phone_number' }),
    move: moveMembers('group_join_requests'),
  },
  { pass: passing('groups', { ...ofGroups, person: 'created_by' }), move: moveGroups },
];

const listOf = ({ dialect }: Tx, ids: readonly string[]) => dialect.texts(JSON.stringify(ids));

async function moveMessages(tx: Tx, person: Person, ids: readonly string[]): Promise<Removed> {
  const { accountId, placeholder, phoneNumber } = person;
  const removed = await deleteDuplicates(tx, person, ids);
  const moved = (column: string) =>
    sql`${sql.ref(column)} = case when ${sql.ref(column)} = ${placeholder} then ${phoneNumber} else ${sql.ref(column)} end`;
  await sql`
    update messages set ${moved('chat_id')}, ${moved('to_id')}, ${moved('from_number')}
    where account_id = ${accountId} and message_id in (${listOf(tx, ids)})`.execute(tx.kysely);
  return removed;
}

interface Duplicate
  extends Pick<
    MessageRow,
    'seq' | 'message_id' | 'direction' | 'status' | 'starred_at' | 'pinned_until' | 'pin_changed_at'
  > {
  /** The message that stays. */
  readonly twin_id: string;
  readonly twin_chat: string;
}

/**
 * Deletes messages that the network has already repeated under the number, which keep what was done with the deleted
 * ones.
 */
async function deleteDuplicates(
  tx: Tx,
  { accountId, placeholder, phoneNumber }: Person,
  ids: readonly string[],
): Promise<Removed> {
  const shown = (column: 'chat_id' | 'from_number') =>
    sql`case when old.${sql.ref(column)} = ${placeholder} then ${phoneNumber} else old.${sql.ref(column)} end`;
  const { rows } = await sql<Duplicate>`
    select old.seq, old.message_id, old.direction, old.status, old.starred_at, old.pinned_until,
      old.pin_changed_at,
      twin.message_id as twin_id, twin.chat_id as twin_chat
    from messages as old join messages as twin
      on twin.session_id = old.session_id and twin.network_id = old.network_id and twin.seq <> old.seq
        and twin.chat_id = ${shown('chat_id')} and twin.from_number = ${shown('from_number')}
    where old.account_id = ${accountId} and old.message_id in (${listOf(tx, ids)})`.execute(tx.kysely);
  if (rows.length === 0) return NONE;
  for (const duplicate of rows) await moveMarks(tx, accountId, duplicate);
  await removeRows(tx, accountId, rows);
  const byChat = Map.groupBy(rows, ({ twin_chat }) => twin_chat);
  return new Map([...byChat].map(([chatId, duplicates]) => [chatId, unreadAmong(duplicates)]));
}

/**
 * Moves reactions, votes, labels, added files, star and pin, unless the message that stays has its own. A later
 * reaction or vote of a person replaces the earlier one.
 */
async function moveMarks({ kysely }: Tx, accountId: string, { message_id, twin_id, ...old }: Duplicate): Promise<void> {
  const keys = {
    reactions: 'from_number',
    poll_votes: 'from_number',
    message_labels: 'label_id',
    added_files: 'network_id',
  };
  for (const [name, key] of Object.entries(keys)) {
    const [table, column] = [sql.table(name), sql.ref(key)];
    if (key === 'from_number')
      await sql`
        delete from ${table} as twin
        where account_id = ${accountId} and message_id = ${twin_id} and exists (
          select 1 from ${table} as moved
          where moved.account_id = twin.account_id and moved.message_id = ${message_id}
            and moved.from_number = twin.from_number and moved.at > twin.at)`.execute(kysely);
    await sql`
      update ${table} set message_id = ${twin_id}
      where account_id = ${accountId} and message_id = ${message_id} and ${column} not in (
        select ${column} from ${table} where account_id = ${accountId} and message_id = ${twin_id})`.execute(kysely);
  }
  await kysely
    .updateTable('messages')
    .set(({ fn, val }) => ({
      starred_at: fn.coalesce('starred_at', val(old.starred_at)),
      pinned_until: fn.coalesce('pinned_until', val(old.pinned_until)),
      pin_changed_at: fn.coalesce('pin_changed_at', val(old.pin_changed_at)),
    }))
    .where('account_id', '=', accountId)
    .where('message_id', '=', twin_id)
    .execute();
}

/** Merges reactions or votes. If a message has one under both ids, the later one counts. */
function moveAnswers(name: 'reactions' | 'poll_votes'): RowSet['move'] {
  const table = sql.table(name);
  return async (tx, { accountId, placeholder, phoneNumber }, ids) => {
    await sql`
      delete from ${table} as earlier
      where account_id = ${accountId} and message_id in (${listOf(tx, ids)})
        and from_number in (${placeholder}, ${phoneNumber})
        and exists (
          select 1 from ${table} as later
          where later.account_id = earlier.account_id and later.message_id = earlier.message_id
            and later.from_number in (${placeholder}, ${phoneNumber}) and later.from_number <> earlier.from_number
            and (later.at > earlier.at or (later.at = earlier.at and later.from_number = ${phoneNumber})))`.execute(
      tx.kysely,
    );
    await sql`
      update ${table} set from_number = ${phoneNumber}
      where account_id = ${accountId} and message_id in (${listOf(tx, ids)})
        and from_number = ${placeholder}`.execute(tx.kysely);
    return NONE;
  };
}

/** Moves receipts to the number. A message that has one under the number keeps it. */
async function moveReceipts(
  tx: Tx,
  { accountId, placeholder, phoneNumber }: Person,
  ids: readonly string[],
): Promise<Removed> {
  const ofPlaceholder = sql`
    account_id = ${accountId} and phone_number = ${placeholder} and message_id in (${listOf(tx, ids)})`;
  await sql`
    delete from message_receipts where ${ofPlaceholder} and message_id in (
      select message_id from message_receipts
      where account_id = ${accountId} and phone_number = ${phoneNumber} and message_id in (${listOf(tx, ids)}))`.execute(
    tx.kysely,
  );
  await sql`update message_receipts set phone_number = ${phoneNumber} where ${ofPlaceholder}`.execute(tx.kysely);
  return NONE;
}

/** Merges participants, former members, or requests to join. Rows of the placeholder replace rows of the number. */
function moveMembers(name: 'group_participants' | 'group_former_members' | 'group_join_requests'): RowSet['move'] {
  const table = sql.table(name);
  return async (tx, { accountId, placeholder, phoneNumber }, ids) => {
    const of = (digits: string) => sql`
      account_id = ${accountId} and group_id in (${listOf(tx, ids)}) and phone_number = ${digits}`;
    await sql`delete from ${table} where ${of(phoneNumber)}`.execute(tx.kysely);
    await sql`update ${table} set phone_number = ${phoneNumber} where ${of(placeholder)}`.execute(tx.kysely);
    return NONE;
  };
}

async function moveGroups(tx: Tx, { accountId, phoneNumber }: Person, ids: readonly string[]): Promise<Removed> {
  await sql`
    update groups set created_by = ${phoneNumber}
    where account_id = ${accountId} and group_id in (${listOf(tx, ids)})`.execute(tx.kysely);
  return NONE;
}
