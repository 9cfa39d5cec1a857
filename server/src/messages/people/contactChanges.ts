import { sql } from 'kysely';
import { type Clock, isoTime } from '../../clock.ts';
import type { IdentityChange } from '../../connectors/contract/events.ts';
import { isPlaceholder } from '../../connectors/contract/people.ts';
import type { Tx } from '../../db/commit.ts';
import { query } from '../../db/query.ts';
import type { ContactTable } from '../../db/schema.ts';
import { cut } from '../../events/contentParts/limits.ts';
import type { Emit } from '../../webhooks/log/emit.ts';
import type { SessionRef } from '../store.ts';
import { userIdsOf } from '../userIds.ts';

const NAME_CHARACTERS = 200;

interface Parts {
  readonly emit: Emit;
  readonly clock: Clock;
}

/** The name by which the account knows a contact: that of its address book, or the one that the contact chose. */
export const nameOf = ({ name, saved_name: saved }: Pick<ContactTable, 'name' | 'saved_name'>): string | null =>
  saved ?? name;

interface Shown {
  readonly name: string | null;
  readonly userId?: string | null;
  readonly username?: string | null;
}

/** Adds a sender to the contacts, under the latest name and ids. */
export async function noteContact(
  parts: Parts,
  tx: Tx,
  session: SessionRef,
  phoneNumber: string,
  { name, userId = null, username = null }: Shown,
): Promise<void> {
  const shown = { name, userId, username, now: parts.clock.now() };
  const row = await upsertContact.first(tx, { ...session, phoneNumber, ...shown });
  if (row !== undefined) emitContact(parts, tx, row);
}

interface ContactIds {
  readonly phoneNumber: string;
  readonly userId: string;
  readonly username?: string | null | undefined;
  readonly name?: string | undefined;
}

/**
 * Stores the ids of a contact. Other people become contacts only if they hide the number, to keep what the placeholder
 * means.
 */
export async function noteUserIds(
  parts: Parts,
  tx: Tx,
  session: SessionRef,
  { phoneNumber, name, userId, username = null }: ContactIds,
): Promise<void> {
  const isKnown = isPlaceholder(phoneNumber) || (await contactOf.first(tx, { ...session, phoneNumber })) !== undefined;
  if (isKnown)
    await noteContact(parts, tx, session, phoneNumber, {
      name: name === undefined ? null : cut(name, NAME_CHARACTERS),
      userId,
      username,
    });
}

/** Stores the name that a contact has in the account's address book; null removes it. */
export async function saveContact(
  parts: Parts,
  tx: Tx,
  session: SessionRef,
  phoneNumber: string,
  name: string | null,
): Promise<void> {
  const row = await upsertSaved.first(tx, {
    ...session,
    phoneNumber,
    name: name?.slice(0, NAME_CHARACTERS).toWellFormed() || null,
  });
  if (row !== undefined) emitContact(parts, tx, row);
}

export async function blockContact(
  parts: Parts,
  tx: Tx,
  session: SessionRef,
  phoneNumber: string,
  blocked: boolean,
): Promise<void> {
  const row = await upsertBlocked.first(tx, { ...session, phoneNumber, blocked: Number(blocked) });
  if (row !== undefined) emitContact(parts, tx, row);
}

/** Former digits of a contact, and the change of the person behind them. */
export interface Renamed extends IdentityChange {
  readonly previousPhoneNumber?: string;
}

export function emitContact(
  { emit, clock }: Parts,
  tx: Tx,
  row: Pick<
    ContactTable,
    'account_id' | 'session_id' | 'phone_number' | 'name' | 'saved_name' | 'blocked' | 'user_id' | 'user_name'
  >,
  renamed?: Renamed,
): void {
  const { account_id: accountId, session_id: sessionId, phone_number: phoneNumber } = row;
  const data = {
    sessionId,
    phoneNumber,
    name: nameOf(row),
    blocked: row.blocked === 1,
    ...userIdsOf(row),
    ...renamed,
    ...(isPlaceholder(phoneNumber) && { unidentified: true as const }),
    timestamp: isoTime(clock.now()),
  };
  emit(tx, { accountId, kind: 'contact.updated', data, conversation: `${sessionId}/${phoneNumber}` });
}

const contactOf = query((db, p: SessionRef & { phoneNumber: string }) =>
  db
    .selectFrom('contacts')
    .select('phone_number')
    .where('account_id', '=', p.accountId)
    .where('session_id', '=', p.sessionId)
    .where('phone_number', '=', p.phoneNumber),
);

/** Whether an inserted value is known, and another one than before. */
const isNew = (column: 'name' | 'user_id' | 'user_name') => {
  const [given, stored] = [sql.ref(`excluded.${column}`), sql.ref(`contacts.${column}`)];
  return sql<boolean>`(${given} is not null and ${given} is distinct from ${stored})`;
};
const latest = (column: 'name' | 'user_id' | 'user_name') =>
  sql<string | null>`coalesce(${sql.ref(`excluded.${column}`)}, ${sql.ref(`contacts.${column}`)})`;

/** Returns the contact if it is new, or has another name or other ids than before. */
const upsertContact = query((db, p: SessionRef & Required<Shown> & { phoneNumber: string; now: number }) =>
  db
    .insertInto('contacts')
    .values({
      account_id: p.accountId,
      session_id: p.sessionId,
      phone_number: p.phoneNumber,
      name: p.name,
      saved_name: null,
      blocked: 0,
      on_network: 1,
      checked_at: p.now,
      user_id: p.userId,
      user_name: p.username,
    })
    .onConflict((conflict) =>
      conflict
        .columns(['session_id', 'phone_number'])
        .doUpdateSet({
          name: latest('name'),
          user_id: latest('user_id'),
          // Someone else has the number now, and the user name belongs to the id.
          user_name: sql<
            string | null
          >`case when ${isNew('user_id')} then excluded.user_name else ${latest('user_name')} end`,
        })
        .where(sql<boolean>`(${isNew('name')} or ${isNew('user_id')} or ${isNew('user_name')})`),
    )
    .returningAll(),
);

/** Returns the contact if it had another name in the address book. */
const upsertSaved = query((db, p: SessionRef & { phoneNumber: string; name: string | null }) =>
  db
    .insertInto('contacts')
    .values({
      account_id: p.accountId,
      session_id: p.sessionId,
      phone_number: p.phoneNumber,
      name: null,
      saved_name: p.name,
      blocked: 0,
      on_network: null,
      checked_at: null,
    })
    .onConflict((conflict) =>
      conflict
        .columns(['session_id', 'phone_number'])
        .doUpdateSet((eb) => ({ saved_name: eb.ref('excluded.saved_name') }))
        .where((eb) => eb('excluded.saved_name', 'is distinct from', eb.ref('contacts.saved_name'))),
    )
    .returningAll(),
);

/** Returns the contact if it was not blocked or unblocked before. */
const upsertBlocked = query((db, p: SessionRef & { phoneNumber: string; blocked: number }) =>
  db
    .insertInto('contacts')
    .values({
      account_id: p.accountId,
      session_id: p.sessionId,
      phone_number: p.phoneNumber,
      name: null,
      saved_name: null,
      blocked: p.blocked,
      on_network: null,
      checked_at: null,
    })
    .onConflict((conflict) =>
      conflict
        .columns(['session_id', 'phone_number'])
        .doUpdateSet({ blocked: p.blocked })
        .where('contacts.blocked', '<>', p.blocked),
    )
    .returningAll(),
);
