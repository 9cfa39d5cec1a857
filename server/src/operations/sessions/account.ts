import { Type } from 'typebox';
import type { PersonIds } from '../../connectors/contract/account.ts';
import { isPlaceholder } from '../../connectors/contract/people.ts';
import { AppError, invalidField } from '../../errors.ts';
import { MediaPart } from '../../events/parts.ts';
import { boolean, entries, integer, list, named, object, optional, orNull } from '../../invoke/input/fields.ts';
import { PhoneNumberList } from '../../invoke/input/phoneNumbers.ts';
import { ref } from '../../invoke/input/references.ts';
import { type Context, defineOperation } from '../../invoke/operation.ts';
import { findSession } from '../../invoke/resources.ts';
import type { SessionRef } from '../../messages/store.ts';
import { countLookUps } from '../../sessions/lookUps.ts';
import { OptionalSessionId, SessionId } from '../shared/sessionFields.ts';
import { BusinessData } from './businessInput.ts';
import { keepPicture } from './profiles.ts';

/* The account of a session at its network: its own profile, its devices, and the ids of people. */

export const ownProfile = defineOperation({
  id: 'sessions.get_profile',
  route: 'GET /sessions/{sessionId}/profile',
  owner: { field: 'sessionId' },
  permission: 'sessions:read',
  scope: 'sessionId',
  effect: 'read',
  uses: ['media'],
  summary: 'Get the profile of a session',
  description:
    "Get the name, the about text and the picture of the session's own number. Asks the network, because the phone can change them.",
  input: { sessionId: SessionId },
  output: named('OwnProfile', {
    sessionId: SessionId,
    phoneNumber: orNull(Type.String(), 'Phone number digits of the session; null if the network never reported them.'),
    name: orNull(Type.String(), 'Name that other people see; null if there is none.'),
    about: orNull(Type.String(), 'About text; null if there is none.'),
    picture: orNull(MediaPart, 'Picture; null if there is none.'),
    business: orNull(
      BusinessData,
      'Data of the business; null if the number is not a business, or its network has no such data.',
    ),
  }),
  errors: [
    'not_found',
    'session_not_connected',
    'not_supported',
    'network_denied',
    'send_failed',
    'fetch_failed',
    'payload_too_large',
  ],
  async run(ctx, { sessionId }) {
    const { session } = ctx;
    await ctx.liveSessions.requireCapability(session, 'own_profile');
    const profiles = await ctx.liveSessions.part(session, 'profiles');
    if (profiles.readOwn === undefined) throw new AppError('not_supported');
    const { name, about, picture, business = null } = await profiles.readOwn();
    const { phone_number: digits } = await findSession(ctx, sessionId);
    return {
      sessionId,
      phoneNumber: digits,
      name,
      about,
      picture: picture === null ? null : await keepPicture(ctx, picture),
      business: business === null ? null : { ...business, websites: [...business.websites] },
    };
  },
});

export const listDevices = defineOperation({
  id: 'sessions.list_devices',
  route: 'GET /sessions/{sessionId}/devices',
  owner: { field: 'sessionId' },
  permission: 'sessions:read',
  scope: 'sessionId',
  effect: 'read',
  summary: 'List the devices of an account',
  description:
    "List the devices of the session's account: the phone and those that are linked to it. The network tells a linked device only their ids, not their names, nor when they were last used.",
  input: { sessionId: SessionId },
  output: object({
    sessionId: SessionId,
    data: entries('The phone first, then linked devices.', {
      deviceId: integer('Id of the device; 0 for the phone.', { minimum: 0 }),
      phone: boolean('Whether it is the phone.'),
      thisSession: boolean('Whether it is the device of this session.'),
      hosted: boolean('Whether Meta runs it for a business that uses the Cloud API.'),
      keyIndex: orNull(
        integer('Counter.', { minimum: 0 }),
        'Counter that grows with every device that is linked, so the newest has the largest; null for the phone.',
      ),
    }),
  }),
  errors: ['not_found', 'session_not_connected', 'not_supported', 'network_denied', 'send_failed'],
  async run(ctx, { sessionId }) {
    const devices = await ctx.liveSessions.part(ctx.session, 'linkedDevices');
    const data = (await devices()).map(({ id, isPhone, isOwn, isHosted, keyIndex }) => ({
      deviceId: id,
      phone: isPhone,
      thisSession: isOwn,
      hosted: isHosted,
      keyIndex,
    }));
    return { sessionId, data };
  },
});

