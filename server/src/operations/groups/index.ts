import type { Operation } from '../../invoke/operation.ts';
import * as communities from './communities.ts';
import * as groupDeletion from './groupDeletion.ts';
import * as groupInvites from './groupInvites.ts';
import * as groups from './groups.ts';
import * as joinRequests from './joinRequests.ts';

/** Operations on groups and communities. */
export const groupOperations: readonly Operation[] = [
  groups.listGroups,
  groups.getGroup,
  groups.createGroup,
  groups.updateGroup,
  groups.updateParticipants,
  groupInvites.getInviteLink,
  groupInvites.revokeInviteLink,
  groupInvites.joinGroup,
  groups.leaveGroup,
  groupDeletion.deleteGroup,
  groupInvites.previewInvite,
  joinRequests.listJoinRequests,
  joinRequests.approveJoinRequests,
  joinRequests.rejectJoinRequests,
  communities.listCommunities,
  communities.createCommunity,
  communities.listCommunityGroups,
  communities.linkGroup,
  communities.unlinkGroup,
];
