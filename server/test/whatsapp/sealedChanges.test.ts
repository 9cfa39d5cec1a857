import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { proto } from 'baileys';
import { eventually } from '../support/eventually.ts';
import { openSealed, type Phone, sealChange } from '../support/fakeWhatsapp/index.ts';
import { picture } from '../support/media/media.ts';
import { wireIdOf } from '../support/networks/wireId.ts';
import { type Answer, eventOf } from '../support/server.ts';
import { eventsOf, inStatus, linkSession, nextPhone, useWhatsapp } from './support.ts';

/* Phones seal edits, and reactions in the announcement group of a community, with the secret of the changed message. */

const setting = useWhatsapp({}, prepare);
let me: Phone;
let bob: Phone;
let sessionId: string;

async function prepare() {
  me = nextPhone(setting.whatsapp, 'Me');
  bob = nextPhone(setting.whatsapp, 'Bob');
  sessionId = await linkSession(setting.call, me);
}

const stored = async (messageId: string) => (await setting.call('GET', `/messages/${messageId}`)).body;

const incoming = (text: string): Promise<Answer['body']> =>
  eventOf(setting.call, 'message.incoming', ({ message }) => message === text);

async function createGroup(subject: string, addressing: 'lid' | 'number'): Promise<string> {
  const group = bob.groups.create(subject, [me.number], addressing);
  await eventOf(setting.call, 'group.created', (data) => data.subject === subject);
  return group;
}

const ADDRESSES = ['lid', 'number'] as const;
const MIXES = ADDRESSES.flatMap((author) => ADDRESSES.map((editor) => ({ author, editor })));
const MESSAGE_EDIT = proto.Message.SecretEncryptedMessage.SecretEncType.MESSAGE_EDIT;

