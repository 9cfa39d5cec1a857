import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { NetworkEvent } from '../../../src/connectors/contract/events.ts';
import { AppError } from '../../../src/errors.ts';
import { eventually } from '../../support/eventually.ts';
import { createTestStore, linkAsHost, openAsHost, type TestStore } from '../host.ts';
import { nextPhone, useWhatsapp } from '../support.ts';

const setting = useWhatsapp();
const isReceived = (key: string | undefined) => key?.startsWith('key/received/') === true;
const rowsIn = (store: TestStore, isMet: (count: number) => boolean) =>
  eventually(async () => [...store.entries.keys()].filter(isReceived).length, isMet);

it('removes a message later if it cannot be removed now, so that a restart does not restore an old reaction', async (test) => {
  const store = createTestStore();
  const { me, waitForEvent } = await linkAsHost(test, setting.whatsapp, { store });
  const key = { id: 'ABC', fromMe: true, remoteJid: me.lidJid };
  await nextPhone(setting.whatsapp, 'Bob').send(me.number, { reactionMessage: { key, text: '👍' } });
  await waitForEvent('reaction');
  // The database fails while the row is removed.
  let refusals = 0;
  store.refuses = (key) => isReceived(key) && ++refusals > 0;
  await eventually(
    async () => refusals,
    (count) => count > 0,
  );
  assert.equal(await rowsIn(store, () => true), 1);
  store.refuses = () => false;
  await rowsIn(store, (count) => count === 0);
});

it('removes a message that was dispatched before it was written, once it is written', async (test) => {
  const store = createTestStore();
  const { me, waitForEvent } = await linkAsHost(test, setting.whatsapp, { store });
  let refusals = 0;
  store.refuses = (key) => isReceived(key) && ++refusals === 1;
  await nextPhone(setting.whatsapp, 'Bob').sendText(me.number, 'early');
  await waitForEvent('message');
  // The client retries after three seconds.
  await rowsIn(store, (count) => count === 1);
  await rowsIn(store, (count) => count === 0);
});

it('writes a message of an empty envelope once the database accepts it', async (test) => {
  const store = createTestStore();
  const { me, waitForEvent } = await linkAsHost(test, setting.whatsapp, { store });
  const bob = nextPhone(setting.whatsapp, 'Bob');
  let refusals = 0;
  store.refuses = (key) => isReceived(key) && ++refusals <= 2;
  const attrs = { from: bob.lidJid, sender_pn: bob.numberJid, id: 'SEENONCE', t: '1767225600', type: 'media' };
  const content = [{ tag: 'unavailable', attrs: { type: 'view_once_unavailable_fanout' } }];
  setting.whatsapp.inject(me.number, { tag: 'message', attrs, content });
  const { networkId, from } = await waitForEvent('message');
  assert.deepEqual([networkId, from, refusals > 2], ['SEENONCE', bob.number, true]);
});

it('dispatches a message of a known group that a crash left behind, before connecting', async (test) => {
  const store = createTestStore();
  const { whatsapp } = setting;
  const bob = nextPhone(whatsapp, 'Bob');
  const onEvent = async ({ type }: NetworkEvent) => {
    if (type === 'message') throw new AppError('storage_unavailable');
  };
  const { me, waitForEvent, connection } = await linkAsHost(test, whatsapp, { store, onEvent });
  const networkId = bob.groups.create('Known', [me.number]);
  const { group } = await waitForEvent('group_created');
  await bob.sendText(networkId, 'left');
  await rowsIn(store, (count) => count === 1);
  await connection.close();

  whatsapp.faults.refuseSockets(true);
  test.after(() => whatsapp.faults.refuseSockets(false));
  const again = await openAsHost(test, whatsapp, { store, groups: [group] });
  const { chat, content, isReplayed } = await again.waitForEvent('message');
  assert.deepEqual([chat.id, content.text, isReplayed], [networkId, 'left', true]);
  await rowsIn(store, (count) => count === 0);
});
