import assert from 'node:assert/strict';
import { after, before, it, type TestContext } from 'node:test';
import { describeOnEachDatabase } from '../support/databases/databases.ts';
import { storeLog } from '../support/databases/storedLog.ts';
import { eventually } from '../support/eventually.ts';
import { createFakeClock } from '../support/fakeClock.ts';
import { type Call, connectSession, startServer, type TestServer } from '../support/server.ts';

describeOnEachDatabase('event streams of an account', (_, database) => {
  let server: TestServer;
  before(async () => {
    server = await startServer({ database });
  });
  after(() => server.stop());

  it('share one reader of the log, and each receives every event once, in order', async (test) => {
    const { call, token, accountId } = await open();
    const streams = await Promise.all(Array.from({ length: 50 }, () => openStream(test, server, token)));
    await send(call, 'first');
    await Promise.all(streams.map((stream) => stream.until(1)));
    const reads = countReads(test, server, accountId);
    const sent: string[] = [];
    for (let n = 0; n < 10; n++) sent.push(await send(call, `${n}`));
    await Promise.all(streams.map((stream) => stream.until(11)));
    for (const stream of streams) assert.deepEqual(stream.messageIds().slice(1), sent);
    // Each send is announced a few times: queued, sent, delivered. Without sharing, there would be fifty times as many
    // reads.
    assert.ok(reads() < 100, `${reads()} reads for 10 sends`);
  });

  it('stay in order while the clock moves back and ahead', async (test) => {
    const clock = createFakeClock();
    const own = await startServer({ database, clock });
    test.after(() => own.stop());
    const { call, token } = await own.account();
    await connectSession(call);
    const live = await openStream(test, own, token);
    const sent: string[] = [];
    for (const ms of [0, -3_600_000, -900, 21_600_000, -60_000]) {
      clock.set(clock.now() + ms);
      sent.push(await send(call, `${ms}`), await send(call, `${ms} again`));
    }
    await live.until(sent.length);
    assert.deepEqual(live.messageIds(), sent);
    const later = await openStream(test, own, token, { 'last-event-id': live.ids()[3] ?? '' });
    await later.until(sent.length - 4);
    assert.deepEqual(later.messageIds(), sent.slice(4));
  });

  it('resume after a Last-Event-ID, whether or not the shared reader still has it', async (test) => {
    const { call, token, accountId } = await open();
    const areClosed = watchStreams(test, server, accountId);
    const first = await openStream(test, server, token);
    const sent: string[] = [];
    for (let n = 0; n < 5; n++) sent.push(await send(call, `${n}`));
    await first.until(5);
    const middle = first.ids()[2] ?? '';
    const behind = await openStream(test, server, token, { 'last-event-id': middle });
    await behind.until(2);
    first.close();
    behind.close();
    await areClosed();
    sent.push(await send(call, 'with no stream open'));
    const later = await openStream(test, server, token, { 'last-event-id': middle });
    await later.until(3);
    sent.push(await send(call, 'live'));
    await later.until(4);
    assert.deepEqual(later.messageIds(), sent.slice(3));
  });

  it('resume after a cursor of the query, and after Last-Event-ID when they reconnect', async (test) => {
    const { call, token } = await open();
    const { nextCursor } = (await call('GET', '/events?afterCursor=now')).body;
    const sent = [await send(call, 'first'), await send(call, 'second')];
    const stream = await openStream(test, server, token, {}, `afterCursor=${nextCursor}`);
    await stream.until(2);
    assert.deepEqual(stream.messageIds(), sent);
    const last = { 'last-event-id': stream.ids()[0] ?? '' };
    const reconnected = await openStream(test, server, token, last, `afterCursor=${nextCursor}`);
    await reconnected.until(1);
    assert.deepEqual(reconnected.messageIds(), sent.slice(1));
    const live = await openStream(test, server, token, {}, 'afterCursor=now');
    sent.push(await send(call, 'third'));
    await live.until(1);
    assert.deepEqual(live.messageIds(), sent.slice(2));
  });

  it('catch up on more events than the shared reader buffers, without gaps or duplicates', async (test) => {
    const { call, token, accountId } = await open();
    const live = await openStream(test, server, token);
    const beginning = live.cursor();
    const { database: db } = server.app.services;
    const { newId } = server.app.services;
    const rows = Array.from({ length: 400 }, () => ({
      eventId: newId('evt'),
      body: JSON.stringify({ event: 'message.sent', data: { messageId: newId('msg') } }),
    }));
    await db.commit((tx) => storeLog(tx, accountId, rows));
    const behind = await openStream(test, server, token, { 'last-event-id': beginning });
    await Promise.all([live.until(400), behind.until(400)]);
    const last = await send(call, 'last');
    await Promise.all([live.until(401), behind.until(401)]);
    assert.deepEqual(behind.messageIds(), live.messageIds());
    assert.equal(live.messageIds().at(-1), last);
    assert.equal(new Set(live.ids()).size, 401);
  });

  it('filter by their own event types, and never receive events of another account', async (test) => {
    const [one, other] = [await open(), await open()];
    const reads = await openStream(test, server, one.token, {}, 'events=message.delivered');
    const others = await openStream(test, server, other.token);
    await send(one.call, 'of one');
    const own = await send(other.call, 'of the other');
    await reads.until(1);
    await others.until(1);
    assert.deepEqual(others.messageIds(), [own]);
    assert.match(reads.text(), /event: message\.delivered/);
    assert.doesNotMatch(reads.text(), /event: message\.sent/);
  });

  it('have a log that starts at the newest event with `after=now`', async () => {
    const { call: empty } = await server.account();
    const start = (await empty('GET', '/events?afterCursor=now')).body;
    assert.deepEqual(start.data, []);
    await connectSession(empty);
    const first = (await empty('GET', `/events?afterCursor=${start.nextCursor}`)).body.data;
    assert.deepEqual(
      first.map(({ event }: { event: string }) => event),
      ['session.connected'],
    );

    const { call } = await open();
    await send(call, 'before');
    const { nextCursor } = (await call('GET', '/events?afterCursor=now')).body;
    const sent = await send(call, 'after');
    const events = (await call('GET', `/events?afterCursor=${nextCursor}&events=message.sent`)).body.data;
    const messageIds = (found: { data: { messageId: string } }[]) => found.map(({ data }) => data.messageId);
    assert.deepEqual(messageIds(events), [sent]);
  });

  it('stop reading the log once all are closed', async (test) => {
    const { call, token, accountId } = await open();
    const areClosed = watchStreams(test, server, accountId);
    const stream = await openStream(test, server, token);
    await send(call, '1');
    await stream.until(1);
    const reads = countReads(test, server, accountId);
    await send(call, '2');
    await stream.until(2);
    assert.ok(reads() > 0);
    stream.close();
    await areClosed();
    const before = reads();
    for (const text of ['3', '4', '5']) await send(call, text);
    assert.equal(reads() - before, 0);
  });

  async function open() {
    const account = await server.account();
    await connectSession(account.call);
    return account;
  }
});

