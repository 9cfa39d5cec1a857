import { Type } from 'typebox';
import { isoTime } from '../clock.ts';
import { boolean, integer, named, onlyTrue, optional, orNull, string, time } from '../invoke/fields.ts';
import { defineOperation } from '../invoke/operation.ts';
import { OptionalSessionId, resolveSession } from './sessions.ts';

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
    invite: string('Invite link (`https://chat.whatsapp.com/…`) or the code after its last slash.', {
      minLength: 1,
      maxLength: 300,
    }),
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
  async run(ctx, { sessionId, invite }) {
    const session = await resolveSession(ctx, sessionId);
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
