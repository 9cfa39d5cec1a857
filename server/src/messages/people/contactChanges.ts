import { type Clock, isoTime } from '../../clock.ts';
import type { IdentityChange } from '../../connectors/contract/events.ts';
import { isPlaceholder } from '../../connectors/contract/people.ts';
import type { Tx } from '../../db/commit.ts';
import { query } from '../../db/query.ts';
import type { ContactTable } from '../../db/schema.ts';
import type { Emit } from '../../webhooks/log/emit.ts';
import type { SessionRef } from '../store.ts';

const NAME_CHARACTERS = 200;

interface Parts {
  readonly emit: Emit;
  readonly clock: Clock;
}

/** The name by which the account knows a contact: that of its address book, or the one that the contact chose. */
export const nameOf = ({ name, saved_name: saved }: Pick<ContactTable, 'name' | 'saved_name'>): string | null =>
  saved ?? name;

/** Adds the sender of a message to the contacts, under the latest name. */
export async function noteContact(
  parts: Parts,
  tx: Tx,
  session: SessionRef,
  phoneNumber: string,
  name: string | null,
): Promise<void> {
  const row = await upsertContact.first(tx, { ...session, phoneNumber, name, now: parts.clock.now() });
  if (row !== undefined) emitContact(parts, tx, row);
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
  readonly previousPhoneNumber: string;
}

export function emitContact(
  { emit, clock }: Parts,
  tx: Tx,
  row: Pick<ContactTable, 'account_id' | 'session_id' | 'phone_number' | 'name' | 'saved_name' | 'blocked'>,
  renamed?: Renamed,
): void {
  const { account_id: accountId, session_id: sessionId, phone_number: phoneNumber } = row;
  const data = {
    sessionId,
    phoneNumber,
    name: nameOf(row),
    blocked: row.blocked === 1,
    ...renamed,
    ...(isPlaceholder(phoneNumber) && { unidentified: true as const }),
    timestamp: isoTime(clock.now()),
  };
  emit(tx, { accountId, kind: 'contact.updated', data, conversation: `${sessionId}/${phoneNumber}` });
}

/** Returns the contact if it is new or has another name than before. */
const upsertContact = query((db, p: SessionRef & { phoneNumber: string; name: string | null; now: number }) =>
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
    })
    .onConflict((conflict) =>
      conflict
        .columns(['session_id', 'phone_number'])
        .doUpdateSet((eb) => ({ name: eb.ref('excluded.name') }))
        .where((eb) =>
          eb.and([
            eb('excluded.name', 'is not', null),
            eb('excluded.name', 'is distinct from', eb.ref('contacts.name')),
          ]),
        ),
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
