import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import { readChanges, readContacts } from '../../../src/connectors/whatsapp-cloud/inbound/callbacks.ts';
import { readHistory, readMessage } from '../../../src/connectors/whatsapp-cloud/inbound/coexistence.ts';
import { type LookUps, toEvents, toReceipt } from '../../../src/connectors/whatsapp-cloud/inbound/incoming.ts';

const ADA = '4915112345678';
const OWN = '15550001111';
const ID = 'wamid.TEST';

const lookUps: LookUps = {
  hide: async () => '00012345678901234567890',
  digitsOf: async (_, stated) => stated,
  findFile: async () => undefined,
  now: () => 1_700_000_000_000,
};

const file = { id: '1', caption: 'c', filename: 'f', mime_type: 'image/png' };
/** One message of every type, by the examples of Meta's documentation. */
const messages: readonly Record<string, unknown>[] = [
  { type: 'text', text: { body: 'Hello' }, context: { id: 'wamid.A', forwarded: true } },
  ...['image', 'video', 'audio', 'document', 'sticker'].map((type) => ({ type, [type]: file })),
  { type: 'location', location: { latitude: 1, longitude: 2, name: 'n', address: 'a' } },
  { type: 'contacts', contacts: [{ name: { formatted_name: 'Grace' }, phones: [{ phone: '+49 1', wa_id: '491' }] }] },
  { type: 'button', button: { text: 'Stop', payload: 'p' } },
  { type: 'interactive', interactive: { type: 'button_reply', button_reply: { id: 'y', title: 'Yes' } } },
  { type: 'interactive', interactive: { type: 'nfm_reply', nfm_reply: { name: 'flow', response_json: '{}' } } },
  { type: 'order', order: { catalog_id: '1', product_items: [{ product_retailer_id: 't', quantity: 2 }] } },
  { type: 'system', system: { body: 'changed number' } },
  { type: 'unsupported', errors: [{ code: 131051, title: 'Unsupported' }], unsupported: { type: 'poll' } },
  { type: 'from_next_year', from_next_year: { what: 'ever' } },
].map((message) => ({ id: ID, from: ADA, timestamp: '1700000000', ...message }));

/** Any place in a message except for its id, and what replaces the value there; undefined removes it. */
const mutation = fc.record({
  path: fc.array(fc.nat(20), { minLength: 1, maxLength: 4 }),
  value: fc.oneof(fc.constant(undefined), fc.jsonValue({ maxDepth: 2 })),
});

function mutated(value: unknown, [step = 0, ...rest]: readonly number[], by: unknown, isTop = true): unknown {
  if (typeof value !== 'object' || value === null) return by;
  const entries = Object.entries(value).filter(([name]) => !isTop || name !== 'id');
  if (entries.length === 0) return by;
  const [name = '', inner] = entries[step % entries.length] ?? [];
  const changed = rest.length === 0 ? by : mutated(inner, rest, by, false);
  if (Array.isArray(value)) return value.map((one, index) => (String(index) === name ? changed : one));
  return { ...value, [name]: changed };
}

const mutants = fc
  .tuple(fc.constantFrom(...messages), fc.array(mutation, { minLength: 1, maxLength: 3 }))
  .map(([message, changes]) =>
    changes.reduce<unknown>((changed, { path, value }) => mutated(changed, path, value), message),
  )
  // As it arrives: without `undefined`.
  .map((message) => JSON.parse(JSON.stringify(message)));

const seed = Number(process.env['FUZZ_SEED'] ?? 371_224);

it('stores every Cloud API message with an id, whatever its other parts are', async () => {
  await fc.assert(
    fc.asyncProperty(mutants, async (message) => {
      for (const ownNumber of [undefined, OWN]) {
        const events = await toEvents(message, [], lookUps, ownNumber);
        assert.ok(!('problem' in events) && events.length > 0, JSON.stringify({ message, events }));
        for (const { networkId, from, timestamp } of events) {
          assert.ok(networkId.length > 0);
          assert.match(from, /^\d+$/);
          assert.ok(Number.isFinite(timestamp));
        }
      }
      const read = await readMessage(message, ADA, OWN, lookUps);
      assert.ok(!('problem' in read), JSON.stringify({ message, read }));
    }),
    { seed, numRuns: 5000 },
  );
});

it('keeps the messages of a callback whose other parts have an unknown shape', async () => {
  const value = { metadata: { phone_number_id: '1' }, contacts: [{ wa_id: ADA }], messages, statuses: [] };
  const parts = fc.constantFrom('contacts', 'statuses', 'history', 'state_sync', 'message_echoes');
  fc.assert(
    fc.property(parts, fc.jsonValue({ maxDepth: 2 }), (name, part) => {
      const body = { entry: [{ id: '1', changes: [{ field: 'messages', value: { ...value, [name]: part } }] }] };
      const read = readChanges(Buffer.from(JSON.stringify(body)));
      assert.equal(read?.changes[0]?.value.messages?.length, messages.length, JSON.stringify(part));
      assert.ok(readContacts(read.changes[0].value.contacts).length <= 20);
    }),
    { seed },
  );
});

it('shows a shared contact without a name by its number', async () => {
  const contactOf = async (contact: object) => {
    const message = { id: ID, from: ADA, timestamp: '1700000000', type: 'contacts', contacts: [contact] };
    const events = await toEvents(message, [], lookUps);
    return Array.isArray(events) && events[0]?.type === 'message' ? events[0].content.contact : undefined;
  };
  const phones = [{ phone: '+49 151 1', wa_id: '491511' }];
  assert.deepEqual(await contactOf({ phones }), { name: '+49 151 1', phoneNumbers: ['491511'] });
  assert.equal((await contactOf({ name: { first_name: 'Ada', last_name: 'L' }, phones }))?.name, 'Ada L');
  assert.equal((await contactOf({ name: {}, org: { company: 'Tea Ltd' }, phones }))?.name, 'Tea Ltd');
});

it('keeps the messages of a history part whose other parts have an unknown shape', async () => {
  const chunk = {
    metadata: { phase: 0, chunk_order: 1, progress: 55 },
    threads: [{ id: ADA, context: {}, messages }],
    errors: [{ code: 2593109, title: 'refused', message: 'refused', error_data: {} }],
  };
  const parts = fc.constantFrom('metadata', 'errors', 'id', 'context', 'extra');
  await fc.assert(
    fc.asyncProperty(parts, fc.jsonValue({ maxDepth: 2 }), async (name, value) => {
      const isOfThread = name === 'id' || name === 'context';
      const threads = isOfThread ? [{ ...chunk.threads[0], [name]: value }] : chunk.threads;
      const problems: string[] = [];
      const ignore = (problem: string) => void problems.push(problem);
      const given = { ...chunk, threads, ...(!isOfThread && { [name]: value }) };
      const read = await readHistory(given, OWN, lookUps, ignore);
      assert.deepEqual(problems, [], JSON.stringify({ name, value }));
      assert.equal(read?.messages.length, messages.length);
    }),
    { seed, numRuns: 300 },
  );
});

it('keeps a status whose price or reason has an unknown shape', async () => {
  const status = { id: ID, status: 'failed', timestamp: '1700000000', biz_opaque_callback_data: 'msg_1' };
  for (const part of [{ pricing: 'free' }, { errors: [{ title: 'no code' }] }, { biz_opaque_callback_data: 5 }]) {
    const receipt = await toReceipt({ ...status, ...part }, lookUps);
    assert.ok('event' in receipt && receipt.event?.status === 'failed', JSON.stringify({ part, receipt }));
  }
});
