import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createBaileysClient } from '../support/networks/baileysClient.ts';
import { type Scene, startScene } from '../support/networks/fakeWhatsappScene.ts';

describe('people', () => {
  let scene: Scene;
  let me: Scene['me'];
  let bob: Scene['bob'];
  let carol: Scene['carol'];
  let client: Scene['client'];

  before(async () => {
    scene = await startScene();
    ({ me, bob, carol, client } = scene);
  });
  after(() => scene.close());

  it('are on WhatsApp or not', async () => {
    const found = await client.socket.onWhatsApp(bob.number, '15559999999');
    // The client omits numbers that are not on WhatsApp.
    assert.deepEqual(found, [{ jid: bob.numberJid, exists: true }]);
  });

  it('can have a number that is written in another way than in WhatsApp', async () => {
    const ana = scene.whatsapp.phone('551187654321', 'Ana');
    ana.answerTo('5511987654321');
    const found = await client.socket.onWhatsApp('5511987654321', bob.number);
    assert.deepEqual(found, [
      { jid: ana.numberJid, exists: true },
      { jid: bob.numberJid, exists: true },
    ]);
  });

  it('have a LID besides their number', async () => {
    const { lidMapping } = client.socket.signalRepository;
    assert.equal(await lidMapping.getLIDForPN(bob.numberJid), bob.lidJid);
    assert.equal((await lidMapping.getPNForLID(bob.lidJid))?.replace(':0@', '@'), bob.numberJid);
  });

  it('can hide their number, and show it later', async () => {
    const shy = scene.whatsapp.phone('15550009000', 'Shy');
    shy.profile.hidesNumber = true;
    const first = await shy.sendText(me.number, 'guess who');
    const keyOf = async (id: string) =>
      (await client.event('messages.upsert', ({ messages }) => messages[0]?.key.id === id)).messages[0]?.key;
    assert.deepEqual([(await keyOf(first))?.remoteJid, (await keyOf(first))?.remoteJidAlt], [shy.lidJid, undefined]);
    assert.equal(await client.socket.signalRepository.lidMapping.getPNForLID(shy.lidJid), null);
    shy.profile.hidesNumber = false;
    const second = await shy.sendText(me.number, 'it is me');
    assert.equal((await keyOf(second))?.remoteJidAlt, shy.numberJid);
  });

  it('can show their number without a message', async () => {
    const shy = scene.whatsapp.phone('15550009001', 'Shy too');
    shy.profile.hidesNumber = true;
    const id = await shy.sendText(me.number, 'guess again');
    await client.event('messages.upsert', ({ messages }) => messages[0]?.key.id === id);
    shy.showNumberTo(me.number);
    const { pn } = await client.event('lid-mapping.update', ({ lid }) => lid === shy.lidJid);
    assert.equal(pn, shy.numberJid);
  });

  it('are rate limited by the network', async () => {
    assert.equal((await client.socket.fetchAccountReachoutTimelock()).isActive, false);
    const endsAt = new Date('2026-12-01T00:00:00Z');
    me.limit({ noNewChatsUntilS: endsAt.getTime() / 1000, newChats: { total: 10, used: 10 } });
    const { reachoutTimeLock } = await client.event(
      'connection.update',
      (update) => update.reachoutTimeLock?.isActive === true,
    );
    assert.deepEqual(reachoutTimeLock?.timeEnforcementEnds, endsAt);
    assert.equal((await client.event('message-capping.update')).capping_status, 'CAPPED');
    assert.equal((await client.socket.fetchAccountReachoutTimelock()).isActive, true);
    assert.equal((await client.socket.fetchNewChatMessageCap()).used_quota, 10);
  });

  it('synchronize a name and archived chats between their devices', async () => {
    await client.socket.updateProfileName('Me, renamed');
    assert.equal(me.profile.name, 'Me, renamed');
    await client.socket.chatModify({ pin: true }, bob.numberJid);
    await client.socket.chatModify({ pin: false }, bob.numberJid);
    const pins = me.stateChanges.all.filter(({ index }) => index[0] === 'pin_v1');
    assert.deepEqual(
      pins.map(({ index, value }) => [index[1], value.pinAction?.pinned]),
      [
        [bob.numberJid, true],
        [bob.numberJid, false],
      ],
    );
    const other = createBaileysClient(scene.whatsapp.url);
    await other.linked(async ({ qr }) => me.scan(await qr()));
    assert.equal(other.socket.user?.name, 'Me, renamed');
    await client.socket.updateProfileName('Me again');
    await other.event('creds.update', (update) => update.me?.name === 'Me again');
    await other.end();
  });

  it('see each other typing', async () => {
    for (const state of ['composing', 'recording', 'paused'] as const) {
      await client.socket.sendPresenceUpdate(state, bob.numberJid);
      await bob.typings.waitFor((typing) => typing.from === me.number && typing.state === state);
    }
    bob.typing(me.number, 'recording');
    await client.event('presence.update', ({ presences }) => presences[bob.lidJid]?.lastKnownPresence === 'recording');
    const group = bob.groups.create('Typists', [me.number]);
    bob.typing(group, 'composing');
    await client.event('presence.update', ({ id, presences }) => id === group && bob.lidJid in presences);
  });

  it('are online or offline', async () => {
    await client.socket.presenceSubscribe(bob.numberJid);
    const isSeen = (state: 'available' | 'unavailable') =>
      client.event('presence.update', ({ presences }) => presences[bob.lidJid]?.lastKnownPresence === state);
    await isSeen('unavailable');
    bob.setOnline(true);
    await isSeen('available');
  });

  /** The first bytes of a JPEG, the only ones that are checked. */
  const MY_FACE = Buffer.from([0xff, 0xd8, 0xff, 0xe0]);

  it('have pictures, and the client has one', async () => {
    const isMissing = (error: { data?: unknown }) => error.data === 404;
    await assert.rejects(client.socket.profilePictureUrl(bob.numberJid, 'image'), isMissing);
    bob.setPicture(Buffer.from('a face'));
    const url = (await client.socket.profilePictureUrl(bob.numberJid, 'image')) ?? '';
    assert.equal(await (await fetch(url)).text(), 'a face');
    // Like updateProfilePicture, which requires an image library.
    await client.socket.query({
      tag: 'iq',
      attrs: { to: 's.whatsapp.net', type: 'set', xmlns: 'w:profile:picture' },
      content: [{ tag: 'picture', attrs: { type: 'image' }, content: MY_FACE }],
    });
    const own = (await client.socket.profilePictureUrl(me.numberJid, 'image')) ?? '';
    assert.deepEqual(Buffer.from(await (await fetch(own)).arrayBuffer()), MY_FACE);
    await client.socket.removeProfilePicture(me.numberJid);
    await assert.rejects(client.socket.profilePictureUrl(me.numberJid, 'image'), isMissing);
  });

  it('have an about text, and the client changes its own', async () => {
    bob.profile.about = 'at work';
    const [found] = (await client.socket.fetchStatus(bob.numberJid)) ?? [];
    assert.deepEqual((found?.['status'] as { status: string } | undefined)?.status, 'at work');
    await client.socket.updateProfileStatus('busy');
    assert.equal(me.profile.about, 'busy');
  });

  it('can be businesses', async () => {
    assert.equal(await client.socket.getBusinessProfile(bob.numberJid), undefined);
    carol.profile.business = { description: 'We bake.', email: 'carol@example.com' };
    const profile = await client.socket.getBusinessProfile(carol.numberJid);
    assert.deepEqual([profile?.description, profile?.email], ['We bake.', 'carol@example.com']);
  });

  it('do not reach the client while they are blocked', async () => {
    await client.socket.updateBlockStatus(carol.numberJid, 'block');
    assert.deepEqual(await client.socket.fetchBlocklist(), [carol.lidJid]);
    await carol.sendText(me.number, 'hello?');
    const id = await bob.sendText(me.number, 'hello!');
    await client.event('messages.upsert', ({ messages }) => messages[0]?.key.id === id);
    assert.equal(
      client.events('messages.upsert').some(({ messages }) => messages[0]?.message?.conversation === 'hello?'),
      false,
    );
    await client.socket.updateBlockStatus(carol.numberJid, 'unblock');
    assert.deepEqual(await client.socket.fetchBlocklist(), []);
    bob.block(me.number);
    const sent = await client.socket.sendMessage(bob.numberJid, { text: 'why?' });
    await client.ack(sent?.key.id ?? '');
    bob.unblock(me.number);
    const next = await client.socket.sendMessage(bob.numberJid, { text: 'thanks' });
    await bob.messages.waitFor((message) => message.id === next?.key.id);
    assert.equal(
      bob.messages.all.some((message) => message.id === sent?.key.id),
      false,
    );
  });
});
