import assert from 'node:assert/strict';
import { it, type TestContext } from 'node:test';
import { eventually } from '../support/eventually.ts';
import { ADA, asked, asks, cloudSession, eventsOf, GRACE, passUntil } from '../support/networks/cloudSession.ts';
import type { Answer } from '../support/server.ts';

/*
 * How the Cloud API connector sends while its network rejects, limits or does not respond. The clock advances only on
 * command.
 */

it('retries a temporary error with backoff', async (t) => {
  const { graph, clock, send } = await cloudSession(t);
  graph.failNext({ code: 131016, status: 503 }, { code: 2, status: 500 });
  const sending = send('Hello');
  await asked(graph, 1);
  await clock.advance(999);
  assert.equal(asks(graph), 1);
  await passUntil(
    clock,
    async () => asks(graph),
    (count) => count === 2,
  );
  await passUntil(
    clock,
    async () => graph.sent.length,
    (count) => count === 1,
  );
  const { status, body } = await sending;
  assert.deepEqual([status, body.status, asks(graph)], [201, 'sent', 3]);
});

it('does not retry a permanent error', async (t) => {
  const { graph, call, send } = await cloudSession(t);
  graph.failNext({ code: 131048, details: 'Spam rate limit hit' });
  const { body } = await send('Hello');
  assert.deepEqual([body.code, body.detail], ['send_failed', 'WhatsApp says: Spam rate limit hit (131048)']);
  assert.equal(asks(graph), 1);
  assert.equal((await call('GET', '/messages')).body.data[0].error, body.detail);
});

it('a rate limit of the number delays all its messages, and rejects long waits with Retry-After', async (t) => {
  const { graph, send } = await cloudSession(t);
  graph.failNext({ code: 130429, status: 429, retryAfter: 60 });
  const first = await send('Hello');
  assert.deepEqual([first.status, first.body.code], [429, 'rate_limited']);
  assert.equal(first.headers.get('retry-after'), '60');
});

it('a rate limit of one recipient does not delay others', async (t) => {
  const { graph, clock, send } = await cloudSession(t);
  graph.failNext({ code: 131056 });
  const held = send('Hello');
  await asked(graph, 1);
  assert.equal((await send('Hello Grace', GRACE)).status, 201);
  assert.deepEqual(
    graph.sent.map(({ body }) => body.to),
    [GRACE],
  );
  assert.equal((await clock.settle(held, 1000)).status, 201);
  assert.equal(graph.sent.at(-1)?.body.to, ADA);
});

it('stays within the limit per recipient: 45 at once, then one every six seconds', async (t) => {
  const { graph, clock, call, send } = await cloudSession(t);
  const sentAre = (wanted: number) =>
    eventually(
      async () => graph.sent.length,
      (count) => count === wanted,
    );
  const sending = Array.from({ length: 47 }, (_, index) => send(`${index}`));
  await sentAre(45);
  await clock.advance(5999);
  assert.equal(graph.sent.length, 45);
  await clock.advance(1);
  await sentAre(46);
  assert.equal((await send('to somebody else', GRACE)).status, 201);
  await clock.advance(6000);
  await sentAre(48);
  const answers = await Promise.all(sending);
  assert.ok(answers.every(({ status }) => status === 201));
  const late = [send('next'), send('one more'), send('behind them')];
  const answered: Answer[] = [];
  for (const answer of late) void answer.then((one) => answered.push(one));
  const [behind] = await passUntil(
    clock,
    async () => answered.filter(({ body }) => body.status === 'queued'),
    ({ length }) => length > 0,
  );
  assert.equal(behind?.status, 201, 'is not refused, and keeps its place');
  await passUntil(
    clock,
    () => call('GET', `/messages/${behind?.body.messageId}`),
    // The network may have delivered it by the time of this request.
    ({ body }) => body.status === 'sent' || body.status === 'delivered',
  );
});

it('retries a reaction like a message, even after a lost response', async (t) => {
  const { graph, clock, react, reactions } = await reacting(t);
  graph.failNext({ code: 131016, status: 503 }, 'hang up');
  const reaction = react('👍');
  await passUntil(clock, reactions, ({ length }) => length === 1);
  assert.deepEqual([(await reaction).status, asks(graph)], [200, 3]);
});

