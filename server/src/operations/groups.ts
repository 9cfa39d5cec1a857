import { Type } from 'typebox';
import { isoTime } from '../clock.ts';
import type { GroupActions, GroupInvite, GroupSettings } from '../connectors/connector.ts';
import { query } from '../db/query.ts';
import type { GroupParticipantTable, GroupTable } from '../db/schema.ts';
import { AppError } from '../errors.ts';
import { Participant } from '../events.ts';
import { type Context, defineOperation } from '../invoke/operation.ts';
import { pageInput, pageOf, pageStart, toPage } from '../invoke/pages.ts';
import { PhoneNumberInput, phoneNumber } from '../invoke/phoneNumbers.ts';
import type { SessionRef } from '../messages/store.ts';
import { PictureMediaId, pictureOf } from './media.ts';
import { resolveSession, SessionId } from './sessions.ts';

const GroupId = Type.String({ maxLength: 100, description: 'Id of the group (`grp_…`).' });
const Subject = Type.String({ minLength: 1, maxLength: 100, description: 'Name of the group.' });
const Description = Type.Union([Type.String({ maxLength: 2048 }), Type.Null()]);
const PhoneNumbers = Type.Array(PhoneNumberInput('A participant.'), { minItems: 1, maxItems: 1024 });

const Group = Type.Object(
  {
    groupId: GroupId,
    sessionId: SessionId,
    subject: Subject,
    description: Type.Union([Type.String(), Type.Null()]),
    participants: Type.Array(Participant),
    settings: Type.Object({
      announce: Type.Boolean({ description: 'Only admins may write.' }),
      locked: Type.Boolean({ description: 'Only admins may change subject, description and picture.' }),
      joinApproval: Type.Boolean({ description: 'Who joins by the invite link has to be let in.' }),
    }),
    pictureMediaId: Type.Union([Type.String(), Type.Null()], { description: 'Id of the picture (`med_…`).' }),
    createdAt: Type.String({ format: 'date-time' }),
  },
  { title: 'Group' },
);

export const listGroups = defineOperation({
  id: 'groups.list',
  method: 'GET',
  path: '/groups',
  credential: 'any',
  permission: 'groups:read',
  effect: 'read',
  tool: true,
  thirdPartyText: true,
  summary: 'List the groups of a session',
  input: Type.Object({ sessionId: Type.Optional(SessionId), ...pageInput }, { additionalProperties: false }),
  output: pageOf(Group),
  errors: ['not_found', 'session_required'],
  async run(ctx, input) {
    const { accountId, sessionId } = await resolveSession(ctx, input.sessionId);
    const { after, limit, rows } = pageStart(input);
    let select = ctx.database.reader.kysely
      .selectFrom('groups')
      .selectAll()
      .where('account_id', '=', accountId)
      .where('session_id', '=', sessionId)
      .where('left_at', 'is', null);
    if (after !== undefined) select = select.where('group_id', '<', after);
    const found = await select.orderBy('group_id', 'desc').limit(rows).execute();
    const toItem = await groupReader(ctx, found);
    return toPage(found, limit, ({ group_id }) => group_id, toItem);
  },
});

export const getGroup = defineOperation({
  id: 'groups.get',
  method: 'GET',
  path: '/groups/{groupId}',
  credential: 'any',
  permission: 'groups:read',
  effect: 'read',
  tool: true,
  thirdPartyText: true,
  longField: 'participants',
  summary: 'Show a group and its participants',
  input: Type.Object({ groupId: GroupId }, { additionalProperties: false }),
  output: Group,
  errors: ['not_found'],
  run: async (ctx, { groupId }) => toGroup(ctx, await findGroup(ctx, groupId)),
});

export const createGroup = defineOperation({
  id: 'groups.create',
  method: 'POST',
  path: '/groups',
  credential: 'any',
  permission: 'groups:write',
  effect: 'write',
  tool: true,
  thirdPartyText: true,
  summary: 'Create a group',
  status: 201,
  idempotent: true,
  input: Type.Object(
    { sessionId: Type.Optional(SessionId), subject: Subject, phoneNumbers: PhoneNumbers },
    { additionalProperties: false },
  ),
  output: Group,
  errors: ['not_found', 'session_required', 'session_not_connected', 'send_failed', 'not_supported'],
  example: { subject: 'Support', phoneNumbers: ['491707654321'] },
  async run(ctx, input) {
    const session = await resolveSession(ctx, input.sessionId);
    const phoneNumbers = normalise(input.phoneNumbers);
    // The network tells the session of the new group, which stores it and emits the event.
    const groups = await ctx.liveSessions.part(session, 'groups');
    const { networkId } = await groups.create(input.subject, phoneNumbers);
    return toGroup(ctx, await groupOnNetwork(ctx, session, networkId));
  },
});