describe('sealed edits', () => {
  for (const sealedFor of MIXES)
    it(`are applied in a direct chat: author by ${sealedFor.author}, editor by ${sealedFor.editor}`, async () => {
      const text = `direct ${sealedFor.author} ${sealedFor.editor}`;
      const id = await bob.sendText(me.number, text);
      const { messageId } = await incoming(text);
      await bob.edit(me.number, id, { conversation: `${text}, edited` }, { sealedFor });
      const edited = await eventOf(setting.call, 'message.edited', (data) => data.messageId === messageId);
      assert.deepEqual([edited.message, edited.from, edited.fromMe], [`${text}, edited`, bob.number, false]);
      assert.deepEqual([(await stored(messageId)).message, (await stored(messageId)).edited], [edited.message, true]);
    });

  for (const addressing of ADDRESSES)
    it(`are applied in a group that is addressed by ${addressing}`, async () => {
      const group = await createGroup(`Group by ${addressing}`, addressing);
      for (const sealedFor of MIXES) {
        const text = `group ${addressing} ${sealedFor.author} ${sealedFor.editor}`;
        const id = await bob.sendText(group, text);
        const { messageId } = await incoming(text);
        await bob.edit(group, id, { conversation: `${text}, edited` }, { sealedFor });
        await eventually(
          () => stored(messageId),
          ({ message }) => message === `${text}, edited`,
        );
      }
    });

  it('are applied to a message from before a restart of the session, and more than once', async () => {
    const id = await bob.sendText(me.number, 'from before');
    const { messageId } = await incoming('from before');
    await setting.call('POST', `/sessions/${sessionId}/disconnect`);
    await setting.call('POST', `/sessions/${sessionId}/connect`);
    await inStatus(setting.call, sessionId, 'connected');
    for (const text of ['first edit', 'second edit']) await bob.edit(me.number, id, { conversation: text });
    await eventually(
      () => stored(messageId),
      ({ message }) => message === 'second edit',
    );
  });

  it('from the phone that owns the session are applied', async () => {
    const { body: sent } = await setting.call('POST', '/messages/send', { sessionId, to: bob.number, message: 'ours' });
    const copy = await me.messages.waitFor(({ id }) => id === wireIdOf(sent.messageId));
    const secret = copy.message.messageContextInfo?.messageSecret ?? new Uint8Array();
    const key = { remoteJid: bob.lidJid, fromMe: true, id: copy.id };
    const plain = { protocolMessage: { type: 14, key, editedMessage: { conversation: 'ours, edited' } } };
    const sealed = sealChange(proto.Message.encode(plain).finish(), {
      use: 'Message Edit',
      secret,
      messageId: copy.id,
      author: me.lidJid,
      editor: me.lidJid,
    });
    await me.send(bob.number, {
      secretEncryptedMessage: { ...sealed, targetMessageKey: key, secretEncType: MESSAGE_EDIT },
    });
    await eventually(
      () => stored(sent.messageId),
      ({ message }) => message === 'ours, edited',
    );
    const id = await me.sendText(bob.number, 'from the phone');
    const { messageId } = await eventOf(setting.call, 'message.sent', ({ message }) => message === 'from the phone');
    await me.edit(bob.number, id, { conversation: 'from the phone, edited' });
    await eventually(
      () => stored(messageId),
      ({ message }) => message === 'from the phone, edited',
    );
  });

  it('wait for a message that arrives after them', async () => {
    const target = { id: 'LATE0001', secret: Buffer.alloc(32, 3) };
    const key = { remoteJid: me.lidJid, fromMe: true, id: target.id };
    for (const text of ['late, edited', 'late, edited twice']) {
      const plain = { protocolMessage: { type: 14, key, editedMessage: { conversation: text } } };
      const sealed = sealChange(proto.Message.encode(plain).finish(), {
        use: 'Message Edit',
        secret: target.secret,
        messageId: target.id,
        author: bob.lidJid,
        editor: bob.lidJid,
      });
      await bob.send(me.number, {
        secretEncryptedMessage: { ...sealed, targetMessageKey: key, secretEncType: MESSAGE_EDIT },
      });
    }
    await bob.send(
      me.number,
      { conversation: 'late', messageContextInfo: { messageSecret: target.secret } },
      { id: target.id },
    );
    const { messageId } = await incoming('late');
    await eventually(
      () => stored(messageId),
      ({ message }) => message === 'late, edited twice',
    );
  });

  it('remove the caption of a file, and not a text', async () => {
    const { imageMessage } = bob.uploadFile('image', picture(), { mimetype: 'image/png' });
    const id = await bob.send(me.number, { imageMessage: { ...imageMessage, caption: 'the wrong caption' } });
    const { messageId } = await incoming('the wrong caption');
    const textId = await bob.sendText(me.number, 'a text stays');
    const text = await incoming('a text stays');
    for (const one of [textId, id]) await bob.edit(me.number, one, { imageMessage });
    const edited = await eventOf(setting.call, 'message.edited', (data) => data.messageId === messageId);
    assert.equal(edited.message, '');
    assert.deepEqual([(await stored(messageId)).message, (await stored(messageId)).edited], ['', true]);
    assert.equal((await stored(text.messageId)).message, 'a text stays');
  });

  it('change the details of an event', async () => {
    const id = await bob.send(me.number, { eventMessage: { name: 'Lunch', startTime: 1_900_000_000 } });
    const { messageId } = await incoming('Lunch');
    const eventMessage = { name: 'Late lunch', startTime: 1_900_003_600, isCanceled: true };
    await bob.edit(me.number, id, { eventMessage });
    const edited = await eventOf(setting.call, 'message.edited', (data) => data.messageId === messageId);
    const event = { startsAt: '2030-03-17T18:46:40.000Z', canceled: true };
    assert.deepEqual([edited.message, edited.event], ['Late lunch', event]);
    const { message, event: details } = await stored(messageId);
    assert.deepEqual([message, details], ['Late lunch', event]);
  });

  it('that cannot be opened change nothing, and never become messages', async () => {
    const id = await bob.sendText(me.number, 'keep this');
    const { messageId } = await incoming('keep this');
    const before = await eventsOf(setting.call, sessionId, ['message.incoming']);
    const targetMessageKey = { remoteJid: me.lidJid, fromMe: true, id };
    const secretEncType = MESSAGE_EDIT;
    for (const secretEncryptedMessage of [
      { targetMessageKey, secretEncType, encIv: Buffer.alloc(12), encPayload: Buffer.alloc(40) },
      { targetMessageKey, secretEncType, encIv: Buffer.alloc(3), encPayload: Buffer.alloc(2) },
      { targetMessageKey, secretEncType },
      { secretEncType },
      { targetMessageKey, secretEncType: 99, encIv: Buffer.alloc(12), encPayload: Buffer.alloc(40) },
    ])
      await bob.send(me.number, { secretEncryptedMessage });
    await bob.sendText(me.number, 'after the unreadable ones');
    await incoming('after the unreadable ones');
    const after = await eventsOf(setting.call, sessionId, ['message.incoming']);
    assert.equal(after.length, before.length + 1);
    assert.equal((await stored(messageId)).message, 'keep this');
    await eventually(
      async () => (await fetch(`${setting.server.url}/metrics`)).text(),
      (metrics) => metrics.includes('switchboard_unreadable_messages_total{reason="sealed_change"} 4'),
    );
  });

  it('from another person are ignored', async () => {
    const group = await createGroup('Impostors', 'lid');
    const eve = nextPhone(setting.whatsapp, 'Eve');
    bob.groups.change(group, 'add', [eve.number]);
    const id = await bob.sendText(group, 'by Bob');
    const { messageId } = await incoming('by Bob');
    const key = { remoteJid: group, fromMe: true, id };
    const plain = { protocolMessage: { type: 14, key, editedMessage: { conversation: 'by Eve' } } };
    // Every member knows the secret.
    const sealed = sealChange(proto.Message.encode(plain).finish(), {
      use: 'Message Edit',
      secret: bob.secretOf(id),
      messageId: id,
      author: bob.lidJid,
      editor: eve.lidJid,
    });
    await eve.send(group, {
      secretEncryptedMessage: { ...sealed, targetMessageKey: key, secretEncType: MESSAGE_EDIT },
    });
    await eve.sendText(group, 'after the forged edit');
    await incoming('after the forged edit');
    assert.equal((await stored(messageId)).message, 'by Bob');
  });
});

