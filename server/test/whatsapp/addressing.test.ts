import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type BinaryNode, proto } from 'baileys';
import { eventually } from '../support/eventually.ts';
import type { Phone, ReceivedMessage } from '../support/fakeWhatsapp/index.ts';
import { childOf, childrenOf } from '../support/fakeWhatsapp/stanza.ts';
import { wireIdOf } from '../support/networks/wireId.ts';
import { eventOf } from '../support/server.ts';
import { inStatus, linkSession, nextPhone, useWhatsapp } from './support.ts';

const { REVOKE } = proto.Message.ProtocolMessage.Type;

/* A person has two addresses, the phone number and the LID. Messages go to the one that WhatsApp accepts. */

/** A session to which somebody has written. */
function useConversation(setting: ReturnType<typeof useWhatsapp>) {
  const write = async () => {
    const { whatsapp, call } = setting;
    const me = nextPhone(whatsapp, 'Me');
    const bob = nextPhone(whatsapp, 'Bob');
    const sessionId = await linkSession(call, me);
    const hello = `hello from ${bob.number}`;
    await bob.sendText(me.number, hello);
    const { messageId } = await eventOf(call, 'message.incoming', ({ message }) => message === hello);
    const send = (text: string) => call('POST', '/messages/send', { sessionId, to: bob.number, message: text });
    return { me, bob, sessionId, messageId, send };
  };
  return write;
}

const arrived = (phone: Phone, text: string) =>
  phone.messages.waitFor(({ message }) => (message.extendedTextMessage?.text ?? message.conversation) === text);