export const updateGroup = defineOperation({
  id: 'groups.update',
  method: 'PATCH',
  path: '/groups/{groupId}',
  credential: 'any',
  permission: 'groups:write',
  effect: 'destructive',
  tool: true,
  thirdPartyText: true,
  summary: 'Change the subject, description, settings or picture of a group',
  input: Type.Object(
    {
      groupId: GroupId,
      subject: Type.Optional(Subject),
      description: Type.Optional(Description),
      settings: Type.Optional(
        Type.Object(
          {
            announce: Type.Optional(Type.Boolean()),
            locked: Type.Optional(Type.Boolean()),
            joinApproval: Type.Optional(Type.Boolean()),
          },
          { additionalProperties: false },
        ),
      ),
      pictureMediaId: Type.Optional(PictureMediaId),
    },
    { additionalProperties: false },
  ),
  output: Group,
  errors: ['not_found', 'session_not_connected', 'send_failed', 'not_supported', 'network_denied'],
  example: { groupId: 'grp_01JZ0000000000000000000000', subject: 'Support', settings: { locked: true } },
  async run(ctx, { groupId, subject, description, settings, pictureMediaId }) {
    const row = await findGroup(ctx, groupId);
    const groups = await partOf(ctx, row);
    const picture = pictureMediaId === undefined ? undefined : await pictureOf(ctx, pictureMediaId);
    if (subject !== undefined && subject !== row.subject) await groups.setSubject(row.network_id, subject);
    if (description !== undefined && description !== row.description)
      await groups.setDescription(row.network_id, description);
    const changes = changedSettings(row, settings);
    if (Object.keys(changes).length > 0) await groups.setSettings(row.network_id, changes);
    if (picture !== undefined) await groups.setPicture(row.network_id, picture);
    return toGroup(ctx, await findGroup(ctx, groupId));
  },
});

export const updateParticipants = defineOperation({
  id: 'groups.update_participants',
  method: 'POST',
  path: '/groups/{groupId}/participants',
  credential: 'any',
  permission: 'groups:write',
  effect: 'destructive',
  tool: true,
  summary: 'Add, remove, promote or demote participants of a group',
  description: 'Answers for each number on its own: some may work and others not.',
  input: Type.Object(
    { groupId: GroupId, action: Type.Enum(['add', 'remove', 'promote', 'demote']), phoneNumbers: PhoneNumbers },
    { additionalProperties: false },
  ),
  output: Type.Object({
    groupId: GroupId,
    results: Type.Array(
      Type.Object({ phoneNumber: Type.String(), ok: Type.Boolean(), reason: Type.Optional(Type.String()) }),
    ),
  }),
  errors: ['not_found', 'session_not_connected', 'send_failed', 'not_supported', 'network_denied'],
  async run(ctx, { groupId, action, phoneNumbers }) {
    const row = await findGroup(ctx, groupId);
    const groups = await partOf(ctx, row);
    const results = await groups.updateParticipants(row.network_id, action, normalise(phoneNumbers));
    return { groupId, results: [...results] };
  },
});

const Invite = Type.Object(
  {
    groupId: GroupId,
    inviteCode: Type.String(),
    inviteLink: Type.String({ description: 'What to give to people.' }),
  },
  { title: 'GroupInvite' },
);

export const getInviteLink = defineOperation({
  id: 'groups.get_invite_link',
  method: 'GET',
  path: '/groups/{groupId}/invite-link',
  credential: 'any',
  permission: 'groups:read',
  effect: 'write',
  isRepeatable: true,
  tool: true,
  summary: 'Show the invite link of a group',
  description: 'Only an admin of the group can see it.',
  input: Type.Object({ groupId: GroupId }, { additionalProperties: false }),
  output: Invite,
  errors: ['not_found', 'session_not_connected', 'send_failed', 'not_supported', 'network_denied'],
  async run(ctx, { groupId }) {
    const row = await findGroup(ctx, groupId);
    const groups = await partOf(ctx, row);
    return toInvite(groupId, await groups.invite(row.network_id));
  },
});

export const revokeInviteLink = defineOperation({
  id: 'groups.revoke_invite_link',
  method: 'DELETE',
  path: '/groups/{groupId}/invite-link',
  credential: 'any',
  permission: 'groups:write',
  effect: 'destructive',
  tool: false,
  summary: 'Replace the invite link of a group',
  description: 'The link there was leads nowhere any more; the answer has the new one.',
  input: Type.Object({ groupId: GroupId }, { additionalProperties: false }),
  output: Invite,
  errors: ['not_found', 'session_not_connected', 'send_failed', 'not_supported', 'network_denied'],
  async run(ctx, { groupId }) {
    const row = await findGroup(ctx, groupId);
    const groups = await partOf(ctx, row);
    return toInvite(groupId, await groups.renewInvite(row.network_id));
  },
});

