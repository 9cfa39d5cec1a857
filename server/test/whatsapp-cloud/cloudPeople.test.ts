import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { eventually } from '../support/eventually.ts';
import { ADA, cloudSession, eventsOf } from '../support/networks/cloudSession.ts';
import { bearer } from '../support/server.ts';

const U1 = 'DE.999888';
const U2 = 'DE.777666';
const text = (body: string) => ({ type: 'text', text: { body } });

type Chat = { readonly chatId: string };

async function site(t: TestContext) {
  const session = await cloudSession(t);
  const { call } = session;
  const chats = async (): Promise<string[]> =>
    (await call('GET', '/chats')).body.data.map(({ chatId }: Chat) => chatId).toSorted();
  const become = (expected: readonly string[]) =>
    eventually(chats, (found) => JSON.stringify(found) === JSON.stringify(expected));
  const messagesIn = async (chatId: string): Promise<string[]> =>
    (await call('GET', `/messages?chatId=${chatId}`)).body.data.map(({ message }: { message: string }) => message);
  const changed = async () => (await eventsOf(call, 'contact.updated')).map(({ data }: { data: object }) => data);
  return { ...session, chats, become, messagesIn, changed };
}

describe('forms of numbers', () => {
  const FORMS = {
    Brazil: ['5547989211984', '554789211984'],
    Mexico: ['525512345678', '5215512345678'],
    Argentina: ['541151234567', '5491151234567'],
  } as const;

  for (const [country, [typed, waId]] of Object.entries(FORMS))
    it(`keeps one chat in ${country}, and sends to both forms`, async (t) => {
      const { graph, send, become, messagesIn, call } = await site(t);
      graph.people.know(typed, waId);
      assert.equal((await send('first', typed)).status, 201);
      await become([waId]);
      await graph.incoming(waId, text('answer'));
      assert.equal((await send('second', typed)).body.chatId, waId);
      assert.equal((await send('third', waId)).body.chatId, waId);
      await become([waId]);
      assert.deepEqual(await messagesIn(waId), ['third', 'second', 'answer', 'first']);
      assert.equal((await call('GET', `/contacts/${typed}`)).body.phoneNumber, waId);
    });

  it('keeps one chat when the answer of the person comes before the answer of Meta', async (t) => {
    const { graph, send, become, messagesIn } = await site(t);
    const [typed, waId] = FORMS.Brazil;
    graph.people.know(typed, waId);
    graph.failNext('late');
    const sending = send('first', typed);
    await eventually(
      async () => graph.slowOnes,
      (count) => count === 1,
    );
    await graph.incoming(waId, text('answer'));
    graph.release();
    assert.equal((await sending).status, 201);
    await become([waId]);
    assert.deepEqual((await messagesIn(waId)).toSorted(), ['answer', 'first']);
  });

  it('merges split chats, and keeps the form after a restart', async (t) => {
    const { graph, server, start, token, sessionId, send, become } = await site(t);
    const [typed, waId] = FORMS.Brazil;
    await send('before', typed); // Meta answers with the same number
    await graph.incoming(waId, text('separate'));
    await become([waId, typed].toSorted());
    graph.people.know(typed, waId);
    await send('now', typed);
    await become([waId]);
    await server.stop();
    const again = bearer((await start()).url, token);
    await eventually(
      async () => (await again('GET', `/sessions/${sessionId}`)).body.status,
      (status) => status === 'connected',
    );
    const { status, body } = await again('POST', '/messages/send', { to: typed, message: 'later' });
    assert.deepEqual([status, body.chatId], [201, waId]);
    const { data } = (await again('GET', `/messages?chatId=${waId}`)).body;
    assert.equal(data.length, 4);
  });

  it('keeps the number that the person writes from if Meta answers with another', async (t) => {
    const { graph, send, chats, call } = await site(t);
    const [typed, waId] = FORMS.Brazil;
    graph.people.know(typed, waId);
    await graph.incoming(typed, text('hello'));
    assert.equal((await send('answer', typed)).status, 201);
    await eventually(
      () => call('GET', `/contacts/${waId}`),
      ({ body }) => body.phoneNumber === typed,
    );
    await graph.incoming(typed, text('again'));
    assert.deepEqual(await chats(), [typed]);
  });
});

