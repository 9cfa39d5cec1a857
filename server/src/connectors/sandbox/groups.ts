import { randomBytes, randomUUID } from 'node:crypto';
import type { Clock } from '../../clock.ts';
import { AppError } from '../../errors.ts';
import type {
  GroupActions,
  GroupInvite,
  GroupSettings,
  NetworkGroup,
  ParticipantAction,
  ParticipantResult,
} from '../connector.ts';
import type { SandboxNetwork } from './network.ts';

type Participants = NetworkGroup['participants'];

/** What the invite links of this network begin with; the code follows. */
const LINK = 'sandbox:join/';

/** What a member does with groups, by the rules that real networks have: admins first. */
export function createGroupActions(
  network: SandboxNetwork,
  clock: Clock,
  self: {
    readonly number: string;
    /** @throws {AppError} `session_not_connected` */
    requireOnline(): void;
  },
): GroupActions {
  /** @throws {AppError} `not_found`, `permission_denied` when it is no member */
  function memberOf(networkId: string): NetworkGroup {
    self.requireOnline();
    const group = network.group(networkId);
    requireMember(group, self.number);
    return group;
  }

  function adminOf(networkId: string): NetworkGroup {
    const group = memberOf(networkId);
    if (!isAdmin(group, self.number)) throw new AppError('permission_denied', 'Only an admin of the group may do this');
    return group;
  }

  /** A locked group is changed by its admins alone. */
  function editorOf(networkId: string): NetworkGroup {
    const group = memberOf(networkId);
    return group.settings.locked ? adminOf(networkId) : group;
  }

  return {
    async create(subject, phoneNumbers) {
      self.requireOnline();
      return createGroup(network, clock, self.number, subject, phoneNumbers);
    },
    async setSubject(networkId, subject) {
      await network.changeGroup({ ...editorOf(networkId), subject }, { type: 'subject', subject });
    },
    async setDescription(networkId, description) {
      await network.changeGroup({ ...editorOf(networkId), description }, { type: 'description', description });
    },
    async setSettings(networkId, changes) {
      const group = adminOf(networkId);
      const settings: GroupSettings = { ...group.settings, ...changes };
      await network.changeGroup({ ...group, settings }, { type: 'settings', settings: changes });
    },
    async setPicture(networkId, picture) {
      await network.changeGroup({ ...editorOf(networkId), picture }, { type: 'picture' });
    },
    async updateParticipants(networkId, action, phoneNumbers) {
      const group = adminOf(networkId);
      const { participants, results } = changeParticipants(group.participants, action, phoneNumbers);
      const changed = results.filter(({ ok }) => ok).map(({ phoneNumber }) => phoneNumber);
      if (changed.length > 0) {
        await network.changeGroup({ ...group, participants }, { type: 'participants', action, phoneNumbers: changed });
      }
      return results;
    },
    async invite(networkId) {
      const group = adminOf(networkId);
      if (group.inviteCode !== null) return inviteOf(group.inviteCode);
      const inviteCode = newCode();
      // Who asks for the first link changes nothing that others could see.
      await network.noteInvite({ ...group, inviteCode });
      return inviteOf(inviteCode);
    },
    async renewInvite(networkId) {
      const group = adminOf(networkId);
      const inviteCode = newCode();
      await network.changeGroup({ ...group, inviteCode }, { type: 'invite_link' });
      return inviteOf(inviteCode);
    },
    async join(invite) {
      self.requireOnline();
      const group = network.groupByInvite(invite.startsWith(LINK) ? invite.slice(LINK.length) : invite);
      if (group === undefined) throw new AppError('not_found', 'There is no group with this invite, or it was renewed');
      if (group.participants.some(({ phoneNumber }) => phoneNumber === self.number)) return group;
      if (group.settings.joinApproval) return null;
      const { participants } = changeParticipants(group.participants, 'add', [self.number]);
      const joined = { ...group, participants };
      await network.changeGroup(joined, { type: 'participants', action: 'add', phoneNumbers: [self.number] });
      return joined;
    },
    async leave(networkId) {
      await leaveGroup(network, memberOf(networkId), self.number);
    },
  };
}

/** Makes a group with its owner and the others, and tells all of them. */
export async function createGroup(
  network: SandboxNetwork,
  clock: Clock,
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
    createdAt: clock.now(),
    participants: [
      { phoneNumber: owner, role: 'owner' },
      ...others.map((phoneNumber) => ({ phoneNumber, role: 'member' as const })),
    ],
    settings: { announce: false, locked: false, joinApproval: false },
    inviteCode: null,
    picture: null,
  };
  await network.addGroup(group);
  return group;
}

/** Somebody leaves. When the owner does, the group passes to its first admin, or else to its first member. */
export async function leaveGroup(network: SandboxNetwork, group: NetworkGroup, number: string): Promise<void> {
  requireMember(group, number);
  const rest = group.participants.filter(({ phoneNumber }) => phoneNumber !== number);
  const heir = rest.find(({ role }) => role === 'owner') ?? rest.find(({ role }) => role === 'admin') ?? rest[0];
  const participants: Participants = rest.map((one) =>
    one === heir && isLed(group, number) ? { ...one, role: 'owner' } : one,
  );
  await network.changeGroup(
    { ...group, participants },
    { type: 'participants', action: 'remove', phoneNumbers: [number] },
  );
}

function isLed({ participants }: NetworkGroup, number: string): boolean {
  return participants.some(({ phoneNumber, role }) => phoneNumber === number && role === 'owner');
}

function isAdmin({ participants }: NetworkGroup, number: string): boolean {
  return participants.some(({ phoneNumber, role }) => phoneNumber === number && role !== 'member');
}

/** @throws {AppError} `permission_denied` */
export function requireMember({ participants }: NetworkGroup, number: string): void {
  if (!participants.some(({ phoneNumber }) => phoneNumber === number)) {
    throw new AppError('permission_denied', 'The session is not a member of the group');
  }
}

/** @throws {AppError} `permission_denied` when the number may not write to the group */
export function requireVoice(group: NetworkGroup, number: string): void {
  requireMember(group, number);
  if (group.settings.announce && !isAdmin(group, number)) {
    throw new AppError('permission_denied', 'Only admins may write to this group');
  }
}

const newCode = () => randomBytes(16).toString('base64url');

function inviteOf(code: string): GroupInvite {
  return { code, link: `${LINK}${code}` };
}

/** Applies an action to each number, and says for which it worked. */
function changeParticipants(
  present: Participants,
  action: ParticipantAction,
  phoneNumbers: readonly string[],
): { participants: Participants; results: ParticipantResult[] } {
  let participants = present;
  const results = [...new Set(phoneNumbers)].map((phoneNumber): ParticipantResult => {
    const found = participants.find((participant) => participant.phoneNumber === phoneNumber);
    if (action === 'add') {
      if (found !== undefined) return { phoneNumber, ok: false, reason: 'is a member already' };
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
