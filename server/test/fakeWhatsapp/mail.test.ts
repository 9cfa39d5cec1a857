import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { BaileysEventMap } from 'baileys';
import { createBaileysClient } from '../support/networks/baileysClient.ts';
import { type Scene, startScene } from '../support/networks/fakeWhatsappScene.ts';

type Upsert = BaileysEventMap['messages.upsert'];
const textOf = ({ messages }: Upsert) => messages[0]?.message?.conversation;

describe('messages', () => {
  let scene: Scene;
  let whatsapp: Scene['whatsapp'];
  let me: Scene['me'];
  let bob: Scene['bob'];
  let carol: Scene['carol'];
  let client: Scene['client'];

  before(async () => {
    scene = await startScene();
    ({ whatsapp, me, bob, carol, client } = scene);
  });
  after(() => scene.close());

  const received = async (id: string) => {
    const { messages } = await client.event('messages.upsert', ({ messages }) =>
      messages.some(({ key, message }) => key.id === id && message),
    );
    const message = messages.find(({ key }) => key.id === id);
    assert.ok(message);
    return message;
  };

  it('that arrived while the client was away are delivered in order with their own times', async () => {
    await client.end();
    whatsapp.faults.drop(me.number);
    const before = Math.floor(Date.now() / 1000);
    const ids: string[] = [];
    for (const text of ['one', 'two', 'three']) ids.push(await bob.sendText(me.number, text));
    await scene.reconnect();
    await received(ids[2] ?? '');
    const upserts = client.events('messages.upsert');
    assert.deepEqual(
      upserts.flatMap(({ messages }) => messages.map(({ message }) => message?.conversation)),
      ['one', 'two', 'three'],
    );
    assert.ok(upserts.every(({ type }) => type === 'append'));
    for (const { messages } of upserts)
      for (const { messageTimestamp } of messages) assert.ok(Number(messageTimestamp) >= before);
    await bob.receipts.waitFor(({ id }) => id === ids[2]);
    await client.socket.fetchBlocklist();

    await client.end();
    await scene.reconnect();
    const id = await bob.sendText(me.number, 'four');
    await received(id);
    assert.deepEqual(client.events('messages.upsert').map(textOf), ['four']);
  });

  it('that the client has not confirmed are sent again', async () => {
    whatsapp.faults.freeze(me.number);
    const id = await bob.sendText(me.number, 'lost on the way');
    whatsapp.faults.drop(me.number);
    await client.closed();
    await scene.reconnect();
    assert.equal((await received(id)).message?.conversation, 'lost on the way');
  });

  it('are shown as read if their receipts arrived while the client was away', async () => {
    const sent = await client.socket.sendMessage(bob.numberJid, { text: 'for later' });
    const id = sent?.key.id ?? '';
    await bob.messages.waitFor((message) => message.id === id);
    await client.event('messages.update', ([update]) => update?.key.id === id && update.update.status === 3);
    await client.end();
    whatsapp.faults.drop(me.number);
    bob.read(me.number, id);
    await scene.reconnect();
    await client.event('messages.update', ([update]) => update?.key.id === id && update.update.status === 4);
  });

  it('to a phone that is off are delivered when it is on', async () => {
    bob.switchOff();
    const sent = await client.socket.sendMessage(bob.numberJid, { text: 'are you there?' });
    const id = sent?.key.id ?? '';
    await client.ack(id);
    assert.equal(
      bob.messages.all.some((message) => message.id === id),
      false,
    );
    bob.switchOn();
    await bob.messages.waitFor((message) => message.id === id);
    await client.event('messages.update', ([update]) => update?.key.id === id && update.update.status === 3);
  });

  it('that the client cannot decrypt are requested and sent again', async () => {
    const id = await bob.sendText(me.number, 'garbled', { isCorrupt: true });
    const message = await received(id);
    assert.equal(message.message?.conversation, 'garbled');
    assert.equal(whatsapp.counters.retriesFromClients, 1);
  });

  it('of a group that the client cannot decrypt are requested and sent again', async () => {
    const group = bob.groups.create('Noise', [me.number, carol.number]);
    await received(await bob.sendText(group, 'clear'));
    const id = await bob.sendText(group, 'garbled', { isCorrupt: true });
    assert.equal((await received(id)).message?.conversation, 'garbled');
    await carol.messages.waitFor((message) => message.id === id);
    assert.equal((await received(await bob.sendText(group, 'clear again'))).message?.conversation, 'clear again');
  });

  it('that a phone cannot decrypt are sent again by the client', async () => {
    const sent = await client.socket.sendMessage(bob.numberJid, { text: 'say again' });
    const isIt = ({ id }: { id: string }) => id === sent?.key.id;
    await bob.askAgain(await bob.messages.waitFor(isIt));
    let times = 0;
    await bob.messages.waitFor((message) => isIt(message) && ++times === 2);
    assert.deepEqual(
      bob.messages.all.filter(isIt).map(({ message }) => message.extendedTextMessage?.text),
      ['say again', 'say again'],
    );
  });

  it('that a phone cannot decrypt are sent again after a restart of the client, from its store', async () => {
    const sent = await client.socket.sendMessage(bob.numberJid, { text: 'kept' });
    const message = await bob.messages.waitFor(({ id }) => id === sent?.key.id);
    await client.end();
    const asked: (string | null | undefined)[] = [];
    client.connect({
      getMessage: async ({ id }) => {
        asked.push(id);
        return sent?.message ?? undefined;
      },
    });
    await client.opened();
    await bob.askAgain(message);
    let times = 0;
    await bob.messages.waitFor(({ id }) => id === sent?.key.id && ++times === 2);
    assert.deepEqual(asked, [sent?.key.id]);
  });

  it('can have an old timestamp', async () => {
    const id = await bob.sendText(me.number, 'an old one', { sentAtS: 1_700_000_000 });
    assert.equal(Number((await received(id)).messageTimestamp), 1_700_000_000);
  });

  it('are not the only stanzas that can be injected', async () => {
    whatsapp.inject(me.number, {
      tag: 'call',
      attrs: { from: bob.lidJid, id: 'call-1', t: '1700000000' },
      content: [{ tag: 'offer', attrs: { 'call-id': 'call-1', 'call-creator': bob.lidJid } }],
    });
    const [call] = await client.event('call');
    assert.deepEqual([call?.status, call?.from], ['offer', bob.lidJid]);
  });

  it('of all types go both ways', async () => {
    const first = await received(await bob.sendText(me.number, 'answer this'));
    const kinds = {
      location: { location: { degreesLatitude: 1, degreesLongitude: 2, name: 'here' } },
      contacts: { contacts: { displayName: 'C', contacts: [{ vcard: 'BEGIN:VCARD\nVERSION:3.0\nFN:C\nEND:VCARD' }] } },
      poll: { poll: { name: 'which?', values: ['a', 'b'], selectableCount: 1 } },
      reaction: { react: { text: '👍', key: first.key } },
      mention: { text: '@bob', mentions: [bob.numberJid] },
    };
    for (const [kind, content] of Object.entries(kinds)) {
      const sent = await client.socket.sendMessage(bob.numberJid, content);
      const got = await bob.messages.waitFor(({ id }) => id === sent?.key.id);
      assert.ok(Object.keys(got.message).length > 0, kind);
    }
    const sent = await client.socket.sendMessage(bob.numberJid, { text: 'mistake' });
    assert.ok(sent);
    const edit = await client.socket.sendMessage(bob.numberJid, { text: 'right', edit: sent.key });
    const edited = await bob.messages.waitFor(({ id }) => id === edit?.key.id);
    assert.equal(
      edited.message.protocolMessage?.editedMessage?.extendedTextMessage?.text ?? edited.message.editedMessage,
      'right',
    );
    assert.equal(edited.stanza.attrs['edit'], '1');
    const deletion = await client.socket.sendMessage(bob.numberJid, { delete: sent.key });
    const deleted = await bob.messages.waitFor(({ id }) => id === deletion?.key.id);
    assert.equal(deleted.message.protocolMessage?.key?.id, sent.key.id);

    const reactionId = await bob.send(me.number, {
      reactionMessage: { key: { remoteJid: me.lidJid, fromMe: false, id: sent.key.id }, text: '❤️' },
    });
    assert.equal((await received(reactionId)).message?.reactionMessage?.text, '❤️');
  });

  it('that the owner sends from the phone reach the client', async () => {
    const id = await me.sendText(bob.number, 'from my phone');
    await bob.messages.waitFor((message) => message.id === id);
    const message = await received(id);
    assert.equal(message.key.fromMe, true);
    assert.equal(message.key.remoteJid, bob.lidJid);
  });

  it('go between two clients', async () => {
    const other = createBaileysClient(whatsapp.url);
    await other.linked(async ({ qr }) => carol.scan(await qr()));
    const sent = await client.socket.sendMessage(carol.numberJid, { text: 'client to client' });
    const id = sent?.key.id;
    const { messages } = await other.event('messages.upsert', ({ messages }) => messages[0]?.key.id === id);
    assert.equal(messages[0]?.message?.extendedTextMessage?.text, 'client to client');
    await other.socket.readMessages(messages.map(({ key }) => key));
    await client.event('messages.update', ([update]) => update?.key.id === id && update?.update.status === 4);
    const answer = await other.socket.sendMessage(me.numberJid, { text: 'and back' });
    assert.equal((await received(answer?.key.id ?? '')).message?.extendedTextMessage?.text, 'and back');
    // Her second client. The first one learns of the device, and encrypts for it from now on.
    const later = createBaileysClient(whatsapp.url);
    await later.linked(async ({ qr }) => carol.scan(await qr()));
    const toAll = await client.socket.sendMessage(carol.numberJid, { text: 'to all of you' });
    for (const device of [other, later])
      await device.event('messages.upsert', ({ messages }) => messages[0]?.key.id === toAll?.key.id);
    carol.unlink();
    for (const device of [other, later]) assert.equal(await device.closed(), 401);
    const toPhone = await client.socket.sendMessage(carol.numberJid, { text: 'to your phone' });
    await carol.messages.waitFor(({ id }) => id === toPhone?.key.id);
  });
});
