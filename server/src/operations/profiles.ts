import { Type } from 'typebox';
import type { NetworkMedia } from '../connectors/connector.ts';
import { invalidField } from '../errors.ts';
import { MediaPart } from '../events.ts';
import { type Context, defineOperation } from '../invoke/operation.ts';
import { PhoneNumberInput, phoneNumber } from '../invoke/phoneNumbers.ts';
import { mediaPart, storedMedia } from '../messages/content.ts';
import { PictureMediaId, pictureOf } from './media.ts';
import { findSession, resolveSession, SessionId, toRef } from './sessions.ts';

export const contactProfile = defineOperation({
  id: 'contacts.profile',
  method: 'GET',
  path: '/contacts/{phoneNumber}/profile',
  credential: 'any',
  permission: 'contacts:read',
  effect: 'read',
  tool: false,
  thirdPartyText: true,
  summary: 'Show the profile of a contact',
  description:
    'What the contact shows to the session now. The network is asked each time, and asking it often gets numbers banned. The picture becomes a file of the account; the same picture is the same file.',
  input: Type.Object(
    { phoneNumber: PhoneNumberInput('The contact.'), sessionId: Type.Optional(SessionId) },
    { additionalProperties: false },
  ),
  output: Type.Object(
    {
      phoneNumber: Type.String({ description: 'Digits.' }),
      about: Type.Union([Type.String(), Type.Null()], {
        description: 'What the contact says of itself; null when it says nothing, or not to the session.',
      }),
      picture: Type.Union([MediaPart, Type.Null()], { description: 'Null when there is none, or it is hidden.' }),
    },
    { title: 'Profile' },
  ),
  errors: [
    'not_found',
    'session_required',
    'session_not_connected',
    'not_supported',
    'recipient_not_on_network',
    'send_failed',
    'fetch_failed',
    'payload_too_large',
  ],
  example: { phoneNumber: '491707654321' },
  async run(ctx, input) {
    const session = await resolveSession(ctx, input.sessionId);
    const number = phoneNumber('phoneNumber', input.phoneNumber);
    const profiles = await ctx.liveSessions.part(session, 'profiles');
    const { about, picture } = await profiles.read(number);
    return { phoneNumber: number, about, picture: picture === null ? null : await keepPicture(ctx, picture) };
  },
});

export const updateProfile = defineOperation({
  id: 'sessions.update_profile',
  method: 'PATCH',
  path: '/sessions/{sessionId}/profile',
  credential: 'any',
  permission: 'sessions:write',
  effect: 'write',
  tool: false,
  summary: "Change the name, about text or picture that others see of a session's number",
  description:
    'At least one of them. Not every network lets all of them be changed: `not_supported` says why, and then nothing is changed.',
  input: Type.Object(
    {
      sessionId: SessionId,
      name: Type.Optional(Type.String({ minLength: 1, maxLength: 25, description: 'What the number calls itself.' })),
      about: Type.Optional(Type.String({ maxLength: 139, description: 'What it says of itself; empty for nothing.' })),
      pictureMediaId: Type.Optional(PictureMediaId),
    },
    { additionalProperties: false },
  ),
  output: Type.Object({ sessionId: SessionId, updated: Type.Literal(true) }),
  errors: [
    'not_found',
    'session_not_connected',
    'session_state',
    'not_supported',
    'network_denied',
    'unsupported_media_type',
    'payload_too_large',
    'send_failed',
  ],
  example: { sessionId: 'ses_01JZ0000000000000000000000', name: 'Support', about: 'Weekdays from 9 to 5' },
  async run(ctx, { sessionId, name, about, pictureMediaId }) {
    if (name === undefined && about === undefined && pictureMediaId === undefined)
      throw invalidField('name', 'Pass at least one of `name`, `about` and `pictureMediaId`', 'required');
    const session = toRef(await findSession(ctx, sessionId));
    const profiles = await ctx.liveSessions.part(session, 'profiles');
    await profiles.update({
      ...(name !== undefined && { name }),
      ...(about !== undefined && { about }),
      ...(pictureMediaId !== undefined && { picture: await pictureOf(ctx, pictureMediaId) }),
    });
    return { sessionId, updated: true as const };
  },
});

/** Makes a picture that the network has shown a file of the account. */
async function keepPicture({ media, accountId }: Context, picture: NetworkMedia) {
  const { mimeType, fileName } = picture;
  return mediaPart(
    storedMedia(await media.keep(accountId, { stream: await picture.open(), mimeType, fileName })),
    media,
  );
}