describe('changes of numbers and ids', () => {
  const NEW = '4915199999999';

  it('moves a chat to the new number, without an incoming message', async (t) => {
    const { graph, chats, changed, messagesIn, send, call } = await site(t);
    await graph.incoming(ADA, text('hello'), { userId: U1 });
    const system = { type: 'user_changed_number', body: 'User Ada changed', wa_id: NEW };
    const notice = { ...system, user_id: U2, previous_user_id: U1 };
    assert.equal(await graph.notice(notice, { from: ADA }), 200);
    assert.equal(await graph.notice(notice, { from: ADA }), 200, 'Meta repeats it');
    assert.deepEqual(await chats(), [NEW]);
    assert.deepEqual(await messagesIn(NEW), ['hello']);
    assert.equal((await eventsOf(call, 'message.incoming')).length, 1);
    const moves = (await changed()).filter((data: object) => 'previousPhoneNumber' in data);
    assert.equal(moves.length, 1);
    const { phoneNumber, previousPhoneNumber, numberChanged, userId, previousUserId } = moves[0];
    assert.deepEqual(
      [phoneNumber, previousPhoneNumber, numberChanged, userId, previousUserId],
      [NEW, ADA, true, U2, U1],
    );
    await graph.incoming(U2, text('hidden now'));
    assert.deepEqual(await chats(), [NEW]);
    assert.equal((await send('who has the number now?', ADA)).body.chatId, ADA);
    assert.equal(graph.sent.at(-1)?.body.to, ADA);
    await graph.incoming(ADA, text('I am somebody else'), { userId: 'DE.1' });
    assert.deepEqual(await chats(), [ADA, NEW].toSorted(), 'the number belongs to another person');
  });

  it('shows no message if the number is the same, and learns the id', async (t) => {
    const { graph, chats, messagesIn, send } = await site(t);
    await graph.incoming(ADA, text('hello'));
    await graph.notice({ type: 'user_changed_number', body: 'User Ada changed', wa_id: ADA }, { from: ADA });
    await graph.notice({ type: 'user_changed_user_id', body: 'changed', wa_id: ADA, user_id: U2 }, { from: ADA });
    assert.deepEqual([await chats(), await messagesIn(ADA)], [[ADA], ['hello']]);
    assert.equal((await send('hello?', U2)).body.chatId, ADA);
  });

  it('moves a chat without ids, as older versions report it', async (t) => {
    const { graph, chats } = await site(t);
    await graph.incoming(ADA, text('hello'));
    const system = { type: 'customer_changed_number', body: 'changed', new_wa_id: NEW };
    const notice = { id: graph.newId(), from: ADA, timestamp: graph.now(), type: 'system', system };
    assert.equal(await graph.post({ messages: [notice] }), 200);
    assert.deepEqual(await chats(), [NEW]);
    await graph.incoming(ADA, text('I am somebody else'));
    assert.equal(await graph.post({ messages: [notice] }), 200, 'Meta repeats it');
    assert.deepEqual(await chats(), [ADA, NEW].toSorted());
  });

  it('moves a chat to the new id if the new number is hidden, and then to the number', async (t) => {
    const { graph, chats, changed, send } = await site(t);
    await graph.incoming(ADA, text('hello'), { userId: U1 });
    await graph.notice({ type: 'user_changed_user_id', body: 'changed', user_id: U2, previous_user_id: U1 });
    const [placeholder = ''] = await chats();
    assert.match(placeholder, /^000\d{20}$/);
    const [move] = (await changed()).filter((data: object) => 'previousPhoneNumber' in data);
    assert.deepEqual([move.phoneNumber, move.previousPhoneNumber, move.unidentified], [placeholder, ADA, true]);
    assert.equal((await send('hello?', placeholder)).body.chatId, placeholder);
    assert.equal(graph.sent.at(-1)?.body.recipient, U2);
    await graph.incoming(U2, text('here'));
    assert.deepEqual(await chats(), [placeholder]);
    await graph.incoming(NEW, text('my number'), { userId: U2 });
    assert.deepEqual(await chats(), [NEW]);
    await send('again', placeholder);
    assert.equal(graph.sent.at(-1)?.body.to, NEW);
    assert.equal((await send('again', ADA)).body.chatId, ADA);
    assert.equal(graph.sent.at(-1)?.body.to, ADA);
  });

  describe('a new id with the same number', () => {
    const notice = { type: 'user_changed_user_id', body: 'changed' };
    const sender = { contacts: [{ profile: { name: 'Ada' }, wa_id: ADA, user_id: U2 }] };
    const FORMS = {
      'with the former id': { system: { wa_id: ADA, user_id: U2, previous_user_id: U1 } },
      'with the number as sender': { from: ADA, system: { wa_id: ADA, user_id: U2, previous_user_id: U1 } },
      'with the former id as sender': { from_user_id: U1, system: { wa_id: ADA, user_id: U2 } },
      'with ids of both as sender': { from: ADA, from_user_id: U1, system: { wa_id: ADA, user_id: U2 } },
      'without the former id': { system: { wa_id: ADA, user_id: U2 } },
      'with the new id as sender': { from: ADA, from_user_id: U2, system: { wa_id: ADA, user_id: U2 } },
      'with the new id in contacts': { ...sender, from: ADA, system: { wa_id: ADA, user_id: U2 } },
      'as a changed number': { from: ADA, system: { type: 'user_changed_number', wa_id: ADA, user_id: U2 } },
    } as const;

    for (const [form, { system, ...about }] of Object.entries<object & { system: object; contacts?: object[] }>(FORMS))
      it(`keeps one chat and the newest id, ${form}`, async (t) => {
        const { graph, call, chats, changed, send } = await site(t);
        await graph.incoming(ADA, text('hello'), { userId: U1 });
        const before = (await changed()).length;
        const { contacts, ...of } = about as { contacts?: object[] };
        const message = { ...of, timestamp: graph.now(), type: 'system', system: { ...notice, ...system } };
        for (const id of [graph.newId(), graph.newId()])
          assert.equal(await graph.post({ ...(contacts && { contacts }), messages: [{ ...message, id }] }), 200);
        assert.equal((await eventsOf(call, 'message.incoming')).length, 1);
        const [event, ...more] = (await changed()).slice(before);
        assert.deepEqual([more, event.phoneNumber, event.userId, event.previousUserId], [[], ADA, U2, U1]);
        assert.ok(!('numberChanged' in event) && !('previousPhoneNumber' in event));
        assert.deepEqual((await call('GET', `/contacts/${ADA}`)).body.networkIds, [ADA, U2]);
        await graph.incoming(U1, text('under the old id'));
        await graph.incoming(U2, text('under the new one'));
        assert.deepEqual(await chats(), [ADA]);
        for (const id of [U1, U2]) assert.equal((await send('hello', id)).body.to, ADA);
      });

    it('joins the former id even if a message with the new one came first', async (t) => {
      const { graph, call, chats } = await site(t);
      await graph.incoming(ADA, text('hello'), { userId: U1 });
      await graph.incoming(ADA, text('again'), { userId: U2 });
      await graph.notice({ ...notice, wa_id: ADA, user_id: U2, previous_user_id: U1 });
      await graph.incoming(U1, text('under the old id'));
      assert.deepEqual(await chats(), [ADA]);
      assert.deepEqual((await call('GET', `/contacts/${ADA}`)).body.networkIds, [ADA, U2]);
    });

    it('ignores a notice without a change', async (t) => {
      const { graph, call, chats } = await site(t);
      await graph.incoming(ADA, text('hello'), { userId: U1 });
      await graph.notice({ ...notice, wa_id: ADA, user_id: U1 }, { from: ADA });
      assert.equal((await eventsOf(call, 'message.incoming')).length, 1);
      assert.deepEqual(await chats(), [ADA]);
    });
  });

  it('leaves the former number without the ids of the person', async (t) => {
    const { graph, call } = await site(t);
    await graph.incoming(ADA, text('hello'), { userId: U1 });
    const system = { type: 'user_changed_number', body: 'changed', wa_id: NEW, previous_user_id: U1 };
    await graph.notice(system, { from: ADA });
    assert.deepEqual((await call('GET', `/contacts/${NEW}`)).body.networkIds, [NEW, U1]);
    await graph.incoming(ADA, text('I am somebody else'));
    assert.deepEqual((await call('GET', `/contacts/${ADA}`)).body.networkIds, [ADA]);
  });

  it('stores a notice of an unknown kind as a message', async (t) => {
    const { graph, call } = await site(t);
    await graph.notice({ type: 'user_did_something', body: 'Ada did something' }, { from: ADA });
    const [{ data }] = await eventsOf(call, 'message.incoming');
    assert.deepEqual([data.type, data.message], ['unsupported', 'Ada did something']);
  });
});

