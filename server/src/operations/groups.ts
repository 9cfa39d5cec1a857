import { Type } from 'typebox';
import { isoTime } from '../clock.ts';
import type { GroupTable } from '../db/schema.ts';
import { AppError } from '../errors.ts';
import { Participant } from '../events.ts';
import { type Context, defineOperation } from './operation.ts';
import { pageInput, pageOf, pageStart, toPage } from './pages.ts';
import { PhoneNumberInput, phoneNumber } from './phoneNumbers.ts';
import { resolveSession, SessionId } from './sessions.ts';

const GroupId = Type.String({ maxLength: 100, description: 'Id of the group (`grp_…`).' });
const Subject = Type.String({ minLength: 1, maxLength: 100, description: 'Name of the group.' });
const Description = Type.Union([Type.String({ maxLength: 2048 }), Type.Null()]);
const PhoneNumbers = Type.Array(PhoneNumberInput('A participant.'), { minItems: 1, maxItems: 1024 });

const Group = Type.Object({
  groupId: GroupId,
  sessionId: SessionId,
  subject: Subject,
  description: Type.Union([Type.String(), Type.Null()]),
  participants: Type.Array(Participant),
  settings: Type.Object({ announce: Type.Boolean(), locked: Type.Boolean(), joinApproval: Type.Boolean() }),
  createdAt: Type.String({ format: 'date-time' }),
});

export const listGroups = defineOperation({
  id: 'groups.list',
  method: 'GET',
  path: '/groups',
  credential: 'any',
  permission: 'groups:read',
  effect: 'read',
  tool: true,
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
    const groups = await Promise.all(found.map((row) => toGroup(ctx, row)));
    const page = toPage(
      found,
      limit,
      ({ group_id }) => group_id,
      ({ group_id }) => group_id,
    );
    return { data: groups.slice(0, page.data.length), nextCursor: page.nextCursor };
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
  summary: 'Create a group',
  status: 201,
  input: Type.Object(
    { sessionId: Type.Optional(SessionId), subject: Subject, phoneNumbers: PhoneNumbers },
    { additionalProperties: false },
  ),
  output: Group,
  errors: ['not_found', 'session_required', 'session_not_connected', 'not_supported'],
  example: { subject: 'Support', phoneNumbers: ['491707654321'] },
  async run(ctx, input) {
    const session = await resolveSession(ctx, input.sessionId);
    const phoneNumbers = normalise(input.phoneNumbers);
    // The network tells the session of the new group, which stores it and emits the event.
    const { networkId } = await ctx.sessions.part(session, 'groups').create(input.subject, phoneNumbers);
    const row = await ctx.database.reader.kysely
      .selectFrom('groups')
      .selectAll()
      .where('account_id', '=', ctx.accountId)
      .where('session_id', '=', session.sessionId)
      .where('network_id', '=', networkId)
      .executeTakeFirstOrThrow();
    return toGroup(ctx, row);
  },
});

export const updateGroup = defineOperation({
  id: 'groups.update',
  method: 'PATCH',
  path: '/groups/{groupId}',
  credential: 'any',
  permission: 'groups:write',
  effect: 'write',
  tool: true,
  summary: 'Change the subject or description of a group',
  input: Type.Object(
    { groupId: GroupId, subject: Type.Optional(Subject), description: Type.Optional(Description) },
    { additionalProperties: false },
  ),
  output: Group,
  errors: ['not_found', 'session_not_connected', 'not_supported', 'permission_denied'],
  async run(ctx, { groupId, subject, description }) {
    const row = await findGroup(ctx, groupId);
    const groups = ctx.sessions.part({ accountId: ctx.accountId, sessionId: row.session_id }, 'groups');
    if (subject !== undefined && subject !== row.subject) await groups.setSubject(row.network_id, subject);
    if (description !== undefined && description !== row.description)
      await groups.setDescription(row.network_id, description);
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
  errors: ['not_found', 'session_not_connected', 'not_supported', 'permission_denied'],
  async run(ctx, { groupId, action, phoneNumbers }) {
    const row = await findGroup(ctx, groupId);
    const groups = ctx.sessions.part({ accountId: ctx.accountId, sessionId: row.session_id }, 'groups');
    const results = await groups.updateParticipants(row.network_id, action, normalise(phoneNumbers));
    return { groupId, results: [...results] };
  },
});

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
  if (row === undefined) throw new AppError('not_found', `There is no group ${groupId}`);
  return row;
}

async function toGroup(ctx: Context, row: GroupTable) {
  const participants = await ctx.database.reader.kysely
    .selectFrom('group_participants')
    .select(['phone_number', 'role'])
    .where('account_id', '=', row.account_id)
    .where('group_id', '=', row.group_id)
    .orderBy('joined_at')
    .orderBy('phone_number')
    .execute();
  return {
    groupId: row.group_id,
    sessionId: row.session_id,
    subject: row.subject,
    description: row.description,
    participants: participants.map(({ phone_number, role }) => ({ phoneNumber: phone_number, role })),
    settings: { announce: row.announce === 1, locked: row.locked === 1, joinApproval: row.join_approval === 1 },
    createdAt: isoTime(row.created_at),
  };
}
