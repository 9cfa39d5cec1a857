import { randomBytes, randomUUID } from 'node:crypto';
import type {
  GroupActions,
  GroupInvite,
  GroupSettings,
  NetworkGroup,
  ParticipantAction,
  ParticipantResult,
} from '../connectors/contract/groups.ts';
import type { NetworkMedia } from '../connectors/contract/networkMedia.ts';
import { inviteCodeOf } from '../connectors/inviteLinks.ts';
import { AppError } from '../errors.ts';
import type { GroupChange } from '../events/networkTypes.ts';
import type { ChangedGroup, SandboxNetwork } from './network.ts';
import type { SandboxGroup } from './store.ts';
import { withJoinRequest } from './waiting.ts';

type Participants = NetworkGroup['participants'];

const LINK = 'sandbox:join/';

/** A member of groups: a session, or a person whom a simulation plays. */
export interface Member {
  readonly number: string;
  /** @throws {AppError} `session_not_connected` */
  requireOnline(): void;
}

/** The group actions of a member, with the rules of real networks: most require an admin. */
export class SandboxGroups implements GroupActions {
  readonly #network: SandboxNetwork;
  readonly #self: Member;

  constructor(network: SandboxNetwork, self: Member) {
    this.#network = network;
    this.#self = self;
  }

  async create(subject: string, phoneNumbers: readonly string[]): Promise<NetworkGroup> {
    this.#self.requireOnline();
    const owner = this.#self.number;
    const refusing = await this.#network.notAddedBy(owner, phoneNumbers);
    const others = [...new Set(phoneNumbers)].filter((number) => number !== owner && !refusing.has(number));
    const group: NetworkGroup = {
      networkId: `${randomUUID()}@sandbox`,
      subject,
      description: null,
      createdBy: owner,
      createdAt: this.#network.clock.now(),
      participants: [
        { phoneNumber: owner, role: 'owner' },
        ...others.map((phoneNumber) => ({ phoneNumber, role: 'member' as const })),
      ],
      settings: { announce: false, locked: false, joinApproval: false, memberAdd: 'admins', disappearingSeconds: 0 },
      isCommunity: false,
      community: null,
      isAnnouncementGroup: false,
      inviteCode: null,
      picture: null,
    };
    await this.#network.addGroup(group);
    return group;
  }

  async setSubject(networkId: string, subject: string): Promise<void> {
    await this.#edit(networkId, { subject }, { type: 'subject', subject });
  }

  async setDescription(networkId: string, description: string | null): Promise<void> {
    await this.#edit(networkId, { description }, { type: 'description', description });
  }

  async setPicture(networkId: string, picture: NetworkMedia | null): Promise<void> {
    await this.#edit(networkId, { picture }, { type: 'picture' });
  }

  async setSettings(networkId: string, settings: Partial<GroupSettings>): Promise<void> {
    await this.#change(networkId, this.#requireAdmin, (group) => [
      { ...group, settings: { ...group.settings, ...settings } },
      { type: 'settings', settings },
    ]);
  }

  async updateParticipants(
    networkId: string,
    action: ParticipantAction,
    phoneNumbers: readonly string[],
  ): Promise<readonly ParticipantResult[]> {
    this.#self.requireOnline();
    const refusing = action === 'add' ? await this.#network.notAddedBy(this.#self.number, phoneNumbers) : undefined;
    let results: readonly ParticipantResult[] = [];
    const requireRight = action === 'add' ? this.#requireAdder : this.#requireAdmin;
    await this.#change(networkId, requireRight, (group) => {
      const outcome = changeParticipants(group.participants, action, phoneNumbers, refusing);
      results = outcome.results;
      const changed = results.filter(({ ok }) => ok).map(({ phoneNumber }) => phoneNumber);
      if (changed.length === 0) return undefined;
      return [
        { ...group, participants: outcome.participants },
        { type: 'participants', action, phoneNumbers: changed },
      ];
    });
    return results;
  }

  async invite(networkId: string): Promise<GroupInvite> {
    // Creating the first link is not a change that others can see.
    const { inviteCode } = await this.#change(networkId, this.#requireAdmin, (group) =>
      group.inviteCode === null ? [{ ...group, inviteCode: newCode() }, null] : undefined,
    );
    return inviteOf(inviteCode ?? '');
  }

  async renewInvite(networkId: string): Promise<GroupInvite> {
    const { inviteCode } = await this.#change(networkId, this.#requireAdmin, (group) => [
      { ...group, inviteCode: newCode() },
      { type: 'invite_link' },
    ]);
    return inviteOf(inviteCode ?? '');
  }

  async join(invite: string): Promise<NetworkGroup | null> {
    this.#self.requireOnline();
    const code = codeOf(invite);
    const found = await this.#network.groupByInvite(code);
    if (found === undefined) throw unknownInvite();
    return this.ask(found.networkId, (group) => {
      if (group.inviteCode !== code) throw unknownInvite();
    });
  }

  /** Joins a group, or asks to if an admin must approve first; then returns null. */
  async ask(networkId: string, require: (group: NetworkGroup) => void): Promise<NetworkGroup | null> {
    const { number } = this.#self;
    const group = await this.#change(networkId, require, (before) => {
      if (roleOf(before, number) !== undefined) return undefined;
      if (before.settings.joinApproval) return withJoinRequest(before, number, this.#network.clock.now());
      const { participants } = changeParticipants(before.participants, 'add', [number]);
      return [
        { ...before, participants },
        { type: 'participants', action: 'add', phoneNumbers: [number] },
      ];
    });
    return roleOf(group, number) === undefined ? null : group;
  }

  /** If the owner leaves, the first admin or else the first member becomes the owner. */
  async leave(networkId: string): Promise<void> {
    const { number } = this.#self;
    const requireMembership = (group: NetworkGroup) => requireMember(group, number);
    await this.#change(networkId, requireMembership, (group) => {
      const rest = group.participants.filter(({ phoneNumber }) => phoneNumber !== number);
      const heir =
        roleOf(group, number) === 'owner' ? (rest.find(({ role }) => role === 'admin') ?? rest[0]) : undefined;
      const participants: Participants = rest.map((one) => (one === heir ? { ...one, role: 'owner' } : one));
      return [
        { ...group, participants },
        { type: 'participants', action: 'remove', phoneNumbers: [number] },
      ];
    });
  }

  /** Removes everyone, which only the owner can do. */
  async remove(networkId: string): Promise<void> {
    const requireOwner = (group: NetworkGroup) => {
      if (requireMember(group, this.#self.number) !== 'owner')
        throw new AppError('network_denied', 'Only its owner can delete a group');
    };
    await this.#change(networkId, requireOwner, (group) => [
      { ...group, participants: [], inviteCode: null },
      {
        type: 'participants',
        action: 'remove',
        phoneNumbers: group.participants.map(({ phoneNumber }) => phoneNumber),
      },
    ]);
  }

  async #edit(networkId: string, edited: Partial<NetworkGroup>, change: GroupChange): Promise<void> {
    await this.#change(networkId, this.#requireEditor, (group) => [{ ...group, ...edited }, change]);
  }

  /** @throws {AppError} `not_found`, and the errors of `require` */
  #change(
    networkId: string,
    require: (group: NetworkGroup) => void,
    changed: (group: SandboxGroup) => ChangedGroup | undefined,
  ): Promise<SandboxGroup> {
    this.#self.requireOnline();
    return this.#network.changeGroup(networkId, (group) => {
      require(group);
      return changed(group);
    });
  }

  readonly #requireAdmin = (group: NetworkGroup): void => requireAdmin(group, this.#self.number);

  readonly #requireAdder = (group: NetworkGroup): void => {
    requireMember(group, this.#self.number);
    if (group.settings.memberAdd !== 'all') this.#requireAdmin(group);
  };

  readonly #requireEditor = (group: NetworkGroup): void => {
    requireMember(group, this.#self.number);
    if (group.settings.locked) this.#requireAdmin(group);
  };
}

