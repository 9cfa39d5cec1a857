import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { proto } from 'baileys';
import { eventually } from '../support/eventually.ts';
import type { Phone, ReceivedMessage } from '../support/fakeWhatsapp/index.ts';
import { wireIdOf } from '../support/networks/wireId.ts';
import { type Answer, eventOf } from '../support/server.ts';
import { linkSession, nextPhone, useWhatsapp } from './support.ts';

/* Phones find a group message by its author's address, and show a mention by its digits. */

const setting = useWhatsapp({}, prepare);
let me: Phone;
let bob: Phone;
let carol: Phone;
let sessionId: string;

async function prepare() {
  me = nextPhone(setting.whatsapp, 'Me');
  bob = nextPhone(setting.whatsapp, 'Bob');
  carol = nextPhone(setting.whatsapp, 'Carol');
  sessionId = await linkSession(setting.call, me);
}

const textOf = ({ message }: ReceivedMessage) => message.extendedTextMessage?.text ?? message.conversation;

/** Creates a group with the session and a message by a member. */
async function writeInGroup(addressing: 'lid' | 'number', text: string) {
  const group = me.groups.create(`Group of ${text}`, [bob.number, carol.number], addressing);
  const { groupId } = await eventOf(setting.call, 'group.created', ({ networkGroupId }) => networkGroupId === group);
  await bob.sendText(group, text);
  const { messageId } = await eventOf(setting.call, 'message.incoming', ({ message }) => message === text);
  const send = (body: object) => setting.call('POST', '/messages/send', { sessionId, to: groupId, ...body });
  return { group, groupId, messageId, send };
}

const AUTHORS = { lid: () => bob.lidJid, number: () => bob.numberJid };

for (const addressing of ['lid', 'number'] as const)
  describe(`in a group that is addressed by ${addressing}`, () => {
    it('shows reactions, replies, pins and deletions by an admin', async () => {
      const { call } = setting;
      const { group, messageId, send } = await writeInGroup(addressing, `question by ${addressing}`);
      const author = AUTHORS[addressing]();
      assert.equal((await call('PUT', `/messages/${messageId}/reaction`, { emoji: '👍' })).status, 200);
      const isReaction = ({ chat, message }: ReceivedMessage) => chat === group && message.reactionMessage != null;
      const reaction = await carol.messages.waitFor(isReaction);
      assert.equal(reaction.message.reactionMessage?.key?.participant, author);
      assert.equal((await send({ message: `reply by ${addressing}`, replyTo: messageId })).status, 201);
      const reply = await carol.messages.waitFor((one) => textOf(one) === `reply by ${addressing}`);
      assert.equal(reply.message.extendedTextMessage?.contextInfo?.participant, author);
      const pinned = await call('POST', `/messages/${messageId}/pin`, {});
      assert.equal(pinned.status, 200, JSON.stringify(pinned.body));
      await carol.messages.waitFor(({ chat, message }) => chat === group && message.pinInChatMessage != null);
      assert.equal((await call('DELETE', `/messages/${messageId}`)).status, 200);
      await carol.messages.waitFor(({ chat, message }) => chat === group && message.protocolMessage != null);
      assert.deepEqual(
        carol.unshown.all.filter(({ chat }) => chat === group),
        [],
      );
    });

    it('shows a reply to our message', async () => {
      const { send } = await writeInGroup(addressing, `hello by ${addressing}`);
      const { body } = await send({ message: `first by ${addressing}` });
      await carol.messages.waitFor((one) => textOf(one) === `first by ${addressing}`);
      assert.equal((await send({ message: `second by ${addressing}`, replyTo: body.messageId })).status, 201);
      const reply = await carol.messages.waitFor((one) => textOf(one) === `second by ${addressing}`);
      const own = addressing === 'lid' ? me.lidJid : me.numberJid;
      assert.equal(reply.message.extendedTextMessage?.contextInfo?.participant, own);
    });

    it('mentions people by the same address in the text, which an edit keeps', async () => {
      const { call } = setting;
      const { group, groupId, send } = await writeInGroup(addressing, `everyone, ${addressing}`);
      const user = addressing === 'lid' ? carol.lid : carol.number;
      const jid = addressing === 'lid' ? carol.lidJid : carol.numberJid;
      const { body: sent } = await send({ message: `ask @${carol.number}, please`, mentions: [carol.number] });
      assert.equal(sent.message, `ask @${carol.number}, please`);
      const got = await bob.messages.waitFor((one) => one.id === wireIdOf(sent.messageId));
      assert.equal(textOf(got), `ask @${user}, please`);
      assert.deepEqual(got.message.extendedTextMessage?.contextInfo?.mentionedJid, [jid]);
      const edited = await call('PATCH', `/messages/${sent.messageId}`, { message: `now @${carol.number}` });
      assert.deepEqual([edited.status, edited.body.message], [200, `now @${carol.number}`]);
      const change = await bob.messages.waitFor(({ chat, message }) => chat === group && editIn(message) != null);
      const edit = editIn(change.message)?.extendedTextMessage;
      assert.deepEqual([edit?.text, edit?.contextInfo?.mentionedJid], [`now @${user}`, [jid]]);
      const { body: found } = await call('GET', `/messages?chatId=${groupId}&q=${carol.number}`);
      assert.deepEqual(
        found.data.map(({ messageId }: Answer['body']) => messageId),
        [sent.messageId],
      );
    });
  });

