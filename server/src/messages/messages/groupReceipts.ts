import { sql } from 'kysely';
import type { Clock } from '../../clock.ts';
import type { Commit, Tx } from '../../db/commit.ts';
import { Pace } from '../../db/pace.ts';
import { batch, query } from '../../db/query.ts';
import { firstIdAt } from '../../ids.ts';
import type { Cleaning } from '../../jobs/cleaning.ts';
import type { SteadyClock } from '../../steadyClock.ts';
import type { SessionRef } from '../store.ts';

/*
 * Group members who received and read a message that the session sent. A message has at most as many rows as its group
 * has members, because others are left out. In a direct chat, the message itself has both times.
 */

const DAY_MS = 24 * 3_600_000;
/** Number of days before receipts are deleted. */
export const RECEIPT_DAYS = 30;

/** A member's receipt for a message that the session sent. */
export interface MemberReceipt {
  readonly account_id: string;
  readonly session_id: string;
  readonly chat_id: string;
  readonly message_id: string;
  /** Digits of the member. */
  readonly phone_number: string;
  readonly delivered_at: number;
  readonly read_at: number | null;
}

/** Stores receipts in one statement. The first time of each kind counts. */
export async function storeMemberReceipts(tx: Tx, receipts: readonly MemberReceipt[]): Promise<void> {
  const merged = new Map<string, MemberReceipt>();
  for (const receipt of receipts) {
    const key = `${receipt.message_id} ${receipt.phone_number}`;
    const known = merged.get(key);
    merged.set(key, known === undefined ? receipt : earliest(known, receipt));
  }
  await upsertReceipts.run(tx, [...merged.values()]);
}

// One statement cannot change a row twice on PostgreSQL.
const earliest = (one: MemberReceipt, other: MemberReceipt): MemberReceipt => ({
  ...one,
  delivered_at: Math.min(one.delivered_at, other.delivered_at),
  read_at: one.read_at ?? other.read_at,
});

const upsertReceipts = batch(
  {
    account_id: 'text',
    session_id: 'text',
    chat_id: 'text',
    message_id: 'text',
    phone_number: 'text',
    delivered_at: 'bigint',
    read_at: 'bigint',
  },
  ({ row, from }) => sql`
    insert into message_receipts
      (account_id, session_id, chat_id, message_id, phone_number, delivered_at, read_at)
    select ${row.account_id}, ${row.session_id}, ${row.chat_id}, ${row.message_id}, ${row.phone_number},
      ${row.delivered_at}, ${row.read_at} ${from}
    where exists (
      select 1 from group_participants as p
      where p.account_id = ${row.account_id} and p.group_id = ${row.chat_id} and p.phone_number = ${row.phone_number})
    on conflict (message_id, phone_number, account_id) do update
      set read_at = coalesce(message_receipts.read_at, excluded.read_at)`,
);

/** Deletes a chat's receipts in steps, before its messages. */
export function removeReceiptsOfChat(
  commit: Commit,
  { sessionId }: SessionRef,
  chatId: string,
  upToId: string,
): Promise<number> {
  return new Pace().repeat(commit, (tx, limit) => deleteOfChat.run(tx, { sessionId, chatId, upToId, limit }), {
    key: sessionId,
  });
}

const KEY = sql.raw('message_id, phone_number, account_id');

const deleteOfChat = query(
  (_, p: { sessionId: string; chatId: string; upToId: string; limit: number }) => sql`
    delete from message_receipts where (${KEY}) in (
      select ${KEY} from message_receipts
      where session_id = ${p.sessionId} and chat_id = ${p.chatId} and message_id <= ${p.upToId} limit ${p.limit})`,
);

/** Deletes receipts of old messages. */
export function prunesReceipts(clock: Clock, steady: Pick<SteadyClock, 'fromWall'>): Cleaning {
  return {
    name: 'old receipts',
    run: (steps) => {
      const before = firstIdAt('msg', steady.fromWall(clock.now() - RECEIPT_DAYS * DAY_MS));
      return steps.repeat((tx, limit) => deleteOld.run(tx, { before, limit }));
    },
  };
}

const deleteOld = query(
  (_, p: { before: string; limit: number }) => sql`
    delete from message_receipts where (${KEY}) in (
      select ${KEY} from message_receipts where message_id < ${p.before} order by message_id limit ${p.limit})`,
);
