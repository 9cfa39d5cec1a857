import { randomBytes } from 'node:crypto';
import type { BinaryNode } from 'baileys';
import { deliver, type Network } from '../network.ts';
import { childOf, childrenOf, GROUPS, stanza, textOf } from '../stanza.ts';
import { type Account, type DeviceAddress, devicesOf, findAccount, lidJidOf, numberJidOf } from './account.ts';
import {
  addAnnouncementGroup,
  describeCommunity,
  linkGroups,
  listLinkedGroups,
  placeOf,
  placeStanzas,
  unlinkGroups,
} from './communities.ts';
import { newId, nowS } from './linking.ts';
import { type Answer, type Query, QueryError } from './queries.ts';

export type Role = 'member' | 'admin' | 'superadmin';

interface Settings {
  /** Only admins may send. */
  isAnnounceOnly: boolean;
  /** Only admins may change subject, description and picture. */
  isLocked: boolean;
  /** An admin must approve members who join by link. */
  needsApproval: boolean;
  canMembersAdd: boolean;
  disappearAfterS: number;
}

export interface Group extends Settings {
  /** Including the server: `…@g.us`. */
  readonly id: string;
  subject: string;
  description: { id: string; text: string } | undefined;
  readonly owner: Account;
  readonly createdAtS: number;
  readonly members: Map<Account, Role>;
  /** How members are addressed: today by LID, in groups of older clients by number. */
  addressing: 'lid' | 'number';
  inviteCode: string;
  readonly requests: Set<Account>;
  /** Its place in a community. */
  readonly place: { isCommunity: boolean; isAnnouncementGroup: boolean; community: string | undefined };
}

/** The parts of a query that groups need, so that a phone can send one like a client. */
export type GroupQuery = Pick<Query, 'network' | 'account' | 'iq' | 'ask'>;
export type Change = GroupQuery & { readonly group: Group; readonly ask: BinaryNode };

/** All queries and changes of groups. */
export function answerGroupQuery(query: GroupQuery): Answer {
  const { network, account, iq, ask } = query;
  if (ask === undefined) throw new QueryError(400, 'bad-request');
  if (iq.attrs['to'] === `@${GROUPS}`) {
    const answer = ACROSS_GROUPS[ask.tag];
    if (answer === undefined) throw new QueryError(501, 'feature-not-implemented');
    return answer({ ...query, ask });
  }
  const group = network.groups.get(iq.attrs['to'] ?? '');
  if (group === undefined) throw new QueryError(404, 'item-not-found');
  if (ask.tag === 'accept') return joinByMessage({ ...query, group, ask });
  if (!group.members.has(account)) throw new QueryError(403, 'forbidden');
  const change = CHANGES[ask.tag];
  if (change === undefined) throw new QueryError(501, 'feature-not-implemented');
  return change({ ...query, group, ask });
}

const ACROSS_GROUPS: Readonly<Record<string, (query: GroupQuery & { ask: BinaryNode }) => Answer>> = {
  create: createGroup,
  participating: ({ network, account }) => {
    const own = [...network.groups.values()].filter(({ members }) => members.has(account));
    return [
      stanza(
        'groups',
        {},
        own.map((group) => groupStanza(group)),
      ),
    ];
  },
  leave: ({ network, account, ask }) => {
    for (const { attrs } of childrenOf(ask, 'group')) {
      const group = network.groups.get(attrs['id'] ?? '');
      if (group?.members.has(account)) removeMembers(network, group, account, [account]);
    }
    return [ask];
  },
  invite: ({ network, account, iq, ask }) => {
    const group = [...network.groups.values()].find(({ inviteCode }) => inviteCode === ask.attrs['code']);
    if (group === undefined) throw new QueryError(406, 'not-acceptable');
    if (iq.attrs['type'] === 'get') return [groupStanza(group)];
    return [joinByLink(network, group, account)];
  },
};

