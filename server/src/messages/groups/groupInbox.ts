import { sql } from 'kysely';
import { isoTime } from '../../clock.ts';
import type { NetworkGroup } from '../../connectors/contract/groups.ts';
import type { Tx } from '../../db/commit.ts';
import { batch, query } from '../../db/query.ts';
import type { GroupChange } from '../../events/networkTypes.ts';
import { setDisappearing } from '../chats/chatChanges.ts';
import type { StoredMedia } from '../content.ts';
import { groupByNetworkId } from '../groupStore.ts';
import type { InboxOptions } from '../inboxOptions.ts';
import { noteFormerMembers } from '../messages/groupReceipts.ts';
import type { OutgoingProgress } from '../messages/outgoingProgress.ts';
import { withinDisappearing } from '../reportLimits.ts';
import type { Report, ReportHandlers } from '../reports.ts';
import { findSession, type SessionRef } from '../store.ts';
import { endJoinRequest, storeJoinRequest } from './joinRequests.ts';

type GroupReport = 'group_created' | 'group_updated' | 'group_invite' | 'group_noted' | 'join_request';

export const groupReports = (outgoing: Pick<OutgoingProgress, 'followMembers'>): ReportHandlers<GroupReport> => ({
  async group_created(options, tx, session, { group }) {
    await storeGroup(options, tx, session, group);
    await outgoing.followMembers(tx, session, numbersOf(group));
  },
  async group_updated(options, tx, session, event, picture) {
    await storeUpdate(options, tx, session, event, picture);
    if (event.change.type === 'participants') await outgoing.followMembers(tx, session, numbersOf(event.group));
  },
  group_invite: storeInvite,
  group_noted: noteGroup,
  join_request: storeJoinRequest,
});

const numbersOf = ({ participants }: NetworkGroup) => participants.map(({ phoneNumber }) => phoneNumber);

async function storeGroup(
  options: InboxOptions,
  tx: Tx,
  session: SessionRef,
  group: NetworkGroup,
  changeId?: string,
): Promise<void> {
  const { accountId, sessionId } = session;
  const present = await groupByNetworkId.first(tx, { ...session, networkId: group.networkId });
  if (present !== undefined) {
    if (present.left_at !== null && group.isPlaceholder !== true) await storeReturn(options, tx, session, group);
    return;
  }
  const groupId = options.newId('grp');
  await tx.kysely
    .insertInto('groups')
    .values({
      account_id: accountId,
      session_id: sessionId,
      group_id: groupId,
      network_id: group.networkId,
      subject: group.subject,
      description: group.description,
      created_by: group.createdBy,
      ...settingColumns(group),
      ...placeColumns(group),
      invite_code: group.inviteCode,
      created_at: group.createdAt,
      ...(changeId !== undefined && { last_change_id: changeId }),
    })
    .execute();
  await putParticipants(tx, accountId, groupId, group, options.clock.now());
  await tx.kysely
    .insertInto('chats')
    .values({
      account_id: accountId,
      session_id: sessionId,
      chat_id: groupId,
      type: 'group',
      unread_count: 0,
      archived: 0,
      pinned: 0,
      disappearing_seconds: withinDisappearing(group.settings.disappearingSeconds),
    })
    .execute();
  const { subject, createdBy } = group;
  const [participants, timestamp] = [[...group.participants], isoTime(group.createdAt)];
  const data = { groupId, sessionId, subject, participants, createdBy, timestamp };
  options.emit(tx, { accountId, kind: 'group.created', data, conversation: `${sessionId}/${groupId}` });
}

/** The session is back in a group that it had left: emits that it was added. */
async function storeReturn(options: InboxOptions, tx: Tx, session: SessionRef, group: NetworkGroup): Promise<void> {
  const own = (await findSession(tx, session))?.phone_number;
  if (!own || !group.participants.some(({ phoneNumber }) => phoneNumber === own)) return;
  const change: GroupChange = { type: 'participants', action: 'add', phoneNumbers: [own] };
  const timestamp = options.clock.now();
  await storeUpdate(options, tx, session, { type: 'group_updated', group, change, timestamp }, undefined);
}

async function storeUpdate(
  options: InboxOptions,
  tx: Tx,
  session: SessionRef,
  { group, change, changeId, timestamp }: Report<'group_updated'>,
  picture: StoredMedia | undefined,
): Promise<void> {
  const { accountId, sessionId } = session;
  const present = await groupByNetworkId.first(tx, { ...session, networkId: group.networkId });
  // The session was added to a group that it did not know.
  if (present === undefined) return storeGroup(options, tx, session, group, changeId);
  if (group.isPlaceholder === true || (changeId !== undefined && changeId === present.last_change_id)) return;
  const groupId = present.group_id;
  const own = await findSession(tx, session);
  const isMember = group.participants.some(({ phoneNumber }) => phoneNumber === own?.phone_number);
  await tx.kysely
    .updateTable('groups')
    .set({
      subject: group.subject,
      description: group.description,
      ...settingColumns(group),
      ...placeColumns(group),
      invite_code: group.inviteCode,
      ...(change.type === 'picture' && { picture_media_id: picture?.mediaId ?? null }),
      left_at: isMember ? null : timestamp,
      last_change_id: changeId ?? null,
    })
    .where('account_id', '=', accountId)
    .where('group_id', '=', groupId)
    .execute();
  if (change.type === 'participants') await putParticipants(tx, accountId, groupId, group, options.clock.now());
  if (change.type === 'participants' && change.action === 'add')
    for (const phoneNumber of change.phoneNumbers ?? [])
      await endJoinRequest(options, tx, session, { ...group, groupId }, phoneNumber, 'approved', timestamp);
  const data = { groupId, sessionId, subject: group.subject, change, timestamp: isoTime(timestamp) };
  const conversation = `${sessionId}/${groupId}`;
  options.emit(tx, { accountId, kind: 'group.updated', data, conversation });
  await setTimer(options, tx, session, groupId, group);
  const { action, phoneNumbers = [] } = change;
  if (change.type !== 'participants' || action === undefined) return;
  const { change: _, ...shared } = data;
  const changed = { ...shared, action, phoneNumbers };
  options.emit(tx, { accountId, kind: 'group.participants', data: changed, conversation });
}