export const joinGroup = defineOperation({
  id: 'groups.join',
  method: 'POST',
  path: '/groups/join',
  credential: 'any',
  permission: 'groups:write',
  effect: 'write',
  isRepeatable: true,
  tool: true,
  thirdPartyText: true,
  summary: 'Join a group by its invite link',
  input: Type.Object(
    {
      sessionId: Type.Optional(SessionId),
      invite: Type.String({ minLength: 1, maxLength: 300, description: 'The invite link, or its code.' }),
    },
    { additionalProperties: false },
  ),
  output: Type.Object({
    status: Type.Enum(['joined', 'requested'], { description: '`requested`: an admin has to let the session in.' }),
    group: Type.Union([Group, Type.Null()]),
  }),
  errors: ['not_found', 'session_required', 'session_not_connected', 'send_failed', 'not_supported'],
  example: { invite: 'sandbox:join/Zm9vYmFyYmF6cXV4MTIzNA' },
  async run(ctx, { sessionId, invite }) {
    const session = await resolveSession(ctx, sessionId);
    const groups = await ctx.liveSessions.part(session, 'groups');
    const joined = await groups.join(invite);
    if (joined === null) return { status: 'requested' as const, group: null };
    return {
      status: 'joined' as const,
      group: await toGroup(ctx, await groupOnNetwork(ctx, session, joined.networkId)),
    };
  },
});

export const leaveGroup = defineOperation({
  id: 'groups.leave',
  method: 'POST',
  path: '/groups/{groupId}/leave',
  credential: 'any',
  permission: 'groups:write',
  effect: 'destructive',
  tool: true,
  summary: 'Leave a group',
  description: 'Its chat stays readable.',
  input: Type.Object({ groupId: GroupId }, { additionalProperties: false }),
  output: Type.Object({ groupId: GroupId, left: Type.Literal(true) }),
  errors: ['not_found', 'session_not_connected', 'send_failed', 'not_supported', 'network_denied'],
  async run(ctx, { groupId }) {
    const row = await findGroup(ctx, groupId);
    const groups = await partOf(ctx, row);
    await groups.leave(row.network_id);
    return { groupId, left: true as const };
  },
});

/** What the session of a group can do with groups. */
function partOf(ctx: Context, { session_id: sessionId }: GroupTable): Promise<GroupActions> {
  return ctx.liveSessions.part({ accountId: ctx.accountId, sessionId }, 'groups');
}

/** The group that the network has told the session of. */
function groupOnNetwork(ctx: Context, { accountId, sessionId }: SessionRef, networkId: string): Promise<GroupTable> {
  return ctx.database.reader.kysely
    .selectFrom('groups')
    .selectAll()
    .where('account_id', '=', accountId)
    .where('session_id', '=', sessionId)
    .where('network_id', '=', networkId)
    .executeTakeFirstOrThrow();
}

function toInvite(groupId: string, { code, link }: GroupInvite) {
  return { groupId, inviteCode: code, inviteLink: link };
}

/** Those of the wanted settings that the group does not have yet. */
function changedSettings(row: GroupTable, wanted: Partial<GroupSettings> = {}): Partial<GroupSettings> {
  const present = settingsOf(row);
  const isChanged = (name: keyof GroupSettings) => wanted[name] !== undefined && wanted[name] !== present[name];
  return Object.fromEntries(settingNames.filter(isChanged).map((name) => [name, wanted[name]]));
}

const settingNames = ['announce', 'locked', 'joinApproval'] as const satisfies readonly (keyof GroupSettings)[];

function settingsOf(row: GroupTable): GroupSettings {
  return { announce: row.announce === 1, locked: row.locked === 1, joinApproval: row.join_approval === 1 };
}

function normalise(phoneNumbers: readonly string[]): string[] {
  return phoneNumbers.map((text, index) => phoneNumber(`phoneNumbers.${index}`, text));
}

async function findGroup(ctx: Context, groupId: string): Promise<GroupTable> {
  const row = await ctx.database.reader.kysely
    .selectFrom('groups')
    .selectAll()
    .where('account_id', '=', ctx.accountId)
    .where('group_id', '=', groupId)
    .executeTakeFirst();
  if (row === undefined) throw new AppError('not_found', `The group ${groupId} does not exist`);
  return row;
}

async function toGroup(ctx: Context, row: GroupTable) {
  return (await groupReader(ctx, [row]))(row);
}

/** Reads the participants of these groups at once, and shows each group with its own. */
async function groupReader(ctx: Context, rows: readonly GroupTable[]) {
  const groupIds = JSON.stringify(rows.map(({ group_id }) => group_id));
  const participants = await participantsOf.all(ctx.database.reader, { accountId: ctx.accountId, groupIds });
  const byGroup = Map.groupBy(participants, ({ group_id }) => group_id);
  return (row: GroupTable) => groupOf(row, byGroup.get(row.group_id) ?? []);
}

const participantsOf = query((db, p: { accountId: string; groupIds: string }, dialect) =>
  db
    .selectFrom('group_participants')
    .select(['group_id', 'phone_number', 'role'])
    .where('account_id', '=', p.accountId)
    .where('group_id', 'in', dialect.texts(p.groupIds))
    .orderBy('joined_at')
    .orderBy('phone_number'),
);

function groupOf(row: GroupTable, participants: readonly Pick<GroupParticipantTable, 'phone_number' | 'role'>[]) {
  return {
    groupId: row.group_id,
    sessionId: row.session_id,
    subject: row.subject,
    description: row.description,
    participants: participants.map(({ phone_number, role }) => ({ phoneNumber: phone_number, role })),
    settings: settingsOf(row),
    pictureMediaId: row.picture_media_id,
    createdAt: isoTime(row.created_at),
  };
}