describe('on accounts that are migrated to LIDs', () => {
  const setting = useWhatsapp();
  const write = useConversation(setting);

  it('somebody who has written is answered at the LID, and everything about the messages goes there', async () => {
    const { call, whatsapp } = setting;
    const { bob, sessionId, messageId, send } = await write();
    const { status, body: sent } = await send('answer');
    assert.deepEqual([status, sent.to, sent.chatId], [201, bob.number, bob.number], JSON.stringify(sent));
    const { stanza } = await arrived(bob, 'answer');
    assert.match(String(stanza.attrs['from']), /@lid$/);
    const reply = { sessionId, to: bob.number, message: 'a reply', replyTo: messageId };
    assert.equal((await call('POST', '/messages/send', reply)).status, 201);
    const { message } = await arrived(bob, 'a reply');
    assert.equal(message.extendedTextMessage?.contextInfo?.participant, bob.lidJid);

    assert.equal((await call('PUT', `/messages/${messageId}/reaction`, { emoji: '👍' })).status, 200);
    const reacted = await bob.messages.waitFor((one) => one.message.reactionMessage?.text === '👍');
    assert.equal(reacted.message.reactionMessage?.key?.remoteJid, bob.lidJid);
    assert.equal((await call('PATCH', `/messages/${sent.messageId}`, { message: 'better' })).status, 200);
    const isEdit = ({ message: { editedMessage, protocolMessage } }: ReceivedMessage) =>
      editedMessage != null || protocolMessage?.editedMessage != null;
    await bob.messages.waitFor(isEdit);
    assert.equal((await call('DELETE', `/messages/${sent.messageId}`)).status, 200);
    await bob.messages.waitFor((one) => one.message.protocolMessage?.key?.remoteJid === bob.lidJid);
    assert.equal((await call('POST', `/chats/${bob.number}/typing`, { sessionId, state: 'typing' })).status, 200);
    await bob.typings.waitFor(({ state }) => state === 'composing');
    assert.equal((await call('GET', `/sessions/${sessionId}`)).body.health.risk, 'low');
    assert.deepEqual(whatsapp.troubles, []);
  });

  it('shows reactions, replies and pins on a message that arrived from the number', async () => {
    const { call } = setting;
    const { me, bob, sessionId } = await write();
    await bob.sendText(me.number, 'by number', { addressing: 'number' });
    const { messageId } = await eventOf(call, 'message.incoming', ({ message }) => message === 'by number');
    assert.equal((await call('PUT', `/messages/${messageId}/reaction`, { emoji: '🔢' })).status, 200);
    const reaction = await bob.messages.waitFor(({ message }) => message.reactionMessage?.text === '🔢');
    assert.equal(reaction.message.reactionMessage?.key?.remoteJid, bob.numberJid);
    const reply = { sessionId, to: bob.number, message: 'reply to the number', replyTo: messageId };
    assert.equal((await call('POST', '/messages/send', reply)).status, 201);
    const { message } = await arrived(bob, 'reply to the number');
    const { participant, remoteJid } = message.extendedTextMessage?.contextInfo ?? {};
    assert.deepEqual([participant, remoteJid], [bob.numberJid, null]);
    assert.equal((await call('POST', `/messages/${messageId}/pin`, {})).status, 200);
    await bob.messages.waitFor((one) => one.message.pinInChatMessage != null);
    assert.deepEqual(bob.unshown.all, []);
    const { body: shown } = await call('GET', `/messages/${messageId}`);
    assert.equal('address' in shown, false);
    const forwarded = await call('POST', `/messages/${messageId}/forward`, { to: bob.number });
    assert.equal(forwarded.status, 201, JSON.stringify(forwarded.body));
    assert.deepEqual(setting.whatsapp.troubles, []);
  });

  it('marks, stars and asks for older messages by the address that a message arrived with', async () => {
    const { call, whatsapp } = setting;
    for (const addressing of ['lid', 'number'] as const) {
      const me = nextPhone(whatsapp, 'Me');
      const bob = nextPhone(whatsapp, 'Bob');
      const sessionId = await linkSession(call, me);
      const address = addressing === 'lid' ? bob.lidJid : bob.numberJid;
      const hello = `hello by ${addressing} from ${bob.number}`;
      const id = await bob.sendText(me.number, hello, { addressing });
      const { messageId } = await eventOf(call, 'message.incoming', ({ message }) => message === hello);
      const read = await call('POST', `/chats/${bob.number}/read`, { sessionId });
      assert.equal(read.status, 200, JSON.stringify(read.body));
      const receipt = await bob.receipts.waitFor((one) => one.id === id && one.type === 'read');
      assert.equal(receipt.address.endsWith('@lid'), addressing === 'lid');
      assert.equal((await call('PUT', `/messages/${messageId}/star`)).status, 200);
      const star = await me.stateChanges.waitFor(({ index }) => index[0] === 'star' && index[2] === id);
      assert.equal(star.index[1], address);
      const archived = await call('PATCH', `/chats/${bob.number}`, { sessionId, archived: true });
      assert.equal(archived.body.synchronized, true, JSON.stringify(archived.body));
      const { index, value } = await me.stateChanges.waitFor((change) => change.index[0] === 'archive');
      assert.equal(index[1], address);
      assert.equal(value.archiveChatAction?.messageRange?.messages?.[0]?.key?.remoteJid, address);
      assert.equal((await call('POST', `/chats/${bob.number}/history`, { sessionId })).status, 202);
      await eventually(
        async () => me.history.asked,
        ({ length }) => length > 0,
      );
      assert.deepEqual(me.history.asked, [address]);
    }
    assert.deepEqual(whatsapp.troubles, []);
  });

  it('receipts of the answer belong to it', async () => {
    const { call } = setting;
    const { me, bob, send } = await write();
    const { body } = await send('seen?');
    const { id } = await arrived(bob, 'seen?');
    bob.read(me.number, id);
    await eventually(
      async () => (await call('GET', `/messages/${body.messageId}`)).body,
      ({ status }) => status === 'read',
    );
  });

  it('a status goes to the LIDs of people who have written, and of others', async () => {
    const { call, whatsapp } = setting;
    const { me, bob, sessionId } = await write();
    const carol = nextPhone(whatsapp, 'Carol');
    const dora = nextPhone(whatsapp, 'Dora');
    const phoneNumbers = [bob.number, carol.number];
    const posted = await call('POST', '/status', { sessionId, message: 'We are open', phoneNumbers });
    assert.deepEqual([posted.status, posted.body.state], [201, 'sent'], JSON.stringify(posted.body));
    for (const phone of [me, bob, carol]) await arrived(phone, 'We are open');
    assert.deepEqual(dora.messages.all, []);
    const deleted = await call('DELETE', `/status/${posted.body.statusId}?sessionId=${sessionId}`);
    assert.equal(deleted.status, 200, JSON.stringify(deleted.body));
    for (const phone of [bob, carol]) await phone.messages.waitFor((one) => one.message.protocolMessage != null);
    assert.deepEqual(whatsapp.troubles, []);
  });

  it('a number that belongs to a new WhatsApp account is written to there, after the first message', async () => {
    const { whatsapp } = setting;
    const { me, bob, send } = await write();
    assert.equal((await send('to the old account')).status, 201);
    await arrived(bob, 'to the old account');
    const before = whatsapp.counters.queries['usync'] ?? 0;
    const lidJid = bob.beginNewAccount();
    const lost = await send('to nobody');
    assert.equal(lost.status, 201, 'WhatsApp has accepted it');
    await eventually(
      async () => whatsapp.counters.queries['usync'] ?? 0,
      (count) => count > before,
    );
    await eventually(
      () => send('to the new account'),
      () => bob.messages.all.some(({ message }) => message.extendedTextMessage?.text === 'to the new account'),
    );
    const copy = await me.messages.waitFor(({ stanza }) => stanza.attrs['recipient'] === lidJid);
    assert.equal(copy.isOwn, true);
    assert.deepEqual(whatsapp.troubles, []);
  });

  it('a message that is refused for an outdated LID goes to the new one', async () => {
    const { whatsapp } = setting;
    const { me, bob, send } = await write();
    assert.equal((await send('known')).status, 201);
    bob.beginNewAccount();
    whatsapp.faults.refuseNextMessage(me.number, 463);
    const { status, body } = await send('found again');
    assert.equal(status, 201, JSON.stringify(body));
    await arrived(bob, 'found again');
    assert.equal(
      bob.messages.all.filter(({ message }) => message.extendedTextMessage?.text === 'found again').length,
      1,
    );
  });

  it('a refusal stays one if the LID is still the same', async () => {
    const { whatsapp } = setting;
    const { me, bob, send } = await write();
    whatsapp.faults.markLid(bob.lid);
    whatsapp.faults.refuseNextMessage(me.number, 421);
    const { status, body } = await send('nowhere');
    assert.equal(status, 502);
    assert.match(body.detail, /\(421\)$/);
    assert.equal((await send('later')).status, 201);
    assert.deepEqual(bob.messages.all.length, 1);
  });

  it('the LID is read once an hour while the marked one is still the same', async () => {
    const { whatsapp, call } = setting;
    const { me, bob, sessionId, send } = await write();
    const carol = nextPhone(whatsapp, 'Carol');
    await carol.sendText(me.number, 'hello from Carol');
    await eventOf(call, 'message.incoming', ({ message }) => message === 'hello from Carol');
    const toCarol = { sessionId, to: carol.number, message: 'known' };
    for (const { status } of [await send('known'), await call('POST', '/messages/send', toCarol)])
      assert.equal(status, 201);
    const count = () => whatsapp.counters.queries['usync'] ?? 0;
    const before = count();
    const hasRead = (more: number) =>
      eventually(
        async () => count() - before,
        (reads) => reads >= more,
      );
    whatsapp.faults.markLid(bob.lid);
    await send('marked');
    await hasRead(1);
    for (const text of ['still marked', 'and still']) await send(text);
    whatsapp.faults.markLid(carol.lid);
    await call('POST', '/messages/send', toCarol);
    assert.equal(await hasRead(2), 2);
  });

  it('a message to its own number goes to the LID, once per device', async () => {
    const { call, whatsapp } = setting;
    const { me, sessionId } = await write();
    const stanzas: BinaryNode[] = [];
    const stop = whatsapp.watchMessages((number, stanza) => void (number === me.number && stanzas.push(stanza)));
    for (const message of ['note 1', 'note 2', 'note 3']) {
      assert.equal((await call('POST', '/messages/send', { sessionId, to: me.number, message })).status, 201);
      await arrived(me, message);
    }
    stop();
    const devices = (stanza: BinaryNode) =>
      childrenOf(childOf(stanza, 'participants'), 'to').map(({ attrs }) => attrs['jid']);
    assert.deepEqual(
      stanzas.map((stanza) => [stanza.attrs['to'], ...devices(stanza)]),
      [1, 2, 3].map(() => [me.lidJid, me.lidJid]),
    );
    assert.equal(
      me.messages.all.filter(({ message }) => message.extendedTextMessage?.text?.startsWith('note')).length,
      3,
    );
  });

  it('a message that is refused in a group is no warning about new chats', async () => {
    const { call, whatsapp } = setting;
    const { me, bob, sessionId } = await write();
    const phoneNumbers = [bob.number];
    const { body: group } = await call('POST', '/groups', { sessionId, subject: 'Refused', phoneNumbers });
    const send = () => call('POST', '/messages/send', { sessionId, to: group.groupId, message: 'hello' });
    whatsapp.faults.refuseNextMessage(me.number, 463);
    const refused = await send();
    assert.deepEqual([refused.status, refused.body.detail], [502, 'WhatsApp refused the message (463)']);
    whatsapp.faults.refuseNextMessage(me.number, 475);
    assert.equal((await send()).status, 502);
    const { reasons } = await eventually(
      async () => (await call('GET', `/sessions/${sessionId}`)).body.health,
      ({ risk }) => risk === 'high',
    );
    assert.deepEqual(
      reasons.map(({ code }: { code: string }) => code),
      ['restricted'],
    );
  });

  it('a location goes to the LID as well', async () => {
    const { call } = setting;
    const { bob, sessionId } = await write();
    const place = { sessionId, to: bob.number, latitude: 1, longitude: 2 };
    assert.equal((await call('POST', '/messages/send-location', place)).status, 201);
    await bob.messages.waitFor(({ message }) => message.locationMessage != null);
  });
});