const editIn = (message: proto.IMessage) =>
  (message.editedMessage?.message ?? message).protocolMessage?.editedMessage ?? undefined;

it('reads mentions by LID as numbers in texts, captions and edits, for members who never wrote', async () => {
  const { call } = setting;
  const { group } = await writeInGroup('lid', 'begin');
  const contextInfo = { mentionedJid: [carol.lidJid, me.lidJid] };
  const text = `hi @${carol.lid} and @${me.lid}, not @123456789012345`;
  const id = await bob.send(group, { extendedTextMessage: { text, contextInfo } });
  const shown = `hi @${carol.number} and @${me.number}, not @123456789012345`;
  const incoming = await eventOf(call, 'message.incoming', ({ message }) => message === shown);
  assert.deepEqual(incoming.mentions, [carol.number, me.number]);
  await bob.sendFile(group, 'document', Buffer.from('a file'), { caption: `for @${carol.lid}`, contextInfo });
  await eventOf(call, 'message.incoming', ({ message }) => message === `for @${carol.number}`);
  const { MESSAGE_EDIT } = proto.Message.ProtocolMessage.Type;
  const editedMessage = { extendedTextMessage: { text: `bye @${carol.lid}`, contextInfo } };
  const key = { id, remoteJid: group, fromMe: true };
  await bob.send(group, { protocolMessage: { key, type: MESSAGE_EDIT, editedMessage } });
  const edited = await eventOf(call, 'message.edited', ({ messageId }) => messageId === incoming.messageId);
  assert.equal(edited.message, `bye @${carol.number}`);
  const { body } = await call('GET', `/contacts/lookup?sessionId=${sessionId}&lids=${carol.lid}`);
  assert.ok(JSON.stringify(body).includes(carol.number), JSON.stringify(body));
});

it('replaces the mentions of a message with the ones of its edit', async () => {
  const { call } = setting;
  const { group, send } = await writeInGroup('lid', 'before the edits');
  const plain = await bob.send(group, { extendedTextMessage: { text: 'ask someone' } });
  const { messageId } = await eventOf(call, 'message.incoming', ({ message }) => message === 'ask someone');
  const { MESSAGE_EDIT } = proto.Message.ProtocolMessage.Type;
  const edit = async (text: string, mentioned: Phone[]) => {
    const users = mentioned.map(({ lid }) => `@${lid}`).join(' ');
    const contextInfo = { mentionedJid: mentioned.map(({ lidJid }) => lidJid) };
    const editedMessage = { extendedTextMessage: { text: `${text} ${users}`, contextInfo } };
    const key = { id: plain, remoteJid: group, fromMe: true };
    await bob.send(group, { protocolMessage: { key, type: MESSAGE_EDIT, editedMessage } });
    const event = await eventOf(call, 'message.edited', ({ message }) => message.startsWith(text));
    const { body } = await call('GET', `/messages/${messageId}`);
    return [event.mentions, body.mentions];
  };
  assert.deepEqual(await edit('ask', [carol]), [[carol.number], [carol.number]]);
  assert.deepEqual(await edit('better ask', [me, carol]), [
    [me.number, carol.number],
    [me.number, carol.number],
  ]);
  assert.deepEqual(await edit('never mind', []), [undefined, undefined]);

  const mentions = [carol.number, bob.number];
  const { body: own } = await send({ message: `@${carol.number} or @${bob.number}`, mentions });
  const edited = await call('PATCH', `/messages/${own.messageId}`, { message: `only @${bob.number}` });
  assert.deepEqual(edited.body.mentions, [bob.number]);
});

it('sends mentions by LID, which the text repeats, and shows the number', async () => {
  const { send } = await writeInGroup('lid', 'before the LID');
  const { body } = await send({ message: `ask @${carol.lid}, not @${carol.lid}0`, mentions: [carol.lidJid] });
  assert.deepEqual([body.message, body.mentions], [`ask @${carol.number}, not @${carol.lid}0`, [carol.number]]);
  const got = await bob.messages.waitFor(({ id }) => id === wireIdOf(body.messageId));
  assert.equal(textOf(got), `ask @${carol.lid}, not @${carol.lid}0`);
  assert.deepEqual(got.message.extendedTextMessage?.contextInfo?.mentionedJid, [carol.lidJid]);
  const hidden = '999888777666555';
  const { body: unknown } = await send({ message: `and @${hidden}`, mentions: [`${hidden}@lid`] });
  assert.deepEqual([unknown.message, unknown.mentions], [`and @000${hidden}`, [`000${hidden}`]]);
});

