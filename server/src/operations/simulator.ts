import { Type } from 'typebox';
import type { MessageContent, Simulation } from '../connectors/connector.ts';
import { mediaTypes } from '../connectors/connector.ts';
import { AppError, invalidField } from '../errors.ts';
import { type Context, defineOperation } from '../invoke/operation.ts';
import { PhoneNumberInput, phoneNumber } from '../invoke/phoneNumbers.ts';
import { storedMedia, toNetworkMedia } from '../messages/content.ts';
import { keyOf } from '../messages/outgoing.ts';
import { findMessage, networkIdOfGroup, type SessionRef } from '../messages/store.ts';
import { findSession, SessionId, toRef } from './sessions.ts';

const Action = Type.Enum([
  'pair',
  'incoming',
  'edit',
  'delete',
  'react',
  'vote',
  'receipt',
  'disconnect',
  'logout',
  'group_create',
  'group_subject',
  'group_leave',
]);

export const simulateSession = defineOperation({
  id: 'sessions.simulate',
  method: 'POST',
  path: '/sessions/{sessionId}/simulate',
  credential: 'any',
  permission: 'sessions:write',
  effect: 'write',
  tool: false,
  summary: 'Play the other side of a sandbox session',
  description: [
    '`pair` scans the QR.',
    '`incoming` writes to the session: `from`, and `message`, `mediaId` with `type`, `location`, `contact` or `poll`; in a group with `groupId`, as an answer with `messageId`.',
    '`edit` (`messageId`, `message`), `delete` (`messageId`), `react` (`messageId`, `from`, `emoji`) and `vote` (`messageId`, `from`, `options`) do something with a message.',
    '`receipt` confirms one that was sent (`messageId`, `status`).',
    '`disconnect` cuts the connection (`reason`, `reconnectAfterMs`), `logout` unlinks the device.',
    '`group_create` (`from`, `subject`, `phoneNumbers`), `group_subject` (`groupId`, `subject`) and `group_leave` (`groupId`, `from`) act as another member.',
    'Outside of groups, nothing that a blocked contact does reaches the session.',
  ].join('\n'),
  input: Type.Object(
    {
      sessionId: SessionId,
      action: Action,
      from: Type.Optional(PhoneNumberInput('Who does it.')),
      senderName: Type.Optional(Type.String({ minLength: 1, maxLength: 100, description: 'What it calls itself.' })),
      message: Type.Optional(Type.String({ minLength: 1, maxLength: 65_536 })),
      type: Type.Optional(Type.Enum([...mediaTypes], { description: 'What `mediaId` is sent as.' })),
      mediaId: Type.Optional(Type.String({ maxLength: 100 })),
      location: Type.Optional(
        Type.Object(
          {
            latitude: Type.Number({ minimum: -90, maximum: 90 }),
            longitude: Type.Number({ minimum: -180, maximum: 180 }),
            name: Type.Optional(Type.String({ maxLength: 200 })),
            address: Type.Optional(Type.String({ maxLength: 500 })),
          },
          { additionalProperties: false },
        ),
      ),
      contact: Type.Optional(
        Type.Object(
          {
            name: Type.String({ minLength: 1, maxLength: 200 }),
            phoneNumbers: Type.Array(PhoneNumberInput('A number.'), { minItems: 1, maxItems: 10 }),
          },
          { additionalProperties: false },
        ),
      ),
      poll: Type.Optional(
        Type.Object(
          {
            options: Type.Array(Type.String({ minLength: 1, maxLength: 100 }), { minItems: 2, maxItems: 12 }),
            maxSelections: Type.Integer({ minimum: 1, maximum: 12 }),
          },
          { additionalProperties: false },
        ),
      ),
      options: Type.Optional(Type.Array(Type.String({ maxLength: 100 }), { maxItems: 12 })),
      emoji: Type.Optional(Type.String({ maxLength: 32, description: 'Empty takes the reaction back.' })),
      groupId: Type.Optional(Type.String({ maxLength: 100 })),
      messageId: Type.Optional(Type.String({ maxLength: 100 })),
      status: Type.Optional(Type.Enum(['delivered', 'read', 'failed'])),
      reason: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
      reconnectAfterMs: Type.Optional(Type.Union([Type.Integer({ minimum: 0, maximum: 3_600_000 }), Type.Null()])),
      subject: Type.Optional(Type.String({ minLength: 1, maxLength: 100 })),
      phoneNumbers: Type.Optional(Type.Array(PhoneNumberInput('A member.'), { maxItems: 1024 })),
    },
    { additionalProperties: false },
  ),
  output: Type.Object({ simulated: Action }),
  errors: ['not_found', 'session_not_connected', 'session_state', 'not_supported', 'network_denied'],
  example: { sessionId: 'ses_01JZ0000000000000000000000', action: 'incoming', from: '491707654321', message: 'Hello' },
  async run(ctx, input) {
    const session = toRef(await findSession(ctx, input.sessionId));
    const simulate = await ctx.liveSessions.part(session, 'simulate');
    await simulate(await toSimulation(ctx, session, input));
    return { simulated: input.action };
  },
});