const CHANGES: Readonly<Record<string, (change: Change) => Answer>> = {
  query: ({ group }) => [groupStanza(group)],
  subject: (change) => {
    requireRight(change, change.group.isLocked);
    change.group.subject = textOf(change.ask) ?? '';
    notify(
      change,
      stanza('subject', { subject: change.group.subject, s_t: String(nowS()), s_o: change.account.lidJid }),
    );
    return undefined;
  },
  description: (change) => {
    const { group, ask } = change;
    requireRight(change, group.isLocked);
    // A concurrent edit: the second editor has not seen the first edit.
    if (ask.attrs['prev'] !== group.description?.id) throw new QueryError(409, 'conflict');
    const body = childOf(ask, 'body');
    group.description = body && { id: ask.attrs['id'] ?? newId(), text: textOf(body) ?? '' };
    notify(change, descriptionStanza(group) ?? stanza('description', { delete: 'true' }));
    return undefined;
  },
  add: (change) => changeMembers(change, addMember, change.group.canMembersAdd === false),
  remove: (change) => changeMembers(change, removeMember),
  promote: (change) => changeMembers(change, setRole('admin')),
  demote: (change) => changeMembers(change, setRole('member')),
  announcement: (change) => setting(change, { isAnnounceOnly: true }),
  not_announcement: (change) => setting(change, { isAnnounceOnly: false }),
  locked: (change) => setting(change, { isLocked: true }),
  unlocked: (change) => setting(change, { isLocked: false }),
  ephemeral: (change) => setting(change, { disappearAfterS: Number(change.ask.attrs['expiration']) }),
  not_ephemeral: (change) => setting(change, { disappearAfterS: 0 }),
  member_add_mode: (change) => setting(change, { canMembersAdd: textOf(change.ask) === 'all_member_add' }),
  membership_approval_mode: (change) =>
    setting(change, { needsApproval: childOf(change.ask, 'group_join')?.attrs['state'] === 'on' }),
  invite: (change) => {
    requireRight(change, true);
    const { group, iq } = change;
    if (iq.attrs['type'] === 'set') {
      group.inviteCode = newInviteCode();
      notify(change, stanza('invite', { code: group.inviteCode }));
    }
    return [stanza('invite', { code: group.inviteCode })];
  },
  membership_approval_requests: (change) => {
    requireRight(change, true);
    const requests = [...change.group.requests].map(({ lidJid, numberJid }) =>
      stanza('membership_approval_request', {
        jid: lidJid,
        phone_number: numberJid,
        request_method: 'InviteLink',
        request_time: String(nowS()),
      }),
    );
    return [stanza('membership_approval_requests', {}, requests)];
  },
  membership_requests_action: decideRequests,
  links: linkGroups,
  unlink: unlinkGroups,
  sub_groups: listLinkedGroups,
};

function createGroup({ network, account, ask }: GroupQuery & { ask: BinaryNode }): Answer {
  const group: Group = {
    id: `120363${randomBytes(6).readUIntBE(0, 6).toString().padStart(12, '0').slice(-12)}@${GROUPS}`,
    subject: ask.attrs['subject'] ?? '',
    description: undefined,
    owner: account,
    createdAtS: nowS(),
    members: new Map([[account, 'superadmin']]),
    // Only the phone of a test asks for it, never a client.
    addressing: ask.attrs['addressing_mode'] === 'pn' ? 'number' : 'lid',
    isAnnounceOnly: false,
    isLocked: false,
    needsApproval: false,
    canMembersAdd: true,
    disappearAfterS: 0,
    inviteCode: newInviteCode(),
    requests: new Set(),
    place: placeOf(ask),
  };
  network.groups.set(group.id, group);
  if (group.place.isCommunity) describeCommunity(group, ask);
  const refused = childrenOf(ask, 'participant').flatMap(({ attrs: { jid = '' } }) => {
    const member = findAccount(network, jid);
    const error = addError(group, member);
    if (member !== undefined && error === undefined) group.members.set(member, 'member');
    return error === undefined || member === account ? [] : [stanza('participant', { jid, error })];
  });
  notify({ network, account, group }, stanza('create', { type: 'new', key: ask.attrs['key'] }, [groupStanza(group)]));
  if (group.place.isCommunity) addAnnouncementGroup({ network, account }, group, createGroup);
  return [groupStanza(group, refused)];
}

