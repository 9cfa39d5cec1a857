import assert from 'node:assert/strict';
import { it } from 'node:test';
import { queryInHalves } from '../../../src/connectors/whatsapp/outbound/keyQueries.ts';

const DEVICES = Array.from({ length: 2500 }, (_, n) => `${n}@lid`);
const REFUSAL = new Error('item-not-found');

/** Asks a server that refuses each query with one of these devices. */
async function ask(bad: readonly string[], devices = DEVICES) {
  const refused = new Set(bad);
  const reached = new Set<string>();
  let queries = 0;
  const query = async (part: readonly string[]) => {
    queries++;
    if (part.some((device) => refused.has(device))) throw REFUSAL;
    for (const device of part) reached.add(device);
  };
  const found = await queryInHalves(devices, query, (error) => error === REFUSAL);
  return { ...found, reached, queries };
}

const spread = (count: number) =>
  DEVICES.filter((_, n) => n % Math.floor(DEVICES.length / count) === 7).slice(0, count);

it('fetches the keys of all devices in one query if none is refused', async () => {
  const { without, unasked, reached, queries } = await ask([]);
  assert.deepEqual([without.length, unasked.length, reached.size, queries], [0, 0, DEVICES.length, 1]);
});

for (const count of [1, 5])
  it(`leaves out exactly ${count} of 2,500 devices without keys`, async () => {
    const bad = spread(count);
    assert.equal(bad.length, count);
    const { without, unasked, reached, queries } = await ask(bad);
    assert.deepEqual([without, unasked], [bad, []]);
    assert.equal(reached.size, DEVICES.length - count);
    assert.ok(queries <= 200, `${queries} queries`);
  });

it('takes no device for one without keys when the queries do not suffice', async () => {
  const bad = spread(250);
  const { without, unasked, reached, queries } = await ask(bad);
  assert.ok(without.length > 0 && without.every((device) => bad.includes(device)));
  assert.ok(unasked.length > 0);
  assert.equal(queries, 192);
  const all = [...without, ...unasked, ...reached];
  assert.deepEqual([all.length, new Set(all).size], [DEVICES.length, DEVICES.length], 'each device is in one list');
});

it('bounds the queries regardless of the number of devices', async () => {
  const many = Array.from({ length: 100_000 }, (_, n) => `${n}@lid`);
  assert.equal((await ask(many, many)).queries, 200);
});

it('finds a single device without keys, and asks for nothing without devices', async () => {
  assert.deepEqual((await ask(['1@lid'], ['1@lid'])).without, ['1@lid']);
  assert.equal((await ask([], [])).queries, 0);
});

it('asks no more after an abort', async () => {
  const stop = new AbortController();
  const query = async () => {
    stop.abort();
    throw REFUSAL;
  };
  const { without, unasked } = await queryInHalves(DEVICES, query, (error) => error === REFUSAL, stop.signal);
  assert.deepEqual([without.length, unasked.length], [0, DEVICES.length]);
});

it('passes other errors on', async () => {
  const failure = new Error('timed out');
  const query = () => Promise.reject(failure);
  await assert.rejects(
    queryInHalves(DEVICES, query, (error) => error === REFUSAL),
    failure,
  );
});
