import assert from 'node:assert/strict';
import { beforeEach, it, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { AppError } from '../../src/errors.ts';
import { describeOnEachDatabase } from '../support/databases/databases.ts';
import { eventually } from '../support/eventually.ts';
import { createFakeClock, type FakeClock } from '../support/fakeClock.ts';
import { PUPPET_NUMBER, puppet } from '../support/networks/puppet.ts';
import { type Answer, bearer, startServer } from '../support/server.ts';

const START = Date.UTC(2026, 0, 1);
const PUPPET = fileURLToPath(new URL('../support/networks/puppet.ts', import.meta.url));

describeOnEachDatabase('a queued message', (_, database) => {
  let sent: string[];
  beforeEach(() => {
    sent = [];
  });

  async function connected(test: TestContext) {
    const clock = createFakeClock(START);
    const server = await startServer({ database, clock, env: { CONNECTORS: PUPPET } });
    test.after(() => server.stop());
    const { call } = await server.account();
    const { sessionId } = (await call('POST', '/sessions', { connector: 'puppet' })).body;
    await call('POST', `/sessions/${sessionId}/connect`);
    const send = (message: string, rest = {}) =>
      call('POST', '/messages/send', { sessionId, to: '4917012345', message, ...rest });
    const statusOf = async (messageId: string) => (await call('GET', `/messages/${messageId}`)).body.status;
    const untilStatus = (messageId: string, status: string) =>
      eventually(
        () => statusOf(messageId),
        (now) => now === status,
      );
    /** Lets time pass until a message is sent. */
    const untilSent = (messageId: string) =>
      eventually(
        async () => {
          await clock.advance(5000);
          return statusOf(messageId);
        },
        (status) => status === 'sent',
      );
    const events = async (messageId: string, count: number) => {
      const { body } = await eventually(
        () => call('GET', '/events?events=message.sent,message.delivered'),
        (answer) => answer.body.data.length >= count,
      );
      return body.data
        .filter(({ data }: { data: { messageId?: string } }) => data.messageId === messageId)
        .map(({ event }: { event: string }) => event);
    };
    return { server, call, clock, sessionId, send, statusOf, untilStatus, untilSent, events };
  }

  const inAMinute = { sendAt: new Date(START + 60_000).toISOString() };

  it('waits out a pause of the network when it was scheduled, and keeps its place', async (test) => {
    const { clock, send, statusOf, untilStatus, untilSent } = await connected(test);
    let isLimited = true;
    let tries = 0;
    puppet.send = async ({ content }) => {
      tries++;
      if (isLimited) throw new AppError('rate_limited', 'Slowly', { retryAfterSeconds: 30 });
      sent.push(content.text);
      return { timestamp: clock.now() };
    };
    const ids: string[] = [];
    for (const text of ['one', 'two', 'three']) ids.push((await send(text, inAMinute)).body.messageId);
    const last = ids.at(-1) ?? '';
    await clock.advance(60_000);
    await eventually(
      async () => tries,
      (count) => count > 0,
    );
    await untilStatus(last, 'queued');
    await clock.advance(29_000);
    for (const id of ids) assert.equal(await statusOf(id), 'queued');
    assert.equal(tries, 1, 'later messages wait too');
    isLimited = false;
    await untilSent(last);
    assert.deepEqual(sent, ['one', 'two', 'three']);
  });

  it('stays ahead of later messages of its chat after waiting for its session', async (test) => {
    const { call, clock, sessionId, send } = await connected(test);
    const { promise: cut, reject: cutOff } = Promise.withResolvers<never>();
    puppet.send = () => cut;
    puppet.closing = async () => cutOff(new AppError('session_not_connected'));
    test.after(() => {
      puppet.closing = async () => {};
    });
    const first = send('one');
    await eventually(
      async () => (await call('GET', '/messages')).body.data.length,
      (count) => count === 1,
    );
    const disconnecting = call('POST', `/sessions/${sessionId}/disconnect`);
    await clock.settle(disconnecting, 100);
    assert.equal((await first).status, 503);

    const { promise: answer, resolve } = Promise.withResolvers<void>();
    puppet.send = async ({ content }) => {
      sent.push(content.text);
      if (content.text === 'one') await answer;
      return { timestamp: clock.now() };
    };
    await call('POST', `/sessions/${sessionId}/connect`);
    await eventually(
      async () => sent.length,
      (count) => count === 1,
    );
    const later = send('two');
    await eventually(
      async () => (await call('GET', '/messages')).body.data.length,
      (count) => count === 2,
    );
    await send('elsewhere', { to: '4917054321' });
    assert.deepEqual(sent, ['one', 'elsewhere'], 'another chat does not wait');
    resolve();
    const { status, body } = await clock.settle(later, 100);
    assert.deepEqual([status, body.status], [201, 'sent']);
    assert.deepEqual(sent, ['one', 'elsewhere', 'two']);
  });

  it("fails with the network's own error, which its waiting caller and its event get", async (test) => {
    const { call, clock, sessionId, send, untilStatus } = await connected(test);
    puppet.send = async () => {
      throw new AppError('session_not_connected');
    };
    const { messageId: first } = (await send('one', inAMinute)).body;
    await clock.advance(60_000);
    await untilStatus(first, 'queued');
    const { promise: answer, resolve } = Promise.withResolvers<void>();
    puppet.send = async ({ content }) => {
      sent.push(content.text);
      if (content.text !== 'one') throw new AppError('template_required', 'Only templates');
      await answer;
      return { timestamp: clock.now() };
    };
    await call('POST', `/sessions/${sessionId}/disconnect`);
    await call('POST', `/sessions/${sessionId}/connect`);
    await eventually(
      async () => sent.length,
      (count) => count === 1,
    );
    const later = send('two');
    await eventually(
      async () => (await call('GET', '/messages')).body.data.length,
      (count) => count === 2,
    );
    resolve();
    const { status, body } = await clock.settle(later, 100);
    assert.deepEqual([status, body.code, body.detail], [422, 'template_required', 'Only templates']);
    const [message] = (await call('GET', '/messages?status=failed')).body.data;
    assert.deepEqual([message.error, message.errorCode], ['Only templates', 'template_required']);
    const [{ data }] = (await call('GET', '/events?events=message.failed')).body.data;
    assert.deepEqual([data.error, data.errorCode], ['Only templates', 'template_required']);
  });

  it('stays ahead of later messages if the clock moves back while it waits', async (test) => {
    const { clock, send, untilStatus, untilSent } = await connected(test);
    let isLimited = true;
    puppet.send = async ({ content }) => {
      if (isLimited) throw new AppError('rate_limited', 'Slowly', { retryAfterSeconds: 30 });
      sent.push(content.text);
      return { timestamp: clock.now() };
    };
    const { messageId: first } = (await send('one', inAMinute)).body;
    await clock.advance(60_000);
    await untilStatus(first, 'queued');
    const answers: Promise<Answer>[] = [];
    for (const text of ['two', 'three', 'four']) {
      answers.push(send(text));
      // The response shows that it waits behind the first one.
      assert.equal((await clock.settle(answers.at(-1) as Promise<Answer>, 100)).body.status, 'queued');
      clock.set(clock.now() - 3_600_000);
    }
    isLimited = false;
    const last = (await answers.at(-1))?.body.messageId;
    await untilSent(last);
    // A scheduled message follows the wall clock, which is earlier now.
    assert.deepEqual(
      sent.filter((text) => text !== 'one'),
      ['two', 'three', 'four'],
    );
  });

  it('stays queued while the session is away when it was scheduled, and keeps its place', async (test) => {
    const { call, clock, sessionId, send, statusOf, untilStatus } = await connected(test);
    let isAway = true;
    puppet.send = async ({ content }) => {
      if (isAway) {
        await puppet.host?.onEvent({ type: 'disconnected', reason: 'The line is cut', willReconnect: true });
        throw new AppError('session_not_connected');
      }
      sent.push(content.text);
      return { timestamp: clock.now() };
    };
    const ids: string[] = [];
    for (const text of ['one', 'two']) ids.push((await send(text, inAMinute)).body.messageId);
    await clock.advance(60_000);
    await eventually(
      () => call('GET', `/sessions/${sessionId}`),
      ({ body }) => body.status === 'connecting',
    );
    const last = ids.at(-1) ?? '';
    await untilStatus(last, 'queued');
    isAway = false;
    for (const id of ids) assert.equal(await statusOf(id), 'queued');
    await puppet.host?.onEvent({ type: 'connected', phoneNumber: PUPPET_NUMBER });
    await untilStatus(last, 'sent');
    assert.deepEqual(sent, ['one', 'two']);
  });

  it('fails after ten minutes of network pauses when it was scheduled, without blocking later messages', async (test) => {
    const { call, clock, send, untilStatus } = await connected(test);
    puppet.send = async ({ content }) => {
      if (content.text === 'never') throw new AppError('rate_limited', 'Not this one', { retryAfterSeconds: 30 });
      sent.push(content.text);
      return { timestamp: clock.now() };
    };
    const { messageId: never } = (await send('never', inAMinute)).body;
    const { messageId: behind } = (await send('behind it', inAMinute)).body;
    await clock.advance(60_000);
    await eventually(
      async () => {
        await clock.advance(30_000);
        return (await call('GET', `/messages/${behind}`)).body.status;
      },
      (status) => status === 'sent',
    );
    const { status, error } = (await call('GET', `/messages/${never}`)).body;
    assert.deepEqual([status, error, sent], ['failed', 'Not this one', ['behind it']]);
    assert.ok(clock.now() - START > 9 * 60_000, 'not earlier');
    await untilStatus(behind, 'sent');
  });

  it('is sent at its scheduled time, regardless of creation order, without blocking other chats', async (test) => {
    const { clock, send, statusOf, untilStatus } = await connected(test);
    const { promise: answer, resolve } = Promise.withResolvers<void>();
    puppet.send = async ({ content }) => {
      if (content.text === 'slow') await answer;
      sent.push(content.text);
      return { timestamp: clock.now() };
    };
    let isLimited = true;
    const { send: passing } = puppet;
    puppet.send = async (message) => {
      if (isLimited) throw new AppError('rate_limited', 'Slowly', { retryAfterSeconds: 240 });
      return passing(message);
    };
    const at = (minutes: number) => ({ sendAt: new Date(START + minutes * 60_000).toISOString() });
    const { messageId: later } = (await send('later', at(3))).body;
    await send('sooner', at(2));
    await send('slow', { ...at(1), to: '4917054321' });
    await clock.advance(3 * 60_000);
    await untilStatus(later, 'queued');
    isLimited = false;
    await eventually(
      async () => {
        await clock.advance(30_000);
        return statusOf(later);
      },
      (status) => status === 'sent',
    );
    assert.deepEqual(sent, ['sooner', 'later']);
    resolve();
  });

  it('fails when its session is logged out while it waits', async (test) => {
    const { call, clock, send, untilStatus } = await connected(test);
    puppet.send = async () => {
      throw new AppError('rate_limited', 'Slowly', { retryAfterSeconds: 30 });
    };
    const { messageId } = (await send('from me', inAMinute)).body;
    await clock.advance(60_000);
    await untilStatus(messageId, 'queued');
    await puppet.host?.onEvent({ type: 'logged_out', reason: 'Unlinked on the phone' });
    const { body } = await call('GET', `/messages/${messageId}`);
    const error = 'The session was logged out before the message was sent';
    assert.deepEqual([body.status, body.error, body.errorCode], ['failed', error, 'session_not_connected']);
  });

  it('fails if its session was re-paired with a different number', async (test) => {
    const { call, clock, sessionId, send, untilStatus } = await connected(test);
    puppet.send = async ({ content }) => {
      sent.push(content.text);
      return { timestamp: clock.now() };
    };
    const { messageId } = (await send('from me', inAMinute)).body;
    await puppet.host?.onEvent({ type: 'logged_out', reason: 'Unlinked on the phone' });
    puppet.phoneNumber = '4930654321';
    await call('POST', `/sessions/${sessionId}/connect`);
    puppet.phoneNumber = PUPPET_NUMBER;
    await clock.advance(60_000);
    await untilStatus(messageId, 'failed');
    assert.match(
      (await call('GET', `/messages/${messageId}`)).body.error,
      /belongs to 4930123456, but the session was re-paired with a different number/,
    );
    assert.deepEqual(sent, []);
  });

  it('fails with a reason when it was scheduled and the pause exceeds the longest allowed wait', async (test) => {
    const { call, clock, send, untilStatus } = await connected(test);
    puppet.send = async () => {
      throw new AppError('rate_limited', 'Enough for today', { retryAfterSeconds: 24 * 3600 });
    };
    const { messageId } = (await send('tomorrow', inAMinute)).body;
    await clock.advance(60_000);
    await untilStatus(messageId, 'failed');
    assert.equal((await call('GET', `/messages/${messageId}`)).body.error, 'Enough for today');
  });

  it('is rejected immediately during a pause when the caller waits for the result', async (test) => {
    const { send } = await connected(test);
    puppet.send = async () => {
      throw new AppError('rate_limited', 'Slowly', { retryAfterSeconds: 30 });
    };
    const { status, headers, body } = await send('now');
    assert.deepEqual([status, body.code, headers.get('retry-after')], [429, 'rate_limited', '30']);
  });

  it('fails when the network does not respond in time, and becomes sent when the response arrives later', async (test) => {
    const { call, clock, send, untilStatus, events } = await connected(test);
    const { promise: answer, resolve } = Promise.withResolvers<{ timestamp: number }>();
    puppet.send = () => answer;
    const sending = send('slowly');
    await eventually(
      () => call('GET', '/messages?status=queued'),
      ({ body }) => body.data.length === 1,
    );
    await clock.advance(30_000);
    const { status, body } = await sending;
    assert.equal(status, 502);
    assert.match(body.detail, /within 30 s: the message may or may not have been sent/);
    const [{ messageId, error }] = (await call('GET', '/messages?status=failed')).body.data;
    assert.match(error, /may or may not have been sent/);
    resolve({ timestamp: clock.now() });
    await untilStatus(messageId, 'sent');
    assert.equal((await call('GET', `/messages/${messageId}`)).body.error ?? null, null);
    assert.deepEqual(await events(messageId, 1), ['message.sent']);
  });

  it('fails when the network does not respond in time, and becomes delivered when a receipt arrives', async (test) => {
    const { call, clock, send, untilStatus, events } = await connected(test);
    puppet.send = () => new Promise(() => {});
    const sending = send('got it?');
    const { body: page } = await eventually(
      () => call('GET', '/messages?status=queued'),
      ({ body }) => body.data.length === 1,
    );
    const { messageId } = page.data[0];
    await clock.advance(30_000);
    assert.equal((await sending).status, 502);
    const report = (status: 'delivered' | 'failed' | 'sent') =>
      puppet.host?.onEvent({ type: 'receipt', networkIds: [messageId], status, timestamp: clock.now() });
    await report('delivered');
    await untilStatus(messageId, 'delivered');
    assert.deepEqual(await events(messageId, 2), ['message.sent', 'message.delivered']);
  });

  it('stays failed after the network rejected it, whatever earlier statuses the network repeats', async (test) => {
    const { call, clock, send, statusOf, events } = await connected(test);
    puppet.send = () => new Promise(() => {});
    const sending = send('no');
    const { body: page } = await eventually(
      () => call('GET', '/messages?status=queued'),
      ({ body }) => body.data.length === 1,
    );
    const { messageId } = page.data[0];
    const report = (status: 'failed' | 'sent', error?: string) =>
      puppet.host?.onEvent({
        type: 'receipt',
        networkIds: [messageId],
        status,
        timestamp: clock.now(),
        ...(error !== undefined && { error }),
      });
    await report('failed', 'Nobody is there');
    await report('sent');
    assert.equal(await statusOf(messageId), 'failed');
    assert.deepEqual(await events(messageId, 0), []);
    await clock.advance(30_000);
    await sending;
    assert.equal((await call('GET', `/messages/${messageId}`)).body.error, 'Nobody is there');
  });

  it('is sent by the next connection as soon as the previous one has released it', async (test) => {
    const { call, clock, sessionId, send, untilStatus } = await connected(test);
    const hung = Promise.withResolvers<never>();
    let tries = 0;
    puppet.send = ({ content }) => {
      if (++tries === 1) return hung.promise;
      sent.push(content.text);
      return Promise.resolve({ timestamp: clock.now() });
    };
    const ids: string[] = [];
    for (const text of ['one', 'two']) ids.push((await send(text, inAMinute)).body.messageId);
    await clock.advance(60_000);
    await eventually(
      async () => tries,
      (count) => count === 1,
    );
    const disconnected = call('POST', `/sessions/${sessionId}/disconnect`);
    await eventually(
      async () => {
        await clock.advance(1000);
        return call('GET', `/sessions/${sessionId}`);
      },
      ({ body }) => body.status === 'disconnected',
    );
    await disconnected;
    await call('POST', `/sessions/${sessionId}/connect`);
    hung.reject(new Error('The line was cut'));
    // The clock does not advance, so polling cannot find them.
    for (const id of ids) await untilStatus(id, 'sent');
    assert.deepEqual(sent, ['one', 'two']);
  });

  /** Makes the network accept nothing but the given text until `accept` is called. */
  function holdBack(text: string, clock: FakeClock) {
    const { promise: answer, resolve: accept } = Promise.withResolvers<void>();
    const { promise: reached, resolve } = Promise.withResolvers<void>();
    puppet.send = async ({ content }) => {
      if (content.text === text) {
        resolve();
        await answer;
      }
      sent.push(content.text);
      return { timestamp: clock.now() };
    };
    return { reached, accept };
  }

  it('is handed to the network after the earlier ones of its chat, when calls overlap', async (test) => {
    const { clock, send } = await connected(test);
    const { reached, accept } = holdBack('one', clock);
    const first = send('one');
    await reached;
    const others = [send('two'), send('three')];
    await send('elsewhere', { to: '4917054321' });
    assert.deepEqual(sent, ['elsewhere'], 'another chat does not wait');
    accept();
    for (const answer of [first, ...others]) assert.equal((await answer).body.status, 'sent');
    assert.deepEqual(sent.slice(0, 2), ['elsewhere', 'one']);
  });

  it('waits for an earlier one of its chat, when that one is still being stored', async (test) => {
    const { server, clock, send } = await connected(test);
    holdBack('', clock);
    const { promise: confirmed, resolve: confirm } = Promise.withResolvers<void>();
    const { promise: stored, resolve } = Promise.withResolvers<void>();
    const { database } = server.app.services;
    const { commitJointly } = database;
    const mock = test.mock.method(database, 'commitJointly', async (...args: Parameters<typeof commitJointly>) => {
      if (args[1] instanceof Object && 'body' in args[1] && args[1].body === 'one') {
        const result = await commitJointly(...args);
        resolve();
        await confirmed;
        return result;
      }
      return commitJointly(...args);
    });
    test.after(() => mock.mock.restore());
    const first = send('one');
    await stored;
    const second = send('two');
    await eventually(
      async () => mock.mock.calls.filter(({ arguments: [, item] }) => item instanceof Object && 'body' in item).length,
      (count) => count === 2,
    );
    confirm();
    assert.deepEqual([(await first).status, (await second).status], [201, 201]);
    assert.deepEqual(sent, ['one', 'two']);
  });

  it('stays ahead of later messages, when the database stored it without confirming', async (test) => {
    const { server, clock, send, untilStatus } = await connected(test);
    holdBack('', clock);
    const { database } = server.app.services;
    const { commitJointly } = database;
    const mock = test.mock.method(
      database,
      'commitJointly',
      async (...args: Parameters<typeof commitJointly>) => {
        await commitJointly(...args);
        throw new AppError('storage_unavailable');
      },
      { times: 1 },
    );
    test.after(() => mock.mock.restore());
    assert.equal((await send('one')).status, 503);
    const { body } = await clock.settle(send('two'), 100);
    assert.equal(body.status, 'sent');
    assert.deepEqual(sent, ['one', 'two']);
    await untilStatus(body.messageId, 'sent');
  });

  it('goes out soon without further sends, when the database stored it without confirming', async (test) => {
    const { server, clock, send } = await connected(test);
    holdBack('', clock);
    const { database } = server.app.services;
    const { commitJointly } = database;
    const unconfirmed = async (...args: Parameters<typeof commitJointly>) => {
      await commitJointly(...args);
      throw new AppError('storage_unavailable');
    };
    test.mock.method(database, 'commitJointly', unconfirmed, { times: 1 });
    assert.equal((await send('one')).status, 503);
    await clock.advance(1000);
    await eventually(
      async () => sent,
      (texts) => texts.length === 1,
    );
  });

  it('waits in its place for a message that is on its way, when its scheduled time comes', async (test) => {
    const { clock, send, untilStatus } = await connected(test);
    const { reached, accept } = holdBack('one', clock);
    const { messageId } = (await send('planned', inAMinute)).body;
    await clock.advance(59_000);
    const first = send('one');
    await reached;
    await clock.advance(1000);
    await untilStatus(messageId, 'queued');
    await send('elsewhere', { to: '4917054321' }); // the queue has had its chance
    assert.deepEqual(sent, ['elsewhere']);
    accept();
    assert.equal((await first).body.status, 'sent');
    await untilStatus(messageId, 'sent');
    assert.deepEqual(sent, ['elsewhere', 'one', 'planned']);
  });

  it('is not sent, when its key is revoked while it waits for its turn', async (test) => {
    const { server, call, clock, sessionId, send } = await connected(test);
    const { reached, accept } = holdBack('one', clock);
    const first = send('one');
    await reached;
    const { body: key } = await call('POST', '/api-keys/create', { name: 'app' });
    const input = { sessionId, to: '4917012345', message: 'two' };
    const second = bearer(server.url, key.key)('POST', '/messages/send', input);
    await eventually(
      () => call('GET', '/messages?status=queued'),
      ({ body }) => body.data.length === 2,
    );
    const revoked = await call('DELETE', `/api-keys/${key.keyId}?created=remove`);
    assert.equal(revoked.status, 200);
    accept();
    assert.equal((await first).body.status, 'sent');
    const { status, body } = await second;
    assert.deepEqual([status, body.code, sent], [502, 'send_failed', ['one']]);
  });

  it('is returned as queued, when its turn takes long, and keeps its place', async (test) => {
    const { clock, send, untilStatus } = await connected(test);
    const { reached, accept } = holdBack('one', clock);
    const first = send('one');
    await reached;
    const { status, body } = await clock.settle(send('two'), 100);
    assert.deepEqual([status, body.status], [201, 'queued']);
    const third = send('three');
    accept();
    assert.equal((await first).body.status, 'sent');
    await untilStatus(body.messageId, 'sent');
    await clock.settle(third, 100);
    assert.deepEqual(sent, ['one', 'two', 'three']);
  });

  it('goes behind what was queued before it, when it was stored earlier', async (test) => {
    const { clock, send, untilStatus, untilSent } = await connected(test);
    let isLimited = true;
    puppet.send = async ({ content }) => {
      if (isLimited) throw new AppError('rate_limited', 'Slowly', { retryAfterSeconds: 60 });
      sent.push(content.text);
      return { timestamp: clock.now() };
    };
    const inTwo = { sendAt: new Date(START + 80_000).toISOString() };
    const { messageId: last } = (await send('planned for later', inTwo)).body;
    const { messageId: first } = (await send('planned', inAMinute)).body;
    await clock.advance(60_000);
    await untilStatus(first, 'queued');
    const direct = await clock.settle(send('direct'), 100);
    assert.equal(direct.body.status, 'queued');
    await clock.advance(20_000);
    await untilStatus(last, 'queued');
    isLimited = false;
    await untilSent(last);
    assert.deepEqual(sent, ['planned', 'direct', 'planned for later']);
  });

  it('goes out in the order of the ids when several have the same turn', async (test) => {
    const { server, clock, send, untilStatus, statusOf } = await connected(test);
    let isLimited = true;
    const tried: string[] = [];
    puppet.send = async ({ content }) => {
      tried.push(content.text);
      if (isLimited) throw new AppError('rate_limited', 'Slowly', { retryAfterSeconds: 60 });
      sent.push(content.text);
      return { timestamp: clock.now() };
    };
    const ids: string[] = [];
    for (const text of ['one', 'two', 'three']) ids.push((await send(text, inAMinute)).body.messageId);
    await clock.advance(60_000);
    for (const id of ids) await untilStatus(id, 'queued');
    await eventually(
      async () => tried,
      ({ length }) => length > 0,
    );
    await server.app.services.database.commit(async ({ kysely }) => {
      const { turn } = await kysely
        .selectFrom('messages')
        .select(({ fn }) => fn.max('turn').as('turn'))
        .executeTakeFirstOrThrow();
      await kysely.updateTable('messages').set({ turn }).where('message_id', 'in', ids).execute();
    });
    const direct = await clock.settle(send('direct'), 100);
    assert.equal(direct.body.status, 'queued');
    isLimited = false;
    await eventually(
      async () => {
        await clock.advance(5000);
        return Promise.all([...ids, direct.body.messageId].map(statusOf));
      },
      (statuses) => statuses.every((status) => status === 'sent'),
    );
    const texts = ['one', 'two', 'three'];
    const inOrder = [...ids].sort().map((id) => texts[ids.indexOf(id)]);
    assert.deepEqual(sent, [...inOrder, 'direct']);
  });

  it('ends with the last edit, when an earlier one takes longer', async (test) => {
    const edits: string[] = [];
    const { promise: answer, resolve } = Promise.withResolvers<void>();
    const { promise: reached, resolve: reach } = Promise.withResolvers<void>();
    puppet.parts = {
      edit: async (_, text) => {
        edits.push(text);
        reach();
        if (text === 'first') await answer;
      },
    };
    test.after(() => {
      puppet.parts = {};
    });
    const { clock, call, send } = await connected(test);
    holdBack('', clock);
    const { messageId } = (await send('original')).body;
    const edit = (message: string) => call('PATCH', `/messages/${messageId}`, { message });
    const first = edit('first');
    await reached;
    const last = edit('last');
    await send('elsewhere', { to: '4917054321' });
    assert.deepEqual(edits, ['first']);
    resolve();
    assert.deepEqual([(await first).status, (await last).status], [200, 200]);
    assert.deepEqual([edits, (await last).body.message], [['first', 'last'], 'last']);
  });
});
