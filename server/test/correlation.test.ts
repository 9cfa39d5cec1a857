import assert from 'node:assert/strict';
import { it } from 'node:test';
import { describeOnEachDatabase } from './support/databases.ts';
import { connectSession, eventOf, serversFor } from './support/server.ts';

const ANN = '491711111111';

describeOnEachDatabase('ids of the network', (_, database) => {
  const start = serversFor(database);

  it('are those of messages, chats and groups', async () => {
    const { call } = await (await start()).account();
    const sessionId = await connectSession(call);
    const { body: sent } = await call('POST', '/messages/send', { sessionId, to: ANN, message: 'Hi' });
    const later = { sessionId, to: ANN, message: 'Later', sendAt: new Date(Date.now() + 3_600_000).toISOString() };
    const { body: scheduled } = await call('POST', '/messages/send', later);
    assert.deepEqual([sent.networkId, scheduled.networkId], [sent.messageId, undefined]);
    await call('POST', `/sessions/${sessionId}/simulate`, { action: 'incoming', from: ANN, message: 'Hello' });
    const { messageId } = await eventOf(call, 'message.incoming');
    const { body: received } = await call('GET', `/messages/${messageId}`);
    assert.match(received.networkId, /^[0-9a-f-]{36}$/);

    const { body: group } = await call('POST', '/groups', { sessionId, subject: 'Team', phoneNumbers: [ANN] });
    assert.ok(group.networkGroupId);
    const { groupId } = group;
    const { body: inGroup } = await call('POST', '/messages/send', { sessionId, to: groupId, message: 'All' });
    assert.deepEqual([sent.to, sent.toNumber, sent.groupId], [ANN, ANN, undefined]);
    assert.deepEqual([inGroup.to, inGroup.toNumber, inGroup.groupId], [groupId, null, groupId]);
    const simulated = { action: 'incoming', from: ANN, message: 'All too', groupId };
    await call('POST', `/sessions/${sessionId}/simulate`, simulated);
    const said = await eventOf(call, 'message.incoming', ({ message }) => message === 'All too');
    const { body: heard } = await call('GET', `/messages/${said.messageId}`);
    assert.deepEqual([heard.toNumber, heard.groupId], [null, groupId]);
    assert.deepEqual([received.toNumber, received.groupId], [received.to, undefined]);
    const { body: chats } = await call('GET', `/chats?sessionId=${sessionId}`);
    const addresses = chats.data.map((chat: { networkChatId: string }) => chat.networkChatId);
    assert.deepEqual(addresses.sort(), [ANN, group.networkGroupId].sort());
  });

  it('are accepted in place of a phone number, and so is any other spelling', async () => {
    const { call } = await (await start()).account();
    const sessionId = await connectSession(call);
    await call('POST', `/sessions/${sessionId}/simulate`, { action: 'incoming', from: ANN, message: 'Hi' });
    await eventOf(call, 'message.incoming');
    const spellings = [`${ANN}@s.whatsapp.net`, `${ANN}:12@s.whatsapp.net`, `${ANN}@c.us`, '+49 171 1111111', ANN];
    for (const spelling of spellings) {
      const path = encodeURIComponent(spelling);
      const { status, body } = await call('POST', '/messages/send', { sessionId, to: spelling, message: 'Hi' });
      assert.deepEqual([status, body.chatId], [201, ANN], spelling);
      const reads = [
        call('GET', `/chats/${path}?sessionId=${sessionId}`),
        call('PATCH', `/chats/${path}`, { sessionId, archived: true }),
        call('POST', `/chats/${path}/read`, { sessionId }),
        call('POST', `/chats/${path}/typing`, { sessionId, state: 'typing' }),
      ];
      for (const answer of await Promise.all(reads))
        assert.deepEqual([answer.status, answer.body.chatId], [200, ANN], spelling);
      const { body: listed } = await call('GET', `/messages?chatId=${path}&limit=1`);
      assert.equal(listed.data[0].chatId, ANN, spelling);
    }
    for (const wrong of ['49171@nowhere.net', `${ANN}@s.whatsapp.net.evil`, '12@c.us', `${ANN}@g.us`])
      assert.equal((await call('POST', '/messages/send', { sessionId, to: wrong, message: 'Hi' })).status, 400, wrong);
  });

  it('find a person whose number is hidden by the LID', async () => {
    const { call } = await (await start()).account();
    const sessionId = await connectSession(call);
    const from = '000123456789012';
    await call('POST', `/sessions/${sessionId}/simulate`, { action: 'incoming', from, message: 'Hi' });
    await eventOf(call, 'message.incoming');
    const { body } = await call('GET', `/messages?chatId=${encodeURIComponent('123456789012@lid')}`);
    assert.deepEqual([body.data[0].chatId, body.data[0].unidentified], [from, true]);
  });
});