type Role = Participants[number]['role'];

/** The code of an invite, which may be a link. */
export const codeOf = (invite: string): string => inviteCodeOf(invite, /\bsandbox:join\//);

export const unknownInvite = () =>
  new AppError(
    'not_found',
    'The invite is unknown or was revoked; pass the whole link or the code after its last slash, or ask for a new one',
  );

/** @throws {AppError} `network_denied` */
export function requireAdmin(group: NetworkGroup, number: string): void {
  if (requireMember(group, number) === 'member')
    throw new AppError('network_denied', 'Only an admin of the group can do this');
}

function roleOf({ participants }: NetworkGroup, number: string): Role | undefined {
  return participants.find(({ phoneNumber }) => phoneNumber === number)?.role;
}

/** @throws {AppError} `network_denied` */
export function requireMember(group: NetworkGroup, number: string): Role {
  const role = roleOf(group, number);
  if (role === undefined) throw new AppError('network_denied', 'The session is not a member of the group');
  return role;
}

/** @throws {AppError} `network_denied` if the number may not write to the group */
export function requireVoice(group: NetworkGroup, number: string): void {
  if (requireMember(group, number) === 'member' && group.settings.announce)
    throw new AppError('network_denied', 'Only admins can send messages to this group');
}

const newCode = () => randomBytes(16).toString('base64url');

function inviteOf(code: string): GroupInvite {
  return { code, link: `${LINK}${code}` };
}

const NOT_ADDED = 'does not allow being added to groups; send an invite link instead';

/** @param refusing those who do not let the session add them */
export function changeParticipants(
  present: Participants,
  action: ParticipantAction,
  phoneNumbers: readonly string[],
  refusing: ReadonlySet<string> = new Set(),
): { participants: Participants; results: ParticipantResult[] } {
  let participants = present;
  const results = [...new Set(phoneNumbers)].map((phoneNumber): ParticipantResult => {
    const found = participants.find((participant) => participant.phoneNumber === phoneNumber);
    if (action === 'add') {
      if (found !== undefined) return { phoneNumber, ok: false, reason: 'is already a member' };
      if (refusing.has(phoneNumber)) return { phoneNumber, ok: false, reason: NOT_ADDED };
      participants = [...participants, { phoneNumber, role: 'member' }];
      return { phoneNumber, ok: true };
    }
    if (found === undefined) return { phoneNumber, ok: false, reason: 'is not a member' };
    if (found.role === 'owner') return { phoneNumber, ok: false, reason: 'is the owner of the group' };
    const others = participants.filter((participant) => participant !== found);
    participants =
      action === 'remove' ? others : [...others, { phoneNumber, role: action === 'promote' ? 'admin' : 'member' }];
    return { phoneNumber, ok: true };
  });
  return { participants, results };
}