describe('hidden numbers', () => {
  it('keeps one chat when a person hides the number later', async (t) => {
    const { graph, chats, send, call } = await site(t);
    await graph.incoming(ADA, text('hello'), { userId: U1 });
    await graph.incoming(U1, text('hidden'));
    assert.deepEqual(await chats(), [ADA]);
    assert.equal((await send('ok', ADA)).status, 201);
    const { body } = await call('GET', `/contacts/${ADA}`);
    assert.deepEqual(body.networkIds, [ADA, U1]);
  });

  it('learns the id of a recipient who hides the number in the answer', async (t) => {
    const { graph, chats, send, call } = await site(t);
    await graph.incoming(ADA, text('hello'));
    graph.people.identify(ADA, U1);
    await send('hello', ADA);
    await eventually(
      () => call('GET', `/contacts/${ADA}`),
      ({ body }) => body.networkIds?.includes(U1) === true,
    );
    await graph.settled();
    await graph.incoming(U1, text('hidden'));
    assert.deepEqual(await chats(), [ADA]);
  });

  it('joins a person who answers a contact request, and nobody who shares a card', async (t) => {
    const { graph, chats, become } = await site(t);
    await graph.incoming(U1, text('hello'));
    const [placeholder = ''] = await chats();
    const card = (phone: string) => [{ vcard: 'BEGIN:VCARD', phones: [{ phone }] }];
    await graph.incoming(U1, { type: 'contacts', origin: 'other', contacts: card('+49 151 00000000') });
    assert.deepEqual(await chats(), [placeholder]);
    await graph.incoming(U1, { type: 'contacts', origin: 'contact_request', contacts: card(`+${ADA}`) });
    await become([ADA]);
    await graph.incoming(U1, text('still hidden'));
    assert.deepEqual(await chats(), [ADA]);
  });

  it('knows a person by the id of several portfolios too', async (t) => {
    const { graph, chats } = await site(t);
    const parent = 'DE.ENT.4711';
    await graph.incoming(parent, text('one'));
    await graph.incoming(U1, text('two'), { parentUserId: parent });
    assert.equal((await chats()).length, 1);
    await graph.incoming(ADA, text('three'), { userId: U1, parentUserId: parent });
    await graph.incoming(parent, text('four'));
    assert.deepEqual(await chats(), [ADA]);
  });

  it('reports each change of a person once', async (t) => {
    const { graph, call, changed } = await site(t);
    let count = 0;
    const changes = async () => {
      const all = await changed();
      const added = all
        .slice(count)
        .map(({ name, userId, userName }: Record<string, string>) => [name, userId, userName]);
      count = all.length;
      return added;
    };
    await graph.incoming(U1, text('hello'), { username: 'ada.l' });
    assert.deepEqual(await changes(), [['Ada', U1, 'ada.l']]);
    await graph.incoming(U1, text('hello'), { username: 'ada.m' });
    assert.deepEqual(await changes(), [['Ada', U1, 'ada.m']]);
    await graph.incoming(U1, text('hello'), { name: 'Eve', username: 'ada.n' });
    assert.deepEqual(await changes(), [['Eve', U1, 'ada.n']]);
    await graph.notice({ type: 'user_changed_user_id', body: 'changed', user_id: U2, previous_user_id: U1 });
    assert.deepEqual(await changes(), [['Eve', U2, 'ada.n']]);
    await graph.incoming(ADA, text('my number'), { name: 'Eve', userId: U2, username: 'ada.n' });
    assert.deepEqual(await changes(), [['Eve', U2, 'ada.n']]);
    await graph.incoming(ADA, text('another name'), { name: 'Zoe', userId: U2, username: 'zoe' });
    assert.deepEqual(await changes(), [['Zoe', U2, 'zoe']]);
    assert.equal((await call('GET', '/contacts')).body.data.length, 1);
  });

  it('blocks a person by the id', async (t) => {
    const { graph, chats, call } = await site(t);
    await graph.incoming(U1, text('hello'));
    const [placeholder = ''] = await chats();
    const { status, body } = await call('PUT', `/contacts/${placeholder}/blocked`, { blocked: true });
    assert.deepEqual([status, body.blocked, [...graph.blocked]], [200, true, [U1]]);
  });
});
