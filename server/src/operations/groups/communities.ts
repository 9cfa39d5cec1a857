import { sql } from 'kysely';
import { Type } from 'typebox';
import { query, unindexed } from '../../db/query.ts';
import type { GroupTable } from '../../db/schema.ts';
import { AppError, invalidField } from '../../errors.ts';
import {
  entries,
  IdempotencyKey,
  integer,
  notBlank,
  object,
  onlyTrue,
  optional,
  orNull,
  string,
} from '../../invoke/input/fields.ts';
import { ref } from '../../invoke/input/references.ts';
import { type Context, defineOperation } from '../../invoke/operation.ts';
import { keysOf, pageInput, pageOf, readPage } from '../../invoke/pages.ts';
import { requireRecipient } from '../../invoke/recipients.ts';
import type { SessionRef } from '../../messages/store.ts';
import {
  isOfSessions,
  ListedSessionId,
  listedSessions,
  OptionalSessionId,
  SessionId,
} from '../shared/sessionFields.ts';
import { changing, findGroup, Group, GroupId, groupOnNetwork, Subject } from './groups.ts';
import { showGroups, toGroup } from './shownGroups.ts';

/* A community is a group of groups. Operations on groups also work on the community itself. */

const CommunityId = string('Id of the community: a group (`grp_…`) with `isCommunity`.', {
  ...ref('group'),
  maxLength: 100,
});

export const listCommunities = defineOperation({
  id: 'communities.list',
  route: 'GET /communities',
  permission: 'groups:read',
  scope: 'filtered',
  effect: 'read',
  thirdPartyText: true,
  summary: 'List communities',
  description: 'List the communities that sessions are members of, newest first.',
  input: { sessionId: ListedSessionId, ...pageInput },
  output: pageOf(Group),
  errors: ['not_found'],
  async run(ctx, input) {
    const sessionIds = await listedSessions(ctx, input.sessionId);
    const own = ctx.database.longReader.kysely
      .selectFrom('groups')
      .where('account_id', '=', ctx.accountId)
      .where('is_community', '=', sql.lit(1)); // SQLite needs a literal to use the partial index
    const present = own.selectAll().where(isOfSessions(ctx, sessionIds)).where('left_at', 'is', null);
    const show = (rows: readonly GroupTable[]) => showGroups(ctx, rows);
    return readPage('communities', present, 'group_id', input, show, 'desc', keysOf(own, 'group_id'));
  },
});

export const createCommunity = defineOperation({
  id: 'communities.create',
  route: 'POST /communities',
  owner: { field: 'sessionId' },
  permission: 'groups:write',
  scope: 'sessionId',
  effect: 'write',
  thirdPartyText: true,
  summary: 'Create a community',
  description:
    'Create a community with the session as its owner. The network adds its announcement group, which `groups.list` shows with `isAnnouncementGroup`. Link groups to it afterwards.',
  status: 201,
  idempotent: true,
  input: {
    sessionId: OptionalSessionId,
    subject: notBlank(Subject),
    description: optional(string('Text that describes the community.', { maxLength: 2048 })),
    idempotencyKey: IdempotencyKey,
  },
  output: Group,
  errors: ['not_found', 'session_required', 'session_not_connected', 'send_failed', 'not_supported', 'network_denied'],
  example: { subject: 'Neighborhood' },
  async run(ctx, { subject, description }) {
    const { session } = ctx;
    const communities = await ctx.liveSessions.part(session, 'communities');
    const { networkId } = await communities.create(subject, description || null);
    return toGroup(ctx, await groupOnNetwork(ctx, session, networkId));
  },
});

export const listCommunityGroups = defineOperation({
  id: 'communities.list_groups',
  route: 'GET /communities/{groupId}/groups',
  ...changing,
  permission: 'groups:read',
  effect: 'read',
  thirdPartyText: true,
  summary: 'List the groups of a community',
  description:
    'List the groups that are linked to a community, also those that the session has not joined. Asks the network.',
  input: { groupId: CommunityId },
  output: object({
    communityId: CommunityId,
    sessionId: SessionId,
    data: entries('Groups of the community.', {
      groupId: orNull(Type.String(), 'Id of the group (`grp_…`); null if the session is not a member.'),
      networkGroupId: string('Address of the group at the network, such as `…@g.us`.'),
      subject: string('Name of the group.'),
      size: orNull(integer('Members.', { minimum: 0 }), 'Number of members; null if the network does not report it.'),
    }),
  }),
  async run(ctx, { groupId }) {
    const { row, session, communities } = await reachCommunity(ctx, groupId);
    const linked = await communities.groups(row.network_id);
    const networkIds = JSON.stringify(linked.map(({ networkId }) => networkId));
    const known = await joinedGroups.all(ctx.database.reader, { ...session, networkIds });
    const ids = new Map(known.map(({ network_id, group_id }) => [network_id, group_id]));
    return {
      communityId: groupId,
      sessionId: session.sessionId,
      data: linked.map(({ networkId, subject, size }) => ({
        groupId: ids.get(networkId) ?? null,
        networkGroupId: networkId,
        subject,
        size,
      })),
    };
  },
});

