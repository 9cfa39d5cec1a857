import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { GroupMetadata } from 'baileys';
import fc from 'fast-check';
import type { NetworkGroup } from '../../../src/connectors/contract/groups.ts';
import { changesBetween, toNetworkGroup, withNumbers } from '../../../src/connectors/whatsapp/people/groupState.ts';
import type { GroupChange } from '../../../src/events/networkTypes.ts';

type Participants = NetworkGroup['participants'];
type Role = Participants[number]['role'];

const group: NetworkGroup = {
  networkId: '1@g.us',
  subject: 'Team',
  description: null,
  createdBy: '1',
  createdAt: 0,
  participants: [
    { phoneNumber: '1', role: 'owner' },
    { phoneNumber: '2', role: 'admin' },
    { phoneNumber: '3', role: 'member' },
  ],
  settings: { announce: false, locked: false, joinApproval: false },
  inviteCode: 'abc',
  picture: null,
};
const people = (roles: Readonly<Record<string, Role>>): Participants =>
  Object.entries(roles).map(([phoneNumber, role]) => ({ phoneNumber, role }));
const changes = (after: Partial<NetworkGroup>, before: Partial<NetworkGroup> = {}) =>
  changesBetween({ ...group, ...before }, { ...group, ...after });

describe('changes between two states of a group', () => {
  it('are reported individually', () => {
    const cases: [after: Partial<NetworkGroup>, expected: GroupChange[]][] = [
      [{}, []],
      [{ subject: 'Crew' }, [{ type: 'subject', subject: 'Crew' }]],
      [{ description: 'Us' }, [{ type: 'description', description: 'Us' }]],
      [
        { settings: { announce: true, locked: true, joinApproval: false } },
        [{ type: 'settings', settings: { announce: true, locked: true } }],
      ],
      [{ inviteCode: 'def' }, [{ type: 'invite_link' }]],
      [{ inviteCode: null }, [{ type: 'invite_link' }]],
      [
        { participants: people({ 1: 'owner', 2: 'member', 3: 'admin', 4: 'member', 5: 'admin' }) },
        [
          { type: 'participants', action: 'add', phoneNumbers: ['4', '5'] },
          { type: 'participants', action: 'promote', phoneNumbers: ['3'] },
          { type: 'participants', action: 'demote', phoneNumbers: ['2'] },
        ],
      ],
      [{ participants: [] }, [{ type: 'participants', action: 'remove', phoneNumbers: ['1', '2', '3'] }]],
      [{ participants: group.participants.toReversed() }, []],
      [
        { subject: 'Crew', participants: people({ 1: 'owner', 2: 'admin' }) },
        [
          { type: 'subject', subject: 'Crew' },
          { type: 'participants', action: 'remove', phoneNumbers: ['3'] },
        ],
      ],
    ];
    for (const [after, expected] of cases) assert.deepEqual(changes(after), expected, JSON.stringify(after));
  });

  it('include a removed description', () => {
    assert.deepEqual(changes({ description: null }, { description: 'Us' }), [
      { type: 'description', description: null },
    ]);
  });

  it('omit pictures and invite codes that become known', () => {
    assert.deepEqual(changes({ inviteCode: 'abc' }, { inviteCode: null }), []);
    const picture = { mimeType: 'image/jpeg', size: 1, fileName: null, open: () => assert.fail() };
    assert.deepEqual(changes({ picture }), []);
  });

  it('lead from the earlier members to the current ones', () => {
    const anyPeople = fc
      .dictionary(fc.constantFrom('1', '2', '3', '4'), fc.constantFrom<Role>('member', 'admin', 'owner'))
      .map(people);
    fc.assert(
      fc.property(anyPeople, anyPeople, (before, after) => {
        const numbers = new Set(before.map(({ phoneNumber }) => phoneNumber));
        const roleIn = (list: Participants, number: string) =>
          ['member', 'admin', 'owner'].indexOf(list.find(({ phoneNumber }) => phoneNumber === number)?.role ?? '');
        const reported = new Set<string>();
        for (const { action, phoneNumbers = [] } of changes({ participants: after }, { participants: before })) {
          for (const number of phoneNumbers) {
            assert.ok(!reported.has(number), 'each person is reported once');
            reported.add(number);
            if (action === 'add') numbers.add(number);
            else if (action === 'remove') numbers.delete(number);
            else assert.equal(roleIn(after, number) > roleIn(before, number), action === 'promote');
          }
        }
        assert.deepEqual([...numbers].toSorted(), after.map(({ phoneNumber }) => phoneNumber).toSorted());
        const unmentioned = after.filter(({ phoneNumber }) => !reported.has(phoneNumber));
        for (const { phoneNumber } of unmentioned)
          assert.equal(roleIn(after, phoneNumber), roleIn(before, phoneNumber));
      }),
    );
  });
});

describe('a group whose numbers become known', () => {
  it('shows them instead of the ids, and each person once', () => {
    const before = { ...group, createdBy: 'x', participants: people({ x: 'member', 7: 'admin', y: 'member' }) };
    const known = withNumbers(before, new Map([['x', '7']]));
    assert.equal(known.createdBy, '7');
    assert.deepEqual(known.participants.map(({ phoneNumber }) => phoneNumber).toSorted(), ['7', 'y']);
  });

  it('is unchanged if they belong to others', () => {
    assert.equal(withNumbers(group, new Map([['x', '7']])), group);
  });
});

it('a person whose role in a group is unknown is a member', async () => {
  const roles = ['superadmin', 'admin', null, undefined, 'captain', 'toString'];
  const participants = roles.map((admin, n) => ({ id: `${n}`, admin }));
  const metadata = { id: '1@g.us', subject: 'Team', participants } as GroupMetadata; // the network can send any role
  const read = await toNetworkGroup(metadata, undefined, { digitsOf: async (id) => id });
  const expected = ['owner', 'admin', 'member', 'member', 'member', 'member'];
  assert.deepEqual(
    read.participants.map(({ role }) => role),
    expected,
  );
});
