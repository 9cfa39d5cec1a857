import type { BinaryNode } from 'baileys';
import { type Account, requireAccount } from './account.ts';
import { answerGroupQuery, type Group } from './groups.ts';
import { newId } from './linking.ts';
import type { Network } from './network.ts';
import { GROUPS, stanza } from './stanza.ts';

/** Group operations of a phone. They are sent to the server like those of a client, and rejected in the same way. */
export interface PhoneGroups {
  /** Returns the group's id. */
  create(subject: string, members: readonly string[], addressing?: Group['addressing']): string;
  change(group: string, action: 'add' | 'remove' | 'promote' | 'demote', members: readonly string[]): void;
  rename(group: string, subject: string): void;
  /** A setting without a value, such as `announcement` or `unlocked`. */
  set(group: string, setting: 'announcement' | 'not_announcement' | 'locked' | 'unlocked'): void;
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
    inviteCode: (group) => query('get', group, stanza('invite')).attrs['code'] ?? '',
    join(code) {
      const answer = query('set', all, stanza('invite', { code }));
      return answer.tag === 'group' ? 'joined' : 'requested';
    },
    leave: (group) => void query('set', all, stanza('leave', {}, [stanza('group', { id: group })])),
  };
}
