import { isoTime } from '../../clock.ts';
import type { NetworkEvent } from '../../connectors/contract/events.ts';
import type { JoinMethod, JoinRequest } from '../../connectors/contract/groupActions.ts';
import { isPlaceholder } from '../../connectors/contract/people.ts';
import type { Tx } from '../../db/commit.ts';
import { query } from '../../db/query.ts';
import type { GroupTable } from '../../db/schema.ts';
import type { EventData } from '../../events/events.ts';
import type { Emit } from '../../webhooks/log/emit.ts';
import type { SessionRef } from '../store.ts';

/* Requests to join groups. Each is a row while it waits, so that a repeated report changes nothing. */

/** Waiting requests of a group that are stored. More are neither stored nor reported until some end. */
const MAX_WAITING = 1000;

interface Events {
  readonly emit: Emit;
}

interface Group {
  readonly groupId: string;
  readonly subject: string;
}

type Change = EventData<'group.join_request'>['change'];

export async function storeJoinRequest(
  events: Events,
  tx: Tx,
  session: SessionRef,
  { group: networkId, phoneNumber, change, method, timestamp }: Extract<NetworkEvent, { type: 'join_request' }>,
): Promise<void> {
  const row = await groupAt.first(tx, { ...session, networkId });
  if (row === undefined) return;
  const group = { groupId: row.group_id, subject: row.subject };
  if (change !== 'created') return endJoinRequest(events, tx, session, group, phoneNumber, change, timestamp);
  const { waiting } = await tx.kysely
    .selectFrom('group_join_requests')
    .select((eb) => eb.fn.countAll<number | bigint>().as('waiting'))
    .where('account_id', '=', session.accountId)
    .where('group_id', '=', group.groupId)
    .executeTakeFirstOrThrow();
  if (Number(waiting) >= MAX_WAITING) return;
  const { numInsertedOrUpdatedRows } = await tx.kysely
    .insertInto('group_join_requests')
    .values({
      account_id: session.accountId,
      group_id: group.groupId,
      phone_number: phoneNumber,
      method: method ?? null,
      requested_at: timestamp,
    })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst();
  if (numInsertedOrUpdatedRows) emitChange(events, tx, session, group, phoneNumber, 'created', timestamp, method);
}

/** Ends a request that waits, and emits how. Does nothing if there is none. */
export async function endJoinRequest(
  events: Events,
  tx: Tx,
  session: SessionRef,
  group: Group,
  phoneNumber: string,
  change: Exclude<Change, 'created'>,
  timestamp: number,
): Promise<void> {
  const ended = await tx.kysely
    .deleteFrom('group_join_requests')
    .where('account_id', '=', session.accountId)
    .where('group_id', '=', group.groupId)
    .where('phone_number', '=', phoneNumber)
    .returning('method')
    .executeTakeFirst();
  if (ended === undefined) return;
  emitChange(events, tx, session, group, phoneNumber, change, timestamp, ended.method ?? undefined);
}

function emitChange(
  { emit }: Events,
  tx: Tx,
  { accountId, sessionId }: SessionRef,
  { groupId, subject }: Group,
  phoneNumber: string,
  change: Change,
  timestamp: number,
  method: JoinMethod | undefined,
): void {
  const data = {
    groupId,
    sessionId,
    subject,
    phoneNumber,
    ...(isPlaceholder(phoneNumber) && { unidentified: true as const }),
    change,
    ...(method !== undefined && { method }),
    timestamp: isoTime(timestamp),
  };
  emit(tx, { accountId, kind: 'group.join_request', data, conversation: `${sessionId}/${groupId}` });
}

const groupAt = query((db, p: SessionRef & { networkId: string }) =>
  db
    .selectFrom('groups')
    .select(['group_id', 'subject'])
    .where('account_id', '=', p.accountId)
    .where('session_id', '=', p.sessionId)
    .where('network_id', '=', p.networkId),
);

/** Makes the stored requests those that the network has listed, without events. */
export async function adoptJoinRequests(
  { kysely }: Tx,
  { account_id, group_id }: Pick<GroupTable, 'account_id' | 'group_id'>,
  waiting: readonly JoinRequest[],
  now: number,
): Promise<void> {
  await kysely
    .deleteFrom('group_join_requests')
    .where('account_id', '=', account_id)
    .where('group_id', '=', group_id)
    .execute();
  const people = new Map(waiting.slice(0, MAX_WAITING).map((request) => [request.phoneNumber, request]));
  const rows = [...people.values()].map(({ phoneNumber, method, requestedAt }) => ({
    account_id,
    group_id,
    phone_number: phoneNumber,
    method: method ?? null,
    requested_at: requestedAt ?? now,
  }));
  if (rows.length > 0) await kysely.insertInto('group_join_requests').values(rows).execute();
}
