import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type FakeWhatsapp, type Phone, startFakeWhatsapp } from '../support/fakeWhatsapp/index.ts';
import { type BaileysClient, createBaileysClient } from '../support/networks/baileysClient.ts';

describe('linking', () => {
  let whatsapp: FakeWhatsapp;
  let me: Phone;
  const clients: BaileysClient[] = [];

  before(async () => {
    whatsapp = await startFakeWhatsapp({ isMigrated: false });
    me = whatsapp.phone('15550001000', 'Me');
  });
  after(async () => {
    await Promise.all(clients.map((client) => client.end()));
    await whatsapp.close();
    assert.deepEqual(whatsapp.troubles, []);
  });
  const newClient = (
    ...options: Parameters<typeof createBaileysClient> extends [string, ...infer Rest] ? Rest : []
  ) => {
    const client = createBaileysClient(whatsapp.url, ...options);
    clients.push(client);
    return client;
  };

  it('gives a client six QR codes in turn, then the client gives up', async () => {
    const client = newClient();
    client.connect({ qrTimeout: 20 });
    assert.equal(await client.closed(), 408);
    const codes = client.events('connection.update').flatMap(({ qr }) => qr ?? []);
    assert.equal(new Set(codes).size, 6);
    await assert.rejects(me.scan(codes[5] ?? ''), /no client shows this QR code/);
  });

  it('accepts any code that was shown, and none with a wrong secret', async () => {
    const client = newClient();
    client.connect({ qrTimeout: 1000 }); // of each of six codes: the first one has to be valid when it is scanned
    const first = await client.qr();
    await client.event('connection.update', ({ qr }) => qr !== undefined && qr !== first);
    const parts = first.split(',');
    parts[3] = Buffer.alloc(32).toString('base64');
    await assert.rejects(me.scan(parts.join(',')), /the client went away/);

    client.connect();
    const [shown] = [await client.qr()];
    await me.scan(shown);
    assert.equal(await client.closed(), 515);
    client.connect();
    await client.opened();
  });

  it('reports a retired secret of a QR code to the client', async () => {
    const client = newClient();
    client.connect();
    await client.qr();
    // The client does not react to it, so callers must listen for this.
    const notified = new Promise((resolve) => {
      client.socket.ws.once('CB:notification,type:companion_reg_refresh', resolve);
    });
    whatsapp.faults.retireQrSecrets();
    await notified;
  });

  it('works by a pairing code that is typed on the phone', async () => {
    const client = newClient();
    client.connect();
    await client.qr();
    const code = await client.socket.requestPairingCode(me.number);
    assert.match(code, /^[A-Z0-9]{8}$/);
    await me.enterCode(code);
    assert.equal(await client.closed(), 515);
    client.connect();
    await client.opened();
    assert.match(client.socket.user?.id ?? '', /^15550001000:\d+@/);
  });

  it('fails with a wrong pairing code', async () => {
    const client = newClient();
    client.connect();
    await client.qr();
    const code = await client.socket.requestPairingCode(me.number);
    const wrong = code === 'AAAAAAAA' ? 'BBBBBBBB' : 'AAAAAAAA';
    await assert.rejects(me.enterCode(wrong), /the code is wrong/);
    await client.end();
    // The client considers itself linked once it shows a code, so its next login is refused.
    client.connect();
    assert.equal(await client.closed(), 401);
    client.creds.me = undefined as never;
    client.connect();
    assert.ok(await client.qr());
  });

  it('refuses a pairing code on command', async () => {
    const client = newClient();
    client.connect();
    await client.qr();
    whatsapp.faults.refuseCodes(429);
    const error = new Promise<{ content: { attrs: Record<string, string> }[] }>((resolve) => {
      client.socket.ws.once('CB:iq,type:error', resolve);
    });
    await client.socket.requestPairingCode(me.number);
    assert.equal((await error).content[0]?.attrs['code'], '429');
    whatsapp.faults.refuseCodes(undefined);
  });

  it("connects several clients to one phone, which read each other's messages", async () => {
    const [one, two] = [newClient(), newClient()];
    for (const client of [one, two]) await client.linked(async ({ qr }) => me.scan(await qr()));
    const bob = whatsapp.phone('15550002000', 'Bob');
    const sent = await one.socket.sendMessage(bob.numberJid, { text: 'from the first' });
    const id = sent?.key.id;
    await bob.messages.waitFor((message) => message.id === id);
    const { messages } = await two.event('messages.upsert', ({ messages }) => messages[0]?.key.id === id);
    assert.equal(messages[0]?.key.fromMe, true);
    assert.equal(messages[0].key.remoteJid, bob.numberJid);
    assert.equal(messages[0].message?.extendedTextMessage?.text, 'from the first');
  });

  it('is undone by the client', async () => {
    const client = newClient();
    await client.linked(async ({ qr }) => me.scan(await qr()));
    const before = whatsapp.online;
    await client.socket.logout();
    assert.equal(await client.closed(), 401);
    client.connect();
    assert.equal(await client.closed(), 401);
    assert.equal(whatsapp.online, before - 1);
  });
});
