import type { GroupMetadata } from 'baileys';
import type { GroupChange } from '../../../events/networkTypes.ts';
import { namesOf } from '../../../objects.ts';
import type { NetworkGroup } from '../../contract/groups.ts';
import type { Addresses } from './addresses.ts';

/** By the network's name of a role. Any other person is a member. */
const ROLES: ReadonlyMap<unknown, 'owner' | 'admin'> = new Map([
  ['superadmin', 'owner'],
  ['admin', 'admin'],
]);

/** Converts the network's description of a group. Fields that it leaves out stay as they were. */
export async function toNetworkGroup(
  metadata: GroupMetadata,
  before: NetworkGroup | undefined,
  addresses: Pick<Addresses, 'digitsOf'>,
): Promise<NetworkGroup> {
  const { owner, ownerPn } = metadata;
  const participants = await Promise.all(
    metadata.participants.map(async ({ id, phoneNumber, admin }) => ({
      phoneNumber: await addresses.digitsOf(id, phoneNumber),
      role: ROLES.get(admin) ?? ('member' as const),
    })),
  );
  return {
    networkId: metadata.id,
    subject: metadata.subject,
    description: metadata.desc ?? null,
    createdBy: owner === undefined ? (before?.createdBy ?? '') : await addresses.digitsOf(owner, ownerPn),
    createdAt: metadata.creation === undefined ? (before?.createdAt ?? 0) : metadata.creation * 1000,
    participants,
    settings: {
      announce: metadata.announce === true,
      locked: metadata.restrict === true,
      joinApproval: metadata.joinApprovalMode === true,
      memberAdd: metadata.memberAddMode === true ? 'all' : 'admins',
      disappearingSeconds: metadata.ephemeralDuration ?? 0,
    },
    isCommunity: metadata.isCommunity === true,
    community: metadata.linkedParent ?? null,
    isAnnouncementGroup: metadata.isCommunityAnnounce === true,
    inviteCode: before?.inviteCode ?? null,
    picture: before?.picture ?? null,
  };
}

/** Replaces the placeholders of people whose numbers have become known, each person once. */
export function withNumbers(group: NetworkGroup, numbers: ReadonlyMap<string, string>): NetworkGroup {
  const { createdBy, participants } = group;
  if (![createdBy, ...participants.map(({ phoneNumber }) => phoneNumber)].some((digits) => numbers.has(digits)))
    return group;
  const numberOf = (digits: string) => numbers.get(digits) ?? digits;
  const people = new Map(participants.map(({ phoneNumber, role }) => [numberOf(phoneNumber), role]));
  return {
    ...group,
    createdBy: numberOf(createdBy),
    participants: [...people].map(([phoneNumber, role]) => ({ phoneNumber, role })),
  };
}

export function changesBetween(before: NetworkGroup, after: NetworkGroup): GroupChange[] {
  const changes: GroupChange[] = [];
  if (before.subject !== after.subject) changes.push({ type: 'subject', subject: after.subject });
  if (before.description !== after.description) changes.push({ type: 'description', description: after.description });
  const settings = Object.fromEntries(
    namesOf(after.settings)
      // A setting that was unknown has not changed.
      .filter((name) => before.settings[name] !== undefined && before.settings[name] !== after.settings[name])
      .map((name) => [name, after.settings[name]]),
  );
  if (Object.keys(settings).length > 0) changes.push({ type: 'settings', settings });
  if (before.inviteCode !== null && before.inviteCode !== after.inviteCode) changes.push({ type: 'invite_link' });
  return [...changes, ...participantChanges(before, after)];
}

/** Whether more is known of a group that has not changed otherwise. */
export function hasNews(before: NetworkGroup, after: NetworkGroup): boolean {
  const settings = namesOf(after.settings);
  return (
    settings.some((name) => before.settings[name] !== after.settings[name]) ||
    (['isCommunity', 'community', 'isAnnouncementGroup'] as const).some((name) => before[name] !== after[name])
  );
}

const RANKS = ['member', 'admin', 'owner'] as const;

function participantChanges(before: NetworkGroup, after: NetworkGroup): GroupChange[] {
  const were = new Map(before.participants.map(({ phoneNumber, role }) => [phoneNumber, RANKS.indexOf(role)]));
  const are = new Map(after.participants.map(({ phoneNumber, role }) => [phoneNumber, RANKS.indexOf(role)]));
  const numbers = {
    add: [...are.keys()].filter((number) => !were.has(number)),
    remove: [...were.keys()].filter((number) => !are.has(number)),
    promote: [...are].filter(([number, rank]) => rank > (were.get(number) ?? rank)).map(([number]) => number),
    demote: [...are].filter(([number, rank]) => rank < (were.get(number) ?? rank)).map(([number]) => number),
  };
  return (['add', 'remove', 'promote', 'demote'] as const)
    .filter((action) => numbers[action].length > 0)
    .map((action) => ({ type: 'participants', action, phoneNumbers: numbers[action] }));
}
