import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { BaileysEventMap } from 'baileys';
import { createBaileysClient } from '../support/networks/baileysClient.ts';
import { type Scene, startScene } from '../support/networks/fakeWhatsappScene.ts';

describe('faults on command', () => {
  let scene: Scene;
  let whatsapp: Scene['whatsapp'];
  let me: Scene['me'];
  let bob: Scene['bob'];
  let client: Scene['client'];

  before(async () => {
    scene = await startScene();
    ({ whatsapp, me, bob, client } = scene);
  });
  after(() => scene.close());

  it('drops a connection with 428, and accepts the same keys again', async () => {
    whatsapp.faults.drop(me.number);
    assert.equal(await client.closed(), 428);
    await scene.reconnect();
  });

  it('ends a stream with a reason', async () => {
    for (const [reason, code] of [
      ['replaced', 440],
      ['restart', 515],
      ['unavailable', 503],
      ['unknown', 500],
    ] as const) {
      whatsapp.faults.endStream(me.number, reason);
      assert.equal(await client.closed(), code);
      await scene.reconnect();
    }
  });

  it('refuses logins with a status, a given number of times', async () => {
    for (const reason of [401, 402, 403, 405, 411, 503] as const) {
      whatsapp.faults.refuseLogins(me.number, reason, 1);
      await client.end();
      client.connect();
      assert.equal(await client.closed(), reason);
    }
    await scene.reconnect();
    assert.equal(whatsapp.counters.refusedLogins, 6);
  });

  it('bans a number temporarily, with the duration', async () => {
    whatsapp.faults.ban(me.number, 100);
    await client.end();
    client.connect();
    const { lastDisconnect } = await client.event('connection.update', ({ connection }) => connection === 'close');
    assert.ok(lastDisconnect);
    const { output, data } = lastDisconnect.error as Error & {
      output: { statusCode: number };
      data: { expire: string };
    };
    assert.equal(output.statusCode, 402);
    assert.ok(Number(data.expire) > 90 && Number(data.expire) <= 100, JSON.stringify(data));
    whatsapp.faults.ban(me.number, 0);
    await scene.reconnect();
  });

  it('refuses outdated clients', async () => {
    await client.end();
    whatsapp.faults.requireVersion([2, 3000, 2_000_000_000]);
    client.connect();
    assert.equal(await client.closed(), 405);
    client.connect({ version: [2, 3000, 2_000_000_001] });
    await client.opened();
    whatsapp.faults.requireVersion(undefined);
  });

  it('refuses sockets', async () => {
    await client.end();
    whatsapp.faults.refuseSockets(true);
    client.connect();
    // The client reports nothing and stays "connecting" forever, so callers must listen for this.
    const response = await new Promise<{ statusCode: number }>((resolve) => {
      client.socket.ws.once('unexpected-response', (_request, response) => resolve(response));
    });
    assert.equal(response.statusCode, 503);
    whatsapp.faults.refuseSockets(false);
    await scene.reconnect();
  });

  it('replaces a connection by a newer one of the same device', async () => {
    const other = createBaileysClient(whatsapp.url, { auth: client.socket.authState });
    other.connect();
    assert.equal(await client.closed(), 440);
    await other.opened();
    assert.equal(whatsapp.online, 1);
    await other.end();
    await scene.reconnect();
  });

  it('delays the acknowledgement of messages', async () => {
    whatsapp.faults.withholdAcks(me.number);
    const sent = await client.socket.sendMessage(bob.numberJid, { text: 'unsure' });
    const id = sent?.key.id ?? '';
    await bob.messages.waitFor((message) => message.id === id);
    let isAcked = false;
    const ack = client.ack(id).then(() => {
      isAcked = true;
    });
    // A response to a later query, so an acknowledgement would have arrived before it.
    await client.socket.fetchBlocklist();
    assert.equal(isAcked, false);
    whatsapp.faults.releaseAcks(me.number);
    await ack;
  });

  it('rejects a message with an error', async () => {
    whatsapp.faults.refuseNextMessage(me.number, 463);
    const sent = await client.socket.sendMessage(bob.numberJid, { text: 'refused' });
    const id = sent?.key.id ?? '';
    assert.equal((await client.ack(id))['error'], '463');
    await client.event('messages.update', ([update]) => update?.key.id === id && update.update.status === 0);
    assert.equal(
      bob.messages.all.some((message) => message.id === id),
      false,
    );
  });

  it('delivers twice, and the unreadable copy is requested again', async () => {
    const { deliveries } = whatsapp.counters;
    whatsapp.faults.duplicateNext(me.number);
    const id = await bob.sendText(me.number, 'again and again');
    const isIt = (retryCount: number | undefined) => (upsert: BaileysEventMap['messages.upsert']) =>
      upsert.messages.some((message) => message.key.id === id && message.message && message.retryCount === retryCount);
    await client.event('messages.upsert', isIt(undefined));
    await client.event('messages.upsert', isIt(1));
    assert.equal(whatsapp.counters.deliveries - deliveries, 3);
    assert.equal(whatsapp.counters.retriesFromClients, 1);
  });

  it('delays answers without reordering them', async () => {
    whatsapp.faults.slow(50);
    const startedAt = performance.now();
    await Promise.all([client.socket.fetchBlocklist(), client.socket.fetchBlocklist()]);
    assert.ok(performance.now() - startedAt >= 48);
    whatsapp.faults.slow(0);
    await client.socket.fetchBlocklist();
  });

  it('ignores queries of a namespace', async () => {
    whatsapp.faults.ignoreQueries('blocklist');
    const answer = client.socket.query(
      { tag: 'iq', attrs: { to: 's.whatsapp.net', type: 'get', xmlns: 'blocklist' } },
      100,
    );
    await assert.rejects(answer, /Timed Out/);
    whatsapp.faults.answerQueries();
    assert.deepEqual(await client.socket.fetchBlocklist(), []);
  });

  it('freezes with an open socket and no data', async () => {
    whatsapp.faults.freeze(me.number);
    const ping = client.socket.query({ tag: 'iq', attrs: { to: 's.whatsapp.net', type: 'get', xmlns: 'w:p' } }, 200);
    await assert.rejects(ping, /Timed Out/);
    assert.equal(client.socket.ws.isOpen, true);
    whatsapp.faults.drop(me.number);
    assert.equal(await client.closed(), 428);
    await scene.reconnect();
  });

  it('unlinks a device with 401 and invalidates its keys', async () => {
    me.unlink();
    assert.equal(await client.closed(), 401);
    client.connect();
    assert.equal(await client.closed(), 401);
  });
});
