import type { JoinRequest } from '../connectors/contract/groupActions.ts';
import type { NetworkGroup } from '../connectors/contract/groups.ts';
import type { ChangedGroup } from './network.ts';
import type { SandboxGroup } from './store.ts';

/* The people who wait to join a group. */

const MAX_WAITING = 1000;

/** Adds a person to those who wait, and notifies the admins. Changes nothing if the person waits already. */
export function withJoinRequest(group: SandboxGroup, phoneNumber: string, now: number): ChangedGroup | undefined {
  const waiting = waitingFor(group);
  if (waiting.length >= MAX_WAITING || waiting.some((request) => request.phoneNumber === phoneNumber)) return undefined;
  const request: JoinRequest = { phoneNumber, requestedAt: now, method: 'invite_link' };
  return {
    group: { ...group, joinRequests: [...waiting, request] },
    event: {
      type: 'join_request',
      group: group.networkId,
      phoneNumber,
      change: 'created',
      method: 'invite_link',
      timestamp: now,
    },
    to: adminsOf(group),
  };
}

/** Removes a person who no longer wants to join, and notifies the admins. */
export function withdrawJoinRequest(group: SandboxGroup, phoneNumber: string, now: number): ChangedGroup | undefined {
  if (!waitingFor(group).some((request) => request.phoneNumber === phoneNumber)) return undefined;
  return {
    group: withoutRequests(group, [phoneNumber]),
    event: { type: 'join_request', group: group.networkId, phoneNumber, change: 'withdrawn', timestamp: now },
    to: adminsOf(group),
  };
}

export const waitingFor = ({ joinRequests = [] }: SandboxGroup): readonly JoinRequest[] => joinRequests;

export function withoutRequests(group: SandboxGroup, phoneNumbers: readonly string[]): SandboxGroup {
  return {
    ...group,
    joinRequests: waitingFor(group).filter(({ phoneNumber }) => !phoneNumbers.includes(phoneNumber)),
  };
}

function adminsOf({ participants }: NetworkGroup): string[] {
  return participants.filter(({ role }) => role !== 'member').map(({ phoneNumber }) => phoneNumber);
}
