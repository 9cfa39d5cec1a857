import { Type } from 'typebox';
import type { GroupActions, GroupSettings, NetworkGroup, NewGroup } from '../../connectors/contract/groups.ts';
import { contains } from '../../db/contains.ts';
import type { GroupTable } from '../../db/schema.ts';
import { invalidField, noSuch } from '../../errors.ts';
import { Participant } from '../../events/parts.ts';
import {
  boolean,
  entries,
  IdempotencyKey,
  integer,
  named,
  notForAgents,
  object,
  oneOf,
  onlyTrue,
  optional,
  orNull,
  strictPart,
  string,
  time,
} from '../../invoke/input/fields.ts';
import { PhoneNumberList } from '../../invoke/input/phoneNumbers.ts';
import { ref } from '../../invoke/input/references.ts';
import { type Context, defineOperation } from '../../invoke/operation.ts';
import { keysOf, pageInput, pageOf, readPage } from '../../invoke/pages.ts';
import { requireAnyRecipient, requireRecipient } from '../../invoke/recipients.ts';
import type { SessionRef } from '../../messages/store.ts';
import { PictureMediaId, pictureOf } from '../shared/pictures.ts';
import {
  isOfSessions,
  ListedSessionId,
  listedSessions,
  OptionalSessionId,
  SessionId,
} from '../shared/sessionFields.ts';
import { requireTimer } from '../shared/timers.ts';
import { settingsOf, showGroups, toGroup } from './shownGroups.ts';

export const GroupId = string('Id of the group (`grp_…`).', { ...ref('group'), maxLength: 100 });
export const Subject = string('Name of the group.', { minLength: 1, maxLength: 100 });
const Description = orNull(Type.String({ maxLength: 2048 }), 'Text that describes the group; null removes it.');
export const PhoneNumbers = PhoneNumberList('Participants, up to 1024.', { minItems: 1, maxItems: 1024 });

export const Group = named('Group', {
  groupId: GroupId,
  sessionId: SessionId,
  subject: Subject,
  description: orNull(Type.String(), 'Text that describes the group; null if there is none.'),
  participants: entries('Members of the group, with their roles.', {
    ...Participant.properties,
    name: optional(string('Name of the person, if it is known: as saved on the phone, or as the person chose.')),
  }),
  settings: object({
    announce: boolean('Only admins can send messages.'),
    locked: boolean('Only admins can change subject, description and picture.'),
    joinApproval: boolean('An admin must approve people who join with the invite link.'),
    memberAdd: optional({
      ...oneOf(['admins', 'all'], 'People who can add members, if it is known.'),
      ...notForAgents,
    }),
    disappearingSeconds: optional({
      ...integer('Seconds until messages disappear, if it is known; 0 if they stay.', { minimum: 0 }),
      ...notForAgents,
    }),
  }),
  pictureMediaId: orNull(Type.String(), 'Id of the picture (`med_…`); null if there is none.'),
  createdAt: time('When the group was created.'),
  networkGroupId: { ...string('Address of the group at the network, such as `…@g.us`.'), ...notForAgents },
  isCommunity: optional({ ...onlyTrue('Present if it is a community.'), ...notForAgents }),
  communityId: optional({
    ...string('Id of its community (`grp_…`), if the session is a member of it.'),
    ...notForAgents,
  }),
  isAnnouncementGroup: optional({
    ...onlyTrue('Present if it is the group of its community in which only admins write.'),
    ...notForAgents,
  }),
});

/** Networks can confirm each part of a change later than they accept it. */
const DEADLINE_MS = 120_000;

/** For operations on one group, which the node of its session runs. */
export const changing = {
  owner: { field: 'groupId' },
  permission: 'groups:write',
  scope: 'groupId',
  effect: 'destructive',
  errors: ['not_found', 'session_not_connected', 'send_failed', 'not_supported', 'network_denied'],
  deadlineMs: DEADLINE_MS,
} as const;

