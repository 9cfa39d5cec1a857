import { Type } from 'typebox';
import { isoTime } from '../../clock.ts';
import type { GroupInvite } from '../../connectors/contract/groups.ts';
import {
  boolean,
  integer,
  named,
  object,
  oneOf,
  onlyTrue,
  optional,
  orNull,
  string,
  time,
} from '../../invoke/input/fields.ts';
import { defineOperation } from '../../invoke/operation.ts';
import { OptionalSessionId } from '../shared/sessionFields.ts';
import { changing, Group, GroupId, groupOnNetwork, reachGroup } from './groups.ts';
import { toGroup } from './shownGroups.ts';

/** The invite of a group, as people pass it on. */
export const InviteInput = Type.Refine(
  string('Invite link (`https://chat.whatsapp.com/…`), a text with one, or the code after its last slash.', {
    minLength: 1,
    maxLength: 1000,
  }),
  (invite) => otherLink(invite) === undefined,
  (invite) => otherLink(invite) ?? '',
);

/** The reason why a link does not lead to a group; undefined if it can. */
function otherLink(invite: unknown): string | undefined {
  if (typeof invite !== 'string' || /chat\.whatsapp\.com\//i.test(invite)) return undefined;
  if (/(?:whatsapp\.com|wa\.me)\/channel\/|sandbox:channel\//i.test(invite))
    return 'is a link to a channel; follow it with `channels.follow`';
  if (/\bwa\.me\/|api\.whatsapp\.com\/send/i.test(invite))
    return 'is a link to a chat with a person; send a message to the number';
  return undefined;
}

export const previewInvite = defineOperation({
  id: 'groups.preview_invite',
  route: 'GET /groups/preview',
  owner: { field: 'sessionId' },
  permission: 'groups:read',
  scope: 'sessionId',
  effect: 'read',
  thirdPartyText: true,
  summary: 'Preview a group invite',
  description: 'Show the group behind an invite, without joining it. Asks the network. Join it with `groups.join`.',
  input: {
    invite: InviteInput,
    sessionId: OptionalSessionId,
  },
  output: named('InvitePreview', {
    networkGroupId: string('Address of the group at the network, such as `…@g.us`.'),
    subject: string('Name of the group.'),
    description: orNull(Type.String(), 'Text that describes the group; null if there is none.'),
    size: orNull(integer('Members.', { minimum: 0 }), 'Number of members; null if the network does not report it.'),
    createdBy: orNull(Type.String(), 'Phone number digits of its creator; null if they are not known.'),
    createdAt: orNull(time(), 'When the group was created; null if it is not known.'),
    joinApproval: boolean('An admin must approve people who join with the invite link.'),
    isCommunity: optional(onlyTrue('Present if it is a community.')),
  }),
  errors: ['not_found', 'session_required', 'session_not_connected', 'send_failed', 'not_supported', 'network_denied'],
  example: { invite: 'Zm9vYmFyYmF6cXV4MTIzNA' },
  async run(ctx, { invite }) {
    const { session } = ctx;
    const preview = await ctx.liveSessions.part(session, 'previewInvite');
    const { networkId, subject, description, size, createdBy, createdAt, joinApproval, isCommunity } =
      await preview(invite);
    return {
      networkGroupId: networkId,
      subject,
      description,
      size,
      createdBy,
      createdAt: isoTime(createdAt),
      joinApproval,
      ...(isCommunity && { isCommunity: true as const }),
    };
  },
});

const Invite = named('GroupInvite', {
  groupId: GroupId,
  inviteCode: string('Code at the end of the link. `groups.join` accepts the code or the link.'),
  inviteLink: string('Link to send to people. Anyone with the link can join.'),
});

export const getInviteLink = defineOperation({
  id: 'groups.get_invite_link',
  route: 'GET /groups/{groupId}/invite-link',
  ...changing,
  permission: 'groups:invite',
  effect: 'write',
  isRepeatable: true,
  tool: true,
  summary: 'Get the invite link of a group',
  description:
    'Get the invite link of a group, or create it. Anyone with the link can join. The session must be an admin.',
  input: { groupId: GroupId },
  output: Invite,
  async run(ctx, { groupId }) {
    const { row, groups } = await reachGroup(ctx, groupId);
    return toInvite(groupId, await groups.invite(row.network_id));
  },
});

export const revokeInviteLink = defineOperation({
  id: 'groups.revoke_invite_link',
  route: 'DELETE /groups/{groupId}/invite-link',
  ...changing,
  summary: 'Revoke the invite link of a group',
  description:
    'Replace the invite link of a group with a new one, which is returned. The previous invite link stops working. The session must be an admin.',
  input: { groupId: GroupId },
  output: Invite,
  async run(ctx, { groupId }) {
    const { row, groups } = await reachGroup(ctx, groupId);
    return toInvite(groupId, await groups.renewInvite(row.network_id));
  },
});

export const joinGroup = defineOperation({
  id: 'groups.join',
  route: 'POST /groups/join',
  owner: { field: 'sessionId' },
  permission: 'groups:write',
  scope: 'sessionId',
  effect: 'write',
  reachesStrangers: true,
  isRepeatable: true,
  tool: true,
  thirdPartyText: true,
  summary: 'Join a group',
  description:
    'Join a group with an invite link or the code after its last slash. If the status is `requested`, an admin must approve first.',
  input: {
    sessionId: OptionalSessionId,
    invite: InviteInput,
  },
  output: object({
    status: oneOf(['joined', 'requested'], '`requested`: an admin must approve first.'),
    group: orNull(Group, 'The group. Null until an admin approves; then `groups.list` has it.'),
  }),
  errors: ['not_found', 'session_required', 'session_not_connected', 'send_failed', 'not_supported'],
  example: { invite: 'sandbox:join/Zm9vYmFyYmF6cXV4MTIzNA' },
  async run(ctx, { invite }) {
    const { session } = ctx;
    const groups = await ctx.liveSessions.part(session, 'groups');
    await ctx.liveSessions.requireCapability(session, 'group_join');
    const joined = await groups.join(invite);
    if (joined === null) return { status: 'requested' as const, group: null };
    return {
      status: 'joined' as const,
      group: await toGroup(ctx, await groupOnNetwork(ctx, session, joined.networkId)),
    };
  },
});

function toInvite(groupId: string, { code, link }: GroupInvite) {
  return { groupId, inviteCode: code, inviteLink: link };
}
