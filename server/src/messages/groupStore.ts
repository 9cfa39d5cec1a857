import type { NetworkGroup } from '../connectors/contract/groups.ts';
import type { Database } from '../db/database.ts';
import type { Queryable } from '../db/dialect.ts';
import { query, unindexed } from '../db/query.ts';
import type { GroupParticipantTable, GroupTable } from '../db/schema.ts';
import type { Media } from '../media/media.ts';
import { storedMedia, toNetworkMedia } from './content.ts';
import type { SessionRef } from './store.ts';

/** Groups whose participants one read lists: a group can have a thousand. */
const PAGE = 50;

/** Reads the groups that the session is in, with their participants, outside the main thread and in parts. */
export async function readGroups(
  { longReader }: Pick<Database, 'longReader'>,
  session: SessionRef,
  media: Media,
): Promise<NetworkGroup[]> {
  const { accountId } = session;
  const found: NetworkGroup[] = [];
  for (let after = '', isLast = false; !isLast; ) {
    const groups = await joinedGroups.all(longReader, { ...session, after, limit: PAGE });
    const ids = JSON.stringify(groups.map(({ group_id }) => group_id));
    const participants = await participantsOf.all(longReader, { accountId, ids });
    const byGroup = Map.groupBy(participants, ({ group_id }) => group_id);
    for (const group of groups) {
      const { picture_media_id: mediaId } = group;
      const picture = mediaId === null ? null : storedMedia(await media.find(accountId, mediaId));
      found.push(networkGroupOf(group, byGroup.get(group.group_id) ?? [], picture && toNetworkMedia(picture, media)));
    }
    isLast = groups.length < PAGE;
    after = groups.at(-1)?.group_id ?? '';
  }
  return found;
}

const joinedGroups = query((db, p: SessionRef & { after: string; limit: number }) =>
  db
    .selectFrom('groups')
    .selectAll()
    .where('account_id', '=', p.accountId)
    .where(unindexed('session_id'), '=', p.sessionId)
    .where('left_at', 'is', null)
    .where('group_id', '>', p.after)
    .orderBy('group_id')
    .limit(p.limit),
);

const participantsOf = query((db, p: { accountId: string; ids: string }, dialect) =>
  db
    .selectFrom('group_participants')
    .select(['group_id', 'phone_number', 'role'])
    .where('account_id', '=', p.accountId)
    .where('group_id', 'in', dialect.texts(p.ids)),
);

function networkGroupOf(
  group: GroupTable,
  participants: readonly Pick<GroupParticipantTable, 'phone_number' | 'role'>[],
  picture: NetworkGroup['picture'],
): NetworkGroup {
  return {
    networkId: group.network_id,
    subject: group.subject,
    description: group.description,
    createdBy: group.created_by,
    createdAt: group.created_at,
    participants: participants.map(({ phone_number: phoneNumber, role }) => ({ phoneNumber, role })),
    settings: {
      announce: group.announce === 1,
      locked: group.locked === 1,
      joinApproval: group.join_approval === 1,
      ...(group.member_add !== null && { memberAdd: group.member_add }),
      ...(group.disappearing_seconds !== null && { disappearingSeconds: group.disappearing_seconds }),
    },
    ...(group.is_community !== null && { isCommunity: group.is_community === 1 }),
    ...(group.is_community !== null && { community: group.community }),
    ...(group.is_announcement_group !== null && { isAnnouncementGroup: group.is_announcement_group === 1 }),
    inviteCode: group.invite_code,
    picture,
  };
}

export async function groupIdOf(on: Queryable, session: SessionRef, networkId: string): Promise<string | undefined> {
  return (await groupByNetworkId.first(on, { ...session, networkId }))?.group_id;
}

export const groupByNetworkId = query((db, p: SessionRef & { networkId: string }) =>
  db
    .selectFrom('groups')
    .select(['group_id', 'left_at', 'last_change_id'])
    .where('account_id', '=', p.accountId)
    .where('session_id', '=', p.sessionId)
    .where('network_id', '=', p.networkId),
);