const LinkedGroupId = string('Id of the group (`grp_…`) of the same session, or its address at the network.', {
  ...ref('other'),
  maxLength: 100,
});

const linking = {
  ...changing,
  input: { groupId: CommunityId, linkedGroupId: LinkedGroupId },
} as const;

export const linkGroup = defineOperation({
  id: 'communities.link_group',
  route: 'PUT /communities/{groupId}/groups/{linkedGroupId}',
  ...linking,
  reachesStrangers: true,
  summary: 'Link a group to a community',
  description:
    'Make a group part of a community. The session must be an admin of both. The members of the group become members of the community, so a key with `allowedRecipients` needs the group among them.',
  output: object({ communityId: CommunityId, groupId: GroupId, linked: onlyTrue() }),
  async run(ctx, { groupId, linkedGroupId }) {
    const { row, communities } = await reachCommunity(ctx, groupId);
    const group = await requireGroupBeside(ctx, row, linkedGroupId);
    requireRecipient(ctx, group.group_id);
    await communities.link(row.network_id, group.network_id);
    return { communityId: groupId, groupId: group.group_id, linked: true as const };
  },
});

export const unlinkGroup = defineOperation({
  id: 'communities.unlink_group',
  route: 'DELETE /communities/{groupId}/groups/{linkedGroupId}',
  ...linking,
  summary: 'Unlink a group from a community',
  description: 'Take a group out of a community. The group stays. The session must be an admin of the community.',
  output: object({ communityId: CommunityId, groupId: GroupId, unlinked: onlyTrue() }),
  async run(ctx, { groupId, linkedGroupId }) {
    const { row, communities } = await reachCommunity(ctx, groupId);
    const group = await requireGroupBeside(ctx, row, linkedGroupId);
    await communities.unlink(row.network_id, group.network_id);
    return { communityId: groupId, groupId: group.group_id, unlinked: true as const };
  },
});

async function reachCommunity(ctx: Context, groupId: string) {
  const row = await findGroup(ctx, groupId);
  const session = { accountId: ctx.accountId, sessionId: row.session_id };
  const communities = await ctx.liveSessions.part(session, 'communities');
  if (row.is_community !== 1) throw invalidField('groupId', `The group ${groupId} is not a community`, 'community');
  return { row, session, communities };
}

/** @throws {AppError} `not_found` if the session of the community does not have the group */
async function requireGroupBeside(ctx: Context, community: GroupTable, idOrAddress: string): Promise<GroupTable> {
  const row = await ctx.database.reader.kysely
    .selectFrom('groups')
    .selectAll()
    .where('account_id', '=', ctx.accountId)
    .where('session_id', '=', community.session_id)
    .where((eb) => eb.or([eb('group_id', '=', idOrAddress), eb('network_id', '=', idOrAddress)]))
    .executeTakeFirst();
  if (row === undefined) {
    const detail = `The session of the community has no group ${idOrAddress}`;
    throw new AppError('not_found', detail, {
      fields: [{ field: 'linkedGroupId', code: 'not_found', message: detail }],
    });
  }
  if (row.is_community === 1)
    throw invalidField('linkedGroupId', 'A community cannot be part of a community', 'community');
  return row;
}

/** Groups at some addresses that the session is in. */
const joinedGroups = query((db, p: SessionRef & { networkIds: string }, dialect) =>
  db
    .selectFrom('groups')
    .select(['network_id', 'group_id'])
    .where(unindexed('account_id'), '=', p.accountId) // SQLite would read all groups of the account
    .where('session_id', '=', p.sessionId)
    .where('network_id', 'in', dialect.texts(p.networkIds))
    .where('left_at', 'is', null),
);
