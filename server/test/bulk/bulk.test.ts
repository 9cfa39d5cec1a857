import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { describeOnEachDeployment } from '../support/databases/databases.ts';
import { eventually } from '../support/eventually.ts';
import { picture, upload } from '../support/media/media.ts';
import {
  type Answer,
  bearer,
  type Call,
  connectSession,
  eventOf,
  newNumber,
  startServer,
  type TestServer,
} from '../support/server.ts';

const HOUR_MS = 3_600_000;
const inAnHour = () => new Date(Date.now() + HOUR_MS).toISOString();

describeOnEachDeployment('a bulk send', (_, database) => {
  let server: TestServer;
  let call: Call;
  let token: string;
  let sessionId: string;
  before(async () => {
    server = await startServer({ database });
    ({ call, token } = await server.account());
    sessionId = await connectSession(call, newNumber());
  });
  after(() => server.stop());

  const send = (input: object) => call('POST', '/messages/send-bulk', { sessionId, intervalMs: 0, ...input });
  async function sent(input: object): Promise<Answer['body']> {
    const { status, body } = await send(input);
    assert.equal(status, 202, JSON.stringify(body));
    return body;
  }
  const messageOf = async (id: string) => (await call('GET', `/messages/${id}`)).body;
  const contentsOf = (results: { messageId: string }[]) =>
    Promise.all(results.map(({ messageId }) => messageOf(messageId)));
  const batchOf = async (id: string) => (await call('GET', `/batches/${id}`)).body;
  const change = (id: string, action: string) => call('POST', `/batches/${id}/${action}`, {});

  it('fills in the values of each recipient, once', async () => {
    const to = [newNumber(), newNumber()];
    const values = [
      { name: 'Ada', city: '{{name}}' },
      { name: 'Ben', city: 'Köln', unused: 'x' },
    ];
    const { results } = await sent({ to, message: 'Hi {{name}} in {{ city }}, {not}, {{{name}}}', values });
    const texts = (await contentsOf(results)).map(({ message }) => message);
    assert.deepEqual(texts, ['Hi Ada in {{name}}, {not}, {Ada}', 'Hi Ben in Köln, {not}, {Ben}']);
    const link = { type: 'document', url: 'https://example.com/{{name}}' };
    assert.notEqual((await send({ to, media: link, values: [{}, {}] })).body.errors?.[0].field, 'values.0.name');
    const { results: plain } = await sent({ to: to.slice(0, 1), message: 'Hi {{name}}' });
    assert.deepEqual(
      (await contentsOf(plain)).map(({ message }) => message),
      ['Hi {{name}}'],
    );
  });

  it('accepts all recipients with all values', async () => {
    const to = Array.from({ length: 1000 }, (_, index) => `49171${2_000_000 + index}`);
    const values = to.map(() => Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`field${n}`, `${n}`])));
    const { accepted, batchId } = await sent({ to, message: '{{field0}} {{field19}}', values, sendAt: inAnHour() });
    assert.equal(accepted, 1000);
    assert.equal((await change(batchId, 'cancel')).body.counts.cancelled, 1000);
  });

  it('reports missing values before it sends anything', async () => {
    const to = [newNumber(), newNumber(), newNumber()];
    const values = [{ name: 'Ada' }, {}, { Name: 'Cy' }];
    const { status, body } = await send({ to, message: 'Hi {{name}}', values });
    assert.deepEqual([status, body.code], [400, 'validation_failed']);
    assert.deepEqual(
      body.errors.map(({ field, code }: { field: string; code: string }) => [field, code]),
      [
        ['values.1.name', 'required'],
        ['values.2.name', 'required'],
      ],
    );
    assert.equal((await call('GET', `/messages?sessionId=${sessionId}&chatId=${to[0]}`)).status, 404);
    const many = Array.from({ length: 5000 }, (_, n) => `{{f${n}}}`).join('');
    const missing = await send({ to: Array(1000).fill(to[0]), message: many, values: Array(1000).fill({}) });
    assert.deepEqual([missing.status, missing.body.errors.length], [400, 20]);
    const short = await send({ to, message: 'Hi {{name}}', values: values.slice(0, 1) });
    assert.equal(short.body.errors[0].field, 'values');
    const long = await send({
      to,
      poll: { question: 'Tea?', options: ['{{name}}', 'no'] },
      values: to.map((_, index) => ({ name: 'x'.repeat(index === 2 ? 101 : 100) })),
    });
    assert.deepEqual([long.status, long.body.errors[0].field], [400, 'values.2']);
  });

  it('fills in the URL of a link button after its host, encoded', async () => {
    const to = [newNumber(), newNumber()];
    const linkTo = (url: string) => ({ interactive: { message: 'Track {{id}}', link: { title: 'Open', url } } });
    const values = [{ id: '4711' }, { id: '../@evil.example/?a=1#\u{1f375}' }];
    const { results } = await sent({ to, ...linkTo('https://example.com/{{id}}?q={{ id }}'), values });
    const [first, second] = (await contentsOf(results)).map(({ interactive }) => interactive.link.url);
    assert.equal(first, 'https://example.com/4711?q=4711');
    const { host, pathname } = new URL(second);
    for (const [url, id] of [
      ['https://example.com/a/{{id}}/b', '..'],
      ['https://example.com/a/{{id}}', '.'],
      ['https://example.com/.{{id}}?q=1', '.'],
      ['https://example.com/a/{{id}}#b', '..'],
      ['https://example.com/a/%2e{{id}}/b', '.'],
      ['https://example.com/a\\{{id}}\\b', '..'],
    ] as const) {
      const { status, body } = await send({ to, ...linkTo(url), values: [{ id: '1' }, { id }] });
      assert.deepEqual([status, body.errors[0].field], [400, 'values.1'], url);
      assert.match(body.detail, /path segment/);
    }
    await sent({ to, ...linkTo('https://example.com/v1.{{id}}/b?q=../{{id}}'), values: [{ id: '..' }, { id: '.' }] });
    assert.deepEqual([host, pathname], ['example.com', '/..%2F%40evil.example%2F%3Fa%3D1%23%F0%9F%8D%B5']);
    for (const url of [
      'https://{{id}}/a',
      'https://example.com{{id}}',
      'https:///{{id}}',
      'https://{{id}}@a.example/',
    ]) {
      const { status, body } = await send({ to, ...linkTo(url), values });
      assert.deepEqual([status, body.errors[0].field], [400, 'interactive.link.url'], url);
    }
  });

  it('replaces or rejects everything in double braces', async () => {
    const to = [newNumber()];
    const values = [{ 'first-name': 'Ada', 'first.name': 'Ben', '1': 'Cy' }];
    const { results } = await sent({ to, message: '{{first-name}} {{first.name}} {{1}}', values });
    assert.equal((await contentsOf(results))[0].message, 'Ada Ben Cy');
    const contents = {
      message: { message: 'Hi {{first name}}' },
      'media.url': { media: { type: 'image', url: 'https://example.com/{{1}}.png' } },
      'media.mediaId': { media: { type: 'image', mediaId: '{{1}}' } },
      'template.language': { template: { name: 'hi', language: '{{1}}' } },
      'interactive.product.catalogId': { interactive: { product: { catalogId: '{{1}}', retailerId: 'a' } } },
    };
    for (const [field, content] of Object.entries(contents)) {
      const { status, body } = await send({ to, ...content, values });
      assert.deepEqual([status, body.errors[0].field], [400, field]);
    }
    for (const message of ['{{}}', '{{ }}', '{{1', '1}}', '{{1}', '{{{{1}}}}', '{{{1}}{', '{{1}} {{-1}}']) {
      const { status, body } = await send({ to, message, values });
      const isRefused = message !== '{{{1}}{';
      assert.deepEqual([status, body.errors?.[0].field], isRefused ? [400, 'message'] : [202, undefined], message);
    }
  });

  it('finds values in every Unicode form of their names', async () => {
    const to = [newNumber(), newNumber()];
    const composed = 'größe';
    const decomposed = composed.normalize('NFD');
    const values = [{ [decomposed]: 'M' }, { [composed]: 'L' }];
    const { results } = await sent({ to, message: `{{${composed}}}{{${decomposed}}}`, values });
    assert.deepEqual(
      (await contentsOf(results)).map(({ message }) => message),
      ['MM', 'LL'],
    );
    const { body } = await send({ to, message: 'Hi', values: [{}, { [composed]: 'S', [decomposed]: 'M' }] });
    assert.equal(body.errors[0].field, 'values.1');
  });

  it('sends each recipient their own product, and rejects values that repeat one', async () => {
    const to = [newNumber(), newNumber()];
    const values = [
      { name: 'Ada', tea: 'sencha-100' },
      { name: 'Ben', tea: 'mocha-250' },
    ];
    const product = { message: 'For {{name}}', product: { catalogId: '7', retailerId: '{{tea}}' } };
    const shown = await contentsOf((await sent({ to, interactive: product, values })).results);
    assert.deepEqual(
      shown.map(({ message, interactive }) => [message, interactive.product.retailerId]),
      [
        ['For Ada', 'sencha-100'],
        ['For Ben', 'mocha-250'],
      ],
    );
    const items = [{ retailerId: '{{tea}}' }, { retailerId: 'mocha-250' }];
    const products = { message: 'Both', header: 'Drinks', products: { catalogId: '7', items } };
    const { status, body } = await send({ to, interactive: products, values });
    assert.deepEqual([status, body.errors[0].field], [400, 'values.1']);
    assert.match(body.detail, /mocha-250/);
    const buttons = [
      { id: '{{tea}}', title: 'Tea' },
      { id: '{{name}}', title: 'Person' },
    ];
    const same = [values[0], { name: 'Ben', tea: 'Ben' }];
    const equal = await send({ to, interactive: { message: 'Which?', buttons }, values: same });
    assert.deepEqual([equal.status, equal.body.errors[0].field], [400, 'values.1']);
  });

  it('needs no values for recipients who get no message', async () => {
    const number = newNumber();
    const values = [{ name: 'Ada' }, {}, {}];
    const { accepted, refused, results } = await sent({ to: [number, '12', number], message: 'Hi {{name}}', values });
    assert.deepEqual([accepted, refused], [1, 2]);
    assert.equal((await messageOf(results[0].messageId)).message, 'Hi Ada');
  });

  it('sends any type of content, with a file that is stored once', async () => {
    const { mediaId } = (await upload(server, token, picture())).body;
    const to = [newNumber(), newNumber()];
    const values = [{ name: 'Ada' }, { name: 'Ben' }];
    const contents = [
      { media: { type: 'image', mediaId, caption: 'For {{name}}', fileName: '{{name}}.png' } },
      { location: { latitude: 1, longitude: 2, name: 'Home of {{name}}' } },
      { contact: { name: '{{name}}', phoneNumbers: ['491701112223'] } },
      { poll: { question: '{{name}}?', options: ['yes', 'no'] } },
      { template: { name: 'order_sent', language: 'en', components: [{ type: 'body', parameters: ['{{name}}'] }] } },
      { interactive: { message: 'Tea, {{name}}?', buttons: [{ id: 'yes', title: 'Yes' }] } },
    ];
    const shown: Answer['body'][] = [];
    for (const content of contents) {
      const { status, body } = await send({ to, ...content, values });
      assert.equal(status, 202, JSON.stringify(body));
      const [, second] = await contentsOf(body.results);
      shown.push(second);
    }
    const [file, location, contact, poll, template, interactive] = shown;
    assert.deepEqual([file.type, file.message, file.media.fileName], ['image', 'For Ben', 'Ben.png']);
    assert.equal(file.media.mediaId, mediaId);
    assert.equal(location.location.name, 'Home of Ben');
    assert.equal(contact.contact.name, 'Ben');
    assert.deepEqual([poll.type, poll.message], ['poll', 'Ben?']);
    assert.deepEqual(template.template.components, [{ type: 'body', parameters: ['Ben'] }]);
    assert.equal(interactive.message, 'Tea, Ben?');
    for (const wrong of [{}, { message: 'a', poll: { question: 'b', options: ['1', '2'] } }])
      assert.deepEqual((await send({ to, ...wrong })).body.code, 'validation_failed');
  });

  it('sends to a recipient once who is named in two forms', async () => {
    const number = newNumber();
    const to = [number, `+${number.slice(0, 2)} ${number.slice(2)}`, newNumber(), number];
    const { accepted, refused, duplicates, batchId, results } = await sent({ to, message: 'Hi' });
    assert.deepEqual([accepted, refused, duplicates], [2, 2, 2]);
    assert.deepEqual(
      results.map(({ duplicateOf }: { duplicateOf?: number }) => duplicateOf),
      [undefined, 0, undefined, 0],
    );
    assert.match(results[1].error, /position 0/);
    const { accepted: kept, duplicates: doubled } = await batchOf(batchId);
    assert.deepEqual([kept, doubled], [2, 2]);
  });

  it('completes with an event once its last message has left', async () => {
    const { batchId } = await sent({ to: [newNumber(), newNumber(), 'nobody'], message: 'Hi' });
    const event = await eventOf(call, 'batch.updated', (data) => data.batchId === batchId);
    assert.deepEqual([event.status, event.previousStatus, event.accepted], ['completed', 'running', 2]);
    const { scheduled, queued, sent: sentCount, delivered, read } = event.counts;
    assert.deepEqual([scheduled, queued, sentCount + delivered + read], [0, 0, 2]);
    const batch = await batchOf(batchId);
    assert.deepEqual([batch.status, batch.type, batch.refused], ['completed', 'text', 1]);
    assert.deepEqual((await change(batchId, 'pause')).body.code, 'batch_state');
    const { body } = await call('GET', `/batches?sessionId=${sessionId}&status=completed&limit=200`);
    assert.ok(body.data.some((one: { batchId: string }) => one.batchId === batchId));
  });

  it('pauses, resumes and keeps its gaps', async () => {
    const to = [newNumber(), newNumber(), newNumber()];
    const { batchId, results } = await sent({ to, message: 'Hi', sendAt: inAnHour(), intervalMs: 60_000 });
    assert.deepEqual((await batchOf(batchId)).counts.scheduled, 3);
    const paused = await change(batchId, 'pause');
    assert.deepEqual([paused.status, paused.body.status], [200, 'paused']);
    assert.equal((await change(batchId, 'pause')).body.status, 'paused');
    const times = results.map(({ sendAt }: { sendAt: string }) => sendAt);
    assert.deepEqual(
      (await contentsOf(results)).map(({ timestamp }) => timestamp),
      times,
    );
    assert.equal((await change(batchId, 'resume')).body.status, 'running');
    assert.deepEqual(
      (await contentsOf(results)).map(({ timestamp }) => timestamp),
      times,
    );
    const kinds = await eventually(
      async () =>
        (await call('GET', '/events?events=batch.updated&limit=200')).body.data.filter(
          ({ data }: Answer['body']) => data.batchId === batchId,
        ),
      (found) => found.length === 2,
    );
    const statuses = kinds.map(({ data }: Answer['body']) => `${data.previousStatus} → ${data.status}`);
    assert.deepEqual(statuses.toSorted(), ['paused → running', 'running → paused']);
  });

  it('holds its messages while it is paused, and sends them after it is resumed', async () => {
    const to = [newNumber(), newNumber()];
    const { batchId, results } = await sent({ to, message: 'Hi', sendAt: inAnHour(), intervalMs: 100 });
    assert.equal((await change(batchId, 'pause')).body.counts.scheduled, 2);
    // An hour and a minute later, as far as the messages are concerned.
    const ids = results.map(({ messageId }: { messageId: string }) => messageId);
    await server.app.services.database.commit(async ({ kysely }) => {
      const passed = HOUR_MS + 60_000;
      await kysely
        .updateTable('messages')
        .set(({ eb, ref }) => ({ scheduled_at: eb(ref('scheduled_at'), '-', passed) }))
        .where('message_id', 'in', ids)
        .execute();
      await kysely
        .updateTable('batches')
        .set(({ eb, ref }) => ({ ends_at: eb(ref('ends_at'), '-', passed) }))
        .where('batch_id', '=', batchId)
        .execute();
    });
    const sendAt = new Date(Date.now() + 500).toISOString();
    const { body: other } = await call('POST', '/messages/send', {
      sessionId,
      to: newNumber(),
      message: 'x',
      sendAt,
    });
    await eventually(
      () => messageOf(other.messageId),
      ({ status }) => status !== 'scheduled' && status !== 'queued',
    );
    assert.equal((await batchOf(batchId)).counts.scheduled, 2);
    const resumedAt = Date.now();
    await change(batchId, 'resume');
    const [first, second] = await contentsOf(results);
    assert.ok(Date.parse(first.timestamp) >= resumedAt);
    if (second.status === 'scheduled') assert.ok(Date.parse(second.timestamp) >= resumedAt + 100);
    await eventOf(call, 'batch.updated', (data) => data.batchId === batchId && data.status === 'completed');
  });

  it('cancels unsent messages of a running and a paused batch', async () => {
    for (const isPaused of [false, true]) {
      const { batchId, results } = await sent({ to: [newNumber(), newNumber()], message: 'Hi', sendAt: inAnHour() });
      if (isPaused) await change(batchId, 'pause');
      const { status, body } = await change(batchId, 'cancel');
      assert.deepEqual([status, body.status, body.counts.cancelled, body.counts.scheduled], [200, 'cancelled', 2, 0]);
      assert.equal((await change(batchId, 'cancel')).body.status, 'cancelled');
      assert.equal((await change(batchId, 'resume')).body.code, 'batch_state');
      for (const { status: ended } of await contentsOf(results)) assert.equal(ended, 'failed');
    }
  });

  it('emits one event for a change that both nodes make at the same time', async () => {
    const nodes = [call, bearer((server.other ?? server).url, token)];
    for (let round = 0; round < 10; round++) {
      const { batchId } = await sent({ to: [newNumber()], message: 'Hi', sendAt: inAnHour() });
      const answers = await Promise.all(nodes.map((node) => node('POST', `/batches/${batchId}/pause`, {})));
      for (const { status, body } of answers) assert.deepEqual([status, body.status], [200, 'paused']);
      await change(batchId, 'cancel');
      await eventOf(call, 'batch.updated', (data) => data.batchId === batchId && data.status === 'cancelled');
      const events = await call('GET', '/events?events=batch.updated&limit=200');
      const statuses = events.body.data.flatMap(({ data }: Answer['body']) =>
        data.batchId === batchId ? [data.status] : [],
      );
      assert.deepEqual(statuses.toSorted(), ['cancelled', 'cancelling', 'paused']);
    }
  });

  it('continues an interrupted cancellation', async () => {
    const { batchId } = await sent({ to: [newNumber()], message: 'Hi', sendAt: inAnHour() });
    await server.app.services.database.commit(({ kysely }) =>
      kysely
        .updateTable('batches')
        .set({ status: 'cancelling', check_at: 0 })
        .where('batch_id', '=', batchId)
        .execute(),
    );
    const event = await eventOf(call, 'batch.updated', (data) => data.batchId === batchId);
    assert.deepEqual([event.status, event.counts.cancelled], ['cancelled', 1]);
  });

  it('is stored once for an idempotency key', async () => {
    const idempotencyKey = `bulk-${newNumber()}`;
    const input = { to: [newNumber()], message: 'Hi', sendAt: inAnHour(), idempotencyKey };
    const [first, again] = [await sent(input), await sent(input)];
    assert.deepEqual(again, first);
    assert.equal((await batchOf(first.batchId)).accepted, 1);
  });

  it('belongs to its account and session', async () => {
    const { batchId } = await sent({ to: [newNumber()], message: 'Hi', sendAt: inAnHour() });
    const stranger = await server.account();
    assert.equal((await stranger.call('GET', `/batches/${batchId}`)).status, 404);
    assert.equal((await stranger.call('POST', `/batches/${batchId}/cancel`, {})).status, 404);
    const other = await connectSession(call, newNumber());
    const keyOf = async (id: string) => {
      const permissions = ['messages:read', 'messages:send'];
      const { body } = await call('POST', '/api-keys/create', { name: 'bulk', permissions, sessionIds: [id] });
      return bearer(server.url, body.key);
    };
    const [own, foreign] = [await keyOf(sessionId), await keyOf(other)];
    assert.equal((await own('POST', `/batches/${batchId}/pause`, {})).body.status, 'paused');
    assert.equal((await foreign('POST', `/batches/${batchId}/resume`, {})).status, 404);
    assert.deepEqual((await foreign('GET', '/batches')).body.data, []);
    await call('DELETE', `/sessions/${other}`);
  });

  it('is changed by a limited key only if that key has sent it', async () => {
    const number = newNumber();
    for (const limits of [{ allowedRecipients: [number] }, { requiresApproval: true }]) {
      const { body: key } = await call('POST', '/api-keys/create', { name: 'limited', ...limits });
      const limited = bearer(server.url, key.key);
      const bulk = { sessionId, to: [number], message: 'Hello', sendAt: inAnHour() };
      const { batchId: other } = (await call('POST', '/messages/send-bulk', bulk)).body;
      for (const action of ['pause', 'cancel']) {
        const { status, body } = await limited('POST', `/batches/${other}/${action}`, {});
        assert.deepEqual([status, body.code], [403, 'permission_denied'], `${action} ${JSON.stringify(limits)}`);
      }
      const { batchId: own } = (await limited('POST', '/messages/send-bulk', bulk)).body;
      for (const action of ['pause', 'cancel'])
        assert.equal((await limited('POST', `/batches/${own}/${action}`, {})).status, 200);
      assert.equal((await batchOf(other)).status, 'running');
    }
    const { body: key } = await call('POST', '/api-keys/create', { name: 'sender', permissions: ['messages:send'] });
    const sender = bearer(server.url, key.key);
    const bulk = { sessionId, to: [number], message: 'Hello', sendAt: inAnHour() };
    const { batchId } = (await sender('POST', '/messages/send-bulk', bulk)).body;
    assert.equal((await sender('GET', `/batches/${batchId}`)).status, 403);
    assert.equal((await sender('POST', `/batches/${batchId}/pause`, {})).body.counts.scheduled, 1);
  });

  it('is resumed by a key of some recipients only if that key has sent it', async () => {
    const number = newNumber();
    const { body: key } = await call('POST', '/api-keys/create', { name: 'some', allowedRecipients: [number] });
    const some = bearer(server.url, key.key);
    for (const [sender, expected] of [
      [some, 200],
      [call, 403],
    ] as const) {
      const bulk = { sessionId, to: [number], message: 'Hello', sendAt: inAnHour() };
      const { batchId } = (await sender('POST', '/messages/send-bulk', bulk)).body;
      await change(batchId, 'pause');
      assert.equal((await some('POST', `/batches/${batchId}/resume`, {})).status, expected);
      assert.equal((await change(batchId, 'cancel')).status, 200);
    }
  });

  it('waits for approval, and stays paused once it is approved', async () => {
    const { body: key } = await call('POST', '/api-keys/create', { name: 'held', requiresApproval: true });
    const held = bearer(server.url, key.key);
    const { status, body } = await held('POST', '/messages/send-bulk', {
      sessionId,
      to: [newNumber()],
      message: 'May I?',
    });
    assert.equal(status, 202, JSON.stringify(body));
    const { batchId, pendingApproval, results } = body;
    assert.equal(pendingApproval, true);
    assert.equal((await batchOf(batchId)).counts.pendingApproval, 1);
    await change(batchId, 'pause');
    const resumed = await held('POST', `/batches/${batchId}/resume`, {});
    assert.deepEqual([resumed.status, resumed.body.code], [403, 'permission_denied'], 'a person decides about sending');
    const approved = await call('POST', `/messages/${results[0].messageId}/approve`, {});
    assert.equal(approved.body.status, 'scheduled');
    assert.equal((await change(batchId, 'cancel')).body.counts.cancelled, 1);
  });
});

it('is deleted with its session', async (test) => {
  const server = await startServer();
  test.after(() => server.stop());
  const { call } = await server.account();
  const sessionId = await connectSession(call, newNumber());
  const sendAt = inAnHour();
  const { body } = await call('POST', '/messages/send-bulk', { sessionId, to: [newNumber()], message: 'Hi', sendAt });
  await call('DELETE', `/sessions/${sessionId}`);
  await eventually(
    () => call('GET', `/batches/${body.batchId}`),
    ({ status }) => status === 404,
  );
});
