import type { Connector } from '../connectors/contract/connector.ts';
import type { Queryable } from '../db/dialect.ts';
import { query } from '../db/query.ts';
import type { ContactTable } from '../db/schema.ts';

/* Ids and names that people have on their network besides a number, as far as a session knows them. */

interface Person {
  readonly session_id: string;
  readonly phone_number: string;
}

interface UserIds {
  readonly userId?: string;
  readonly userName?: string;
}

/** The ids of a contact, as fields of the API and of events. */
export const userIdsOf = ({ user_id: userId, user_name: userName }: Pick<ContactTable, 'user_id' | 'user_name'>) =>
  ({ ...(userId !== null && { userId }), ...(userName !== null && { userName }) }) satisfies UserIds;

/**
 * Reads the ids of people in one query, and returns a function that returns them as fields. Networks without such ids
 * need no query.
 */
export async function readUserIds(
  on: Queryable,
  accountId: string,
  connectorOf: (sessionId: string) => Connector | undefined,
  people: readonly Person[],
): Promise<(person: Person) => UserIds> {
  const some = people.filter(({ session_id }) => connectorOf(session_id)?.nameUser !== undefined);
  if (some.length === 0) return () => ({});
  const listed = (name: keyof Person) => JSON.stringify([...new Set(some.map((person) => person[name]))]);
  const sessionIds = listed('session_id');
  const found = await contactIds.all(on, { accountId, sessionIds, phoneNumbers: listed('phone_number') });
  const ids = new Map(found.map((row) => [`${row.session_id}/${row.phone_number}`, userIdsOf(row)]));
  return ({ session_id, phone_number }) => ids.get(`${session_id}/${phone_number}`) ?? {};
}

/** Makes a person a contact whom the account knows only by a user id. */
export const insertNamed = query(
  (db, p: { accountId: string; sessionId: string; phoneNumber: string; userId: string }) =>
    db
      .insertInto('contacts')
      .values({
        account_id: p.accountId,
        session_id: p.sessionId,
        phone_number: p.phoneNumber,
        name: null,
        blocked: 0,
        user_id: p.userId,
      })
      .onConflict((conflict) => conflict.columns(['session_id', 'phone_number']).doNothing()),
);

const contactIds = query((db, p: { accountId: string; sessionIds: string; phoneNumbers: string }, dialect) =>
  db
    .selectFrom('contacts')
    .select(['session_id', 'phone_number', 'user_id', 'user_name'])
    .where('account_id', '=', p.accountId)
    .where('session_id', 'in', dialect.texts(p.sessionIds))
    .where('phone_number', 'in', dialect.texts(p.phoneNumbers)),
);
