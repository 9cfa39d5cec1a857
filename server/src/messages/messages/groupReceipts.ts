import { sql } from 'kysely';
import type { Clock } from '../../clock.ts';
import type { Commit, Tx } from '../../db/commit.ts';
import { Pace } from '../../db/pace.ts';
import { batch, query } from '../../db/query.ts';
import type { GroupParticipantTable, MessageRow } from '../../db/schema.ts';
import { firstIdAt, isGroupId } from '../../ids.ts';
import type { Cleaning } from '../../jobs/cleaning.ts';
import type { SteadyClock } from '../../steadyClock.ts';
import type { SessionRef } from '../store.ts';
import { CLOCKS_MS } from './replacement.ts';

/*
 * Group members who received and read a message that the session sent. `fromMembers` decides whose receipts count, for
 * these rows as for the message's status. In a direct chat, the message itself has both times.
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

interface GroupReceipt {
  readonly row: Pick<MessageRow, 'account_id' | 'chat_id' | 'timestamp'>;
  readonly receipt: { readonly by?: string };
}

/**
 * Leaves out receipts from people outside the group: message ids are not secret on the network. Members count, and
 * people who have left since the message was sent, by a clock that can be slow. If the network does not return the
 * members, everyone counts.
 */
export async function fromMembers<R extends GroupReceipt>(tx: Tx, receipts: readonly R[]): Promise<readonly R[]> {
  const named = receipts.flatMap(({ row, receipt: { by } }) =>
    by === undefined || !isGroupId(row.chat_id) ? [] : [personOf(row, by)],
  );
  if (named.length === 0) return receipts;
  const counted = new Set((await countedPeople.all(tx, named)).map(keyOf));
  return receipts.filter(
    ({ row, receipt: { by } }) => by === undefined || !isGroupId(row.chat_id) || counted.has(keyOf(personOf(row, by))),
  );
}

const personOf = ({ account_id, chat_id, timestamp }: GroupReceipt['row'], phone_number: string) => ({
  account_id,
  group_id: chat_id,
  phone_number,
  sent_at: timestamp,
});

const keyOf = ({ group_id, phone_number, sent_at }: ReturnType<typeof personOf>) =>
  `${group_id} ${phone_number} ${sent_at}`;

// In tables without statistics, PostgreSQL reads all participants for an `exists`, and for a `limit` without an order.
const countedPeople = batch(
  { account_id: 'text', group_id: 'text', phone_number: 'text', sent_at: 'bigint' },
  ({ row, from }) => {
    const ofGroup = sql`account_id = ${row.account_id} and group_id = ${row.group_id}`;
    const ofPerson = sql`${ofGroup} and phone_number = ${row.phone_number}`;
    return sql<ReturnType<typeof personOf>>`
      select ${row.account_id} as account_id, ${row.group_id} as group_id, ${row.phone_number} as phone_number,
        ${row.sent_at} as sent_at ${from}
      where (select count(*) from group_participants where ${ofPerson}) > 0
        or exists (select 1 from group_former_members where ${ofPerson} and left_at >= ${row.sent_at} - ${sql.lit(CLOCKS_MS)})
        or (select count(*) from (
          select 1 from group_participants where ${ofGroup} order by phone_number limit 2) as members) < 2
          and not exists (select 1 from group_former_members where ${ofGroup})`;
  },
);

/** Remembers people who have left a group. */
export async function noteFormerMembers(
  tx: Tx,
  former: readonly Pick<GroupParticipantTable, 'account_id' | 'group_id' | 'phone_number'>[],
  leftAt: number,
): Promise<void> {
  await upsertFormer.run(
    tx,
    former.map((member) => ({ ...member, left_at: leftAt })),
  );
}

const upsertFormer = batch(
  { account_id: 'text', group_id: 'text', phone_number: 'text', left_at: 'bigint' },
  ({ row, from }) => sql`
    insert into group_former_members (account_id, group_id, phone_number, left_at)
    select ${row.account_id}, ${row.group_id}, ${row.phone_number}, ${row.left_at} ${from}
    where true
    on conflict (account_id, group_id, phone_number) do update set left_at = excluded.left_at`,
);

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
    where true
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

/** Deletes receipts of old messages, and people who left a group before then. */
export function prunesReceipts(clock: Clock, steady: Pick<SteadyClock, 'fromWall'>): Cleaning {
  return {
    name: 'old receipts',
    run: async (steps) => {
      const before = firstIdAt('msg', steady.fromWall(clock.now() - RECEIPT_DAYS * DAY_MS));
      const receipts = await steps.repeat((tx, limit) => deleteOld.run(tx, { before, limit }));
      const leftBefore = clock.now() - RECEIPT_DAYS * DAY_MS;
      return receipts + (await steps.repeat((tx, limit) => deleteFormer.run(tx, { leftBefore, limit })));
    },
  };
}

// In a group that everyone has left, the last one stays: the group's members are known, so others do not count.
const deleteFormer = query(
  (_, p: { leftBefore: number; limit: number }) => sql`
    delete from group_former_members where (account_id, group_id, phone_number) in (
      select account_id, group_id, phone_number from group_former_members as f
      where left_at < ${p.leftBefore} and (
        exists (
          select 1 from group_former_members as other
          where other.account_id = f.account_id and other.group_id = f.group_id
            and (other.left_at, other.phone_number) > (f.left_at, f.phone_number))
        or (select count(*) from group_participants as p
          where p.account_id = f.account_id and p.group_id = f.group_id) > 1)
      order by left_at limit ${p.limit})`,
);

const deleteOld = query(
  (_, p: { before: string; limit: number }) => sql`
    delete from message_receipts where (${KEY}) in (
      select ${KEY} from message_receipts where message_id < ${p.before} order by message_id limit ${p.limit})`,
);
