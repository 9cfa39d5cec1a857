import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { NetworkEvent } from '../../../src/connectors/contract/events.ts';
import { People } from '../../../src/connectors/whatsapp-cloud/people.ts';

const TYPED = '5547989211984';
const ANSWERED = '554789211984';
const OWN = '15550100100';

function hostWith(stored: ReadonlyMap<string, string>, writers: readonly string[] = []) {
  const entries = new Map(stored);
  const events: NetworkEvent[] = [];
  const faults: Error[] = [];
  const write = async (changes: ReadonlyMap<string, string | null>) => {
    for (const [key, value] of changes)
      if (value === null) entries.delete(key);
      else entries.set(key, value);
  };
  const store = {
    get: async (key: string) => entries.get(key),
    getMany: async () => new Map(),
    list: async (prefix: string) => new Map([...entries].filter(([key]) => key.startsWith(prefix))),
    set: (key: string, value: string) => write(new Map([[key, value]])),
    write,
    delete: (key: string) => write(new Map([[key, null]])),
    clear: async () => entries.clear(),
  };
  const people = new People({
    store,
    phoneNumber: OWN,
    lastIncoming: async (digits) => (writers.includes(digits) ? 'wamid.1' : null),
    onEvent: async (event) => {
      const fault = faults.shift();
      if (fault !== undefined) throw fault;
      events.push(event);
    },
  });
  return { people, entries, events, faults };
}

it('joins the two forms of a number once if the person writes from the other one', async () => {
  const { people, events, faults } = hostWith(new Map(), [TYPED]);
  faults.push(new Error('the database is closed'));
  await assert.rejects(people.noteForm(TYPED, ANSWERED));
  for (const _ of [1, 2, 3]) await people.noteForm(TYPED, ANSWERED);
  assert.deepEqual(events, [{ type: 'identified', standIn: ANSWERED, phoneNumber: TYPED }]);
});

it('bounds the stored forms at a start, and separates a number that left the memory', async () => {
  const many = Array.from({ length: 20_001 }, (_, nth) => [`form/${49_000_000_000 + nth}`, ANSWERED] as const);
  const { people, entries } = hostWith(new Map(many));
  await people.start();
  assert.equal(entries.size, 20_000);
  await people.noteForm(TYPED, '554700000000');
  const [[first = ''] = []] = many;
  const number = first.slice('form/'.length);
  assert.equal(people.formOf(number), undefined);
  await people.noteSender(number);
  assert.equal(entries.has(first), false);
});

it('remembers after a restart when a number was stated', async () => {
  const [ada, eve] = ['DE.1001', 'DE.10012'];
  const first = hostWith(new Map());
  await first.people.meet({ userId: ada, phoneNumber: '4915100000001', at: 1000 });
  await first.people.meet({ userId: ada, phoneNumber: '4915100000002', at: 3000 });
  await first.people.meet({ userId: eve, phoneNumber: '4915100000003', at: 3000 });
  const { people, events } = hostWith(first.entries);
  await people.meet({ userId: ada, phoneNumber: '4915100000001', at: 2000 });
  await people.meet({ userId: 'DE.1', phoneNumber: '4915100000003', at: 2000 });
  await people.meet({ userId: eve, phoneNumber: '4915100000001', at: 4000, isOfPast: true });
  assert.equal(await people.hide(ada), '4915100000002');
  assert.equal(await people.hide(eve), '4915100000003');
  assert.equal(
    events.some(({ type }) => type === 'identified'),
    false,
  );
});

it('stores a newer time of the same number only after a minute', async () => {
  const { people, entries } = hostWith(new Map());
  const stored = () => entries.get('shown/4915100000001');
  for (const at of [1000, 30_000]) await people.meet({ userId: 'DE.1', phoneNumber: '4915100000001', at });
  assert.equal(stored(), 'DE.1 1000');
  await people.meet({ userId: 'DE.1', phoneNumber: '4915100000001', at: 61_000 });
  assert.equal(stored(), 'DE.1 61000');
});