export const listGroups = defineOperation({
  id: 'groups.list',
  route: 'GET /groups',
  permission: 'groups:read',
  scope: 'filtered',
  effect: 'read',
  tool: true,
  thirdPartyText: true,
  summary: 'List groups',
  description:
    'List the groups that sessions are members of, with participants and settings, newest first. Use it to find a `groupId` by name (`q`).',
  input: {
    sessionId: ListedSessionId,
    q: optional(string('Part of the name.', { minLength: 1, maxLength: 100 })),
    ...pageInput,
  },
  output: pageOf(Group),
  errors: ['not_found'],
  async run(ctx, input) {
    const sessionIds = await listedSessions(ctx, input.sessionId);
    const own = ctx.database.longReader.kysely.selectFrom('groups').where('account_id', '=', ctx.accountId);
    let present = own.selectAll().where(isOfSessions(ctx, sessionIds)).where('left_at', 'is', null);
    if (input.q !== undefined) present = present.where(contains('subject', input.q));
    const show = (rows: readonly GroupTable[]) => showGroups(ctx, rows);
    return readPage('groups', present, 'group_id', input, show, 'desc', keysOf(own, 'group_id'));
  },
});

export const getGroup = defineOperation({
  id: 'groups.get',
  route: 'GET /groups/{groupId}',
  permission: 'groups:read',
  scope: 'groupId',
  effect: 'read',
  tool: true,
  thirdPartyText: true,
  longField: 'participants',
  summary: 'Get a group',
  description: 'Get one group with its participants, their roles, and its settings. Use it to see who is an admin.',
  input: { groupId: GroupId },
  output: Group,
  errors: ['not_found'],
  run: async (ctx, { groupId }) => toGroup(ctx, await findGroup(ctx, groupId)),
});

export const createGroup = defineOperation({
  id: 'groups.create',
  route: 'POST /groups',
  deadlineMs: DEADLINE_MS,
  owner: { field: 'sessionId' },
  permission: 'groups:write',
  scope: 'sessionId',
  recipients: 'phoneNumbers',
  effect: 'write',
  tool: true,
  thirdPartyText: true,
  summary: 'Create a group',
  description:
    'Create a group that the session owns, with these participants. People whose privacy settings forbid it are left out, and a network can refuse a field; compare the result.',
  status: 201,
  idempotent: true,
  input: {
    sessionId: OptionalSessionId,
    subject: Subject,
    phoneNumbers: optional(
      PhoneNumberList('Participants, up to 1024; none on networks without `group_add_members`.', {
        minItems: 1,
        maxItems: 1024,
      }),
    ),
    description: optional({ ...Description, ...notForAgents }),
    joinApproval: optional({
      ...boolean('An admin must approve people who join with the invite link.'),
      ...notForAgents,
    }),
    idempotencyKey: IdempotencyKey,
  },
  output: Group,
  errors: [
    'not_found',
    'session_required',
    'session_not_connected',
    'send_failed',
    'not_supported',
    'network_denied',
    'rate_limited',
  ],
  example: { subject: 'Support', phoneNumbers: ['491707654321'] },
  async run(ctx, input) {
    const { session } = ctx;
    const { phoneNumbers = [], description, joinApproval } = input;
    const groups = await ctx.liveSessions.part(session, 'groups');
    if (phoneNumbers.length > 0) await ctx.liveSessions.requireCapability(session, 'group_add_members');
    else if (ctx.liveSessions.supports(session, 'group_add_members'))
      throw invalidField('phoneNumbers', 'is required on this network', 'required');
    // No key can list a group that does not exist yet, and anyone with its invite link sees its texts.
    else requireAnyRecipient(ctx, 'A new group that people join with an invite link');
    const wishes = {
      ...(description !== undefined && { description }),
      ...(joinApproval !== undefined && { joinApproval }),
    };
    // The network reports the new group to the session, which stores it and emits the event.
    const group = await groups.create(input.subject, phoneNumbers, wishes);
    await complete(ctx, groups, group, wishes);
    return toGroup(ctx, await groupOnNetwork(ctx, session, group.networkId));
  },
});

