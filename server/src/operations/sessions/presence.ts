import { isoTime } from '../../clock.ts';
import { presences } from '../../connectors/contract/presence.ts';
import { boolean, named, object, oneOf, orNull, string, time } from '../../invoke/input/fields.ts';
import { PhoneNumberInput } from '../../invoke/input/phoneNumbers.ts';
import { type Context, defineOperation } from '../../invoke/operation.ts';
import type { SessionRef } from '../../messages/store.ts';
import { OptionalSessionId, SessionId } from '../shared/sessionFields.ts';

const OwnPresence = oneOf(['online', 'offline'], 'Whether others see the session as online.');

export const setPresence = defineOperation({
  id: 'sessions.set_presence',
  route: 'PUT /sessions/{sessionId}/presence',
  approval: 'free',
  owner: { field: 'sessionId' },
  permission: 'chats:write',
  scope: 'sessionId',
  effect: 'write',
  isRepeatable: true,
  summary: 'Show a session as online or offline',
  description:
    'Show a session as online, or as offline, which is the default. While it is online, the phone of the account may not ring for new messages. It stays online after a reconnect, until `until`.',
  input: { sessionId: SessionId, presence: OwnPresence },
  output: object({
    sessionId: SessionId,
    presence: OwnPresence,
    until: orNull(time(), 'When the session goes offline by itself; null if it is offline.'),
  }),
  errors: ['not_found', 'session_not_connected', 'session_state', 'send_failed', 'not_supported'],
  example: { sessionId: 'ses_01JZ0000000000000000000000', presence: 'online' },
  async run(ctx, input) {
    const { session } = ctx;
    const set = await ctx.liveSessions.part(session, 'setPresence');
    const { presence, until } = await set(input.presence);
    return { sessionId: session.sessionId, presence, until: isoTime(until) };
  },
});

const ContactPresence = named('ContactPresence', {
  phoneNumber: string('Phone number digits of the contact.'),
  sessionId: SessionId,
  followed: boolean('Whether the session follows the presence of the contact.'),
  presence: orNull(
    oneOf(presences),
    'The last report of the network; null if there was none since the session follows the contact.',
  ),
  lastSeen: orNull(time(), 'When the contact was last online; null if the network does not show it.'),
  updatedAt: orNull(time(), 'When the network last reported something; null if it never did.'),
});

const ofContact = {
  phoneNumber: PhoneNumberInput('Number of the contact.'),
  sessionId: OptionalSessionId,
};

export const followPresence = defineOperation({
  id: 'contacts.follow_presence',
  route: 'PUT /contacts/{phoneNumber}/presence',
  approval: 'free',
  owner: { field: 'sessionId' },
  permission: 'chats:write',
  scope: 'sessionId',
  effect: 'write',
  isRepeatable: true,
  uses: ['followedPresences'],
  summary: "Follow a contact's presence",
  description:
    'Ask the network to report when a contact is online, as the event `presence.updated`. A session follows up to 50 contacts, also after a reconnect, until you stop it with `followed: false`. Networks report presence only to sessions that are online themselves, and not if the contact hides it.',
  input: { ...ofContact, followed: boolean('true follows the contact, false stops that.') },
  output: ContactPresence,
  errors: ['not_found', 'session_required', 'session_not_connected', 'send_failed', 'not_supported', 'too_many'],
  example: { phoneNumber: '491707654321', followed: true },
  async run(ctx, input) {
    const { session } = ctx;
    const number = input.phoneNumber;
    const known = ctx.liveSessions.find(session)?.connection.numberOf?.(number) ?? number;
    if (input.followed) await ctx.followedPresences.follow(session, known);
    else await ctx.followedPresences.unfollow(session, known);
    return readPresence(ctx, session, known);
  },
});

export const contactPresence = defineOperation({
  id: 'contacts.presence',
  route: 'GET /contacts/{phoneNumber}/presence',
  permission: 'contacts:read',
  scope: 'sessionId',
  effect: 'read',
  summary: "Get a contact's presence",
  description: 'Get what the network last reported about the presence of a contact that the session follows.',
  input: ofContact,
  output: ContactPresence,
  errors: ['not_found', 'session_required'],
  async run(ctx, input) {
    const { session } = ctx;
    return readPresence(ctx, session, input.phoneNumber);
  },
});

async function readPresence(ctx: Context, { accountId, sessionId }: SessionRef, number: string) {
  const row = await ctx.database.reader.kysely
    .selectFrom('followed_presences')
    .select(['presence', 'last_seen', 'updated_at'])
    .where('account_id', '=', accountId)
    .where('session_id', '=', sessionId)
    .where('phone_number', '=', number)
    .executeTakeFirst();
  return {
    phoneNumber: number,
    sessionId,
    followed: row !== undefined,
    presence: row?.presence ?? null,
    lastSeen: isoTime(row?.last_seen ?? null),
    updatedAt: isoTime(row?.updated_at ?? null),
  };
}
