import assert from 'node:assert/strict';
import { it } from 'node:test';
import { forkFakeWhatsapp } from '../support/fakeWhatsapp/remote.ts';
import { createBaileysClient } from '../support/networks/baileysClient.ts';

it('behaves the same in a separate process', async () => {
  const whatsapp = await forkFakeWhatsapp({ isMigrated: false });
  const client = createBaileysClient(whatsapp.url);
  try {
    await client.linked(async ({ qr }) => whatsapp.call('scan', await qr(), '15550001000'));
    await whatsapp.call('introduce', '15550002000', 'Bob');
    const sent = await client.socket.sendMessage('15550002000@s.whatsapp.net', { text: 'hello' });
    await whatsapp.call('waitForMessage', '15550002000', sent?.key.id ?? '');
    const id = await whatsapp.call('sendText', '15550002000', '15550001000', 'hi');
    await client.event('messages.upsert', ({ messages }) => messages[0]?.key.id === id);
    assert.equal((await whatsapp.call('counters')).online, 1);
    await assert.rejects(whatsapp.call('sendText', '15550002000', '15559999999', 'hi'), /nobody has the number/);
    assert.match(whatsapp.ca, /BEGIN CERTIFICATE/);
    assert.ok((await whatsapp.call('usage')).rss > 0);
    await whatsapp.call('drop', '15550001000');
    assert.equal(await client.closed(), 428);
    assert.deepEqual(await whatsapp.call('troubles'), []);
  } finally {
    await client.end();
    await whatsapp.close();
  }
});
