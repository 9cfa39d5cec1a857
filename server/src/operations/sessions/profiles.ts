import { Type } from 'typebox';
import type { NetworkMedia } from '../../connectors/contract/networkMedia.ts';
import { invalidField } from '../../errors.ts';
import { MediaPart } from '../../events/parts.ts';
import { named, notBlank, object, onlyTrue, optional, orNull, string } from '../../invoke/input/fields.ts';
import { PhoneNumberInput } from '../../invoke/input/phoneNumbers.ts';
import { type Context, defineOperation } from '../../invoke/operation.ts';
import { requireAnyRecipient } from '../../invoke/recipients.ts';
import { mediaPart, storedMedia } from '../../messages/content.ts';
import { noteAdded, PictureMediaId, pictureOf } from '../shared/pictures.ts';
import { OptionalSessionId, SessionId } from '../shared/sessionFields.ts';
import { BusinessInput, businessChange } from './businessInput.ts';

export const contactProfile = defineOperation({
  id: 'contacts.profile',
  route: 'GET /contacts/{phoneNumber}/profile',
  owner: { field: 'sessionId' },
  permission: 'contacts:read',
  scope: 'sessionId',
  effect: 'read',
  thirdPartyText: true,
  uses: ['media'],
  summary: 'Get the profile of a contact',
  description:
    'Get the about text and the picture that a contact shows to the session right now. Every call asks the network, and networks ban numbers that look up many people. The picture is stored as a file of the account.',
  input: { phoneNumber: PhoneNumberInput('Number of the contact.'), sessionId: OptionalSessionId },
  output: named('Profile', {
    phoneNumber: string('Phone number digits of the contact.'),
    about: orNull(Type.String(), 'About text of the contact; null if it is empty or hidden from the session.'),
    picture: orNull(MediaPart, 'Picture of the contact; null if there is none or it is hidden.'),
  }),
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
    const { session } = ctx;
    const number = input.phoneNumber;
    const profiles = await ctx.liveSessions.part(session, 'profiles');
    const { about, picture } = await profiles.read(number);
    return { phoneNumber: number, about, picture: picture === null ? null : await keepPicture(ctx, picture) };
  },
});

export const updateProfile = defineOperation({
  id: 'sessions.update_profile',
  route: 'PATCH /sessions/{sessionId}/profile',
  owner: { field: 'sessionId' },
  permission: 'sessions:write',
  scope: 'sessionId',
  effect: 'write',
  uses: ['media'],
  summary: 'Update the profile of a session',
  description:
    "Change the name, the about text, the picture or the business data that other people see of the session's number. Pass at least one of them. A network that reviews names shows the new one once it is approved. If the network does not support one of the changes, the request fails with `not_supported` and changes nothing.",
  input: {
    sessionId: SessionId,
    name: optional(notBlank(string('Name that other people see.', { minLength: 1, maxLength: 25 }))),
    about: optional(string('About text that other people see; empty removes it.', { maxLength: 139 })),
    pictureMediaId: optional(PictureMediaId),
    business: optional(BusinessInput),
  },
  output: object({ sessionId: SessionId, updated: onlyTrue() }),
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
  async run(ctx, { sessionId, name, about, pictureMediaId, business }) {
    if ([name, about, pictureMediaId, business].every((change) => change === undefined))
      throw invalidField('name', 'Pass at least one of `name`, `about`, `pictureMediaId` and `business`', 'required');
    requireAnyRecipient(ctx, 'The profile');
    const { session } = ctx;
    if (business !== undefined) await ctx.liveSessions.requireCapability(session, 'business_profile');
    const profiles = await ctx.liveSessions.part(session, 'profiles');
    await profiles.update({
      ...(name !== undefined && { name }),
      ...(about !== undefined && { about }),
      ...(pictureMediaId !== undefined && { picture: await pictureOf(ctx, pictureMediaId) }),
      ...(business !== undefined && { business: businessChange(business) }),
    });
    return { sessionId, updated: true as const };
  },
});

export async function keepPicture(ctx: Context<'media'>, picture: NetworkMedia) {
  const { mimeType, fileName } = picture;
  const row = await ctx.media.keep(ctx.accountId, { stream: await picture.open(), mimeType, fileName });
  await noteAdded(ctx, row.media_id);
  return mediaPart(storedMedia(row), ctx.media);
}
