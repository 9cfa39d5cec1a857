import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, it, type TestContext } from 'node:test';
import { startAuthProxy } from '../../support/connections/authProxy.ts';
import { startReceiver } from '../../support/connections/receiver.ts';
import { type Call, connectSession, newNumber, startServer, type TestServer } from '../../support/server.ts';
import { newPerson, type Person } from '../support.ts';
import { callWaha, spawnCompat, startCompat } from './compatProcess.ts';

describe('commands that serve WAHA', () => {
  let server: TestServer;
  let person: Person;
  before(async () => {
    server = await startServer();
    person = newPerson();
  });
  after(async () => {
    await server?.stop();
    person?.remove();
  });

  async function account() {
    const { call } = await server.account();
    const { key } = (await call('POST', '/api-keys/create', { name: 'compat' })).body;
    return { call, key };
  }

  async function start(t: TestContext, { url = server.url, key }: { url?: string; key: string }, ...args: string[]) {
    const compat = await startCompat(person, { url, key }, args);
    t.after(() => compat.running.end('SIGKILL'));
    return compat;
  }

  const create = (url: string, name: string, config = {}) =>
    callWaha(url, { method: 'POST', path: '/api/sessions', body: { name, config } });
  const namesOf = async (call: Call) =>
    (await call('GET', '/sessions')).body.data.map(({ name }: { name: string }) => name);
  const webhooksOf = async (call: Call) => (await call('GET', '/webhooks/endpoints?limit=200')).body.data;

  it('serve their own receivers under different names', async (t) => {
    const { call, key } = await account();
    const number = newNumber();
    const sessionId = await connectSession(call, number, { name: 'sales' });
    const [first, second] = await Promise.all([startReceiver(), startReceiver()]);
    t.after(() => Promise.all([first.close(), second.close()]));
    await start(t, { key }, '--forward-to', first.url, '--events', 'message');
    await start(t, { key }, '--forward-to', second.url, '--events', 'message', '--name', 'crm');
    assert.equal((await webhooksOf(call)).length, 2);
    const hello = { action: 'incoming', from: newNumber(), message: 'Hello' };
    await call('POST', `/sessions/${sessionId}/simulate`, hello);
    for (const receiver of [first, second]) await receiver.waitFor((all) => all.length > 0);

    const rival = spawnCompat(person, { url: server.url, key }, ['--forward-to', second.url]);
    t.after(() => rival.end('SIGKILL'));
    const refusal = /Another switchboard compat at http:\S+ serves the receivers/;
    await rival.waitFor(refusal).catch(() => assert.match(rival.output.stderr, refusal));
    const targets = (await webhooksOf(call)).map(({ metadata }: { metadata: { target: string } }) => metadata.target);
    assert.deepEqual(targets.toSorted(), [first.url, second.url].map((url) => new URL(url).href).toSorted());
  });

  it('reject unknown events, and warn of events that they cannot send', async (t) => {
    const { call, key } = await account();
    const { url, running } = await start(
      t,
      { key },
      '--forward-to',
      'http://localhost:9/hook?key=secret',
      '--events',
      'message,presence.update',
    );
    assert.match(running.output.stderr, /Warning: localhost:9 does not get presence\.update/);
    assert.doesNotMatch(running.output.stderr, /secret/);
    const webhook = { url: 'http://localhost:9/own', events: ['message', 'message.edited'] };
    const { status, body } = await create(url, 'support', { webhooks: [webhook] });
    assert.deepEqual([status, body.config.webhooks], [201, [{ ...webhook, events: ['message'] }]]);
    await running.waitFor(/localhost:9 does not get message\.edited/);
    const mistyped = await create(url, 'other', { webhooks: [{ ...webhook, events: ['message', 'mesage.ack'] }] });
    assert.equal(mistyped.status, 400);
    assert.match(mistyped.body.message[0], /must be one of the following values: message, .*; not mesage\.ack/);
    assert.deepEqual(await namesOf(call), ['support']);
    const failed = spawnCompat(person, { url: server.url, key }, ['--forward-to', webhook.url, '--events', 'mesage']);
    await failed.waitFor(/not mesage\./).catch(() => assert.match(failed.output.stderr, /not mesage\./));
  });

  it('remove a session whose webhook or connection fails', async (t) => {
    const { call, key } = await account();
    const refused: string[] = [];
    const isRefused = (request: string) => refused.some((part) => request.includes(part));
    const proxy = await startAuthProxy(server.url, key, isRefused);
    t.after(() => proxy.close());
    const { url, running } = await start(t, { url: proxy.url, key });
    const webhooks = ['first', 'second'].map((path) => ({ url: `http://localhost:9/${path}`, events: ['message'] }));

    for (let made = 0; made < 99; made++)
      await call('POST', '/webhooks/endpoints', { webhookUrl: `http://localhost:9/${made}`, events: ['*'] });
    assert.ok((await create(url, 'shop', { webhooks })).status >= 400, 'the second webhook passes the limit');
    assert.deepEqual([await namesOf(call), (await webhooksOf(call)).length], [[], 99]);

    const [spare] = await webhooksOf(call);
    await call('DELETE', `/webhooks/endpoints/${spare.webhookId}`);
    refused.push('/connect');
    assert.equal((await create(url, 'shop', { webhooks })).status, 422);
    assert.deepEqual([await namesOf(call), (await webhooksOf(call)).length], [[], 98]);

    // Neither can it be removed, so the repeated call replaces it.
    refused.splice(0, 1, 'POST /api/v1/webhooks', 'DELETE /api/v1/sessions');
    assert.equal((await create(url, 'shop', { webhooks })).status, 422);
    assert.deepEqual(await namesOf(call), ['shop']);
    await running.waitFor(/Session ses_\w+ is incomplete/);
    refused.length = 0;
    const repeated = await create(url, 'shop', { webhooks, metadata: { user: '1' } });
    assert.equal(repeated.status, 201, JSON.stringify(repeated.body));
    assert.deepEqual(repeated.body.config.metadata, { user: '1' });
    assert.deepEqual([await namesOf(call), (await webhooksOf(call)).length], [['shop'], 100]);
    assert.equal((await create(url, 'shop')).status, 422);
  });

  it('refuse wrong options before they listen', async (t) => {
    const { call, key } = await account();
    for (const [option, value, expected] of [
      ['--public-url', 'nope', /--public-url is like http/],
      ['--events-url', 'ftp://localhost/', /--events-url is like http/],
      ['--network', 'nope', /--network must be one of .*sandbox.*, not "nope"/],
      ['--host', '192.0.2.1', /--host must be an address of this machine, not "192\.0\.2\.1"/],
      ['--forward-to', 'nope', /webhooks\.url must be an http or https URL/],
      ['--name', 'a b', /--name takes up to 50 letters/],
    ] as const) {
      const { child, output } = spawnCompat(person, { url: server.url, key }, [option, value]);
      t.after(() => child.kill('SIGKILL'));
      if (child.exitCode === null) await once(child, 'close', { signal: AbortSignal.timeout(60_000) });
      assert.deepEqual([option, child.exitCode], [option, 2], output.stderr);
      assert.match(output.stderr, expected);
    }
    assert.deepEqual(await webhooksOf(call), []);
  });

  /** Starts a server that never responds, except to webhook lists if `knowsWebhooks`. */
  async function startSilent(t: TestContext, knowsWebhooks: boolean) {
    const { promise: asked, resolve } = Promise.withResolvers<void>();
    const silent = createServer(({ url = '' }, response) => {
      if (!knowsWebhooks || !url.includes('/webhooks/')) return resolve();
      response.setHeader('content-type', 'application/json').end(JSON.stringify({ data: [], nextCursor: null }));
    });
    silent.listen(0, '127.0.0.1');
    t.after(() => {
      silent.close();
      silent.closeAllConnections();
    });
    await once(silent, 'listening');
    const { port } = silent.address() as AddressInfo; // it listens on TCP
    return { url: `http://127.0.0.1:${port}`, asked };
  }

  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    it(`end by ${signal} while they start and the server does not answer`, async (t) => {
      const { url, asked } = await startSilent(t, false);
      const running = spawnCompat(person, { url, key: 'unused' }, []);
      t.after(() => running.end('SIGKILL'));
      await asked;
      assert.equal(await running.end(signal), 0, JSON.stringify(running.output));
    });

  it('end while a request waits for the server', async (t) => {
    const { url: silent, asked } = await startSilent(t, true);
    const { url, running } = await start(t, { url: silent, key: 'unused' });
    const request = callWaha(url, { method: 'GET', path: '/api/sessions' }).catch(() => undefined);
    await asked;
    assert.equal(await running.end('SIGTERM'), 0, JSON.stringify(running.output));
    await request;
  });

  it('do not touch sessions and webhooks that other programs marked', async (t) => {
    const { call, key } = await account();
    const metadata = { 'switchboard.compat': 'creating by default' };
    const { sessionId } = (await call('POST', '/sessions', { name: 'shop', connector: 'sandbox', metadata })).body;
    const lookalike = { compat: 'waha', token: 'x'.repeat(32), target: 'http://localhost:9/' };
    await call('POST', '/webhooks/endpoints', {
      webhookUrl: 'http://localhost:9/',
      events: ['*'],
      metadata: lookalike,
    });
    const { url } = await start(t, { key });
    const [webhook] = await webhooksOf(call);
    assert.equal(webhook?.webhookUrl, 'http://localhost:9/');
    assert.equal((await create(url, 'shop')).status, 422);
    assert.equal((await call('GET', `/sessions/${sessionId}`)).status, 200);
    const refused = await create(url, 'second', { metadata });
    assert.deepEqual(
      [refused.status, refused.body.message],
      [400, ['config.metadata must not have the key switchboard.compat']],
    );
    assert.deepEqual(await namesOf(call), ['shop']);
  });

  it('create one session for two requests at the same time', async (t) => {
    const { call, key } = await account();
    const { url } = await start(t, { key });
    const answers = await Promise.all([create(url, 'shop'), create(url, 'shop')]);
    assert.deepEqual(answers.map(({ status }) => status).toSorted(), [201, 422]);
    assert.deepEqual(await namesOf(call), ['shop']);
  });
});
