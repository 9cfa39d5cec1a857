import type { BinaryNode } from 'baileys';
import type { Network } from '../network.ts';
import { type Account, requireAccount } from '../server/account.ts';
import { answerGroupQuery, type Group, withdrawRequest } from '../server/groups.ts';
import { newId } from '../server/linking.ts';
import { GROUPS, stanza } from '../stanza.ts';

/** Group operations of a phone. They are sent to the server like those of a client, and rejected in the same way. */
export interface PhoneGroups {
  /** Returns the group's id. */
  create(subject: string, members: readonly string[], addressing?: Group['addressing']): string;
  change(group: string, action: 'add' | 'remove' | 'promote' | 'demote', members: readonly string[]): void;
  rename(group: string, subject: string): void;
  /** A setting without a value, such as `announcement` or `unlocked`. */
  set(group: string, setting: 'announcement' | 'not_announcement' | 'locked' | 'unlocked'): void;
  setMemberAdd(group: string, mode: 'all_member_add' | 'admin_add'): void;
  setApproval(group: string, isOn: boolean): void;
  /** Creates a community. Returns its id. */
  createCommunity(subject: string): string;
  /** Adds a group of this phone to a community of it. */
  link(community: string, group: string): void;
  /** Withdraws the request to join a group. */
  withdraw(group: string): void;
  decide(group: string, decision: 'approve' | 'reject', numbers: readonly string[]): void;
  /** Lets messages disappear after this many seconds; 0 turns it off. */
  setTimer(group: string, seconds: number): void;
  inviteCode(group: string): string;
  join(code: string): 'joined' | 'requested';
  leave(group: string): void;
}

export function createPhoneGroups(network: Network, account: Account): PhoneGroups {
  const query = (type: 'get' | 'set', to: string, ask: BinaryNode): BinaryNode => {
    const [answer] = answerGroupQuery({ network, account, iq: stanza('iq', { to, type }, [ask]), ask }) ?? [];
    return answer ?? stanza('nothing');
  };
  const people = (numbers: readonly string[]) =>
    numbers.map((number) => stanza('participant', { jid: requireAccount(network, number).lidJid }));
  const all = `@${GROUPS}`;

  return {
    create(subject, members, addressing = 'lid') {
      const attributes = { subject, key: newId(), addressing_mode: addressing === 'lid' ? 'lid' : 'pn' };
      const group = query('set', all, stanza('create', attributes, people(members)));
      return `${group.attrs['id']}@${GROUPS}`;
    },
    change: (group, action, members) => void query('set', group, stanza(action, {}, people(members))),
    rename: (group, subject) => void query('set', group, stanza('subject', {}, Buffer.from(subject))),
    set: (group, setting) => void query('set', group, stanza(setting)),
    setMemberAdd: (group, mode) => void query('set', group, stanza('member_add_mode', {}, Buffer.from(mode))),
    setApproval(group, isOn) {
      const state = stanza('group_join', { state: isOn ? 'on' : 'off' });
      query('set', group, stanza('membership_approval_mode', {}, [state]));
    },
    createCommunity(subject) {
      const community = query('set', all, stanza('create', { subject, key: newId() }, [stanza('parent')]));
      return `${community.attrs['id']}@${GROUPS}`;
    },
    link(community, group) {
      const link = stanza('link', { link_type: 'sub_group' }, [stanza('group', { jid: group })]);
      query('set', community, stanza('links', {}, [link]));
    },
    withdraw(group) {
      const found = network.groups.get(group);
      if (found !== undefined) withdrawRequest(network, found, account);
    },
    decide: (group, decision, numbers) =>
      void query('set', group, stanza('membership_requests_action', {}, [stanza(decision, {}, people(numbers))])),
    setTimer(group, seconds) {
      const ask = seconds > 0 ? stanza('ephemeral', { expiration: String(seconds) }) : stanza('not_ephemeral');
      query('set', group, ask);
    },
    inviteCode: (group) => query('get', group, stanza('invite')).attrs['code'] ?? '',
    join(code) {
      const answer = query('set', all, stanza('invite', { code }));
      return answer.tag === 'group' ? 'joined' : 'requested';
    },
    leave: (group) => void query('set', all, stanza('leave', {}, [stanza('group', { id: group })])),
  };
}
