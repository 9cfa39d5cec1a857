import assert from 'node:assert/strict';
import { it } from 'node:test';
import { NetworkNumbers, shownNumbers } from '../../src/messages/people/networkNumbers.ts';
import { describeOnEachDatabase, describeOnEachDeployment } from '../support/databases/databases.ts';
import { eventually } from '../support/eventually.ts';
import { FORMS } from '../support/numberForms.ts';
import { type GuardedOperation, guarded, inputs, CHAT as TYPED_NUMBER } from '../support/operations/operationInputs.ts';
import { requestOf } from '../support/operations/restRequest.ts';
import { type Answer, type Call, connectSession, newNumber, serversFor, startServer } from '../support/server.ts';

const numbers = FORMS.flatMap(([, ...forms]) => forms.flatMap((form) => form ?? []));
const formers = FORMS.flatMap(([, , former]) => former ?? []);

/** Inputs with a person in fields that are optional, or that differ between calls. */
const MORE: Readonly<Record<string, readonly object[]>> = {
  'messages.list': [{ from: TYPED_NUMBER }, { chatId: TYPED_NUMBER }],
  'contacts.list': [{ phoneNumber: TYPED_NUMBER }],
  'status.list': [{ phoneNumber: TYPED_NUMBER }],
  'webhooks.list_deliveries': [{ chatId: TYPED_NUMBER }],
  'webhooks.endpoints.create': [
    { webhookUrl: 'https://example.com/h', events: ['message.sent'], filters: { chats: [TYPED_NUMBER] } },
    { webhookUrl: 'https://example.com/h', events: ['message.sent'], filters: { ignoredChats: [TYPED_NUMBER] } },
  ],
  'api_keys.create': [{ name: 'limited', allowedRecipients: [TYPED_NUMBER] }],
  'api_keys.update': [{ keyId: 'key_1', allowedRecipients: [TYPED_NUMBER] }],
  'messages.send': [{ to: TYPED_NUMBER, message: 'hi', mentions: [TYPED_NUMBER] }],
};

/** Every input that contains a person, of every operation. */
const calls = guarded.flatMap((operation: GuardedOperation) => {
  const side = {
    sessionId: 'S',
    messageId: 'M',
    groupId: 'G',
    deliveryId: 'D',
    mediaId: 'F',
    statusId: 'T',
    channelId: 'C',
    templateId: 'P',
    batchId: 'B',
  };
  const all = [inputs[operation.id]?.(side) ?? {}, ...(MORE[operation.id] ?? [])];
  return all.flatMap((input) => {
    const text = JSON.stringify(input);
    return text.includes(TYPED_NUMBER) && operation.id !== 'sessions.simulate' ? [{ id: operation.id, text }] : [];
  });
});

