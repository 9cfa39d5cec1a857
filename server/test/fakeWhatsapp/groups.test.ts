import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { GroupMetadata } from 'baileys';
import { type Scene, startScene } from '../support/networks/fakeWhatsappScene.ts';

describe('groups', () => {
  let scene: Scene;
  let me: Scene['me'];
  let bob: Scene['bob'];
  let carol: Scene['carol'];
  let client: Scene['client'];
  let group: GroupMetadata;

  before(async () => {
    scene = await startScene();
    ({ me, bob, carol, client } = scene);
    group = await client.socket.groupCreate('Team', [bob.numberJid]);
  });
  after(() => scene.close());

  const rolesOf = async () => {
    const { participants } = await client.socket.groupMetadata(group.id);
    return Object.fromEntries(participants.map(({ phoneNumber, admin }) => [phoneNumber?.split('@')[0], admin]));
  };
  const refusal = (code: number) => (error: { data?: unknown }) => error.data === code;

  it('are created, and every member is notified', async () => {
    assert.equal(group.subject, 'Team');
    assert.equal(group.ownerPn, me.numberJid);
    assert.deepEqual(await rolesOf(), { [me.number]: 'superadmin', [bob.number]: null });
    const [created] = await client.event('groups.upsert');
    assert.equal(created?.id, group.id);
    assert.equal(created?.authorPn, me.numberJid);
  });

  it('deliver texts to all members and return their receipts', async () => {
    const sent = await client.socket.sendMessage(group.id, { text: 'hello all' });
    const id = sent?.key.id ?? '';
    const got = await bob.messages.waitFor((message) => message.id === id);
    assert.deepEqual([got.chat, got.from, got.encryption], [group.id, me.number, 'skmsg']);
    assert.equal(got.message.extendedTextMessage?.text, 'hello all');
    await me.messages.waitFor((message) => message.id === id && message.isOwn);
    const isOf = (readAt: 'receiptTimestamp' | 'readTimestamp') =>
      client.event('message-receipt.update', (updates) =>
        updates.some(({ key, receipt }) => key.id === id && receipt.userJid === bob.lidJid && receipt[readAt] != null),
      );
    await isOf('receiptTimestamp');
    bob.read(group.id, id);
    await isOf('readTimestamp');
  });

  it('deliver texts of members to the client', async () => {
    for (const text of ['first', 'second']) {
      const id = await bob.sendText(group.id, text);
      const { messages } = await client.event('messages.upsert', ({ messages }) => messages[0]?.key.id === id);
      const [message] = messages;
      assert.equal(message?.message?.conversation, text);
      assert.equal(message.key.remoteJid, group.id);
      assert.deepEqual([message.key.participant, message.key.participantAlt], [bob.lidJid, bob.numberJid]);
    }
  });

  it('accept new members, who read the next messages, and report why one cannot be added', async () => {
    carol.profile.refusesGroups = true;
    const add = (jid: string) => client.socket.groupParticipantsUpdate(group.id, [jid], 'add');
    assert.equal((await add(carol.numberJid))[0]?.status, '403');
    carol.profile.refusesGroups = false;
    assert.equal((await add(carol.numberJid))[0]?.status, '200');
    assert.equal((await add(carol.numberJid))[0]?.status, '409');
    assert.equal((await add('15559999999@s.whatsapp.net'))[0]?.status, '404');
    const update = await client.event('group-participants.update', ({ action }) => action === 'add');
    assert.equal(update.participants[0]?.phoneNumber, carol.numberJid);
    const sent = await client.socket.sendMessage(group.id, { text: 'welcome' });
    await carol.messages.waitFor((message) => message.id === sent?.key.id);
    const id = await carol.sendText(group.id, 'thanks');
    await client.event('messages.upsert', ({ messages }) => messages[0]?.key.id === id);
    await bob.messages.waitFor((message) => message.id === id);
  });

  it('change their subject, description and settings', async () => {
    await client.socket.groupUpdateSubject(group.id, 'Team 2');
    await client.socket.groupUpdateDescription(group.id, 'our work');
    await client.socket.groupUpdateDescription(group.id, 'our past work');
    await client.socket.groupSettingUpdate(group.id, 'announcement');
    await client.socket.groupSettingUpdate(group.id, 'locked');
    await client.socket.groupJoinApprovalMode(group.id, 'on');
    await client.socket.groupMemberAddMode(group.id, 'admin_add');
    await client.socket.groupToggleEphemeral(group.id, 86_400);
    const changed = await client.socket.groupMetadata(group.id);
    assert.deepEqual(
      [changed.subject, changed.desc, changed.announce, changed.restrict, changed.joinApprovalMode],
      ['Team 2', 'our past work', true, true, true],
    );
    assert.deepEqual([changed.memberAddMode, changed.ephemeralDuration], [false, 86_400]);
    await client.event('groups.update', ([update]) => update?.subject === 'Team 2');
    await client.event('groups.update', ([update]) => update?.announce === true);
    await assert.rejects(bob.sendText(group.id, 'may I?'), /403/);
    await client.socket.groupSettingUpdate(group.id, 'not_announcement');
    await client.socket.groupUpdateDescription(group.id);
    assert.equal((await client.socket.groupMetadata(group.id)).desc, undefined);
  });

  it('promote and demote members', async () => {
    await client.socket.groupParticipantsUpdate(group.id, [bob.numberJid], 'promote');
    assert.equal((await rolesOf())[bob.number], 'admin');
    await client.socket.groupParticipantsUpdate(group.id, [bob.numberJid], 'demote');
    assert.equal((await rolesOf())[bob.number], null);
    const [onOwner] = await client.socket.groupParticipantsUpdate(group.id, [me.numberJid], 'demote');
    assert.equal(onOwner?.status, '406');
  });

  it('admit members by link, after approval by an admin', async () => {
    await client.socket.groupParticipantsUpdate(group.id, [carol.numberJid], 'remove');
    const code = (await client.socket.groupInviteCode(group.id)) ?? '';
    assert.equal((await client.socket.groupGetInviteInfo(code)).id, group.id);
    assert.equal(carol.groups.join(code), 'requested');
    const [request] = await client.socket.groupRequestParticipantsList(group.id);
    assert.equal(request?.['jid'], carol.lidJid);
    await client.event('group.join-request', ({ participant }) => participant === carol.lidJid);
    await client.socket.groupRequestParticipantsUpdate(group.id, [carol.lidJid], 'approve');
    assert.equal(
      carol.lidJid in
        Object.fromEntries((await client.socket.groupMetadata(group.id)).participants.map(({ id }) => [id, true])),
      true,
    );
    const newCode = await client.socket.groupRevokeInvite(group.id);
    assert.notEqual(newCode, code);
    assert.throws(() => carol.groups.join(code), /not-acceptable/);
  });

  it('of others are joined by the client', async () => {
    const other = bob.groups.create('Others', [carol.number]);
    assert.equal(await client.socket.groupAcceptInvite(bob.groups.inviteCode(other)), other);
    const all = await client.socket.groupFetchAllParticipating();
    assert.deepEqual(Object.keys(all).sort(), [group.id, other].sort());
    bob.groups.rename(other, 'Ours');
    await client.event('groups.update', ([update]) => update?.id === other && update.subject === 'Ours');
    bob.groups.change(other, 'promote', [carol.number]);
    await client.event('group-participants.update', ({ id, action }) => id === other && action === 'promote');
    bob.groups.change(other, 'remove', [me.number]);
    await client.event('group-participants.update', ({ id, action }) => id === other && action === 'remove');
    await assert.rejects(client.socket.groupMetadata(other), refusal(403));
  });

  it('enforce permissions', async () => {
    const other = bob.groups.create('Bob decides', [me.number]);
    await assert.rejects(client.socket.groupInviteCode(other), refusal(401));
    await assert.rejects(client.socket.groupSettingUpdate(other, 'announcement'), refusal(401));
    await assert.rejects(client.socket.groupMetadata('120363000000000000@g.us'), refusal(404));
    bob.groups.set(other, 'announcement');
    const sent = await client.socket.sendMessage(other, { text: 'may I?' });
    assert.equal((await client.ack(sent?.key.id ?? ''))['error'], '403');
  });

  it('have pictures', async () => {
    await assert.rejects(client.socket.profilePictureUrl(group.id, 'image'), refusal(404));
    bob.setPicture(Buffer.from('a picture'), group.id);
    const url = (await client.socket.profilePictureUrl(group.id, 'image')) ?? '';
    assert.equal(await (await fetch(url)).text(), 'a picture');
  });

  it('of older clients identify members by number', async () => {
    const old = bob.groups.create('Old ways', [me.number], 'number');
    const { addressingMode, participants } = await client.socket.groupMetadata(old);
    assert.equal(addressingMode, 'pn');
    assert.deepEqual(
      participants.map(({ id, lid }) => [id, lid]),
      [
        [bob.numberJid, bob.lidJid],
        [me.numberJid, me.lidJid],
      ],
    );
    const id = await bob.sendText(old, 'by number');
    const { messages } = await client.event('messages.upsert', ({ messages }) => messages[0]?.key.id === id);
    assert.equal(messages[0]?.message?.conversation, 'by number');
    assert.deepEqual([messages[0].key.participant, messages[0].key.participantAlt], [bob.numberJid, bob.lidJid]);
    const sent = await client.socket.sendMessage(old, { text: 'answer' });
    await bob.messages.waitFor((message) => message.id === sent?.key.id);
    await client.event('message-receipt.update', (updates) =>
      updates.some(({ key, receipt }) => key.id === sent?.key.id && receipt.userJid === bob.numberJid),
    );
  });

  it('can be left', async () => {
    await client.socket.groupLeave(group.id);
    await client.event('group-participants.update', ({ id, action, participants }) => {
      return id === group.id && action === 'remove' && participants[0]?.phoneNumber === me.numberJid;
    });
    await assert.rejects(client.socket.groupMetadata(group.id), refusal(403));
  });
});