/** A group in the form in which its members are notified. */
export function groupStanza(group: Group, refused: BinaryNode[] = []): BinaryNode {
  const { owner, members } = group;
  const flags = { announcement: group.isAnnounceOnly, locked: group.isLocked };
  return stanza(
    'group',
    {
      id: group.id.split('@')[0],
      subject: group.subject,
      s_t: String(group.createdAtS),
      s_o: owner.lidJid,
      s_o_pn: owner.numberJid,
      creation: String(group.createdAtS),
      creator: owner.lidJid,
      creator_pn: owner.numberJid,
      addressing_mode: addressingMode(group),
      size: String(members.size),
    },
    [
      ...[...members].map(([member, role]) => participantStanza(group, member, role)),
      ...refused,
      ...Object.entries(flags).flatMap(([tag, isSet]) => (isSet ? [stanza(tag)] : [])),
      ...(group.needsApproval ? [stanza('membership_approval_mode', {}, [stanza('group_join', { state: 'on' })])] : []),
      ...(group.disappearAfterS > 0 ? [stanza('ephemeral', { expiration: String(group.disappearAfterS) })] : []),
      ...placeStanzas(group),
      stanza('member_add_mode', {}, Buffer.from(group.canMembersAdd ? 'all_member_add' : 'admin_add')),
      ...[descriptionStanza(group)].filter((node) => node !== undefined),
    ],
  );
}

/** A member's device as it is addressed in the group, with the same person's alternative address. */
export function memberNames(
  { addressing }: Pick<Group, 'addressing'>,
  device: DeviceAddress,
): { jid: string; lid: string | undefined; number: string | undefined } {
  const { lidJid, numberJid, profile } = device.account;
  if (addressing === 'number') return { jid: numberJidOf(device), lid: lidJid, number: undefined };
  return { jid: lidJidOf(device), lid: undefined, number: profile.hidesNumber ? undefined : numberJid };
}

export const addressingMode = ({ addressing }: Group): 'lid' | 'pn' => (addressing === 'lid' ? 'lid' : 'pn');

function participantStanza(group: Group, account: Account, role: Role = 'member'): BinaryNode {
  const { jid, lid, number } = memberNames(group, { account, device: 0 });
  return stanza('participant', {
    jid,
    lid,
    phone_number: number,
    type: role === 'member' ? undefined : role,
  });
}

function descriptionStanza({ description, owner }: Group): BinaryNode | undefined {
  if (description === undefined) return undefined;
  return stanza('description', { id: description.id, participant: owner.lidJid, t: String(nowS()) }, [
    stanza('body', {}, Buffer.from(description.text)),
  ]);
}

type MemberChange = (change: Change, member: Account | undefined) => string | undefined;

/** Applies an action to each listed person. Failures are returned with an error code. */
function changeMembers(change: Change, doTo: MemberChange, isForAdmins = true): Answer {
  requireRight(change, isForAdmins);
  const { network, ask } = change;
  const outcomes = childrenOf(ask, 'participant').map(({ attrs: { jid = '' } }) => {
    const member = findAccount(network, jid);
    return { jid, member, error: doTo(change, member) };
  });
  const changed = outcomes.flatMap(({ member, error }) => (member && error === undefined ? [member] : []));
  if (changed.length > 0) {
    const notification = stanza(
      ask.tag,
      {},
      changed.map((member) => participantStanza(change.group, member, change.group.members.get(member))),
    );
    notify(change, notification, ask.tag === 'remove' ? changed : []);
  }
  return [
    stanza(
      ask.tag,
      {},
      outcomes.map(({ jid, member, error }) =>
        stanza(
          'participant',
          { jid, phone_number: member?.numberJid, error },
          error === '403' ? [addRequest()] : undefined,
        ),
      ),
    ),
  ];
}

const addMember: MemberChange = ({ group }, member) => {
  const error = addError(group, member);
  if (member !== undefined && error === undefined) group.members.set(member, 'member');
  return error;
};

const removeMember: MemberChange = ({ group }, member) => {
  if (member === undefined || !group.members.has(member)) return '404';
  if (group.members.get(member) === 'superadmin') return '406';
  group.members.delete(member);
  return undefined;
};

const setRole =
  (role: Role): MemberChange =>
  ({ group }, member) => {
    if (member === undefined || !group.members.has(member)) return '404';
    if (group.members.get(member) === 'superadmin') return '406';
    group.members.set(member, role);
    return undefined;
  };

