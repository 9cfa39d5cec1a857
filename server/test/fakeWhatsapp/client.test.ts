import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { Curve } from 'baileys';
import { eventually } from '../support/eventually.ts';
import { isSignedBy } from '../support/fakeWhatsapp/encryption/signatures.ts';
import { type FakeWhatsapp, type Phone, startFakeWhatsapp } from '../support/fakeWhatsapp/index.ts';
import { type BaileysClient, createBaileysClient } from '../support/networks/baileysClient.ts';

const ME = '15550001000';
const BOB = '15550002000';

describe('signatures', () => {
  it('are distinguished from forgeries, unlike in the client itself', () => {
    const [mine, other] = [Curve.generateKeyPair(), Curve.generateKeyPair()];
    const message = Buffer.from('a message');
    const signature = Curve.sign(mine.private, message);
    assert.equal(isSignedBy(mine.public, message, signature), true);
    assert.equal(isSignedBy(other.public, message, signature), false);
    assert.equal(isSignedBy(mine.public, Buffer.from('another'), signature), false);
    assert.equal(Curve.verify(other.public, message, signature), true);
  });
});

it('rejects and records connections that are not from a WhatsApp client', async () => {
  const whatsapp = await startFakeWhatsapp();
  const socket = new WebSocket(whatsapp.url);
  socket.addEventListener('open', () => socket.send('hello, is this a web page?'));
  await new Promise((resolve) => socket.addEventListener('close', resolve));
  assert.match(String(whatsapp.troubles[0]), /not a WhatsApp Web client/);
  assert.equal(whatsapp.counters.connections, 0);
  await whatsapp.close();
});

