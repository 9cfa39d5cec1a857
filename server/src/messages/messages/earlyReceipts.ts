import { sql } from 'kysely';
import type { NetworkEvent } from '../../connectors/contract/events.ts';
import type { Tx } from '../../db/commit.ts';
import { batch, query } from '../../db/query.ts';
import type { SessionRef } from '../store.ts';

/*
 * Receipts that cannot take effect yet. They wait in the database, because the network may not repeat them, for 24
 * hours:
 * - The message may still come: the phone has just sent it, or its acknowledgement is on its way.
 * - The person may still prove to be the recipient: one of both is known by a placeholder, whose number is not known
 *   yet.
 * - The person may still prove to be in the group: the session has not read the group's members since the person
 *   joined.
 */

export type Receipt = Extract<NetworkEvent, { type: 'receipt' }>;

export interface EarlyReceipt {
  readonly session: SessionRef;
  readonly networkId: string;
  readonly receipt: Omit<Receipt, 'type' | 'networkIds'>;
  /** Arrival time in milliseconds. */
  readonly createdAt: number;
}

const KEPT_MS = 24 * 3_600_000;
const MAX_PER_SESSION = 2000;
/** Otherwise one stranger could displace the receipts of everyone else. */
const MAX_PER_PERSON = 100;
const ID_CHARACTERS = 300;

interface OfPerson {
  readonly sessionId: string;
  readonly digits: string;
}

/** Stores receipts that may still find their message. */
export async function keepEarlyReceipts(tx: Tx, all: readonly EarlyReceipt[], now: number): Promise<void> {
  const early = all.filter(({ networkId }) => networkId.length <= ID_CHARACTERS);
  if (early.length === 0) return;
  await insertReceipts.run(
    tx,
    early.map(({ session, networkId, createdAt, receipt }) => ({
      session_id: session.sessionId,
      network_id: networkId,
      status: keyOf(receipt),
      account_id: session.accountId,
      receipt: JSON.stringify(receipt),
      created_at: createdAt,
    })),
  );
  const people = new Map<string, OfPerson>();
  for (const { session, receipt } of early)
    if (receipt.isEarly !== true) {
      const person = { sessionId: session.sessionId, digits: personOf(receipt) ?? '' };
      people.set(`${person.sessionId} ${person.digits}`, person);
    }
  for (const person of people.values()) await removeOldestOfPerson.run(tx, person);
  for (const sessionId of new Set(early.map(({ session }) => session.sessionId))) await prune(tx, sessionId, now);
}

/** Otherwise the receipt of a stranger could take the place of the recipient's. */
function keyOf(receipt: EarlyReceipt['receipt']): string {
  const person = personOf(receipt);
  return person === undefined ? receipt.status : `${receipt.status} ${person}`;
}

const personOf = ({ chat, by }: Pick<Receipt, 'chat' | 'by'>): string | undefined =>
  chat?.type === 'direct' ? chat.id : by;

/** Removes and returns the receipts that wait for messages, in their order of arrival. */
export async function takeEarlyReceipts(
  tx: Tx,
  messages: readonly { readonly session_id: string; readonly network_id: string }[],
): Promise<EarlyReceipt[]> {
  const rows = await deleteReceipts.all(
    tx,
    messages.map(({ session_id, network_id }) => ({ session_id, network_id })),
  );
  return receiptsIn(rows);
}

/** Removes and returns the waiting receipts from a person, under both names, with the number that has become known. */
export async function takeReceiptsOfPerson(
  tx: Tx,
  { sessionId, placeholder, phoneNumber }: { sessionId: string; placeholder: string; phoneNumber: string },
): Promise<EarlyReceipt[]> {
  const [former, current] = [
    await deleteReceiptsOfPerson.all(tx, { sessionId, digits: placeholder }),
    await deleteReceiptsOfPerson.all(tx, { sessionId, digits: phoneNumber }),
  ];
  return receiptsIn([...former, ...current]).map((early) => {
    const { chat, by } = early.receipt;
    const isDirect = chat?.type === 'direct';
    const renamed = isDirect ? { chat: { ...chat, id: phoneNumber } } : by !== undefined && { by: phoneNumber };
    return { ...early, receipt: { ...early.receipt, ...renamed } };
  });
}

