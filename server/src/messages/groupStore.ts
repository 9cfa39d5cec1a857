import type { NetworkGroup } from '../connectors/contract/groups.ts';
import type { Queryable } from '../db/dialect.ts';
import { query } from '../db/query.ts';
import type { Media } from '../media/media.ts';
import { storedMedia, toNetworkMedia } from './content.ts';
import type { SessionRef } from './store.ts';

/** The groups of a session, in the form of its network. */
export async function readGroups(
  { kysely }: Queryable,
  { accountId, sessionId }: SessionRef,
  media: Media,
): Promise<NetworkGroup[]> {
  const groups = await kysely
    .selectFrom('groups')
    .selectAll()
    .where('account_id', '=', accountId)
    .where('session_id', '=', sessionId)
    .where('left_at', 'is', null)
    .execute();
  const participants = await kysely
    .selectFrom('group_participants as p')
    .innerJoin('groups as g', (join) =>
      join.onRef('g.account_id', '=', 'p.account_id').onRef('g.group_id', '=', 'p.group_id'),
    )
    .select(['p.group_id', 'p.phone_number', 'p.role'])
    .where('g.account_id', '=', accountId)
    .where('g.session_id', '=', sessionId)
    .execute();
  const byGroup = Map.groupBy(participants, ({ group_id }) => group_id);
  return Promise.all(
    groups.map(async (group) => ({
      networkId: group.network_id,
      subject: group.subject,
      description: group.description,
      createdBy: group.created_by,
      createdAt: group.created_at,
      participants: (byGroup.get(group.group_id) ?? []).map(({ phone_number: phoneNumber, role }) => ({
        phoneNumber,
        role,
      })),
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
      picture:
        group.picture_media_id === null
          ? null
          : toNetworkMedia(storedMedia(await media.find(accountId, group.picture_media_id)), media),
    })),
  );
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