describeOnEachDeployment('a number that the network gave', (_, database) => {
  const start = serversFor(database);

  async function setUp() {
    const server = await start();
    const { call } = await server.account();
    const sessionId = await connectSession(call, newNumber());
    const write = async (from: string): Promise<string> => {
      const action = { action: 'incoming', from, message: `from ${from}` };
      const { status, body } = await call('POST', `/sessions/${sessionId}/simulate`, action);
      assert.equal(status, 200, JSON.stringify(body));
      return (await call('GET', `/messages?from=${from}`)).body.data[0].messageId;
    };
    return { server, call, sessionId, write };
  }

  const sent = async (call: Call, id: string, text: string, ids: Record<string, string>, number: string) => {
    const input: Record<string, unknown> = JSON.parse(text.replaceAll(TYPED_NUMBER, number), (_, value) =>
      typeof value === 'string' ? (ids[value] ?? value) : value,
    );
    const { method, path, body } = requestOf(id, input);
    return call(method, path, body);
  };
  const refusesNumber = ({ body }: Answer) =>
    (body.errors ?? []).some(({ code }: { code: string }) => code === 'phone_number' || code === 'chat') ||
    (body.results ?? []).some(
      ({ error = '', outcome = '' }) => /must be a phone number/.test(error) || outcome === 'invalid_number',
    );

  it('is accepted by every operation on people, as digits and as an address', async () => {
    const { call, sessionId, write } = await setUp();
    const refused: string[] = [];
    // Another country would not make an operation differ. The next tests write to all of them.
    for (const number of formers.slice(0, 2)) {
      const messageId = await write(number);
      const ids = { S: sessionId, M: messageId };
      for (const { id, text } of calls)
        for (const form of [number, `${number}@s.whatsapp.net`])
          if (refusesNumber(await sent(call, id, text, ids, form))) refused.push(`${id} ${form}`);
    }
    assert.deepEqual(refused, []);
  });

  it('is still rejected by every operation when the network never gave it', async () => {
    const { call, sessionId } = await setUp();
    // Reads by `chatId` look it up.
    const looksUp = /^(messages\.list|webhooks\.list_deliveries)$/;
    const accepted: string[] = [];
    for (const { id, text } of calls) {
      const ids = { S: sessionId, M: 'msg_00000000000000000000000000' };
      const answer = await sent(call, id, text, ids, '5215512345678');
      if (looksUp.test(id) && text.includes('chatId')) assert.equal(answer.status, 404);
      else if (!refusesNumber(answer)) accepted.push(`${id} ${text} ${JSON.stringify(answer.body)}`);
    }
    assert.deepEqual(accepted, []);
  });

  it('can be answered, read, looked up, forwarded to, blocked, and removed from a group', async () => {
    const { call, sessionId, write } = await setUp();
    const works = async (method: string, path: string, body?: object) => {
      const answer = await call(method, path, body);
      assert.ok(answer.status < 300, `${method} ${path} ${JSON.stringify(body)} ${JSON.stringify(answer.body)}`);
      return answer.body;
    };
    // Forwarding does not depend on the country.
    const tested = database === 'sqlite' ? numbers : formers.slice(0, 4);
    for (const number of tested) {
      const messageId = await write(number);
      await works('POST', '/messages/send', { to: number, message: 'hi', replyTo: messageId });
      await works('POST', `/chats/${number}/read`, { sessionId });
      await works('POST', `/messages/${messageId}/forward`, { to: number });
      assert.equal((await works('GET', `/contacts/${number}`)).phoneNumber, number);
      await works('PUT', `/contacts/${number}/blocked`, { sessionId, blocked: true });
      await works('PUT', `/contacts/${number}/blocked`, { sessionId, blocked: false });
      assert.equal((await works('GET', `/messages?from=${number}`)).data.length, 1);
      const key = await works('POST', '/api-keys/create', { name: 'k', allowedRecipients: [number] });
      assert.deepEqual(key.allowedRecipients, [number]);
      const bulk = await works('POST', '/messages/send-bulk', { to: [number], message: 'hi', sessionId });
      assert.equal(bulk.accepted, 1);
    }
    const { groupId } = await works('POST', '/groups', { subject: 'All', phoneNumbers: tested });
    await works('POST', '/messages/send', {
      to: groupId,
      message: 'hi',
      mentions: formers.filter((number) => tested.includes(number)),
    });
    const { results } = await works('POST', `/groups/${groupId}/participants`, {
      action: 'remove',
      phoneNumbers: tested,
    });
    assert.deepEqual(
      results.filter(({ ok }: { ok: boolean }) => !ok),
      [],
    );
  });

  it('is accepted after a restart, and only in its account', async () => {
    const { server, call, write } = await setUp();
    await write('22997123456');
    const other = await server.account();
    await connectSession(other.call, newNumber());
    const send = { to: '22997123456', message: 'hi' };
    assert.equal((await call('POST', '/messages/send', send)).status, 201);
    const refused = await other.call('POST', '/messages/send', send);
    assert.deepEqual([refused.status, refused.body.errors[0].field], [400, 'to']);
  });

  it('is accepted when it was stored before such numbers were noted', async () => {
    const { server, call, sessionId, write } = await setUp();
    await write('22997123456');
    await write('491707654321');
    await call('PUT', '/contacts/22507123456@s.whatsapp.net/blocked', { sessionId, blocked: true });
    await server.app.services.database.commit(async ({ kysely }) => {
      await kysely.deleteFrom('network_numbers').execute();
    });
    for (const to of ['22997123456', '22507123456'])
      assert.equal((await call('POST', '/messages/send', { to, message: 'hi' })).status, 201, to);
    assert.equal((await call('POST', '/messages/send', { to: '5215512345678', message: 'hi' })).status, 400);
  });

  it('means the number without the trunk prefix unless the account knows the digits', async () => {
    const { call } = await setUp();
    const { body } = await call('POST', '/messages/send', { to: '+49 (0)170 1234567', message: 'hi' });
    assert.equal(body.to, '491701234567');
    const bare = await call('POST', '/messages/send-bulk', { to: ['4901701234567'], message: 'hi' });
    assert.equal(bare.body.accepted, 1);
    const planned = await call('GET', `/messages/${bare.body.results[0].messageId}`);
    assert.equal(planned.body.to, '491701234567');
  });

  it('means it even after a message was sent to the digits, unless it arrived', async () => {
    const { server, call } = await setUp();
    const { body } = await call('POST', '/messages/send', { to: '491701234567', message: 'hi' });
    // A later receipt would replace what the test stores.
    await eventually(
      async () => (await call('GET', `/messages/${body.messageId}`)).body.status,
      (status) => status === 'delivered',
    );
    const { database } = server.app.services;
    const change = (values: object) =>
      database.commit(async ({ kysely }) => {
        await kysely.updateTable('messages').set(values).where('message_id', '=', body.messageId).execute();
      });
    const sentTo = async () =>
      (await call('POST', '/messages/send', { to: '4901701234567', message: 'hi' })).body.to as string;
    // An earlier version has stored it like this.
    await change({ chat_id: '4901701234567', to_id: '4901701234567', delivered_at: null, read_at: null });
    assert.equal(await sentTo(), '491701234567');
    await change({ delivered_at: 1 });
    assert.equal(await sentTo(), '4901701234567');
  });
});