/** Removes and returns the waiting receipts from people who are in a group now. */
export async function takeReceiptsOfMembers(
  tx: Tx,
  { sessionId }: Pick<SessionRef, 'sessionId'>,
  members: readonly string[],
): Promise<EarlyReceipt[]> {
  if (members.length === 0) return [];
  const keys = members.flatMap((digits) => STATUSES.map((status) => `${status} ${digits}`));
  return receiptsIn(await deleteReceiptsOfMembers.all(tx, { sessionId, keys: JSON.stringify(keys) }));
}

interface Row {
  session_id: string;
  network_id: string;
  account_id: string;
  receipt: string;
  created_at: number;
}

const receiptsIn = (rows: readonly Row[]): EarlyReceipt[] =>
  rows
    .map((row) => ({
      session: { accountId: row.account_id, sessionId: row.session_id },
      networkId: row.network_id,
      receipt: JSON.parse(row.receipt),
      createdAt: Number(row.created_at),
    }))
    .toSorted((one, other) => one.createdAt - other.createdAt);

async function prune({ kysely }: Tx, sessionId: string, now: number): Promise<void> {
  const ofSession = kysely.deleteFrom('early_receipts').where('session_id', '=', sessionId);
  await ofSession.where('created_at', '<', now - KEPT_MS).execute();
  const last = await kysely
    .selectFrom('early_receipts')
    .select('created_at')
    .where('session_id', '=', sessionId)
    .orderBy('created_at', 'desc')
    .offset(MAX_PER_SESSION)
    .limit(1)
    .executeTakeFirst();
  if (last !== undefined) await ofSession.where('created_at', '<=', last.created_at).execute();
}

const insertReceipts = batch(
  {
    session_id: 'text',
    network_id: 'text',
    status: 'text',
    account_id: 'text',
    receipt: 'text',
    created_at: 'bigint',
  },
  ({ row, from }) => sql`
    insert into early_receipts (session_id, network_id, status, account_id, receipt, created_at)
    select ${row.session_id}, ${row.network_id}, ${row.status}, ${row.account_id}, ${row.receipt}, ${row.created_at}
    ${from}
    where true on conflict do nothing`,
);

const deleteReceipts = batch(
  { session_id: 'text', network_id: 'text' },
  ({ row, from }) => sql<Row>`
    delete from early_receipts where (session_id, network_id) in (select ${row.session_id}, ${row.network_id} ${from})
    returning session_id, network_id, account_id, receipt, created_at`,
);

const STATUSES: readonly Receipt['status'][] = ['sent', 'delivered', 'read', 'failed'];

/** Keys of all receipts from a person, as `keyOf` makes them. */
const keysOf = (digits: string) =>
  sql.join(STATUSES.map((status) => sql`${sql.lit(`${status} `)} || cast(${digits} as text)`));

const deleteReceiptsOfPerson = query(
  (_, p: OfPerson) => sql<Row>`
    delete from early_receipts where session_id = ${p.sessionId} and status in (${keysOf(p.digits)})
    returning session_id, network_id, account_id, receipt, created_at`,
);

const deleteReceiptsOfMembers = query(
  (_, p: { sessionId: string; keys: string }, { texts }) => sql<Row>`
    delete from early_receipts where session_id = ${p.sessionId} and status in ${texts(p.keys)}
    returning session_id, network_id, account_id, receipt, created_at`,
);

const removeOldestOfPerson = query(
  (_, p: OfPerson) => sql`
    delete from early_receipts where session_id = ${p.sessionId} and (network_id, status) in (
      select network_id, status from early_receipts
      where session_id = ${p.sessionId} and status in (${keysOf(p.digits)})
      order by created_at desc limit ${sql.lit(MAX_PER_SESSION)} offset ${sql.lit(MAX_PER_PERSON)})`,
);