/** Counts how often the log of an account is read from now on. */
function countReads(test: TestContext, { app }: TestServer, accountId: string): () => number {
  const { eventLog } = app.services;
  const read = test.mock.method(eventLog, 'read');
  return () => read.mock.calls.filter(({ arguments: [id] }) => id === accountId).length;
}

/** @returns a function that resolves once the server has closed every stream the account opened since */
function watchStreams(test: TestContext, { app }: TestServer, accountId: string): () => Promise<unknown> {
  const { waitingCalls } = app.services;
  const begin = waitingCalls.begin.bind(waitingCalls);
  let open = 0;
  test.mock.method(waitingCalls, 'begin', (id: string) => {
    const end = begin(id);
    if (id !== accountId) return end;
    open++;
    return () => {
      open--;
      end();
    };
  });
  return () =>
    eventually(
      async () => open,
      (count) => count === 0,
    );
}

async function openStream(
  test: TestContext,
  { url }: TestServer,
  token: string,
  headers: Record<string, string> = {},
  query = '',
) {
  const gone = new AbortController();
  test.after(() => gone.abort());
  const response = await fetch(`${url}/api/v1/events/stream?${query}`, {
    headers: { authorization: `Bearer ${token}`, ...headers },
    signal: gone.signal,
  });
  assert.equal(response.status, 200);
  let text = '';
  const waiting = new Set<() => void>();
  const decoder = new TextDecoder();
  const reading = async () => {
    for await (const chunk of response.body ?? []) {
      text += decoder.decode(chunk, { stream: true });
      for (const check of waiting) check();
    }
  };
  reading().catch(() => {}); // it is closed
  const wait = (isMet: () => boolean) =>
    new Promise<void>((resolve) => {
      const check = () => {
        if (!isMet()) return;
        waiting.delete(check);
        resolve();
      };
      waiting.add(check);
      check();
    });
  const events = () => text.split('\n\n').filter((block) => block.includes('\ndata: '));
  const ofKind = () =>
    events().filter((block) => !query.startsWith('events=') && block.includes('event: message.sent'));
  await wait(() => text.includes('id: '));
  return {
    text: () => text,
    cursor: () => /^id: (\S+)$/m.exec(text)?.[1] ?? '',
    ids: () => ofKind().map((block) => /^id: (\S+)$/m.exec(block)?.[1] ?? ''),
    messageIds: () =>
      ofKind().map((block): string => JSON.parse(/^data: (.*)$/m.exec(block)?.[1] ?? '').data.messageId),
    /** Resolves after that many `message.sent` events, or events of the requested types. */
    until: (count: number) => wait(() => (query === '' ? ofKind() : events()).length >= count),
    close: () => gone.abort(),
  };
}

async function send(call: Call, message: string): Promise<string> {
  const { status, body } = await call('POST', '/messages/send', { to: '491702222222', message });
  assert.equal(status, 201);
  return body.messageId;
}
