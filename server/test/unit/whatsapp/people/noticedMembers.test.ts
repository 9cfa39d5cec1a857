import assert from 'node:assert/strict';
import { it } from 'node:test';
import { type BinaryNode, type GroupMetadata, jidNormalizedUser } from 'baileys';
import { afterNotice } from '../../../../src/connectors/whatsapp/people/noticedMembers.ts';

const group: GroupMetadata = {
  id: '1@g.us',
  subject: 'Team',
  owner: undefined,
  participants: [
    { id: '10@lid', phoneNumber: '1555@s.whatsapp.net', admin: 'superadmin' },
    { id: '20@lid', admin: null },
  ],
};

const person = (attrs: BinaryNode['attrs']): BinaryNode => ({ tag: 'participant', attrs });
const change = (tag: string, content: BinaryNode[] = [], attrs = {}): BinaryNode => ({ tag, attrs, content });

/** Notices a change. @returns the members afterwards, or undefined if the group must be read */
function membersAfter(...changes: BinaryNode[]): string[] | undefined {
  const notice = { tag: 'notification', attrs: { addressing_mode: 'lid' }, content: changes };
  return afterNotice(group, notice, jidNormalizedUser)?.participants.map(({ id }) => id);
}

it('adds and removes the members of a notice', () => {
  assert.deepEqual(membersAfter(change('add', [person({ jid: '30@lid' })])), ['10@lid', '20@lid', '30@lid']);
  assert.deepEqual(membersAfter(change('add', [person({ jid: '20@lid' })])), ['10@lid', '20@lid']);
  assert.deepEqual(membersAfter(change('remove', [person({ jid: '20@lid' })])), ['10@lid']);
  assert.deepEqual(membersAfter(change('remove', [person({ jid: '1555:3@s.whatsapp.net' })])), ['20@lid']);
  const both = [change('remove', [person({ jid: '10@lid' })]), change('add', [person({ jid: '30@lid' })])];
  assert.deepEqual(membersAfter(...both), ['20@lid', '30@lid']);
});

it('keeps the members when a notice concerns no address', () => {
  for (const tag of ['subject', 'locked', 'invite', 'promote'])
    assert.deepEqual(membersAfter(change(tag, [person({ jid: '20@lid', type: 'admin' })])), ['10@lid', '20@lid']);
});

it('requires a read when a notice does not tell the members', () => {
  assert.equal(membersAfter(change('modify', [person({ jid: '20@lid' })])), undefined);
  assert.equal(membersAfter(change('remove', [person({ jid: '1777@s.whatsapp.net' })])), undefined);
  assert.equal(membersAfter(change('add', [person({ jid: '1777@s.whatsapp.net' })])), undefined);
  assert.equal(membersAfter(change('add')), undefined);
  const migrated = { tag: 'notification', attrs: { addressing_mode: 'pn' }, content: [change('subject')] };
  assert.equal(afterNotice(group, migrated, jidNormalizedUser), undefined);
});

it('takes the timer of new messages from a notice', () => {
  const after = (one: BinaryNode) =>
    afterNotice(group, { tag: 'notification', attrs: {}, content: [one] }, jidNormalizedUser)?.ephemeralDuration;
  assert.equal(after(change('ephemeral', [], { expiration: '86400' })), 86_400);
  assert.equal(after(change('not_ephemeral')), 0);
});