type SimulateInput = Parameters<typeof simulateSession.run>[1];

async function toSimulation(ctx: Context, session: SessionRef, input: SimulateInput): Promise<Simulation> {
  const needed = <T>(field: keyof SimulateInput, value: T | undefined): T => {
    if (value === undefined) throw invalidField(field, `is required for the action ${input.action}`, 'required');
    return value;
  };
  const from = () => phoneNumber('from', needed('from', input.from));
  const group = () => requireGroup(ctx, session, needed('groupId', input.groupId));
  const message = () => requireMessage(ctx, session, needed('messageId', input.messageId));
  const key = async () => keyOf(ctx.database.reader, await message());
  switch (input.action) {
    case 'pair':
    case 'logout':
      return { action: input.action };
    case 'incoming':
      return {
        action: 'incoming',
        from: from(),
        senderName: input.senderName ?? null,
        content: await toContent(ctx, input),
        group: input.groupId === undefined ? null : await group(),
        replyTo: input.messageId === undefined ? null : (await message()).network_id,
      };
    case 'edit':
      return { action: 'edit', ...(await key()), message: needed('message', input.message) };
    case 'delete':
      return { action: 'delete', ...(await key()) };
    case 'react':
      return { action: 'react', ...(await key()), from: from(), emoji: needed('emoji', input.emoji) || null };
    case 'vote':
      return { action: 'vote', ...(await key()), from: from(), options: needed('options', input.options) };
    case 'receipt': {
      const { network_id } = await message();
      return { action: 'receipt', networkId: network_id, status: needed('status', input.status) };
    }
    case 'disconnect':
      return {
        action: 'disconnect',
        reason: input.reason ?? 'The network closed the connection',
        reconnectAfterMs: input.reconnectAfterMs === undefined ? 1000 : input.reconnectAfterMs,
      };
    case 'group_create':
      return {
        action: 'group_create',
        from: from(),
        subject: needed('subject', input.subject),
        phoneNumbers: (input.phoneNumbers ?? []).map((text, index) => phoneNumber(`phoneNumbers.${index}`, text)),
      };
    case 'group_subject':
      return { action: 'group_subject', group: await group(), subject: needed('subject', input.subject) };
    case 'group_leave':
      return { action: 'group_leave', group: await group(), from: from() };
  }
}

/** What the simulated message says: the one thing that is given, and the text beside it. */
async function toContent(ctx: Context, input: SimulateInput): Promise<MessageContent> {
  const { message, mediaId, location, contact, poll } = input;
  const text = message ?? '';
  if (mediaId !== undefined) {
    const media = storedMedia(await ctx.media.find(ctx.accountId, mediaId));
    return { type: input.type ?? 'document', text, media: toNetworkMedia(media, ctx.media) };
  }
  if (location !== undefined) {
    const { latitude, longitude, name, address } = location;
    return {
      type: 'location',
      text,
      location: { latitude, longitude, ...(name !== undefined && { name }), ...(address !== undefined && { address }) },
    };
  }
  if (contact !== undefined) {
    const phoneNumbers = contact.phoneNumbers.map((one, index) => phoneNumber(`contact.phoneNumbers.${index}`, one));
    return { type: 'contact', text, contact: { name: contact.name, phoneNumbers } };
  }
  if (poll !== undefined) return { type: 'poll', text, poll };
  if (message === undefined) throw invalidField('message', 'is required for the action incoming', 'required');
  return { type: 'text', text };
}

async function requireGroup(ctx: Context, session: SessionRef, groupId: string): Promise<string> {
  const networkId = await networkIdOfGroup(ctx.database.reader, session, groupId);
  if (networkId === undefined) throw new AppError('not_found', `The session has no group ${groupId}`);
  return networkId;
}

async function requireMessage(ctx: Context, { accountId, sessionId }: SessionRef, messageId: string) {
  const row = await findMessage(ctx.database.reader, accountId, messageId);
  if (row?.session_id !== sessionId) throw new AppError('not_found', `The session has no message ${messageId}`);
  return row;
}