describe('a client', () => {
  let whatsapp: FakeWhatsapp;
  let me: Phone;
  let bob: Phone;
  let client: BaileysClient;

  before(async () => {
    whatsapp = await startFakeWhatsapp({ isMigrated: false });
    me = whatsapp.phone(ME, 'Me');
    bob = whatsapp.phone(BOB, 'Bob');
    client = createBaileysClient(whatsapp.url);
  });
  after(async () => {
    await client.end();
    await whatsapp.close();
    assert.deepEqual(whatsapp.troubles, []);
  });

  it('links by QR code, restarts as requested, and opens', async () => {
    client.connect();
    await me.scan(await client.qr());
    assert.equal(await client.closed(), 515);
    client.connect();
    await client.opened();
    assert.equal(client.socket.user?.id, `${ME}:1@s.whatsapp.net`);
    assert.equal(client.socket.user?.lid, `${me.lid}:1@lid`);
    await client.event('creds.update', ({ accountSyncCounter }) => accountSyncCounter === 1);
    assert.equal(whatsapp.counters.links, 1);
    assert.equal(whatsapp.online, 1);
  });

  it('logs in again with its keys, without a QR code', async () => {
    await client.end();
    client.connect();
    await client.opened();
    assert.deepEqual(
      client.events('connection.update').filter(({ qr }) => qr),
      [],
    );
    assert.equal(client.creds.routingInfo?.toString(), 'tst');
  });

  it('sends a text that the other phone reads, and sees it accepted, delivered and read', async () => {
    const sent = await client.socket.sendMessage(bob.numberJid, { text: 'hello' });
    const id = sent?.key.id ?? '';
    const got = await bob.messages.waitFor((message) => message.id === id);
    assert.equal(got.message.extendedTextMessage?.text, 'hello');
    assert.deepEqual([got.from, got.chat, got.isOwn, got.encryption], [ME, ME, false, 'pkmsg']);
    assert.equal((await client.ack(id))['error'], undefined);
    const hasStatus = (status: number) =>
      client.event('messages.update', (updates) =>
        updates.some(({ key, update }) => key.id === id && update.status === status),
      );
    await hasStatus(3);
    bob.read(ME, id);
    await hasStatus(4);
    const copy = await me.messages.waitFor((message) => message.id === id);
    assert.deepEqual([copy.isOwn, copy.chat], [true, BOB]);
  });

  it('receives a delivery receipt when the phone sends it, even late and twice', async () => {
    bob.confirmsDelivery = false;
    try {
      const sent = await client.socket.sendMessage(bob.numberJid, { text: 'how far?' });
      const id = sent?.key.id ?? '';
      await bob.messages.waitFor((message) => message.id === id);
      const updates = () =>
        client
          .events('messages.update')
          .flat()
          .filter(({ key }) => key.id === id);
      bob.read(ME, id);
      await client.event('messages.update', (some) => some.some(({ key }) => key.id === id));
      bob.confirmDelivery(ME, id);
      await eventually(
        async () => [updates().map(({ update }) => update.status), me.haveConfirmed(id)] as const,
        ([statuses, isConfirmed]) => isConfirmed && statuses.length === 2,
      );
      assert.deepEqual(
        updates().map(({ update }) => update.status),
        [4, 3],
      );
    } finally {
      bob.confirmsDelivery = true;
    }
  });

  it('reads a text, however its sender is addressed', async () => {
    for (const addressing of ['lid', 'number'] as const) {
      const id = await bob.sendText(ME, `hi by ${addressing}`, { addressing });
      const { messages, type } = await client.event('messages.upsert', ({ messages }) => messages[0]?.key.id === id);
      assert.equal(type, 'notify');
      assert.equal(messages[0]?.message?.conversation, `hi by ${addressing}`);
      const { remoteJid, remoteJidAlt } = messages[0].key;
      assert.deepEqual([remoteJid, remoteJidAlt].sort(), [bob.numberJid, bob.lidJid].sort());
      await bob.receipts.waitFor((receipt) => receipt.id === id);
    }
  });

  it('reads a text from a hosted business account', async () => {
    const shop = whatsapp.phone('15550003001', 'Shop');
    const id = await shop.sendText(ME, 'open', { addressing: 'hosted' });
    const { messages } = await client.event('messages.upsert', ({ messages }) => messages[0]?.key.id === id);
    const { remoteJid, remoteJidAlt } = messages[0]?.key ?? {};
    assert.deepEqual([messages[0]?.message?.conversation, remoteJidAlt], ['open', shop.numberJid]);
    assert.equal(remoteJid, shop.lidJid, 'the client hides addresses of this type');
    await shop.receipts.waitFor((receipt) => receipt.id === id);
  });

  const countKeys = async () => {
    const answer = await client.socket.query({
      tag: 'iq',
      attrs: { to: 's.whatsapp.net', type: 'get', xmlns: 'encrypt' },
      content: [{ tag: 'count', attrs: {} }],
    });
    return Number(answer.content[0].attrs.value);
  };

  it('uploads more one-time keys when the server reports that they ran low', async () => {
    const left = await countKeys();
    assert.ok(left > 800);
    const user = { tag: 'user', attrs: { jid: `${me.lid}:1@lid` } };
    await client.socket.query({
      tag: 'iq',
      attrs: { to: 's.whatsapp.net', type: 'get', xmlns: 'encrypt' },
      content: [{ tag: 'key', attrs: {}, content: Array.from({ length: left - 4 }, () => user) }],
    });
    assert.equal(await eventually(countKeys, (count) => count > 4), 9);
  });

  it('rotates its signed key, and is rejected with one of an invalid signature', async () => {
    await client.socket.rotateSignedPreKey();
    const stranger = whatsapp.phone('15550008000', 'Stranger');
    const id = await stranger.sendText(ME, 'we have not met');
    await client.event('messages.upsert', ({ messages }) => messages[0]?.key.id === id);

    const [key, other] = [Curve.generateKeyPair(), Curve.generateKeyPair()];
    const rotate = {
      tag: 'rotate',
      attrs: {},
      content: [
        {
          tag: 'skey',
          attrs: {},
          content: [
            { tag: 'id', attrs: {}, content: Buffer.from([0, 0, 9]) },
            { tag: 'value', attrs: {}, content: key.public },
            { tag: 'signature', attrs: {}, content: Curve.sign(other.private, Buffer.from([5, ...key.public])) },
          ],
        },
      ],
    };
    const forged = client.socket.query({
      tag: 'iq',
      attrs: { to: 's.whatsapp.net', type: 'set', xmlns: 'encrypt' },
      content: [rotate],
    });
    await assert.rejects(forged, (error: { data?: unknown }) => error.data === 406);
  });

  it('sends to a number that is not on WhatsApp without an error', async () => {
    const sent = await client.socket.sendMessage('15559999999@s.whatsapp.net', { text: 'anybody?' });
    const ack = await client.ack(sent?.key.id ?? '');
    assert.equal(ack['error'], undefined);
  });
});
