import { randomBytes } from 'node:crypto';
import type { BinaryNode, WASocket } from 'baileys';
import { AppError } from '../../../errors.ts';
import type { CommunityActions, InvitePreview, LinkedGroup } from '../../contract/groupActions.ts';
import type { ErrorMessages } from '../link/errors.ts';
import type { Session } from '../session.ts';
import type { Addresses } from './addresses.ts';
import { codeOf, NO_INVITE } from './groupActions.ts';
import type { Groups } from './groups.ts';

const MAX_LISTED = 500;
const MESSAGES: ErrorMessages = {
  missing: 'The community or the group does not exist on WhatsApp',
  forbidden: 'Only an admin of the community and of the group can do this',
};

/** Communities: groups whose members are those of other groups. */
export function createCommunityActions({ requests }: Session, groups: Groups): CommunityActions {
  const ask = <T>(request: (socket: WASocket) => Promise<T>) => requests.ask(request, MESSAGES);

  /** WhatsApp answers the same whether it has made the change or not, so the group tells. */
  async function requirePlace(groupNetworkId: string, community: string | null): Promise<void> {
    const group = await groups.read(groupNetworkId);
    if ((group?.community ?? null) !== community)
      throw new AppError(
        'network_denied',
        community === null ? 'WhatsApp did not unlink the group' : 'WhatsApp did not link the group to the community',
      );
  }

  return {
    async create(subject, description) {
      const networkId = await ask((socket) => createOn(socket, subject, description));
      const community = await groups.read(networkId);
      if (community === undefined)
        throw new AppError('send_failed', 'WhatsApp did not confirm the community; list communities before you retry');
      return community;
    },
    async groups(networkId) {
      const { linkedGroups } = await ask((socket) => socket.communityFetchLinkedGroups(networkId));
      return linkedGroups
        .slice(0, MAX_LISTED)
        .flatMap(({ id, subject, size }): LinkedGroup[] =>
          id === undefined ? [] : [{ networkId: id, subject, size: Number.isInteger(size) ? (size ?? null) : null }],
        );
    },
    async link(networkId, groupNetworkId) {
      await ask((socket) => socket.communityLinkGroup(groupNetworkId, networkId));
      await requirePlace(groupNetworkId, networkId);
    },
    async unlink(networkId, groupNetworkId) {
      await ask((socket) => socket.communityUnlinkGroup(groupNetworkId, networkId));
      await requirePlace(groupNetworkId, null);
    },
  };
}

/** Creates a community like the client does, whose own function prints the answer to the console. */
async function createOn(socket: WASocket, subject: string, description: string | null): Promise<string> {
  const text = description === null ? [] : [{ tag: 'body', attrs: {}, content: Buffer.from(description) }];
  const answer: BinaryNode = await socket.query({
    tag: 'iq',
    attrs: { type: 'set', xmlns: 'w:g2', to: '@g.us' },
    content: [
      {
        tag: 'create',
        attrs: { subject },
        content: [
          { tag: 'description', attrs: { id: randomBytes(6).toString('hex').toUpperCase() }, content: text },
          { tag: 'parent', attrs: { default_membership_approval_mode: 'request_required' } },
          { tag: 'allow_non_admin_sub_group_creation', attrs: {} },
          { tag: 'create_general_chat', attrs: {} },
        ],
      },
    ],
  });
  const group = Array.isArray(answer.content) ? answer.content.find(({ tag }) => tag === 'group') : undefined;
  const { id } = group?.attrs ?? {};
  if (id === undefined) throw new AppError('send_failed', 'WhatsApp did not name the new community');
  return id.includes('@') ? id : `${id}@g.us`;
}

/** @throws {AppError} `not_found` if there is no such invite */
export async function previewInvite(
  { requests }: Session,
  addresses: Addresses,
  invite: string,
): Promise<InvitePreview> {
  const messages = { missing: NO_INVITE, forbidden: 'WhatsApp does not show this invite to the session' };
  const metadata = await requests.ask((socket) => socket.groupGetInviteInfo(codeOf(invite)), messages);
  const { id, subject, desc, size, owner, ownerPn, creation, joinApprovalMode, isCommunity } = metadata;
  return {
    networkId: id,
    subject,
    description: desc ?? null,
    size: size !== undefined && size > 0 ? size : null,
    createdBy: owner === undefined ? null : await addresses.digitsOf(owner, ownerPn),
    createdAt: Number.isFinite(creation) && creation !== undefined ? creation * 1000 : null,
    joinApproval: joinApprovalMode === true,
    isCommunity: isCommunity === true,
  };
}
