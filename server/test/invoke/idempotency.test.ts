import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { it, type TestContext } from 'node:test';
import type { Tx } from '../../src/db/commit.ts';
import { canonical } from '../../src/invoke/idempotency.ts';
import { describeOnEachDatabase } from '../support/databases/databases.ts';
import { eventually } from '../support/eventually.ts';
import { createFakeClock } from '../support/fakeClock.ts';
import { bearer, connectSession, startServer } from '../support/server.ts';

const START = Date.UTC(2026, 0, 1);
const TO = '491701234567';

describeOnEachDatabase('a request with an idempotency key', (_, database) => {
  async function started(test: TestContext) {
    const clock = createFakeClock(START);
    const server = await startServer({ database, clock });
    test.after(() => server.stop());
    const { call } = await server.account();
    const sessionId = await connectSession(call);
    const post = (path: string, input: object, key = 'key-1', as = call) =>
      as('POST', path, input, { 'idempotency-key': key });
    const change = (work: (tx: Tx) => Promise<unknown>) => server.app.services.database.commit(work);
    /** Leaves the key as a server does that died before it stored the answer. */
    const interrupt = () =>
      change((tx) => tx.kysely.updateTable('idempotency_keys').set({ answer: null, owner: 'nod_gone' }).execute());
    /** Leaves the key as the previous release stores it. */
    const storeAsBefore = (operation: string, input: object) => {
      const request_hash = createHash('sha256')
        .update(`${operation}\n${canonical(input)}`)
        .digest('hex');
      const stored = { request_hash, sent_hash: null, credential: null };
      return change((tx) => tx.kysely.updateTable('idempotency_keys').set(stored).execute());
    };
    const makeKey = async (limits = {}) => {
      const { body } = await call('POST', '/api-keys/create', { name: 'app', ...limits });
      return { keyId: body.keyId, asKey: bearer(server.url, body.key) };
    };
    const countMessages = async () => (await call('GET', '/messages?limit=200')).body.data.length;
    const networkIdOf = async (groupId: string) => {
      const { kysely } = server.app.services.database.reader;
      const groups = kysely.selectFrom('groups').select('network_id').where('group_id', '=', groupId);
      return (await groups.executeTakeFirstOrThrow()).network_id;
    };
    return {
      networkIdOf,
      server,
      clock,
      call,
      change,
      sessionId,
      post,
      interrupt,
      storeAsBefore,
      makeKey,
      countMessages,
    };
  }

  const inAMinute = { sendAt: new Date(START + 60_000).toISOString() };

  it('returns the stored message, when its time has passed and its first run was interrupted', async (test) => {
    const { clock, call, post, interrupt, countMessages } = await started(test);
    const input = { to: TO, message: 'planned', ...inAMinute };
    const first = await post('/messages/send', input);
    assert.equal(first.status, 201);
    await interrupt();
    await clock.advance(61_000);
    await eventually(
      () => call('GET', `/messages/${first.body.messageId}`),
      ({ body }) => body.status !== 'scheduled' && body.status !== 'queued',
    );
    const again = await post('/messages/send', input);
    assert.deepEqual([again.status, again.body.messageId], [201, first.body.messageId]);
    assert.equal(await countMessages(), 1);
    const replayed = await post('/messages/send', input);
    assert.deepEqual([replayed.status, replayed.headers.get('idempotency-replayed')], [201, 'true']);
  });

  it('is refused, when its time has passed and nothing was stored', async (test) => {
    const { clock, post, interrupt, change } = await started(test);
    const input = { to: TO, message: 'planned', ...inAMinute };
    await post('/messages/send', input);
    await interrupt();
    await change((tx) => tx.kysely.deleteFrom('messages').execute());
    await clock.advance(61_000);
    const again = await post('/messages/send', input);
    assert.deepEqual([again.status, again.body.errors[0].field], [400, 'sendAt']);
  });

  it('returns what a bulk send has stored, when its time has passed and its first run was interrupted', async (test) => {
    const { clock, change, post, interrupt, countMessages } = await started(test);
    const input = { to: [TO, 'nobody', '491707654321', '491707654322'], message: 'planned', ...inAMinute };
    const { body: first } = await post('/messages/send-bulk', input);
    assert.deepEqual([first.accepted, first.refused], [3, 1]);
    await interrupt();
    const [, , , lost] = first.results;
    await change((tx) => tx.kysely.deleteFrom('messages').where('message_id', '=', lost.messageId).execute());
    await clock.advance(70_000);
    const again = await post('/messages/send-bulk', input);
    assert.equal(again.status, 202);
    assert.deepEqual([again.body.accepted, again.body.refused, again.body.batchId], [2, 2, first.batchId]);
    const ids = ({ results }: { results: { messageId: string | null }[] }) => results.map(({ messageId }) => messageId);
    assert.deepEqual(ids(again.body).slice(0, 3), ids(first).slice(0, 3));
    assert.match(again.body.results[3].error, /interrupted before this message was stored/);
    assert.equal(await countMessages(), 2);
  });

  it('returns the batch of a bulk send that was interrupted while its messages were stored', async (test) => {
    const { clock, call, change, post, interrupt } = await started(test);
    const input = { to: [TO, '491707654322'], message: 'planned', ...inAMinute };
    const { body: first } = await post('/messages/send-bulk', input);
    await interrupt();
    const [, lost] = first.results;
    await change(async ({ kysely }) => {
      await kysely.deleteFrom('messages').where('message_id', '=', lost.messageId).execute();
      await kysely.updateTable('batches').set({ status: 'preparing' }).execute();
    });
    await clock.advance(70_000);
    const { body } = await post('/messages/send-bulk', input);
    assert.deepEqual([body.accepted, body.batchId], [1, first.batchId]);
    assert.equal((await call('GET', `/batches/${first.batchId}`)).status, 200);
  });

  it('returns the webhook and the session that an interrupted run created, even at the limit', async (test) => {
    const { post, interrupt } = await started(test);
    for (const [path, input, id] of [
      ['/webhooks/endpoints', { webhookUrl: 'https://example.com/hook', events: ['message.sent'] }, 'webhookId'],
      ['/sessions', { phoneNumber: '491700000099' }, 'sessionId'],
    ] as const) {
      const first = await post(path, input, path);
      assert.equal(first.status, 201);
      await interrupt();
      const again = await post(path, input, path);
      assert.deepEqual([again.status, again.body[id]], [201, first.body[id]]);
    }
  });

  it('returns the first response, when what it refers to is gone', async (test) => {
    const { call, sessionId, post, makeKey } = await started(test);
    const { asKey } = await makeKey({ sessionIds: [sessionId] });
    const { channelId } = (await call('POST', '/channels', { sessionId, name: 'News' })).body;
    const publish = (message: string) => post(`/channels/${channelId}/messages`, { message }, 'key-1', asKey);
    const first = await publish('hello');
    assert.equal(first.status, 201);
    await call('DELETE', `/sessions/${sessionId}`);
    const again = await publish('hello');
    assert.deepEqual([again.status, again.body.postId], [201, first.body.postId]);
    assert.equal((await publish('another')).status, 404);
  });

  it('stays refused, when the key may no longer do it', async (test) => {
    const { call, sessionId, post, makeKey } = await started(test);
    const { keyId, asKey } = await makeKey({ sessionIds: [sessionId] });
    const input = { sessionId, to: TO, message: 'hello' };
    await post('/messages/send', input, 'key-1', asKey);
    await call('PATCH', `/api-keys/${keyId}`, { permissions: ['messages:read'] });
    const again = await post('/messages/send', input, 'key-1', asKey);
    assert.equal(again.body.code, 'permission_denied');
  });

  it('is refused, when no database can store the key', async (test) => {
    const { call } = await started(test);
    for (const idempotencyKey of ['\u0000', '\ud800']) {
      const { status, body } = await call('POST', '/messages/send', { to: TO, message: 'hello', idempotencyKey });
      assert.deepEqual([status, body.code, body.errors?.[0].field], [400, 'validation_failed', 'idempotencyKey']);
    }
  });

  it('is refused, when the key was moved to another session', async (test) => {
    const { call, sessionId, post, makeKey } = await started(test);
    const { sessionId: other } = (await call('POST', '/sessions', { phoneNumber: '491700000098' })).body;
    const { keyId, asKey } = await makeKey({ sessionIds: [sessionId] });
    const { channelId } = (await call('POST', '/channels', { sessionId, name: 'News' })).body;
    const requests = [
      [`/channels/${channelId}/messages`, { message: 'hello' }, 404],
      ['/messages/send', { sessionId, to: TO, message: 'named' }, 404],
      ['/messages/send', { to: TO, message: 'not named' }, 422],
      ['/messages/send-bulk', { sessionId, to: [TO], message: 'bulk' }, 404],
    ] as const;
    const repeat = () => Promise.all(requests.map(([path, input], at) => post(path, input, `key-${at}`, asKey)));
    assert.deepEqual(
      (await repeat()).map(({ status }) => status),
      [201, 201, 201, 202],
    );
    await call('PATCH', `/api-keys/${keyId}`, { sessionIds: [other] });
    const expected = requests.map(([, , status]) => status);
    assert.deepEqual(
      (await repeat()).map(({ status }) => status),
      expected,
    );
    await call('PATCH', `/api-keys/${keyId}`, { sessionIds: [other, sessionId] });
    assert.deepEqual(
      (await repeat()).map(({ status, headers }) => [status, headers.get('idempotency-replayed')]),
      [201, 201, 201, 202].map((status) => [status, 'true']),
    );
  });

  it('is refused with an input that is no longer valid, when the key may no longer send to its recipient', async (test) => {
    const { call, sessionId, post, makeKey, networkIdOf } = await started(test);
    const { keyId, asKey } = await makeKey({ sessionIds: [sessionId] });
    const { groupId } = (await call('POST', '/groups', { sessionId, subject: 'Team', phoneNumbers: [TO] })).body;
    const networkId = await networkIdOf(groupId);
    const input = { sessionId, to: networkId, message: 'hello' };
    const first = await post('/messages/send', input, 'key-1', asKey);
    assert.equal(first.status, 201);
    await call('DELETE', `/sessions/${sessionId}`); // its groups are gone
    const again = await post('/messages/send', input, 'key-1', asKey);
    assert.deepEqual([again.status, again.body.messageId], [201, first.body.messageId]);
    await call('PATCH', `/api-keys/${keyId}`, { allowedRecipients: [TO] });
    assert.equal((await post('/messages/send', input, 'key-1', asKey)).body.code, 'permission_denied');
  });

  it('returns the stored message, when its chat is gone and its first run was interrupted', async (test) => {
    const { call, change, post, sessionId, interrupt, countMessages, networkIdOf } = await started(test);
    const { groupId } = (await call('POST', '/groups', { sessionId, subject: 'Team', phoneNumbers: [TO] })).body;
    const networkId = await networkIdOf(groupId);
    const input = { sessionId, to: networkId, message: 'hello' };
    const first = await post('/messages/send', input);
    assert.equal(first.status, 201);
    await interrupt();
    await change((tx) => tx.kysely.deleteFrom('groups').execute());
    const again = await post('/messages/send', input);
    assert.deepEqual([again.status, again.body.messageId], [201, first.body.messageId]);
    assert.equal(await countMessages(), 1);
  });

  it('is recognized, when the previous release stored its key', async (test) => {
    const { post, storeAsBefore, countMessages } = await started(test);
    const input = { to: [TO], message: 'hello' };
    const { body: first } = await post('/messages/send-bulk', input);
    await storeAsBefore('messages.send_bulk', { ...input, intervalMs: 1000 });
    assert.deepEqual((await post('/messages/send-bulk', input)).body, first);
    await storeAsBefore('messages.send_bulk', input); // before the field had a default
    assert.deepEqual((await post('/messages/send-bulk', input)).body, first);
    assert.equal((await post('/messages/send-bulk', { ...input, message: 'other' })).body.code, 'idempotency_mismatch');
    assert.equal(await countMessages(), 1);
  });

  it('is another one with the key of another API key, and the same one after a rotation', async (test) => {
    const { server, call, post, makeKey, countMessages } = await started(test);
    const [one, other] = [await makeKey(), await makeKey()];
    const send = (message: string, as = call) => post('/messages/send', { to: TO, message }, 'key-1', as);
    const sent = [await send('one', one.asKey), await send('other', other.asKey), await send('by a login')];
    assert.deepEqual(
      sent.map(({ status }) => status),
      [201, 201, 201],
    );
    const { body: rotated } = await call('POST', `/api-keys/${other.keyId}/rotate`);
    const again = [
      await send('one', one.asKey),
      await send('other', bearer(server.url, rotated.key)),
      await send('by a login'),
    ];
    assert.deepEqual(
      again.map(({ body }) => body.messageId),
      sent.map(({ body }) => body.messageId),
    );
    assert.equal((await send('different', one.asKey)).body.code, 'idempotency_mismatch');
    assert.equal(await countMessages(), 3);
  });
});
