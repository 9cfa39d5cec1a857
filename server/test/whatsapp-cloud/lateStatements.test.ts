import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { cloudSession, eventsOf } from '../support/networks/cloudSession.ts';
import { bearer } from '../support/server.ts';

const N = '4915100000001';
const M = '4915100000002';
const K = '4915100000003';
const ADA = 'DE.1001';
const EVE = 'DE.10012';
const text = (body: string) => ({ type: 'text', text: { body } });

/** A session, whose callbacks have times in seconds after a start some minutes ago. */
async function site(t: TestContext) {
  const session = await cloudSession(t);
  const { graph, call, send } = session;
  const start = Number(graph.now()) - 600;
  const at = (second: number) => String(start + second);
  const says = (second: number, from: string, userId: string, body: string, id = graph.newId()) =>
    graph.incoming(from, { ...text(body), timestamp: at(second) }, { userId, name: body, id });
  const notices = (second: number, system: object, sender: object) => {
    const message = { ...sender, id: graph.newId(), timestamp: at(second), type: 'system' };
    return graph.post({ messages: [{ ...message, system: { body: 'changed', ...system } }] });
  };
  const moves = (second: number, from: string, to: string, userId = ADA) =>
    notices(second, { type: 'user_changed_number', wa_id: to, user_id: userId }, { from, from_user_id: userId });
  const chats = async (): Promise<string[]> =>
    (await call('GET', '/chats')).body.data.map(({ chatId }: { chatId: string }) => chatId).toSorted();
  const textsIn = async (chat: string): Promise<string[]> =>
    (await call('GET', `/messages?chatId=${chat}`)).body.data.map(({ message }: { message: string }) => message);
  const reached = async (to: string) => {
    assert.equal((await send('to you', to)).status, 201);
    const { to: number, recipient } = graph.sent.at(-1)?.body ?? {};
    return number ?? recipient;
  };
  return { ...session, at, says, notices, moves, chats, textsIn, reached };
}

