import { sql } from 'kysely';
import type { NetworkEvent } from '../../connectors/contract/events.ts';
import type { Tx } from '../../db/commit.ts';
import { batch } from '../../db/query.ts';
import type { SessionRef } from '../store.ts';

/*
 * Receipts that arrive before their message: of a message that the phone has just sent, or whose acknowledgement is
 * still on its way. They wait in the database for the message, because the network may not repeat them. Receipts of
 * messages that never arrive, such as those of another program with the same number, are deleted.
 */

export type Receipt = Extract<NetworkEvent, { type: 'receipt' }>;

interface Early {
  readonly session: SessionRef;
  readonly networkId: string;
  readonly receipt: Receipt;
}

const KEPT_MS = 24 * 3_600_000;
const MAX_PER_SESSION = 2000;
const ID_CHARACTERS = 300;

/** Stores those that may still find their message. */
export async function keepEarlyReceipts(tx: Tx, all: readonly Early[], now: number): Promise<void> {
  const early = all.filter(({ receipt, networkId }) => receipt.isEarly === true && networkId.length <= ID_CHARACTERS);
  if (early.length === 0) return;
  await insertReceipts.run(
    tx,
    early.map(({ session, networkId, receipt: { status, timestamp, chat, error, pricing, warning } }) => ({
      session_id: session.sessionId,
      network_id: networkId,
      status,
      account_id: session.accountId,
      receipt: JSON.stringify({ status, timestamp, chat, error, pricing, warning }),
      created_at: now,
    })),
  );
  for (const sessionId of new Set(early.map(({ session }) => session.sessionId))) await prune(tx, sessionId, now);
}

/** Removes and returns the receipts that wait for messages, in the order in which they arrived. */
export async function takeEarlyReceipts(
  tx: Tx,
  messages: readonly { readonly session_id: string; readonly network_id: string }[],
): Promise<{ sessionId: string; networkId: string; receipt: Omit<Receipt, 'type' | 'networkIds'> }[]> {
  const rows = await deleteReceipts.all(
    tx,
    messages.map(({ session_id, network_id }) => ({ session_id, network_id })),
  );
  return rows
    .toSorted((one, other) => Number(one.created_at) - Number(other.created_at))
    .map((row) => ({ sessionId: row.session_id, networkId: row.network_id, receipt: JSON.parse(row.receipt) }));
}

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
  ({ row, from }) => sql<{ session_id: string; network_id: string; receipt: string; created_at: number }>`
    delete from early_receipts where (session_id, network_id) in (select ${row.session_id}, ${row.network_id} ${from})
    returning session_id, network_id, receipt, created_at`,
);
