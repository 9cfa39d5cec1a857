import { Type } from 'typebox';
import { isoTime } from '../../clock.ts';
import { boolean, integer, named, onlyTrue, optional, orNull, string, time } from '../../invoke/input/fields.ts';
import { defineOperation } from '../../invoke/operation.ts';
import { OptionalSessionId } from '../shared/sessionFields.ts';

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
