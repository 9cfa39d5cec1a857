import { randomBytes, randomUUID } from 'node:crypto';
import type { Clock } from '../../clock.ts';
import { AppError } from '../../errors.ts';
import type { GroupChange } from '../../events.ts';
import type {
  GroupActions,
  GroupInvite,
  GroupSettings,
  NetworkGroup,
  ParticipantAction,
  ParticipantResult,
} from '../connector.ts';
import type { GroupStep } from './exchange.ts';
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
  const { exchange } = network;

  function requireAdmin(group: NetworkGroup): void {
    requireMember(group, self.number);
    if (!isAdmin(group, self.number)) throw new AppError('network_denied', 'Only an admin of the group can do this');
  }

  /** A locked group is changed by its admins alone. */
  function requireEditor(group: NetworkGroup): void {
    requireMember(group, self.number);
    if (group.settings.locked) requireAdmin(group);
  }

  /** @throws {AppError} `not_found`, and what `require` throws */
  async function change(
    networkId: string,
    require: (group: NetworkGroup) => void,
    changed: (group: NetworkGroup) => Changed | undefined,
  ): Promise<NetworkGroup> {
    self.requireOnline();
    return exchange.changeGroup(networkId, (group) => {
      require(group);
      const next = changed(group);
      return next && updated(next, clock);
    });
  }

  return {
    async create(subject, phoneNumbers) {
      self.requireOnline();
      return createGroup(network, clock, self.number, subject, phoneNumbers);
    },
    async setSubject(networkId, subject) {
      await change(networkId, requireEditor, (group) => [
        { ...group, subject },
        { type: 'subject', subject },
      ]);
    },
    async setDescription(networkId, description) {
      await change(networkId, requireEditor, (group) => [
        { ...group, description },
        { type: 'description', description },
      ]);
    },
    async setSettings(networkId, changes) {
      await change(networkId, requireAdmin, (group) => {
        const settings: GroupSettings = { ...group.settings, ...changes };
        return [
          { ...group, settings },
          { type: 'settings', settings: changes },
        ];
      });
    },
    async setPicture(networkId, picture) {
      await change(networkId, requireEditor, (group) => [{ ...group, picture }, { type: 'picture' }]);
    },
    async updateParticipants(networkId, action, phoneNumbers) {
      let results: ParticipantResult[] = [];
      await change(networkId, requireAdmin, (group) => {
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
    },
    async invite(networkId) {
      self.requireOnline();
      // Who asks for the first link changes nothing that others could see.
      const { inviteCode } = await exchange.changeGroup(networkId, (group) => {
        requireAdmin(group);
        if (group.inviteCode !== null) return undefined;
        const invited = { ...group, inviteCode: newCode() };
        return { group: invited, event: { type: 'group_invite', group: invited } };
      });
      return inviteOf(inviteCode ?? '');
    },
    async renewInvite(networkId) {
      const { inviteCode } = await change(networkId, requireAdmin, (group) => [
        { ...group, inviteCode: newCode() },
        { type: 'invite_link' },
      ]);
      return inviteOf(inviteCode ?? '');
    },
    async join(invite) {
      self.requireOnline();
      const code = invite.startsWith(LINK) ? invite.slice(LINK.length) : invite;
      const unknown = () => new AppError('not_found', 'The invite is unknown or was revoked; ask for a new one');
      const found = await exchange.groupByInvite(code);
      if (found === undefined) throw unknown();
      const { number } = self;
      const group = await exchange.changeGroup(found.networkId, (now) => {
        if (now.inviteCode !== code) throw unknown();
        if (isMember(now, number) || now.settings.joinApproval) return undefined;
        const { participants } = changeParticipants(now.participants, 'add', [number]);
        return updated(
          [
            { ...now, participants },
            { type: 'participants', action: 'add', phoneNumbers: [number] },
          ],
          clock,
        );
      });
      return isMember(group, number) ? group : null;
    },
    async leave(networkId) {
      self.requireOnline();
      await leaveGroup(network, clock, networkId, self.number);
    },
  };
}

/** A group as it is to be, and what has changed about it. */
type Changed = readonly [NetworkGroup, GroupChange];

function updated([group, change]: Changed, clock: Clock): GroupStep {
  return { group, event: { type: 'group_updated', group, change, timestamp: clock.now() } };
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
  await network.exchange.addGroup({ group, event: { type: 'group_created', group } });
  return group;
}

/** Gives a group another subject, as one of its members. */
export async function renameGroup(
  network: SandboxNetwork,
  clock: Clock,
  networkId: string,
  subject: string,
): Promise<void> {
  await network.exchange.changeGroup(networkId, (group) =>
    updated(
      [
        { ...group, subject },
        { type: 'subject', subject },
      ],
      clock,
    ),
  );
}

/** Somebody leaves. When the owner does, the group passes to its first admin, or else to its first member. */
export async function leaveGroup(
  network: SandboxNetwork,
  clock: Clock,
  networkId: string,
  number: string,
): Promise<void> {
  await network.exchange.changeGroup(networkId, (group) => {
    requireMember(group, number);
    const rest = group.participants.filter(({ phoneNumber }) => phoneNumber !== number);
    const heir = rest.find(({ role }) => role === 'owner') ?? rest.find(({ role }) => role === 'admin') ?? rest[0];
    const participants: Participants = rest.map((one) =>
      one === heir && isLed(group, number) ? { ...one, role: 'owner' } : one,
    );
    return updated(
      [
        { ...group, participants },
        { type: 'participants', action: 'remove', phoneNumbers: [number] },
      ],
      clock,
    );
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

/** @throws {AppError} `network_denied` when the number may not write to the group */
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
