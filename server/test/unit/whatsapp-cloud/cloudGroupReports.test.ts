import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import type { NetworkEvent } from '../../../src/connectors/contract/events.ts';
import { GroupReports } from '../../../src/connectors/whatsapp-cloud/groups/groupReports.ts';
import { placeholderGroup } from '../../../src/connectors/whatsapp-cloud/groups/networkGroup.ts';
import { PendingChanges } from '../../../src/connectors/whatsapp-cloud/groups/pendingChanges.ts';
import type { CloudNumber } from '../../../src/connectors/whatsapp-cloud/number/cloudNumber.ts';
import { createFakeClock } from '../../support/fakeClock.ts';

const GROUP = 'Y2FwaV9ncm91cDox';
const ADA = '4915112345678';
const seed = Number(process.env['FUZZ_SEED'] ?? Math.floor(Math.random() * 2 ** 31));

function newReports() {
  const clock = createFakeClock(1_767_225_600_000);
  const events: NetworkEvent[] = [];
  const stored = new Map<string, string>();
  const host = {
    clock,
    phoneNumber: '15550100100',
    store: {
      get: async (key: string) => stored.get(key),
      set: async (key: string, value: string) => void stored.set(key, value),
    },
    groups: async () => [],
    onEvent: async (event: NetworkEvent) => void events.push(event),
  };
  const digitsOf = async (_userId: string, digits: string) => digits;
  const people = { meet: async () => {}, hide: async () => '00012345', digitsOf };
  // Only what the reports use.
  const number = { host, people } as unknown as CloudNumber;
  const pending = new PendingChanges(clock);
  const find = async () => placeholderGroup(number.host, GROUP);
  return { reports: new GroupReports(number, pending), pending, events, clock, find };
}

it('stores a report whose other parts have an unknown shape', async () => {
  const report = {
    type: 'group_participants_add',
    group_id: GROUP,
    timestamp: '1767225600',
    request_id: 'r',
    reason: 'invite_link',
    added_participants: [{ wa_id: ADA, user_id: 'US.1', username: 'ada' }],
  };
  const names = [
    'timestamp',
    'request_id',
    'reason',
    'subject',
    'errors',
    'failed_participants',
    'group_subject',
    'new',
  ];
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...names), fc.jsonValue({ maxDepth: 3 }), async (name, value) => {
      const { reports, events, find } = newReports();
      const others = [value, { wa_id: 7 }, ...report.added_participants];
      assert.equal(await reports.store({ ...report, added_participants: others, [name]: value }, find), undefined);
      assert.deepEqual(
        events.map((event) => event.type === 'group_updated' && event.change),
        [{ type: 'participants', action: 'add', phoneNumbers: [ADA] }],
      );
    }),
    { seed, numRuns: 300 },
  );
});

it('ignores what is no report, without an event', async () => {
  await fc.assert(
    fc.asyncProperty(fc.jsonValue({ maxDepth: 3 }), async (value) => {
      const { reports, events, find } = newReports();
      assert.equal(typeof (await reports.store(value, find)), 'string');
      assert.deepEqual(events, []);
    }),
    { seed, numRuns: 300 },
  );
});

it('settles the request that a report names, or that waits for its kind and group', async () => {
  const { reports, pending, clock, find } = newReports();
  const settings = (requestId: string | undefined, more: object = {}) => ({
    type: 'group_settings_update',
    group_id: GROUP,
    ...(requestId !== undefined && { request_id: requestId }),
    group_subject: { text: 'Garden', update_successful: true, ...more },
  });
  const named = pending.add('subject', GROUP);
  named.requestId = 'mine';
  await reports.store(settings('theirs'), find);
  await reports.store(settings('mine'), find);
  assert.deepEqual(await named.outcome, {});
  const unnamed = pending.add('subject', GROUP);
  const errors = [{ code: 131_205, title: 'Not allowed' }];
  await reports.store(settings('any', { update_successful: false, errors }), find);
  assert.deepEqual(await unnamed.outcome, { problem: 'WhatsApp says: Not allowed (131205)' });
  pending.add('subject', GROUP);
  await clock.advance(6 * 60_000);
  assert.equal(pending.take('subject', GROUP, undefined), undefined, 'too old');
});

it('keeps the request when its outcome cannot be stored, and reports it with the repeated callback', async () => {
  const { reports, pending, events, find } = newReports();
  const change = pending.add('description', GROUP);
  const report = { type: 'group_settings_update', group_id: GROUP, group_description: { text: 'Plants' } };
  const failing = async () => {
    throw new Error('Meta does not answer');
  };
  await assert.rejects(reports.store(report, failing), /does not answer/);
  await reports.store(report, find);
  assert.deepEqual(await change.outcome, {});
  assert.equal(events.length, 1);
});
