import { setImmediate } from 'node:timers/promises';
import { sql } from 'kysely';
import { cacheOf } from '../../cache.ts';
import type { LateWriter, Tx } from '../../db/commit.ts';
import type { Queryable } from '../../db/dialect.ts';
import { batch, query } from '../../db/query.ts';
import { plausibilityOf } from '../../possibleNumbers.ts';

/*
 * Numbers that a network uses although no numbering plan has them. The account is shown them, so they are accepted
 * from it. All others need no row: they are accepted anyway.
 */

/** A network can report any number of people, so the oldest numbers of an account give way. */
const KEPT = 20_000;
/** New numbers of an account after which its oldest are deleted. */
const SLACK = 100;
/** Fields of events and outputs that contain the digits of people. Not `to`, which repeats what a caller typed. */
const FIELDS = new Set([
  'from',
  'fromNumber',
  'chatId',
  'phoneNumber',
  'phoneNumbers',
  'previousPhoneNumber',
  'createdBy',
  'seller',
  'mentions',
]);
const DIGITS = /^[1-9]\d{4,14}$/;

interface Noted {
  readonly account_id: string;
  readonly phone_number: string;
  readonly noted_at: number;
}

/** Remembers the numbers that accounts are shown, as far as a person who types them would be refused. */
export class NetworkNumbers {
  readonly #now: () => number;
  readonly #stored = cacheOf<true>(KEPT);
  /** New numbers of accounts since their oldest were deleted. */
  readonly #added = cacheOf<number>(1000);

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Stores the numbers in what the account is shown, in the transaction that stores it. */
  note(tx: Tx, accountId: string, shown: unknown): void {
    for (const number of this.newIn(accountId, shown))
      tx.writeLater(this.#write, { account_id: accountId, phone_number: number, noted_at: this.#now() });
  }

  /** Returns the numbers to store for what the account is shown. */
  newIn(accountId: string, shown: unknown): Set<string> {
    const found = new Set<string>();
    collect(shown, found);
    for (const number of found) if (this.#stored.has(`${accountId}/${number}`)) found.delete(number);
    return found;
  }

  readonly #write: LateWriter<Noted> = async (tx, items) => {
    const rows = new Map(items.map((row) => [`${row.account_id}/${row.phone_number}`, row]));
    // In one order, so that transactions with the same numbers do not wait for each other in a circle.
    const sorted = [...rows.keys()].sort().flatMap((key) => rows.get(key) ?? []);
    await insertNumbers.run(tx, sorted);
    for (const [accountId, { length }] of Map.groupBy(sorted, ({ account_id }) => account_id)) {
      const added = (this.#added.get(accountId) ?? 0) + length;
      this.#added.set(accountId, added % SLACK);
      if (added >= SLACK) await deleteOldest.run(tx, { accountId });
    }
    tx.afterCommit(() => {
      for (const key of rows.keys()) this.#stored.set(key, true);
    });
  };
}

/** Some 100 µs each, until they are remembered. */
const JUDGED_PER_TURN = 100;

/**
 * Judges numbers in several turns of the event loop, before they are stored in one. For 1,024 members, it would
 * take a tenth of a second.
 */
export async function judgeAhead(numbers: readonly string[]): Promise<void> {
  for (let start = 0; start + JUDGED_PER_TURN < numbers.length; start += JUDGED_PER_TURN) {
    for (const number of numbers.slice(start, start + JUDGED_PER_TURN)) plausibilityOf(number);
    await setImmediate();
  }
}

/**
 * Returns the numbers that the account was shown, or that are stored with its messages and contacts.
 * @param people the sessions whose contacts, and the group whose participants, are searched too
 */
export async function shownNumbers(
  on: Queryable,
  accountId: string,
  numbers: readonly string[],
  people: { readonly sessionIds: readonly string[] | undefined; readonly groupId: string | undefined },
): Promise<Set<string>> {
  const noted = await notedNumbers.all(on, { accountId, numbers: JSON.stringify(numbers) });
  const shown = new Set(noted.map(({ phone_number }) => phone_number));
  const others = numbers.filter((number) => !shown.has(number)).slice(0, SEARCHED);
  for (const number of others) if (await isStored(on, accountId, number, people)) shown.add(number);
  return shown;
}

/** Numbers of a call that are searched in what was stored before they were noted. */
const SEARCHED = 256;

async function isStored(
  on: Queryable,
  accountId: string,
  phoneNumber: string,
  { sessionIds, groupId }: { readonly sessionIds: readonly string[] | undefined; readonly groupId: string | undefined },
): Promise<boolean> {
  const person = { accountId, phoneNumber };
  if ((await storedPerson.first(on, person)) !== undefined) return true;
  if (groupId !== undefined && (await participant.first(on, { ...person, groupId })) !== undefined) return true;
  const contact =
    sessionIds === undefined
      ? await contactOfAccount.first(on, person)
      : await contactOfSessions.first(on, { ...person, sessionIds: JSON.stringify(sessionIds) });
  return contact !== undefined;
}

/** Collects the numbers that no person could have typed. */
function collect(shown: unknown, found: Set<string>, field = ''): void {
  if (typeof shown === 'string') {
    if (FIELDS.has(field) && DIGITS.test(shown) && !plausibilityOf(shown).isPossible) found.add(shown);
    return;
  }
  if (typeof shown !== 'object' || shown === null) return;
  if (Array.isArray(shown)) for (const one of shown) collect(one, found, field);
  else for (const [name, value] of Object.entries(shown)) collect(value, found, name);
}

const insertNumbers = batch(
  { account_id: 'text', phone_number: 'text', noted_at: 'bigint' },
  ({ row, from }) => sql`
    insert into network_numbers (account_id, phone_number, noted_at)
    select ${row.account_id}, ${row.phone_number}, ${row.noted_at} ${from} where true
    on conflict (account_id, phone_number) do nothing`,
);

const deleteOldest = query((db, p: { accountId: string }) =>
  db
    .deleteFrom('network_numbers')
    .where('account_id', '=', p.accountId)
    .where('noted_at', '<', (eb) =>
      eb
        .selectFrom('network_numbers as n')
        .select('n.noted_at')
        .where('n.account_id', '=', p.accountId)
        .orderBy('n.noted_at', 'desc')
        .limit(1)
        .offset(sql.lit(KEPT)),
    ),
);

const notedNumbers = query((db, p: { accountId: string; numbers: string }, dialect) =>
  db
    .selectFrom('network_numbers')
    .select('phone_number')
    .where('account_id', '=', p.accountId)
    .where('phone_number', 'in', dialect.texts(p.numbers)),
);

/** Number of messages, the newest of a chat, that are searched for one that reached the person. */
const CHAT_MESSAGES = 100;

/** By the indexes of messages, reactions and votes. */
const storedPerson = query((db, p: { accountId: string; phoneNumber: string }) => {
  const isIn = (table: 'messages' | 'reactions' | 'poll_votes', column: 'from_number') => sql<boolean>`
    exists (select 1 from ${sql.table(table)}
      where account_id = ${p.accountId} and ${sql.ref(column)} = ${p.phoneNumber})`;
  // A message that a caller has sent to a number proves nothing unless it arrived.
  const hasChat = sql<boolean>`exists (select 1 from (
    select direction, delivered_at, read_at from messages
    where account_id = ${p.accountId} and chat_id = ${p.phoneNumber} order by message_id desc limit ${sql.lit(CHAT_MESSAGES)}
  ) as newest where direction = 'incoming' or delivered_at is not null or read_at is not null)`;
  return db
    .selectNoFrom((eb) => eb.lit(1).as('found'))
    .where((eb) =>
      eb.or([
        isIn('messages', 'from_number'),
        hasChat,
        isIn('reactions', 'from_number'),
        isIn('poll_votes', 'from_number'),
      ]),
    );
});

const participant = query((db, p: { accountId: string; groupId: string; phoneNumber: string }) =>
  db
    .selectFrom('group_participants')
    .select('group_id')
    .where('account_id', '=', p.accountId)
    .where('group_id', '=', p.groupId)
    .where('phone_number', '=', p.phoneNumber),
);

const contactOfSessions = query((db, p: { accountId: string; sessionIds: string; phoneNumber: string }, dialect) =>
  db
    .selectFrom('contacts')
    .select('session_id')
    .where('account_id', '=', p.accountId)
    .where('session_id', 'in', dialect.texts(p.sessionIds))
    .where('phone_number', '=', p.phoneNumber)
    .limit(1),
);

const contactOfAccount = query((db, p: { accountId: string; phoneNumber: string }) =>
  db
    .selectFrom('contacts')
    .select('session_id')
    .where('account_id', '=', p.accountId)
    .where('session_id', 'in', (eb) =>
      eb
        .selectFrom('sessions')
        .select('sessions.session_id')
        .where('sessions.account_id', '=', p.accountId)
        .orderBy('sessions.session_id')
        .limit(sql.lit(1000)),
    )
    .where('phone_number', '=', p.phoneNumber)
    .limit(1),
);
