import { randomBytes, randomUUID } from 'node:crypto';
import { AppError } from '../../errors.ts';
import type {
  GroupActions,
  GroupInvite,
  GroupSettings,
  NetworkGroup,
  NetworkMedia,
  ParticipantAction,
  ParticipantResult,
} from '../connector.ts';
import type { ChangedGroup, SandboxNetwork } from './network.ts';

type Participants = NetworkGroup['participants'];

/** Prefix of this network's invite links, followed by the code. */
const LINK = 'sandbox:join/';

/** A session as a member of its groups. */
interface Member {
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
    return createGroup(this.#network, this.#self.number, subject, phoneNumbers);
  }

  async setSubject(networkId: string, subject: string): Promise<void> {
    await this.#change(networkId, this.#requireEditor, (group) => [
      { ...group, subject },
      { type: 'subject', subject },
    ]);
  }

  async setDescription(networkId: string, description: string | null): Promise<void> {
    await this.#change(networkId, this.#requireEditor, (group) => [
      { ...group, description },
      { type: 'description', description },
    ]);
  }

  async setSettings(networkId: string, settings: Partial<GroupSettings>): Promise<void> {
    await this.#change(networkId, this.#requireAdmin, (group) => [
      { ...group, settings: { ...group.settings, ...settings } },
      { type: 'settings', settings },
    ]);
  }

  async setPicture(networkId: string, picture: NetworkMedia | null): Promise<void> {
    await this.#change(networkId, this.#requireEditor, (group) => [{ ...group, picture }, { type: 'picture' }]);
  }

  async updateParticipants(
    networkId: string,
    action: ParticipantAction,
    phoneNumbers: readonly string[],
  ): Promise<readonly ParticipantResult[]> {
    let results: readonly ParticipantResult[] = [];
    await this.#change(networkId, this.#requireAdmin, (group) => {
      const outcome = changeParticipants(group.participants, action, phoneNumbers);
      results = outcome.results;
      const changed = results.filter(({ ok }) => ok).map(({ phoneNumber }) => phoneNumber);
      if (changed.length === 0) return undefined;
      const { participants } = outcome;
      return [
        { ...group, participants },
        { type: 'participants', action, phoneNumbers: changed },
      ];
    });
    return results;
  }

  async invite(networkId: string): Promise<GroupInvite> {
    this.#self.requireOnline();
    // Creating the first link is not a change that others can see.
    const { inviteCode } = await this.#network.changeGroup(networkId, (group) => {
      this.#requireAdmin(group);
      if (group.inviteCode !== null) return undefined;
      const invited = { ...group, inviteCode: newCode() };
      return { group: invited, event: { type: 'group_invite', group: invited } };
    });
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
    const code = invite.startsWith(LINK) ? invite.slice(LINK.length) : invite;
    const unknown = () => new AppError('not_found', 'The invite is unknown or was revoked; ask for a new one');
    const found = await this.#network.groupByInvite(code);
    if (found === undefined) throw unknown();
    const { number } = this.#self;
    const requireInvite = (group: NetworkGroup) => {
      if (group.inviteCode !== code) throw unknown();
    };
    const group = await this.#change(found.networkId, requireInvite, (before) => {
      if (isMember(before, number) || before.settings.joinApproval) return undefined;
      const { participants } = changeParticipants(before.participants, 'add', [number]);
      return [
        { ...before, participants },
        { type: 'participants', action: 'add', phoneNumbers: [number] },
      ];
    });
    return isMember(group, number) ? group : null;
  }

  async leave(networkId: string): Promise<void> {
    this.#self.requireOnline();
    await leaveGroup(this.#network, networkId, this.#self.number);
  }

  /** @throws {AppError} `not_found`, and the errors of `require` */
  #change(
    networkId: string,
    require: (group: NetworkGroup) => void,
    changed: (group: NetworkGroup) => ChangedGroup | undefined,
  ): Promise<NetworkGroup> {
    this.#self.requireOnline();
    return this.#network.updateGroup(networkId, (group) => {
      require(group);
      return changed(group);
    });
  }

  readonly #requireAdmin = (group: NetworkGroup): void => {
    requireMember(group, this.#self.number);
    if (!isAdmin(group, this.#self.number))
      throw new AppError('network_denied', 'Only an admin of the group can do this');
  };

  /** Only admins can change a locked group. */
  readonly #requireEditor = (group: NetworkGroup): void => {
    requireMember(group, this.#self.number);
    if (group.settings.locked) this.#requireAdmin(group);
  };
}

/** Creates a group with its owner and members, and notifies all of them. */
export async function createGroup(
  network: SandboxNetwork,
  owner: string,
  subject: string,
  phoneNumbers: readonly string[],
): Promise<NetworkGroup> {
  const others = [...new Set(phoneNumbers)].filter((number) => number !== owner);
  const group: NetworkGroup = {
    networkId: `${randomUUID()}@sandbox`,
    subject,
    description: null,
    createdBy: owner,
    createdAt: network.clock.now(),
    participants: [
      { phoneNumber: owner, role: 'owner' },
      ...others.map((phoneNumber) => ({ phoneNumber, role: 'member' as const })),
    ],
    settings: { announce: false, locked: false, joinApproval: false },
    inviteCode: null,
    picture: null,
  };
  await network.addGroup({ group, event: { type: 'group_created', group } });
  return group;
}

/** Changes the subject of a group, as one of its members. */
export async function renameGroup(network: SandboxNetwork, networkId: string, subject: string): Promise<void> {
  await network.updateGroup(networkId, (group) => [
    { ...group, subject },
    { type: 'subject', subject },
  ]);
}

/** Removes a member who leaves. If the owner leaves, the first admin or else the first member becomes the owner. */
export async function leaveGroup(network: SandboxNetwork, networkId: string, number: string): Promise<void> {
  await network.updateGroup(networkId, (group) => {
    requireMember(group, number);
    const rest = group.participants.filter(({ phoneNumber }) => phoneNumber !== number);
    const heir = rest.find(({ role }) => role === 'owner') ?? rest.find(({ role }) => role === 'admin') ?? rest[0];
    const participants: Participants = rest.map((one) =>
      one === heir && isLed(group, number) ? { ...one, role: 'owner' } : one,
    );
    return [
      { ...group, participants },
      { type: 'participants', action: 'remove', phoneNumbers: [number] },
    ];
  });
}

function isLed({ participants }: NetworkGroup, number: string): boolean {
  return participants.some(({ phoneNumber, role }) => phoneNumber === number && role === 'owner');
}

function isAdmin({ participants }: NetworkGroup, number: string): boolean {
  return participants.some(({ phoneNumber, role }) => phoneNumber === number && role !== 'member');
}

function isMember({ participants }: NetworkGroup, number: string): boolean {
  return participants.some(({ phoneNumber }) => phoneNumber === number);
}

/** @throws {AppError} `network_denied` */
function requireMember(group: NetworkGroup, number: string): void {
  if (!isMember(group, number)) {
    throw new AppError('network_denied', 'The session is not a member of the group');
  }
}

/** @throws {AppError} `network_denied` if the number may not write to the group */
export function requireVoice(group: NetworkGroup, number: string): void {
  requireMember(group, number);
  if (group.settings.announce && !isAdmin(group, number)) {
    throw new AppError('network_denied', 'Only admins can send messages to this group');
  }
}

const newCode = () => randomBytes(16).toString('base64url');

function inviteOf(code: string): GroupInvite {
  return { code, link: `${LINK}${code}` };
}

/** Applies an action to each number, and returns the result for each. */
function changeParticipants(
  present: Participants,
  action: ParticipantAction,
  phoneNumbers: readonly string[],
): { participants: Participants; results: ParticipantResult[] } {
  let participants = present;
  const results = [...new Set(phoneNumbers)].map((phoneNumber): ParticipantResult => {
    const found = participants.find((participant) => participant.phoneNumber === phoneNumber);
    if (action === 'add') {
      if (found !== undefined) return { phoneNumber, ok: false, reason: 'is already a member' };
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