it('reads the mentions in a quoted text as numbers', async () => {
  const { call } = setting;
  const { group } = await writeInGroup('lid', 'before the quote');
  const original = { text: `hi @${carol.lid}`, contextInfo: { mentionedJid: [carol.lidJid] } };
  const quotedMessage = { extendedTextMessage: original };
  const contextInfo = { stanzaId: 'QUOTED', participant: carol.lidJid, quotedMessage };
  await bob.send(group, { extendedTextMessage: { text: 'a quote with a mention', contextInfo } });
  const { quoted } = await eventOf(call, 'message.incoming', ({ message }) => message === 'a quote with a mention');
  assert.equal(quoted.text, `hi @${carol.number}`);
});

it('learns a number from the notice that its owner joined', async () => {
  const { call } = setting;
  const { group } = await writeInGroup('lid', 'before the joining');
  const dave = nextPhone(setting.whatsapp, 'Dave');
  me.groups.change(group, 'add', [dave.number]);
  await eventOf(call, 'group.updated', ({ change }) => change.phoneNumbers?.includes(dave.number));
  const contextInfo = { mentionedJid: [dave.lidJid] };
  await bob.send(group, { extendedTextMessage: { text: `welcome @${dave.lid}`, contextInfo } });
  const { mentions } = await eventOf(call, 'message.incoming', ({ message }) => message === `welcome @${dave.number}`);
  assert.deepEqual(mentions, [dave.number]);
});

it('finds messages from the second when the group was migrated by the addresses that they had', async () => {
  const { whatsapp, call } = setting;
  const { group, groupId, messageId, send } = await writeInGroup('number', 'within a second');
  const sentAtS = Math.floor(Date.now() / 1000);
  await bob.sendText(group, 'just before', { sentAtS });
  const before = await eventOf(call, 'message.incoming', ({ message }) => message === 'just before');
  whatsapp.migrateGroup(group);
  await bob.sendText(group, 'just after', { sentAtS });
  const after = await eventOf(call, 'message.incoming', ({ message }) => message === 'just after');
  const messages = [
    [messageId, bob.numberJid],
    [before.messageId, bob.numberJid],
    [after.messageId, bob.lidJid],
  ] as const;
  for (const [index, [id, participant]] of messages.entries()) {
    assert.equal((await call('PUT', `/messages/${id}/reaction`, { emoji: '⏱️' })).status, 200);
    const text = `to ${index} within a second`;
    assert.equal((await send({ message: text, replyTo: id })).status, 201);
    const reply = await carol.messages.waitFor((one) => textOf(one) === text);
    assert.equal(reply.message.extendedTextMessage?.contextInfo?.participant, participant);
    assert.equal((await call('POST', `/messages/${id}/pin`, {})).status, 200);
    assert.equal((await call('DELETE', `/messages/${id}`)).status, 200);
    const key = await carol.messages.waitFor(({ chat, message }) => {
      const deleted = message.protocolMessage?.key;
      return chat === group && deleted?.participant === participant;
    });
    assert.equal(key.message.protocolMessage?.key?.remoteJid, group);
  }
  await eventually(
    async () => carol.messages.all.filter(({ chat, message }) => chat === group && message.protocolMessage != null),
    ({ length }) => length === messages.length,
  );
  assert.deepEqual(
    carol.unshown.all.filter(({ chat }) => chat === group),
    [],
  );
  const { body: read } = await call('POST', `/chats/${groupId}/read`, { sessionId });
  assert.equal(read.read, messages.length);
});

it('finds a message from before the group was migrated by the number that it had', async () => {
  const { whatsapp, call } = setting;
  const { group, messageId } = await writeInGroup('number', 'of the old days');
  whatsapp.migrateGroup(group);
  const sentAtS = Math.floor(Date.now() / 1000) + 2;
  await bob.sendText(group, 'of the new days', { sentAtS });
  const later = await eventOf(call, 'message.incoming', ({ message }) => message === 'of the new days');
  for (const [id, participant] of [
    [messageId, bob.numberJid],
    [later.messageId, bob.lidJid],
  ]) {
    assert.equal((await call('PUT', `/messages/${id}/reaction`, { emoji: '🕰️' })).status, 200);
    await carol.messages.waitFor(({ message }) => message.reactionMessage?.key?.participant === participant);
  }
  await eventually(
    async () => (await call('GET', `/messages/${messageId}`)).body,
    ({ reactions }) => reactions?.length === 1,
  );
});