describe('the announcement group of a community', () => {
  async function createAnnouncements(subject: string) {
    const { body: community } = await setting.call('POST', '/communities', { sessionId, subject });
    const { body } = await eventually(
      () => setting.call('GET', `/communities/${community.groupId}/groups`),
      (answer) => answer.body.data?.length === 1 && answer.body.data[0].groupId !== null,
    );
    const group = (await setting.call('GET', `/groups/${body.data[0].groupId}`)).body;
    me.groups.change(group.networkGroupId, 'add', [bob.number]);
    await eventually(
      async () => (await setting.call('GET', `/groups/${group.groupId}`)).body,
      ({ participants }) => participants.length === 2,
    );
    return { groupId: group.groupId, networkId: group.networkGroupId };
  }

  it('takes part in sealed reactions and edits in both directions', async () => {
    const { groupId, networkId } = await createAnnouncements('Village');
    const { body: sent } = await setting.call('POST', '/messages/send', { sessionId, to: groupId, message: 'news' });
    const { id, message } = await bob.messages.waitFor((one) => one.id === wireIdOf(sent.messageId));
    const secret = message.messageContextInfo?.messageSecret;
    assert.ok(secret);
    await bob.reactSealed(networkId, { id, secret, author: me.lidJid }, '🎉');
    const reaction = await eventOf(setting.call, 'message.reaction', (data) => data.messageId === sent.messageId);
    assert.deepEqual([reaction.emoji, reaction.from], ['🎉', bob.number]);
    await bob.reactSealed(networkId, { id, secret, author: me.lidJid }, '');
    await eventually(
      () => stored(sent.messageId),
      ({ reactions }) => !reactions?.length,
    );

    const edited = await setting.call('PATCH', `/messages/${sent.messageId}`, { message: 'better news' });
    assert.equal(edited.status, 200, JSON.stringify(edited.body));
    const edit = await bob.messages.waitFor(
      (one) => one.chat === networkId && one.message.secretEncryptedMessage != null,
    );
    const own = { secret, messageId: id, author: me.lidJid, editor: me.lidJid };
    const opened = openSealed(edit.message.secretEncryptedMessage ?? {}, { use: 'Message Edit', ...own });
    const { protocolMessage } = proto.Message.decode(opened);
    assert.equal(protocolMessage?.editedMessage?.extendedTextMessage?.text, 'better news');
    assert.equal(edit.stanza.attrs['edit'], '1');

    me.groups.change(networkId, 'promote', [bob.number]);
    const newsId = await bob.sendText(networkId, 'news of Bob');
    const { messageId } = await incoming('news of Bob');
    for (const emoji of ['👍', '']) {
      const before = bob.messages.all.length;
      const path = `/messages/${messageId}/reaction`;
      const answer = await setting.call('PUT', path, { emoji });
      assert.equal(answer.status, 200, JSON.stringify(answer.body));
      const reacted = await bob.messages.waitFor(
        (one) => one.message.encReactionMessage != null && bob.messages.all.indexOf(one) >= before,
      );
      const { encReactionMessage } = reacted.message;
      const target = { secret: bob.secretOf(newsId), messageId: newsId, author: bob.lidJid, editor: me.lidJid };
      const plain = openSealed(encReactionMessage ?? {}, { use: 'Enc Reaction', ...target });
      assert.equal(proto.Message.ReactionMessage.decode(plain).text, emoji);
      assert.equal(encReactionMessage?.targetMessageKey?.id, newsId);
    }
    assert.ok(!bob.messages.all.some((one) => one.message.reactionMessage != null && one.chat === networkId));
  });

  it('gets an unsealed reaction to a message without a known secret', async () => {
    const { networkId } = await createAnnouncements('Hamlet');
    me.groups.change(networkId, 'promote', [bob.number]);
    const messageSecret = Buffer.alloc(8);
    await bob.send(networkId, { conversation: 'without a secret', messageContextInfo: { messageSecret } });
    const { messageId } = await incoming('without a secret');
    await setting.call('PUT', `/messages/${messageId}/reaction`, { emoji: '👍' });
    const { message } = await bob.messages.waitFor(
      (one) => one.chat === networkId && one.message.reactionMessage != null,
    );
    assert.equal(message.reactionMessage?.text, '👍');
  });
});