describeOnEachDatabase('the numbers that an account was shown', (newHome) => {
  it('are the newest 20,000', async (test) => {
    const home = await newHome();
    const server = await startServer({ home });
    test.after(async () => {
      await server.stop();
      await home.remove();
    });
    const { database } = server.app.services;
    let now = 0;
    const noted = new NetworkNumbers(() => now);
    const all = Array.from({ length: 20_300 }, (_, n) => `52155${String(n).padStart(9, '0')}`);
    for (let at = 0; at < all.length; at += 100) {
      now = at;
      const mentions = all.slice(at, at + 100);
      for (const accountId of at === 0 ? ['acc_1', 'acc_2'] : ['acc_1'])
        await database.commit(async (tx) => noted.note(tx, accountId, { mentions }));
    }
    const people = { sessionIds: undefined, groupId: undefined };
    const shown = async (accountId: string, places: readonly number[]) => {
      const asked = places.flatMap((place) => all[place] ?? []);
      return (await shownNumbers(database.reader, accountId, asked, people)).size;
    };
    assert.equal(await shown('acc_1', [0, 99]), 0);
    assert.equal(await shown('acc_1', [400, 20_299]), 2);
    assert.equal(await shown('acc_2', [0, 99]), 2);
  });

  it('are removed with the last session of the account', async (test) => {
    const home = await newHome();
    const server = await startServer({ home });
    test.after(async () => {
      await server.stop();
      await home.remove();
    });
    const { call } = await server.account();
    const sessionId = await connectSession(call, newNumber());
    await call('POST', `/sessions/${sessionId}/simulate`, { action: 'incoming', from: '22997123456', message: 'hi' });
    const count = async () =>
      (await server.app.services.database.reader.kysely.selectFrom('network_numbers').selectAll().execute()).length;
    assert.equal(await count(), 1);
    assert.equal((await call('DELETE', `/sessions/${sessionId}`)).status, 200);
    assert.equal(await count(), 0);
  });
});