export const updateGroup = defineOperation({
  id: 'groups.update',
  route: 'PATCH /groups/{groupId}',
  ...changing,
  tool: true,
  thirdPartyText: true,
  uses: ['media'],
  summary: 'Update a group',
  description:
    'Change the subject, description, settings or picture of a group. Fields that you leave out do not change. Only admins can change settings, or anything in a `locked` group.',
  input: {
    groupId: GroupId,
    subject: optional(Subject),
    description: optional(Description),
    settings: optional(
      strictPart('Settings to change.', {
        announce: optional(boolean('Only admins can send messages.')),
        locked: optional(boolean('Only admins can change the group.')),
        joinApproval: optional(boolean('Admins approve people who join by link.')),
        memberAdd: optional({ ...oneOf(['admins', 'all'], 'People who can add members.'), ...notForAgents }),
        disappearingSeconds: optional({
          ...integer('Seconds until messages disappear: 86400, 604800 or 7776000; 0 turns this off.', {
            minimum: 0,
            maximum: 31_536_000,
          }),
          ...notForAgents,
        }),
      }),
    ),
    pictureMediaId: optional(PictureMediaId),
  },
  output: Group,
  example: { groupId: 'grp_01JZ0000000000000000000000', subject: 'Support', settings: { locked: true } },
  async run(ctx, { groupId, subject, description, settings, pictureMediaId }) {
    const { row, groups } = await reachGroup(ctx, groupId);
    const changes = changedSettings(row, settings);
    if (changes.disappearingSeconds !== undefined)
      requireTimer('settings.disappearingSeconds', changes.disappearingSeconds, 0);
    // All members see these, and the timer applies to every message that is written to the group.
    const reaching = [subject, description, pictureMediaId, changes.disappearingSeconds];
    if (reaching.some((value) => value !== undefined)) requireRecipient(ctx, groupId);
    await requireSettings(ctx, row, changes);
    const picture = pictureMediaId === undefined ? undefined : await pictureOf(ctx, pictureMediaId);
    if (subject !== undefined && subject !== row.subject) await groups.setSubject(row.network_id, subject);
    if (description !== undefined && description !== row.description)
      await groups.setDescription(row.network_id, description);
    if (Object.keys(changes).length > 0) await groups.setSettings(row.network_id, changes);
    if (picture !== undefined) await groups.setPicture(row.network_id, picture);
    return toGroup(ctx, await findGroup(ctx, groupId));
  },
});

export const updateParticipants = defineOperation({
  id: 'groups.update_participants',
  route: 'POST /groups/{groupId}/participants',
  ...changing,
  recipients: 'phoneNumbers',
  tool: true,
  summary: 'Update group participants',
  description:
    'Add, remove, promote or demote participants of a group. The session must be an admin. Returns one result per number, because some can fail.',
  input: {
    groupId: GroupId,
    action: oneOf(
      ['add', 'remove', 'promote', 'demote'],
      '`promote` makes participants admins; `demote` makes them members again.',
    ),
    phoneNumbers: PhoneNumbers,
  },
  output: object({
    groupId: GroupId,
    results: entries('One entry per number.', {
      phoneNumber: string('Phone number digits of the participant.'),
      ok: boolean('Whether the change was made.'),
      reason: optional(string('Why the change was not made.')),
    }),
  }),
  async run(ctx, { groupId, action, phoneNumbers }) {
    const { row, groups } = await reachGroup(ctx, groupId);
    const needed = action === 'add' ? 'group_add_members' : action === 'remove' ? undefined : 'group_admins';
    if (needed !== undefined) await ctx.liveSessions.requireCapability(sessionOf(row), needed);
    const results = await groups.updateParticipants(row.network_id, action, phoneNumbers);
    return { groupId, results: [...results] };
  },
});