function addError({ members }: Group, member: Account | undefined): string | undefined {
  if (member === undefined) return '404';
  if (members.has(member)) return '409';
  return member.profile.refusesGroups ? '403' : undefined;
}

/** A person who must not be added can be invited instead. */
const addRequest = () => stanza('add_request', { code: newInviteCode(), expiration: String(nowS() + 3 * 86_400) });

function setting(change: Change, settings: Partial<Settings>): Answer {
  requireRight(change, true);
  Object.assign(change.group, settings);
  notify(change, change.ask);
  return undefined;
}

/** Ends the request of a person who no longer wants to join. */
export function withdrawRequest(network: Network, group: Group, account: Account): void {
  if (!group.requests.delete(account)) return;
  const { lidJid, numberJid } = account;
  notify(
    { network, account, group },
    stanza('revoked_membership_requests', {}, [stanza('participant', { jid: lidJid, phone_number: numberJid })]),
  );
}

function joinByLink(network: Network, group: Group, account: Account): BinaryNode {
  if (group.members.has(account)) throw new QueryError(409, 'conflict');
  if (group.needsApproval) {
    group.requests.add(account);
    const request = stanza('created_membership_requests', { request_method: 'invite_link' }, [
      stanza('requested_user', { jid: account.lidJid, phone_number: account.numberJid }),
    ]);
    notify({ network, account, group }, request);
    return stanza('membership_approval_request', { jid: group.id });
  }
  group.members.set(account, 'member');
  notify({ network, account, group }, stanza('add', { reason: 'invite' }, [participantStanza(group, account)]));
  return stanza('group', { jid: group.id });
}

/** Joins by an invitation that an admin sent as a message. */
function joinByMessage({ network, group, account }: Change): Answer {
  if (group.members.has(account)) throw new QueryError(409, 'conflict');
  group.members.set(account, 'member');
  notify({ network, account, group }, stanza('add', { reason: 'invite' }, [participantStanza(group, account)]));
  return undefined;
}

function decideRequests(change: Change): Answer {
  requireRight(change, true);
  const { network, group, ask } = change;
  const decision = Array.isArray(ask.content) ? ask.content[0] : undefined;
  if (decision === undefined) throw new QueryError(400, 'bad-request');
  const decided = childrenOf(decision, 'participant').map(({ attrs: { jid = '' } }) => {
    const account = findAccount(network, jid);
    if (account === undefined || !group.requests.delete(account)) return stanza('participant', { jid, error: '404' });
    if (decision.tag === 'approve') {
      group.members.set(account, 'member');
      notify(change, stanza('add', {}, [participantStanza(group, account)]));
    } else {
      const rejected = stanza('participant', { jid: account.lidJid, phone_number: account.numberJid });
      notify(change, stanza('revoked_membership_requests', {}, [rejected]));
    }
    return stanza('participant', { jid });
  });
  return [stanza('membership_requests_action', {}, [stanza(decision.tag, {}, decided)])];
}

export function removeMembers(network: Network, group: Group, by: Account, members: Account[]): void {
  for (const member of members) group.members.delete(member);
  notify(
    { network, account: by, group },
    stanza(
      'remove',
      {},
      members.map((member) => participantStanza(group, member)),
    ),
    members,
  );
}

export function requireRight({ group, account }: Change, isForAdmins: boolean): void {
  if (isForAdmins && group.members.get(account) === 'member') throw new QueryError(401, 'not-authorized');
}

/** Notifies every client of the members, including former ones. */
export function notify(
  { network, account, group }: Pick<Change, 'network' | 'account' | 'group'>,
  change: BinaryNode,
  others: readonly Account[] = [],
): void {
  const names = memberNames(group, { account, device: 0 });
  const attributes = {
    from: group.id,
    type: 'w:gp2',
    id: newId(),
    t: String(nowS()),
    participant: names.jid,
    participant_lid: names.lid,
    participant_pn: names.number,
    addressing_mode: addressingMode(group),
    notify: account.profile.name,
  };
  const recipients = new Set([...group.members.keys(), ...others]);
  for (const device of [...recipients].flatMap(devicesOf))
    deliver(network, device, stanza('notification', attributes, [change]));
}

const newInviteCode = () => randomBytes(16).toString('base64url');
