import assert from 'node:assert/strict';
import { it } from 'node:test';
import { describeOnEachDatabase } from '../support/databases/databases.ts';
import { eventually } from '../support/eventually.ts';
import { type Answer, bearer, type Call, connectSession, eventOf, serversFor } from '../support/server.ts';

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

  it('are the same for the sender and the recipient of a message', async () => {
    const { call } = await (await start()).account();
    const [sender, recipient] = [await connectSession(call), await connectSession(call)];
    const { phoneNumber } = (await call('GET', `/sessions/${recipient}`)).body;
    const { body: sent } = await call('POST', '/messages/send', { sessionId: sender, to: phoneNumber, message: 'Hi' });
    const { messageId } = await eventOf(call, 'message.incoming');
    const { body: received } = await call('GET', `/messages/${messageId}`);
    assert.deepEqual([received.networkId, received.sessionId], [sent.networkId, recipient]);
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
    for (const wrong of ['49171@nowhere.net', `${ANN}@s.whatsapp.net.evil`, '12@c.us', `${ANN}@g.us.evil`])
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

  it('of a person whose number is known lead to the number, wherever a person is named', async () => {
    const { call } = await (await start()).account();
    const sessionId = await connectSession(call);
    await connectSession(call, ANN);
    await call('POST', `/sessions/${sessionId}/simulate`, { action: 'incoming', from: ANN, message: 'Hello' });
    const { body: lookedUp } = await call('GET', `/contacts/lookup?sessionId=${sessionId}&phoneNumbers=${ANN}`);

    const lid: string = lookedUp.data[0].lid;
    assert.match(lid, /@lid$/);
    const { status, body } = await call('POST', '/messages/send', { sessionId, to: lid, message: 'Hi' });
    assert.deepEqual([status, body.to, body.chatId], [201, ANN, ANN]);
    const bulk = {
      sessionId,
      to: [lid, '491702222222'],
      message: 'Hi',
      sendAt: new Date(Date.now() + 3_600_000).toISOString(),
    };
    const { body: planned } = await call('POST', '/messages/send-bulk', bulk);
    assert.equal(planned.results[0].to, lid, 'as it was passed');
    const { body: chats } = await call('GET', `/chats?sessionId=${sessionId}`);
    const { body: scheduled } = await call('GET', `/messages/${planned.results[0].messageId}`);
    assert.equal(scheduled.to, ANN);
    assert.ok(!chats.data.some(({ chatId }: Answer['body']) => chatId.startsWith('000')), JSON.stringify(chats.data));
    const { body: mentioned } = await call('POST', '/messages/send', {
      sessionId,
      to: ANN,
      message: '@',
      mentions: [lid],
    });
    assert.deepEqual((await call('GET', `/messages/${mentioned.messageId}`)).body.mentions, [ANN]);
    const path = encodeURIComponent(lid);
    assert.equal((await call('GET', `/contacts/${path}?sessionId=${sessionId}`)).body.phoneNumber, ANN);
    assert.equal((await call('PUT', `/contacts/${path}/blocked`, { sessionId, blocked: true })).status, 200);
    const { body: checked } = await call('GET', `/contacts/check?sessionId=${sessionId}&phoneNumbers=${path}`);
    assert.deepEqual([checked.data[0].phoneNumber, checked.data[0].onNetwork], [ANN, true]);
    const webhook = { webhookUrl: 'http://127.0.0.1:9/', events: ['message.sent'], filters: { chats: [lid] } };
    assert.deepEqual((await call('POST', '/webhooks/endpoints', webhook)).body.filters, { chats: [ANN] });
    const key = { name: 'limited', allowedRecipients: [lid] };
    assert.deepEqual((await call('POST', '/api-keys/create', key)).body.allowedRecipients, [ANN]);
  });

  it('find one contact, per session', async () => {
    const server = await start();
    const { call } = await server.account();
    const sessionId = await connectSession(call);
    const hidden = '000123456789012';
    for (const from of [ANN, hidden])
      await call('POST', `/sessions/${sessionId}/simulate`, {
        action: 'incoming',
        from,
        senderName: 'Ann',
        message: 'Hi',
      });
    await eventOf(call, 'message.incoming', ({ from }) => from === hidden);
    const contact = (id: string, query = '') => call('GET', `/contacts/${encodeURIComponent(id)}${query}`);
    const { body: listed } = await call('GET', '/contacts');
    for (const id of [ANN, `+${ANN}`, '+49 (171) 111-1111', `${ANN}@s.whatsapp.net`, `${ANN}:3@s.whatsapp.net`]) {
      const { status, body } = await contact(id);
      assert.deepEqual([status, body], [200, { ...listed.data[1], networkIds: [ANN] }], id);
    }
    for (const id of [hidden, '123456789012@lid'])
      assert.deepEqual((await contact(id)).body, { ...listed.data[0], networkIds: [hidden] }, id);
    assert.deepEqual([listed.data[0].unidentified, listed.data[1].unidentified], [true, undefined]);

    for (const id of ['491712222222', '999999999999@lid', '00099999999']) {
      const { status, body } = await contact(id);
      assert.deepEqual([status, body.code, body.errors[0].field], [404, 'not_found', 'contactId'], id);
      assert.ok(body.detail.includes(id), body.detail);
    }
    const wrong = await contact('nobody');
    assert.deepEqual([wrong.status, wrong.body.errors[0].field], [400, 'contactId']);
    const other = await connectSession(call);
    assert.equal((await contact(ANN)).body.code, 'session_required');
    assert.equal((await contact(ANN, `?sessionId=${other}`)).status, 404);
    assert.equal((await contact(ANN, `?sessionId=${sessionId}`)).body.sessionId, sessionId);
    const { body: key } = await call('POST', '/api-keys/create', { name: 'other', sessionIds: [other] });
    const limited = bearer(server.url, key.key);
    assert.equal((await limited('GET', `/contacts/${ANN}?sessionId=${sessionId}`)).status, 404);
    const { call: stranger } = await server.account();
    await connectSession(stranger);
    for (const id of [ANN, hidden])
      assert.equal((await stranger('GET', `/contacts/${id}?sessionId=${sessionId}`)).body.code, 'not_found');
    assert.equal((await stranger('GET', `/messages?chatId=${hidden}&sessionId=${sessionId}`)).body.code, 'not_found');
  });

  /** A session in a group, with the address of the group at the network. */
  async function inGroup(call: Call) {
    const sessionId = await connectSession(call);
    const { body } = await call('POST', '/groups', { sessionId, subject: 'Team', phoneNumbers: [ANN] });
    return { sessionId, groupId: body.groupId as string, address: body.networkGroupId as string };
  }

  it('name a group wherever its id does', async () => {
    const { call } = await (await start()).account();
    const { sessionId, groupId, address } = await inGroup(call);
    const path = encodeURIComponent(address);
    const { body: direct } = await call('POST', '/messages/send', { to: ANN, message: 'Direct' });
    const inChat = [
      await call('POST', '/messages/send', { to: address, message: 'All' }),
      await call('POST', `/messages/${direct.messageId}/forward`, { to: address }),
      await call('GET', `/chats/${path}`),
      await call('PATCH', `/chats/${path}`, { archived: true }),
      await call('POST', `/chats/${path}/read`),
      await call('POST', `/chats/${path}/typing`, { state: 'typing' }),
    ];
    for (const { status, body } of inChat) assert.deepEqual([status < 300, body.chatId], [true, groupId], body.detail);
    const inGroupItself = [
      await call('GET', `/groups/${path}`),
      await call('PATCH', `/groups/${path}`, { subject: 'Crew' }),
      await call('POST', `/groups/${path}/participants`, { action: 'promote', phoneNumbers: [ANN] }),
      await call('GET', `/groups/${path}/invite-link`),
      await call('DELETE', `/groups/${path}/invite-link`),
    ];
    for (const { status, body } of inGroupItself) assert.deepEqual([status, body.groupId], [200, groupId], body.detail);
    const simulated = { action: 'incoming', from: ANN, groupId: address, message: 'Simulated' };
    assert.equal((await call('POST', `/sessions/${sessionId}/simulate`, simulated)).status, 200);
    const { chatId } = await eventOf(call, 'message.incoming', ({ message }) => message === 'Simulated');
    assert.equal(chatId, groupId);
    const { body: listed } = await call('GET', `/messages?chatId=${path}`);
    assert.deepEqual(new Set(listed.data.map((message: Answer['body']) => message.chatId)), new Set([groupId]));
    assert.equal(listed.data.length, 3);

    const bulk = { to: [ANN, address, `${ANN}@g.us`], message: 'Bulk', intervalMs: 0 };
    const { body: sent } = await call('POST', '/messages/send-bulk', bulk);
    assert.deepEqual([sent.accepted, sent.refused, sent.results[1].to], [2, 1, address]);
    assert.equal(sent.results[2].error, `The group ${ANN}@g.us does not exist`);

    const webhook = { webhookUrl: 'http://127.0.0.1:9/', events: ['message.sent'], filters: { chats: [ANN, address] } };
    const { body: added } = await call('POST', '/webhooks/endpoints', webhook);
    assert.deepEqual(added.filters, { chats: [ANN, groupId] });
    const ignoring = { filters: { ignoredChats: [address] } };
    const { body: changed } = await call('PATCH', `/webhooks/endpoints/${added.webhookId}`, ignoring);
    assert.deepEqual(changed.filters, { ignoredChats: [groupId] });
    assert.equal((await call('POST', `/groups/${path}/leave`)).body.left, true);
  });

  it('name a group among the recipients of a key', async () => {
    const server = await start();
    const { call } = await server.account();
    const { groupId, address } = await inGroup(call);
    const { body: limited } = await call('POST', '/api-keys/create', { name: 'team', allowedRecipients: [address] });
    assert.deepEqual(limited.allowedRecipients, [groupId]);
    const write = async (to: string) =>
      (await bearer(server.url, limited.key)('POST', '/messages/send', { to, message: 'Hi' })).status;
    assert.deepEqual([await write(address), await write(groupId), await write(ANN)], [201, 201, 403]);
  });

  it('that no session knows are not found, in the field that has them', async () => {
    const { call } = await (await start()).account();
    const { address: ofOthers } = await inGroup((await (await start()).account()).call);
    await connectSession(call);
    for (const address of ['120363000000000000@g.us', '491711111111-1400000000@g.us', ofOthers]) {
      const path = encodeURIComponent(address);
      const webhook = { webhookUrl: 'http://127.0.0.1:9/', events: ['message.sent'] };
      const answers = {
        to: await call('POST', '/messages/send', { to: address, message: 'Hi' }),
        groupId: await call('GET', `/groups/${path}`),
        chatId: await call('GET', `/messages?chatId=${path}`),
        'filters.chats.1': await call('POST', '/webhooks/endpoints', {
          ...webhook,
          filters: { chats: [ANN, address] },
        }),
        'allowedRecipients.0': await call('POST', '/api-keys/create', { name: 'x', allowedRecipients: [address] }),
      };
      for (const [field, { status, body }] of Object.entries(answers))
        assert.deepEqual(
          [status, body.code, body.detail, body.errors[0].field],
          [404, 'not_found', `The group ${address} does not exist`, field],
        );
    }
  });

  it('of a group with several sessions need one of them', async () => {
    const server = await start();
    const { call } = await server.account();
    const other = await connectSession(call);
    const { body: otherSession } = await call('GET', `/sessions/${other}`);
    const { sessionId, groupId, address } = await inGroup(call);
    const path = encodeURIComponent(address);
    const added = { action: 'add', phoneNumbers: [otherSession.phoneNumber] };
    assert.equal((await call('POST', `/groups/${groupId}/participants`, added)).body.results[0].ok, true);
    const groups = await eventually(
      async () => (await call('GET', `/groups?sessionId=${other}`)).body.data,
      ({ length }) => length === 1,
    );
    const otherGroupId = groups[0].groupId;
    assert.notEqual(otherGroupId, groupId);

    const send = (fields: object) => call('POST', '/messages/send', { to: address, message: 'Hi', ...fields });
    const unclear = await send({});
    assert.deepEqual([unclear.body.code, unclear.body.errors[0].field], ['session_required', 'sessionId']);
    assert.equal((await send({ sessionId })).body.chatId, groupId);
    assert.equal((await send({ sessionId: other })).body.chatId, otherGroupId);
    assert.equal((await call('GET', `/messages?chatId=${path}`)).body.code, 'session_required');
    const { body: listed } = await call('GET', `/messages?chatId=${path}&sessionId=${other}`);
    assert.deepEqual(new Set(listed.data.map((message: Answer['body']) => message.chatId)), new Set([otherGroupId]));
    const { status, body } = await call('GET', `/groups/${path}`);
    assert.deepEqual([status, body.errors[0].field, body.errors[0].code], [400, 'groupId', 'ambiguous']);
    assert.ok(body.detail.includes(groupId) && body.detail.includes(otherGroupId), body.detail);

    const { body: key } = await call('POST', '/api-keys/create', { name: 'one session', sessionIds: [other] });
    const limited = bearer(server.url, key.key);
    assert.equal((await limited('GET', `/groups/${path}`)).body.groupId, otherGroupId);
    assert.equal((await limited('POST', '/messages/send', { to: address, message: 'Hi' })).body.chatId, otherGroupId);
    const { body: both } = await call('POST', '/api-keys/create', { name: 'both', allowedRecipients: [address] });
    assert.deepEqual(both.allowedRecipients, [groupId, otherGroupId].sort());
    // A session that has left the group no longer makes the address unclear.
    assert.equal((await call('POST', `/groups/${otherGroupId}/leave`)).status, 200);
    assert.equal((await call('GET', `/groups/${path}`)).body.groupId, groupId);
    assert.equal((await limited('GET', `/groups/${path}`)).body.groupId, otherGroupId);
    assert.equal((await call('POST', `/groups/${groupId}/leave`)).status, 200);
    const { detail } = (await call('GET', `/groups/${path}`)).body;
    assert.ok(detail.includes(groupId) && detail.includes(otherGroupId), detail);
  });
});