describe('on accounts that are not', () => {
  const setting = useWhatsapp({}, undefined, { isMigrated: false });
  const write = useConversation(setting);

  it('an answer that WhatsApp refuses at the LID goes to the number, once', async () => {
    const { whatsapp, call } = setting;
    const { me, bob, sessionId, send } = await write();
    whatsapp.faults.refuseNextMessage(me.number, 463);
    const { status, body } = await send('at the second address');
    assert.equal(status, 201, JSON.stringify(body));
    const { stanza } = await arrived(bob, 'at the second address');
    assert.match(String(stanza.attrs['from']), /@s\.whatsapp\.net$/);
    assert.equal((await call('GET', `/sessions/${sessionId}`)).body.health.risk, 'low');

    const attempts: (string | undefined)[] = [];
    const stop = whatsapp.watchMessages(
      (number, { attrs }) => void (number === me.number && attempts.push(attrs['to'])),
    );
    assert.equal((await send('the next one')).status, 201);
    stop();
    assert.deepEqual(attempts, [bob.numberJid]);
  });

  it('refers to an own message by the number that accepted it', async () => {
    const { whatsapp, call } = setting;
    const { me, bob, sessionId, send } = await write();
    whatsapp.faults.refuseNextMessage(me.number, 463);
    const { body: sent } = await send('accepted at the number');
    await arrived(bob, 'accepted at the number');
    // Afterwards, the connector tries the LID first again.
    for (const action of ['disconnect', 'connect']) await call('POST', `/sessions/${sessionId}/${action}`);
    await inStatus(call, sessionId, 'connected');
    const { body: later } = await send('accepted at the LID');
    const { stanza } = await arrived(bob, 'accepted at the LID');
    assert.match(String(stanza.attrs['from']), /@lid$/);
    const addresses = { [sent.messageId]: bob.numberJid, [later.messageId]: bob.lidJid };
    for (const [messageId, address] of Object.entries(addresses)) {
      type Key = proto.IMessageKey | null | undefined;
      const keyIn = async (read: (message: proto.IMessage) => Key) => {
        const { message } = await bob.messages.waitFor((one) => read(one.message)?.id === wireIdOf(messageId));
        return read(message)?.remoteJid;
      };
      assert.equal((await call('PUT', `/messages/${messageId}/reaction`, { emoji: '👍' })).status, 200);
      assert.equal(await keyIn(({ reactionMessage }) => reactionMessage?.key), address);
      const reply = { sessionId, to: bob.number, message: `reply to ${address}`, replyTo: messageId };
      assert.equal((await call('POST', '/messages/send', reply)).status, 201);
      const { message: answer } = await arrived(bob, `reply to ${address}`);
      const own = address === bob.lidJid ? me.lidJid : me.numberJid;
      assert.equal(answer.extendedTextMessage?.contextInfo?.participant, own);
      assert.equal((await call('PATCH', `/messages/${messageId}`, { message: 'better' })).status, 200);
      const edit = await keyIn(({ editedMessage, protocolMessage }) => {
        const inner = editedMessage?.message?.protocolMessage ?? protocolMessage;
        return inner?.type === REVOKE ? undefined : inner?.key;
      });
      assert.equal(edit, address);
      assert.equal((await call('DELETE', `/messages/${messageId}`)).status, 200);
      const deletion = await keyIn(({ protocolMessage: inner }) => (inner?.type === REVOKE ? inner.key : undefined));
      assert.equal(deletion, address);
    }
    assert.equal('address' in (await call('GET', `/messages/${sent.messageId}`)).body, false);
  });

  it('an answer that WhatsApp refuses at the renewed LID as well goes to the number', async () => {
    const { whatsapp } = setting;
    const { me, bob, send } = await write();
    const lidJid = bob.beginNewAccount();
    const attempts: (string | undefined)[] = [];
    const stop = whatsapp.watchMessages(
      (number, { attrs }) => void (number === me.number && attempts.push(attrs['to'])),
    );
    for (let time = 0; time < 2; time++) whatsapp.faults.refuseNextMessage(me.number, 463);
    const { status, body } = await send('at the third address');
    stop();
    assert.equal(status, 201, JSON.stringify(body));
    assert.deepEqual(attempts.slice(1), [lidJid, bob.numberJid]);
    await arrived(bob, 'at the third address');
  });

  it('an answer that is refused at both fails with that reason, and raises no risk', async () => {
    const { whatsapp, call } = setting;
    const { me, sessionId, send } = await write();
    for (let time = 0; time < 2; time++) whatsapp.faults.refuseNextMessage(me.number, 463);
    const { status, body } = await send('nowhere');
    assert.deepEqual([status, body.code], [502, 'send_failed']);
    assert.match(body.detail, /although the recipient has written/);
    assert.equal((await call('GET', `/sessions/${sessionId}`)).body.health.risk, 'low');
    assert.equal((await send('later')).status, 201);
  });

  it('a status that WhatsApp refuses for the LIDs goes to the numbers, once', async () => {
    const { whatsapp, call } = setting;
    const { me, bob, sessionId } = await write();
    const post = (message: string) => call('POST', '/status', { sessionId, message, phoneNumbers: [bob.number] });
    whatsapp.faults.refuseNextMessage(me.number, 479);
    const { status, body } = await post('by number');
    assert.deepEqual([status, body.state], [201, 'sent'], JSON.stringify(body));
    await arrived(bob, 'by number');
    for (let time = 0; time < 2; time++) whatsapp.faults.refuseNextMessage(me.number, 479);
    const refused = await post('nowhere');
    assert.deepEqual([refused.status, refused.body.code], [502, 'send_failed']);
    assert.match(refused.body.detail, /check the phone numbers.*\(479\)$/);
    assert.equal((await post('later')).status, 201);
  });

  it('a new chat that is refused is not tried at the other address', async () => {
    const { whatsapp, call } = setting;
    const me = nextPhone(whatsapp, 'Me');
    const carol = nextPhone(whatsapp, 'Carol');
    const sessionId = await linkSession(call, me);
    whatsapp.faults.refuseNextMessage(me.number, 463);
    const { status, body } = await call('POST', '/messages/send', { sessionId, to: carol.number, message: 'hi' });
    assert.equal(status, 502);
    assert.match(body.detail, /start new chats/);
    assert.deepEqual(carol.messages.all, []);
  });
});