const LID = /^\d{5,28}(?:@lid)?$/;

/** Networks ban sessions that look up many people. */
const LOOKED_UP_AT_ONCE = 50;

export const lookUpContacts = defineOperation({
  id: 'contacts.look_up',
  route: 'GET /contacts/lookup',
  owner: { field: 'sessionId' },
  permission: 'contacts:check',
  scope: 'sessionId',
  effect: 'read',
  summary: 'Look up LIDs and phone numbers',
  description:
    'Find the LIDs of phone numbers, and the phone numbers of LIDs. The session answers from what it knows and, while it is connected, asks the network for the LIDs of other numbers. No network tells the number of a LID whose owner hides it. Do not look up in bulk: networks ban sessions that do.',
  input: {
    sessionId: OptionalSessionId,
    phoneNumbers: optional(PhoneNumberList(`Up to ${LOOKED_UP_AT_ONCE} numbers.`, { maxItems: LOOKED_UP_AT_ONCE })),
    lids: optional(
      list(
        Type.String({ ...ref('lid'), minLength: 1, maxLength: 40 }),
        `Up to ${LOOKED_UP_AT_ONCE} LIDs: digits, with or without \`@lid\`, or placeholders (\`000…\`).`,
        { maxItems: LOOKED_UP_AT_ONCE },
      ),
    ),
  },
  output: object({
    data: entries('One entry per number, then one per LID.', {
      phoneNumber: orNull(Type.String(), 'Phone number digits; null if they are not known.'),
      lid: orNull(Type.String(), 'LID as `…@lid`; null if it is not known, or the number is not on the network.'),
    }),
  }),
  errors: ['not_found', 'session_required', 'not_supported', 'network_denied', 'send_failed'],
  example: { phoneNumbers: ['491707654321'] },
  async run(ctx, { phoneNumbers = [], lids = [] }) {
    if (phoneNumbers.length + lids.length === 0)
      throw invalidField('phoneNumbers', 'Pass at least one of `phoneNumbers` and `lids`', 'required');
    const { session } = ctx;
    for (const [index, number] of phoneNumbers.entries())
      if (isPlaceholder(number)) throw invalidField(`phoneNumbers.${index}`, 'is a LID; pass it in `lids`', 'lid');
    for (const [index, lid] of lids.entries())
      if (!LID.test(lid))
        throw invalidField(`lids.${index}`, `must be a LID, such as 123456789012345@lid, not "${lid}"`, 'lid');
    const people = await idsOf(ctx, session, phoneNumbers, lids.map(lidDigits));
    return {
      data: people.map(({ phoneNumber: digits, lid }) => ({
        phoneNumber: digits,
        lid: lid === null ? null : `${lid}@lid`,
      })),
    };
  },
});

/** Asks the network, or reads what the session has stored while it is not connected. */
async function idsOf(
  ctx: Context,
  session: SessionRef,
  phoneNumbers: readonly string[],
  lids: readonly string[],
): Promise<readonly PersonIds[]> {
  try {
    const lookUp = await ctx.liveSessions.part(session, 'lookUpPeople');
    const asked = await numbersWithoutLid(ctx, session, phoneNumbers);
    countLookUps(ctx.liveSessions, session, asked);
    return await lookUp({ phoneNumbers, lids });
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'session_not_connected') throw error;
  }
  const people: PersonIds[] = [];
  for (const digits of [...phoneNumbers, ...lids.map((lid) => `000${lid}`)]) {
    const { phoneNumber, networkIds } = await ctx.sessions.people.find(session.sessionId, digits);
    const lid = networkIds.find((id) => id.endsWith('@lid'));
    people.push({
      phoneNumber: isPlaceholder(phoneNumber) ? null : phoneNumber,
      lid: lid === undefined ? (isPlaceholder(digits) ? lidDigits(digits) : null) : lidDigits(lid),
    });
  }
  return people;
}

/** Counts the numbers for whose LIDs the network is asked. */
async function numbersWithoutLid({ sessions }: Context, { sessionId }: SessionRef, phoneNumbers: readonly string[]) {
  let count = 0;
  for (const digits of new Set(phoneNumbers)) {
    const { networkIds } = await sessions.people.find(sessionId, digits);
    if (!networkIds.some((id) => id.endsWith('@lid'))) count++;
  }
  return count;
}

/** The digits of a LID, which a placeholder has after its three zeros. */
const lidDigits = (text: string): string => text.replace(/@lid$/, '').replace(/^000(?=\d{5})/, '');
