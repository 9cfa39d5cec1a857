import assert from 'node:assert/strict';
import { it } from 'node:test';
import { FakeStore } from '../../../../connector-kit/src/fakeHost.ts';
import type { NetworkMedia } from '../../../src/connectors/contract/networkMedia.ts';
import type { CloudNumber } from '../../../src/connectors/whatsapp-cloud/number/cloudNumber.ts';
import { Uploads } from '../../../src/connectors/whatsapp-cloud/outbound/uploads.ts';
import { createFakeClock } from '../../support/fakeClock.ts';

const DAY_MS = 24 * 3_600_000;

function numberWith(store = new FakeStore(), phoneNumberId = '1066') {
  const clock = createFakeClock(Date.now());
  let count = 0;
  const post = async () => ({ id: `${phoneNumberId}-${++count}` });
  // Only these members are used.
  const number = { host: { store, clock }, graph: { post }, options: { phoneNumberId } } as unknown as CloudNumber;
  return { number, clock, store, uploaded: () => count };
}

const media = (hash: string): NetworkMedia => ({
  mimeType: 'image/png',
  size: 1,
  fileName: null,
  hash,
  open: () => assert.fail('the fake reads no body'),
});

it('an upload to the Cloud API is used until shortly before Meta deletes it', async () => {
  const { number, clock, uploaded } = numberWith();
  const uploads = new Uploads(number);
  assert.deepEqual(await uploads.idOf(media('a')), { id: '1066-1', isReused: false });
  await clock.advance(24 * DAY_MS);
  assert.deepEqual(await uploads.idOf(media('a')), { id: '1066-1', isReused: true });
  await clock.advance(2 * DAY_MS);
  assert.deepEqual(await uploads.idOf(media('a')), { id: '1066-2', isReused: false });
  assert.equal(uploaded(), 2);
});

it('one upload serves all messages that need the file at the same time', async () => {
  const { number, uploaded } = numberWith();
  const uploads = new Uploads(number);
  const ids = await Promise.all([1, 2, 3].map(() => uploads.idOf(media('a'))));
  assert.deepEqual([new Set(ids.map(({ id }) => id)).size, uploaded()], [1, 1]);
});

it('keeps a bounded number of uploads, and none of another number', async () => {
  const { number, store } = numberWith();
  const uploads = new Uploads(number);
  for (let n = 0; n < 510; n++) await uploads.idOf(media(String(n)));
  assert.equal(store.entries.size, 500);
  assert.equal((await uploads.idOf(media('509'))).isReused, true);
  assert.equal((await uploads.idOf(media('0'))).isReused, false);
  const other = numberWith(store, '1067');
  assert.equal((await new Uploads(other.number).idOf(media('509'))).isReused, false);
  assert.equal(store.entries.size, 1);
});