it('applies the limits of messages to reactions', async (t) => {
  const { graph, clock, call, send, react, reactions } = await reacting(t);
  for (const body of ['Two', 'Three']) await graph.incoming(ADA, { type: 'text', text: { body } });
  await Promise.all(Array.from({ length: 45 }, (_, index) => send(`${index}`)));
  const messageIds = (await call('GET', '/messages?direction=incoming')).body.data.map(
    (message: { messageId: string }) => message.messageId,
  );
  const waiting: Promise<Answer>[] = messageIds.map((messageId: string) => react('🎉', messageId));
  const tooMany = await Promise.race(waiting);
  assert.deepEqual([tooMany.status, tooMany.headers.get('retry-after')], [429, '18']);
  assert.deepEqual(await reactions(), []);
  await passUntil(clock, reactions, ({ length }) => length === 2);
  assert.deepEqual((await Promise.all(waiting)).map(({ status }) => status).toSorted(), [200, 200, 429]);
});

/** A session with a message to react to, and the reactions sent so far. */
async function reacting(t: TestContext) {
  const parts = await cloudSession(t);
  const { graph, call } = parts;
  await graph.incoming(ADA, { type: 'text', text: { body: 'Hi' } });
  const { messageId } = (await call('GET', '/messages')).body.data[0];
  const react = (emoji: string, to = messageId) => call('PUT', `/messages/${to}/reaction`, { emoji });
  const reactions = async () => graph.sent.flatMap(({ body }) => body.reaction?.emoji ?? []);
  return { ...parts, react, reactions };
}

it('does not repeat a send without a response if a status confirms it', async (t) => {
  const { graph, clock, call, send } = await cloudSession(t);
  graph.failNext('no answer');
  const sending = send('Hello');
  await eventually(
    async () => graph.sent.length,
    (count) => count === 1,
  );
  await graph.settled();
  const { status, body } = await clock.settle(sending, 1000);
  assert.equal(status, 201, JSON.stringify(body));
  assert.equal((await call('GET', `/messages/${body.messageId}`)).body.status, 'delivered');
  assert.equal(graph.sent.length, 1);
  assert.equal((await eventsOf(call, 'message.sent')).length, 1);
});

it('treats an error of an intermediary as no response', async (t) => {
  const { graph, call, send } = await cloudSession(t);
  graph.confirm(false);
  graph.failNext({ code: 0, status: 502 });
  const sending = send('Hello');
  await asked(graph, 1);
  const [{ id }] = await eventually(
    async () => (await call('GET', '/messages')).body.data.map((one: Answer['body']) => ({ id: one.messageId })),
    (all) => all.length === 1,
  );
  await graph.post({
    statuses: [
      { id: graph.newId(), status: 'sent', timestamp: graph.now(), recipient_id: ADA, biz_opaque_callback_data: id },
    ],
  });
  assert.equal((await sending).status, 201);
  assert.equal(asks(graph), 1);
});

it('fails a send without a response or status, and reports the uncertainty', async (t) => {
  const { graph, clock, call, send } = await cloudSession(t);
  graph.failNext('hang up');
  const sending = send('Hello');
  await asked(graph, 1);
  const { data } = await passUntil(
    clock,
    async () => (await call('GET', '/messages')).body,
    ({ data }) => data[0].status === 'failed',
  );
  const { status, body } = await sending;
  assert.deepEqual([status, body.code, body.detail], [502, 'send_failed', data[0].error]);
  assert.match(body.detail, /may or may not have been sent/);
  assert.deepEqual([asks(graph), graph.sent.length], [1, 0]);
});

it('does not repeat a message in flight when the server stopped', async (t) => {
  const { graph, clock, server, start, token, send } = await cloudSession(t);
  graph.confirm(false);
  graph.failNext('no answer');
  send('Hello').catch(() => {}); // the server stops during the request
  const [sent = assert.fail()] = await eventually(
    async () => graph.sent,
    (all) => all.length === 1,
  );
  let isStopped = false;
  const stopping = server.stop().then(() => (isStopped = true));
  await passUntil(
    clock,
    async () => isStopped,
    (is) => is,
  );
  await stopping;

  const second = await start();
  const read = async () => {
    const { body } = await second.call('GET', '/messages', undefined, { authorization: `Bearer ${token}` });
    return body.data[0];
  };
  graph.callBackAt(graph.callbackUrl.replace(server.url, second.url));
  assert.equal((await read()).status, 'queued');
  await eventually(
    () => graph.post({ statuses: [graph.statusOf(sent, 'sent')] }),
    (status) => status === 200,
  );
  await eventually(read, ({ status }) => status === 'sent');
  await graph.post({ statuses: [graph.statusOf(sent, 'delivered')] });
  assert.equal((await read()).status, 'delivered');
  assert.equal(graph.sent.length, 1);
});
