import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { NetworkEvent } from '../../../src/connectors/contract/events.ts';
import { eventually } from '../../support/eventually.ts';
import { createTestStore, linkAsHost, openAsHost } from '../host.ts';
import { nextPhone, useWhatsapp } from '../support.ts';

const setting = useWhatsapp();

it('shows a code to a caller that connects immediately after the phone unlinked the session', async (test) => {
  const store = createTestStore();
  const { promise: isStored, resolve: release } = Promise.withResolvers<void>();
  test.after(() => release());
  const { promise: began, resolve: begin } = Promise.withResolvers<void>();
  const { promise: next, resolve: connectAgain } = Promise.withResolvers<ReturnType<typeof openAsHost>>();
  async function onEvent({ type }: NetworkEvent) {
    if (type === 'logged_out') connectAgain(openAsHost(test, setting.whatsapp, { store }));
    if (type !== 'message') return;
    begin();
    await isStored;
  }
  const { me } = await linkAsHost(test, setting.whatsapp, { store, onEvent });
  // A slow file prevents the old connection from ending.
  await nextPhone(setting.whatsapp, 'Bob').sendText(me.number, 'a film');
  await began;
  me.unlink();
  const again = await next;
  const { type } = await again.events.waitFor();
  assert.equal(type, 'pairing');
});

it('a closed connection writes nothing to the store of the next one', async (test) => {
  const store = createTestStore();
  const { me, waitForEvent, logged } = await linkAsHost(test, setting.whatsapp, { store });
  const failures = (count: number) =>
    eventually(
      async () => logged.all.filter((line) => line.includes('failed to commit')).length,
      (failed) => failed === count,
    );
  // The keys of a conversation cannot be stored, and the client retries every three seconds.
  store.refuses = (key) => key?.startsWith('key/session/') === true;
  await nextPhone(setting.whatsapp, 'Bob').sendText(me.number, 'the last one');
  await failures(1);
  store.refuses = () => false;
  me.unlink();
  await waitForEvent('logged_out');
  await failures(2);
  assert.deepEqual([...store.entries.keys()], []);
});