describe('late callbacks of the Cloud API', () => {
  it('keeps the new number when Meta repeats an earlier message', async (t) => {
    const { says, moves, chats, reached } = await site(t);
    const first = await says(0, N, ADA, 'at N');
    await moves(0, N, M);
    await says(0, N, ADA, 'at N', first);
    assert.deepEqual([await chats(), await reached(ADA)], [[M], M]);
  });

  it('files a message that arrives late in the chat with the present number', async (t) => {
    const { says, chats, textsIn } = await site(t);
    await says(10, N, ADA, 'at N');
    await says(20, M, ADA, 'at M');
    await says(15, N, ADA, 'late');
    assert.deepEqual(await chats(), [M]);
    assert.equal((await textsIn(M)).includes('late'), true);
    await says(30, N, ADA, 'back');
    assert.deepEqual(await chats(), [N]);
  });

  it('compares with the last message, and not only with the first one', async (t) => {
    const { says, chats } = await site(t);
    await says(10, N, ADA, 'at N');
    await says(20, N, ADA, 'again');
    await says(15, M, ADA, 'late');
    assert.deepEqual(await chats(), [N]);
  });

  it('keeps a chat when a status has the former number, whose owner is someone else', async (t) => {
    const { graph, call, server, at, says, moves, textsIn, reached } = await site(t);
    const { body: key } = await call('POST', '/api-keys/create', { name: 'limited', allowedRecipients: [ADA] });
    await says(0, N, ADA, 'Ada at N');
    const { body: sent } = await call('POST', '/messages/send', { to: N, message: 'to Ada' });
    await moves(10, N, M);
    const status = { id: sent.networkId, status: 'read', recipient_id: N, recipient_user_id: ADA };
    const read = (second: number) => graph.post({ statuses: [{ ...status, timestamp: at(second) }] });
    await read(20);
    assert.equal(await reached(ADA), M);
    await says(30, N, EVE, 'Eve at N');
    await read(40);
    assert.deepEqual([await reached(ADA), await reached(EVE)], [M, N]);
    assert.equal((await textsIn(M)).includes('Eve at N'), false);
    const limited = await bearer(server.url, key.key)('POST', '/messages/send', { to: N, message: 'secret for Ada' });
    assert.equal(limited.status, 403);
  });

  it('moves only the person of a late notice', async (t) => {
    const { says, moves, textsIn, reached } = await site(t);
    await says(0, N, ADA, 'Ada at N');
    await says(20, N, EVE, 'Eve at N');
    await moves(10, N, M);
    assert.deepEqual([await reached(ADA), await reached(EVE)], [M, N]);
    assert.equal((await textsIn(N)).includes('Eve at N'), true);
    await says(30, K, ADA, 'Ada at K');
    await moves(25, M, M);
    assert.equal(await reached(ADA), K);
  });

  it('knows a caller by the id in the contacts of the callback', async (t) => {
    const { graph, call, server, at, says, chats } = await site(t);
    await says(0, N, ADA, 'Ada at N');
    const { body: key } = await call('POST', '/api-keys/create', { name: 'limited', allowedRecipients: [ADA] });
    const ring = { id: 'wacid.1', from: M, to: '15550100100', event: 'connect', timestamp: at(10) };
    const contacts = [{ profile: { name: 'Ada' }, wa_id: M, user_id: ADA }];
    assert.equal(await graph.post({ field: 'calls', calls: [ring], contacts }), 200);
    const [{ data }] = await eventsOf(call, 'call.incoming');
    assert.equal(data.from, M);
    assert.deepEqual(await chats(), [M]);
    const asKey = bearer(server.url, key.key);
    assert.equal((await asKey('POST', '/messages/send', { to: M, message: 'hello' })).status, 201);
    const late = { ...ring, id: 'wacid.2', from: N, timestamp: at(5) };
    assert.equal(await graph.post({ field: 'calls', calls: [late], contacts: [{ wa_id: N, user_id: ADA }] }), 200);
    const calls: { data: { from: string } }[] = await eventsOf(call, 'call.incoming');
    assert.deepEqual(
      calls.map((one) => one.data.from),
      [M, M],
    );
  });

  it('ignores a notice with the number of the session', async (t) => {
    const { says, notices, chats } = await site(t);
    await says(0, N, ADA, 'Ada at N');
    const own = { type: 'user_changed_number', wa_id: '15550100100', user_id: ADA };
    assert.equal(await notices(10, own, { from: N, from_user_id: ADA }), 200);
    assert.deepEqual(await chats(), [N]);
  });
});

it('stores a message with an empty group id in the chat with the person', async (t) => {
  const { graph, call, chats } = await site(t);
  await graph.incoming(N, { ...text('hello'), group_id: '' }, { userId: ADA });
  assert.deepEqual([await chats(), (await call('GET', '/groups')).body.data], [[N], []]);
});

describe('choices about marketing', () => {
  async function marketing(t: TestContext) {
    const found = await site(t);
    const { graph, call, at } = found;
    graph.templates.add({ name: 'sale', category: 'MARKETING' });
    const stops = (second: number, number: string, userId: string) =>
      graph.chooseMarketing(number, 'stop', { user_id: userId, timestamp: Number(at(second)) });
    const offer = async (to: string) => {
      const { status } = await call('POST', '/messages/send-template', { to, name: 'sale', language: 'en_US' });
      return status === 201;
    };
    return { ...found, stops, offer };
  }

  it('belong to the person with the id, and not to the number', async (t) => {
    const { call, says, moves, stops, offer } = await marketing(t);
    await says(0, N, ADA, 'Ada at N');
    await moves(10, N, M);
    assert.equal(await stops(5, N, ADA), 200);
    assert.equal(await offer(M), false);
    const [choice] = await eventsOf(call, 'contact.marketing');
    assert.deepEqual([choice.data.from, choice.data.stopped], [M, true]);
  });

  it('stay with the person when someone else gets the number', async (t) => {
    const { says, stops, moves, offer } = await marketing(t);
    await says(0, N, ADA, 'Ada at N');
    await stops(5, N, ADA);
    assert.equal(await offer(N), false);
    await says(10, N, EVE, 'Eve at N');
    assert.deepEqual([await offer(ADA), await offer(EVE)], [false, true]);
    await moves(7, N, M);
    assert.deepEqual([await offer(M), await offer(EVE)], [false, true]);
  });
});