export const leaveGroup = defineOperation({
  id: 'groups.leave',
  route: 'POST /groups/{groupId}/leave',
  ...changing,
  tool: true,
  summary: 'Leave a group',
  description: 'Leave a group. The session needs an invite to come back. Existing messages stay readable.',
  input: { groupId: GroupId },
  output: object({ groupId: GroupId, left: onlyTrue() }),
  async run(ctx, { groupId }) {
    const { row, groups } = await reachGroup(ctx, groupId);
    await ctx.liveSessions.requireCapability(sessionOf(row), 'group_leave');
    await groups.leave(row.network_id);
    return { groupId, left: true as const };
  },
});

/**
 * Sets what a network could not set while it created the group. If this fails, the caller gets the group as it is: an
 * error would let the caller create it again.
 */
async function complete(
  { log }: Context,
  groups: GroupActions,
  { networkId, description: given, settings }: NetworkGroup,
  { description = given, joinApproval = settings.joinApproval }: NewGroup,
): Promise<void> {
  const warn = (err: unknown) => log.warn({ err, group: networkId }, 'failed to set up a new group completely');
  if ((description ?? '') !== (given ?? '')) await groups.setDescription(networkId, description).catch(warn);
  if (joinApproval !== settings.joinApproval) await groups.setSettings(networkId, { joinApproval }).catch(warn);
}

/** The group, and the actions of its session on groups. */
export async function reachGroup(ctx: Context, groupId: string) {
  const row = await findGroup(ctx, groupId);
  return { row, groups: await ctx.liveSessions.part(sessionOf(row), 'groups') };
}

const sessionOf = ({ account_id: accountId, session_id: sessionId }: GroupTable): SessionRef => ({
  accountId,
  sessionId,
});

/** The group as the network reported it to the session. */
export function groupOnNetwork(
  ctx: Context,
  { accountId, sessionId }: SessionRef,
  networkId: string,
): Promise<GroupTable> {
  return ctx.database.reader.kysely
    .selectFrom('groups')
    .selectAll()
    .where('account_id', '=', accountId)
    .where('session_id', '=', sessionId)
    .where('network_id', '=', networkId)
    .executeTakeFirstOrThrow();
}

function changedSettings(row: GroupTable, wanted: Partial<GroupSettings> = {}): Partial<GroupSettings> {
  const present = settingsOf(row);
  const isChanged = (name: keyof GroupSettings) => wanted[name] !== undefined && wanted[name] !== present[name];
  return Object.fromEntries(settingNames.filter(isChanged).map((name) => [name, wanted[name]]));
}

const settingNames = [
  'announce',
  'locked',
  'joinApproval',
  'memberAdd',
  'disappearingSeconds',
] as const satisfies readonly (keyof GroupSettings)[];

/** @throws {AppError} `not_supported` before anything changes, if the network lacks one of the settings */
async function requireSettings(ctx: Context, row: GroupTable, changes: Partial<GroupSettings>): Promise<void> {
  const session = sessionOf(row);
  const { memberAdd: _, disappearingSeconds: __, ...others } = changes;
  if (Object.keys(others).length > 0) await ctx.liveSessions.requireCapability(session, 'group_settings');
  if (changes.memberAdd !== undefined) await ctx.liveSessions.requireCapability(session, 'group_member_add_mode');
  if (changes.disappearingSeconds !== undefined)
    await ctx.liveSessions.requireCapability(session, 'group_disappearing');
}

export async function findGroup(ctx: Context, groupId: string): Promise<GroupTable> {
  const row = await ctx.database.reader.kysely
    .selectFrom('groups')
    .selectAll()
    .where('account_id', '=', ctx.accountId)
    .where('group_id', '=', groupId)
    .executeTakeFirst();
  if (row === undefined) throw noSuch('group', groupId);
  return row;
}
