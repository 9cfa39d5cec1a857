import { randomUUID } from 'node:crypto';
import type { CommunityActions, InvitePreview, LinkedGroup } from '../connectors/contract/groupActions.ts';
import type { NetworkGroup } from '../connectors/contract/groups.ts';
import { AppError } from '../errors.ts';
import { changeParticipants, codeOf, type Member, requireAdmin, requireMember, unknownInvite } from './groups.ts';
import type { SandboxNetwork } from './network.ts';
import type { SandboxGroup } from './store.ts';

const MAX_LINKED = 100;

/** The communities of a member. Each is a group that lists its groups, the announcement group first. */
export class SandboxCommunities implements CommunityActions {
  readonly #network: SandboxNetwork;
  readonly #self: Member;

  constructor(network: SandboxNetwork, self: Member) {
    this.#network = network;
    this.#self = self;
  }

  /** @param others further members, for a simulation */
  async create(subject: string, description: string | null, others: readonly string[] = []): Promise<NetworkGroup> {
    this.#self.requireOnline();
    const { number } = this.#self;
    const [communityId, announcementsId] = [`${randomUUID()}@sandbox`, `${randomUUID()}@sandbox`];
    const refusing = await this.#network.notAddedBy(number, others);
    const people = [...new Set(others)].filter((other) => other !== number && !refusing.has(other));
    const group: SandboxGroup = {
      networkId: communityId,
      subject,
      description,
      createdBy: number,
      createdAt: this.#network.clock.now(),
      participants: [
        { phoneNumber: number, role: 'owner' },
        ...people.map((phoneNumber) => ({ phoneNumber, role: 'member' as const })),
      ],
      settings: { announce: true, locked: true, joinApproval: true, memberAdd: 'admins', disappearingSeconds: 0 },
      isCommunity: true,
      community: null,
      isAnnouncementGroup: false,
      inviteCode: null,
      picture: null,
      linkedGroups: [announcementsId],
    };
    await this.#network.addGroup(group);
    const { linkedGroups: _, ...shared } = group;
    const place = { isCommunity: false, community: communityId, isAnnouncementGroup: true };
    await this.#network.addGroup({ ...shared, ...place, networkId: announcementsId, description: null });
    return group;
  }

  async groups(networkId: string): Promise<readonly LinkedGroup[]> {
    const community = await this.#community(networkId);
    requireMember(community, this.#self.number);
    const found = await Promise.all((community.linkedGroups ?? []).map((id) => this.#network.findGroup(id)));
    return found.flatMap((group) =>
      group === undefined
        ? []
        : [{ networkId: group.networkId, subject: group.subject, size: group.participants.length }],
    );
  }

  async link(networkId: string, groupNetworkId: string): Promise<void> {
    const { number } = this.#self;
    requireAdmin(await this.#community(networkId), number);
    const group = await this.#network.changeGroup(groupNetworkId, (before) => {
      requireAdmin(before, number);
      if (before.community === networkId) return undefined;
      if (before.community) throw new AppError('network_denied', 'The group belongs to another community');
      return noted({ ...before, community: networkId });
    });
    await this.#network.changeGroup(networkId, ({ linkedGroups = [], ...community }) => {
      if (linkedGroups.includes(groupNetworkId)) return undefined;
      if (linkedGroups.length >= MAX_LINKED)
        throw new AppError('network_denied', `The community has reached the limit of ${MAX_LINKED} groups`);
      return noted({ ...community, linkedGroups: [...linkedGroups, groupNetworkId] });
    });
    const people = group.participants.map(({ phoneNumber }) => phoneNumber);
    await this.#network.changeGroup(networkId, (community) => {
      const { participants, results } = changeParticipants(community.participants, 'add', people);
      const added = results.filter(({ ok }) => ok).map(({ phoneNumber }) => phoneNumber);
      if (added.length === 0) return undefined;
      return [
        { ...community, participants },
        { type: 'participants', action: 'add', phoneNumbers: added },
      ];
    });
  }

  async unlink(networkId: string, groupNetworkId: string): Promise<void> {
    requireAdmin(await this.#community(networkId), this.#self.number);
    await this.#network.changeGroup(groupNetworkId, (group) => {
      if (group.community !== networkId) throw new AppError('not_found', 'The group is not part of the community');
      if (group.isAnnouncementGroup)
        throw new AppError('network_denied', 'The announcement group cannot leave its community');
      return noted({ ...group, community: null });
    });
    await this.#network.changeGroup(networkId, (community) =>
      noted({ ...community, linkedGroups: community.linkedGroups?.filter((id) => id !== groupNetworkId) ?? [] }),
    );
  }

  async preview(invite: string): Promise<InvitePreview> {
    this.#self.requireOnline();
    const group = await this.#network.groupByInvite(codeOf(invite));
    if (group === undefined) throw unknownInvite();
    const { networkId, subject, description, createdBy, createdAt, participants, settings, isCommunity } = group;
    return {
      networkId,
      subject,
      description,
      size: participants.length,
      createdBy,
      createdAt,
      joinApproval: settings.joinApproval,
      isCommunity: isCommunity === true,
    };
  }

  async #community(networkId: string): Promise<SandboxGroup> {
    this.#self.requireOnline();
    const group = await this.#network.group(networkId);
    if (!group.isCommunity) throw new AppError('not_found', 'The group is not a community');
    return group;
  }
}

/** A step after which the members know more, without an event. */
const noted = (group: SandboxGroup) => ({ group, event: { type: 'group_noted', group } as const });
