import { isoTime } from '../../clock.ts';
import type { GroupSettings } from '../../connectors/contract/groups.ts';
import type { Queryable } from '../../db/dialect.ts';
import { query, unindexed } from '../../db/query.ts';
import type { GroupParticipantTable, GroupTable } from '../../db/schema.ts';
import type { Context } from '../../invoke/operation.ts';

/** Participants on a page. A page with more ends earlier, but has at least one group. */
const MOST_PARTICIPANTS = 5000;
const ALL_PARTICIPANTS = 2 ** 31 - 1;

export async function toGroup(ctx: Context, row: GroupTable) {
  const participants = await readParticipants(ctx.database.reader, [row]);
  const communities = await communitiesOf(ctx, [row]);
  return groupOf(row, participants, communities.get(row.group_id));
}

/**
 * Shows groups, the newest first, until they have too many participants: 200 large groups would have 200,000.
 */
export async function showGroups(ctx: Context, rows: readonly GroupTable[]) {
  const { longReader } = ctx.database;
  const read = await readParticipants(longReader, rows, MOST_PARTICIPANTS + 1);
  const isCut = read.length > MOST_PARTICIPANTS;
  const last = isCut ? rows.findIndex(({ group_id }) => group_id === read.at(-1)?.group_id) : rows.length;
  const shown = rows.slice(0, Math.max(1, last));
  const participants = isCut && last === 0 ? await readParticipants(longReader, shown) : read;
  const byGroup = Map.groupBy(participants, ({ group_id }) => group_id);
  const communities = await communitiesOf(ctx, shown);
  return shown.map((row) => groupOf(row, byGroup.get(row.group_id) ?? [], communities.get(row.group_id)));
}

/** Reads participants, in the same order as the groups. */
const readParticipants = async (on: Queryable, rows: readonly GroupTable[], limit = ALL_PARTICIPANTS) =>
  participantsOf.all(on, {
    accountId: rows[0]?.account_id ?? '',
    groupIds: JSON.stringify(rows.map(({ group_id }) => group_id)),
    limit,
  });

/** Returns the ids of the communities that groups belong to, by the ids of the groups. */
async function communitiesOf(ctx: Context, rows: readonly GroupTable[]): Promise<ReadonlyMap<string, string>> {
  const linked = rows.filter(({ community }) => community !== null);
  if (linked.length === 0) return new Map();
  const networkIds = JSON.stringify([...new Set(linked.map(({ community }) => community))]);
  const sessionIds = JSON.stringify([...new Set(linked.map(({ session_id }) => session_id))]);
  const found = await groupsAt.all(ctx.database.reader, { accountId: ctx.accountId, sessionIds, networkIds });
  const ids = new Map(found.map((row) => [`${row.session_id} ${row.network_id}`, row.group_id]));
  return new Map(
    linked.flatMap(({ group_id, session_id, community }) => {
      const id = ids.get(`${session_id} ${community}`);
      return id === undefined ? [] : [[group_id, id]];
    }),
  );
}

const groupsAt = query((db, p: { accountId: string; sessionIds: string; networkIds: string }, dialect) =>
  db
    .selectFrom('groups')
    .select(['session_id', 'network_id', 'group_id'])
    .where(unindexed('account_id'), '=', p.accountId) // SQLite would read all groups of the account
    .where('session_id', 'in', dialect.texts(p.sessionIds))
    .where('network_id', 'in', dialect.texts(p.networkIds)),
);

const participantsOf = query((db, p: { accountId: string; groupIds: string; limit: number }, dialect) =>
  db
    .selectFrom('group_participants as p')
    .innerJoin('groups as g', (join) =>
      join.onRef('g.account_id', '=', 'p.account_id').onRef('g.group_id', '=', 'p.group_id'),
    )
    .leftJoin('contacts as c', (join) =>
      join
        .onRef('c.account_id', '=', 'p.account_id')
        .onRef('c.session_id', '=', 'g.session_id')
        .onRef('c.phone_number', '=', 'p.phone_number'),
    )
    .select(({ fn }) => ['p.group_id', 'p.phone_number', 'p.role', fn.coalesce('c.saved_name', 'c.name').as('name')])
    .where('p.account_id', '=', p.accountId)
    .where('p.group_id', 'in', dialect.texts(p.groupIds))
    .orderBy('p.group_id', 'desc')
    .orderBy('p.joined_at')
    .orderBy('p.phone_number')
    .limit(p.limit),
);

type NamedParticipant = Pick<GroupParticipantTable, 'phone_number' | 'role'> & { readonly name: string | null };

function groupOf(row: GroupTable, participants: readonly NamedParticipant[], communityId: string | undefined) {
  return {
    groupId: row.group_id,
    sessionId: row.session_id,
    subject: row.subject,
    description: row.description,
    participants: participants.map(({ phone_number, role, name }) => ({
      phoneNumber: phone_number,
      role,
      ...(name !== null && { name }),
    })),
    settings: settingsOf(row),
    pictureMediaId: row.picture_media_id,
    createdAt: isoTime(row.created_at),
    networkGroupId: row.network_id,
    ...(row.is_community === 1 && { isCommunity: true as const }),
    ...(communityId !== undefined && { communityId }),
    ...(row.is_announcement_group === 1 && { isAnnouncementGroup: true as const }),
  };
}

export function settingsOf(row: GroupTable): GroupSettings {
  return {
    announce: row.announce === 1,
    locked: row.locked === 1,
    joinApproval: row.join_approval === 1,
    ...(row.member_add !== null && { memberAdd: row.member_add }),
    ...(row.disappearing_seconds !== null && { disappearingSeconds: row.disappearing_seconds }),
  };
}