async function storeInvite(
  _: InboxOptions,
  tx: Tx,
  session: SessionRef,
  { group }: Report<'group_invite'>,
): Promise<void> {
  await tx.kysely
    .updateTable('groups')
    .set({ invite_code: group.inviteCode })
    .where('account_id', '=', session.accountId)
    .where('session_id', '=', session.sessionId)
    .where('network_id', '=', group.networkId)
    .execute();
}
/** Stores what a session has learned about a group that did not change. */
async function noteGroup(
  options: InboxOptions,
  tx: Tx,
  session: SessionRef,
  { group }: Report<'group_noted'>,
): Promise<void> {
  const noted = await tx.kysely
    .updateTable('groups')
    .set({ ...settingColumns(group), ...placeColumns(group) })
    .where('account_id', '=', session.accountId)
    .where('session_id', '=', session.sessionId)
    .where('network_id', '=', group.networkId)
    .returning('group_id')
    .executeTakeFirst();
  if (noted !== undefined) await setTimer(options, tx, session, noted.group_id, group);
}

/** Gives the chat of a group the timer of the group. */
async function setTimer(
  options: InboxOptions,
  tx: Tx,
  session: SessionRef,
  groupId: string,
  { settings: { disappearingSeconds } }: NetworkGroup,
): Promise<void> {
  if (disappearingSeconds !== undefined) await setDisappearing(options, tx, session, groupId, disappearingSeconds);
}

/** Writes only the differences, because a network reports all participants with each change. */
async function putParticipants(
  tx: Tx,
  accountId: string,
  groupId: string,
  { participants }: NetworkGroup,
  now: number,
): Promise<void> {
  const before = await participantsOf.all(tx, { accountId, groupId });
  const roles = new Map(before.map(({ phone_number, role }) => [phone_number, role]));
  const present = new Map(participants.map(({ phoneNumber, role }) => [phoneNumber, role]));
  const ofGroup = (phone_number: string) => ({ account_id: accountId, group_id: groupId, phone_number });
  const former = [...roles.keys()].filter((number) => !present.has(number)).map(ofGroup);
  await noteFormerMembers(tx, former, now);
  await deleteParticipants.run(tx, former);
  const changed = [...present].filter(([number, role]) => roles.get(number) !== role);
  await putMembers.run(
    tx,
    changed.map(([number, role]) => ({ ...ofGroup(number), role, joined_at: now })),
  );
}

const participantsOf = query((db, p: { accountId: string; groupId: string }) =>
  db
    .selectFrom('group_participants')
    .select(['phone_number', 'role'])
    .where('account_id', '=', p.accountId)
    .where('group_id', '=', p.groupId),
);

const deleteParticipants = batch(
  { account_id: 'text', group_id: 'text', phone_number: 'text' },
  ({ row, from }) => sql`
    delete from group_participants where (account_id, group_id, phone_number) in (
      select ${row.account_id}, ${row.group_id}, ${row.phone_number} ${from})`,
);

/** A participant keeps the time of joining. */
const putMembers = batch(
  { account_id: 'text', group_id: 'text', phone_number: 'text', role: 'text', joined_at: 'bigint' },
  ({ row, from }) => sql`
    insert into group_participants (account_id, group_id, phone_number, role, joined_at)
    select ${row.account_id}, ${row.group_id}, ${row.phone_number}, ${row.role}, ${row.joined_at} ${from} where true
    on conflict (account_id, group_id, phone_number) do update set role = excluded.role`,
);

/** Leaves out what the network does not report. */
function settingColumns({
  settings: { announce, locked, joinApproval, memberAdd, disappearingSeconds },
}: NetworkGroup) {
  return {
    announce: Number(announce),
    locked: Number(locked),
    join_approval: Number(joinApproval),
    ...(memberAdd !== undefined && { member_add: memberAdd }),
    ...(disappearingSeconds !== undefined && { disappearing_seconds: withinDisappearing(disappearingSeconds) ?? 0 }),
  };
}

function placeColumns({ isCommunity, community, isAnnouncementGroup }: NetworkGroup) {
  return {
    ...(isCommunity !== undefined && { is_community: Number(isCommunity) }),
    ...(community !== undefined && { community }),
    ...(isAnnouncementGroup !== undefined && { is_announcement_group: Number(isAnnouncementGroup) }),
  };
}
