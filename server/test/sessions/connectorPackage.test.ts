import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { json } from 'node:stream/consumers';
import { it, type TestContext } from 'node:test';
import { SettingsError } from '../../src/config.ts';
import { createLog } from '../../src/log.ts';
import { portOf } from '../support/connections/listening.ts';
import { newHome } from '../support/databases/databases.ts';
import { link } from '../support/processes/packages.ts';
import { eventOf, startAgain, startServer } from '../support/server.ts';

const SECRET = 'between us and the gateway';
const docs = readFileSync(new URL('../../../docs/connectors.md', import.meta.url), 'utf8');
const [, example = assert.fail('docs/connectors.md has no example')] =
  /<!-- file: src\/index\.ts -->\n```ts\n(.*?)```/s.exec(docs) ?? [];

/** Creates a file in a new folder outside the checkout. @returns its path */
function newFile(t: TestContext, source: string, name = 'pager.js'): string {
  const folder = mkdtempSync(join(tmpdir(), 'switchboard-connector-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const path = join(folder, name);
  writeFileSync(path, source);
  return path;
}

/** The gateway of the example. */
async function startGateway(t: TestContext) {
  const pages: { id: string; to: string; text: string }[] = [];
  const server = createServer(async (request, response) => {
    // biome-ignore lint/suspicious/noExplicitAny: whatever the connector sends
    const body = (await json(request)) as any;
    if (request.headers.authorization !== `Bearer ${SECRET}`) return response.writeHead(401).end();
    if (request.url === '/hello') return response.end('{"number":"4930123456"}');
    if (body.to === '4930999999') return response.writeHead(404).end();
    pages.push(body);
    return response.end('{}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  return { url: `http://127.0.0.1:${portOf(server)}`, pages };
}

it('the example connector of the docs sends, receives and protects its secret', async (t) => {
  const gateway = await startGateway(t);
  const lines: string[] = [];
  const file = newFile(t, example, 'pager.ts');
  await link(dirname(file), ['@switchboard/connector-kit']);
  const server = await startServer({
    env: { CONNECTORS: file },
    log: createLog('trace', { write: (line) => void lines.push(line) }),
  });
  t.after(() => server.stop());
  const { call } = await server.account();

  const refused = await call('POST', '/sessions', { connector: 'pager', options: { gateway: gateway.url } });
  assert.equal(refused.body.errors[0].field, 'options.secret');
  const options = { gateway: gateway.url, secret: SECRET };
  const { sessionId, callbackUrl } = (await call('POST', '/sessions', { connector: 'pager', options })).body;
  assert.equal(callbackUrl, `/api/v1/callbacks/${sessionId}`);
  const connected = await call('POST', `/sessions/${sessionId}/connect`);
  assert.deepEqual([connected.body.status, connected.body.phoneNumber], ['connected', '4930123456']);

  const sent = await call('POST', '/messages/send', { to: '4917012345', message: 'Come to the bridge' });
  assert.deepEqual([sent.status, sent.body.status], [201, 'sent']);
  assert.deepEqual(gateway.pages, [{ id: sent.body.messageId, to: '4917012345', text: 'Come to the bridge' }]);
  const nobody = await call('POST', '/messages/send', { to: '4930999999', message: 'Hello' });
  assert.deepEqual([nobody.status, nobody.body.code], [422, 'recipient_not_on_network']);
  const poll = await call('POST', '/messages/send-poll', { to: '4917012345', question: 'When?', options: ['1', '2'] });
  assert.equal(poll.body.code, 'not_supported');

  const callBack = (body: object, secret = SECRET) =>
    fetch(server.url + callbackUrl, {
      method: 'POST',
      headers: { authorization: `Bearer ${secret}` },
      body: JSON.stringify(body),
    });
  assert.equal((await callBack({ type: 'shown', id: sent.body.messageId }, 'a guess')).status, 403);
  assert.equal((await callBack({ type: 'shown', id: sent.body.messageId })).status, 204);
  assert.equal((await call('GET', `/messages/${sent.body.messageId}`)).body.status, 'delivered');
  const answer = { type: 'answer', id: 'p-1', from: '4917012345', text: 'On my way', answers: sent.body.messageId };
  for (const _ of [1, 2]) assert.equal((await callBack(answer)).status, 204);
  const incoming = await eventOf(call, 'message.incoming');
  assert.deepEqual([incoming.message, incoming.replyTo], ['On my way', sent.body.messageId]);
  assert.equal((await call('GET', '/messages?direction=incoming')).body.data.length, 1, 'delivered twice, stored once');

  await call('PATCH', `/sessions/${sessionId}`, { options: { gateway: gateway.url } });
  await call('POST', `/sessions/${sessionId}/disconnect`);
  assert.equal((await callBack(answer)).status, 409, 'without a connected session the network retries');
  await call('POST', `/sessions/${sessionId}/connect`);
  const shown = await call('GET', `/sessions/${sessionId}`);
  assert.deepEqual([shown.body.status, shown.body.options], ['connected', { gateway: gateway.url }]);
  const listed = await call('GET', '/sessions');
  assert.ok(!JSON.stringify([shown.body, listed.body]).includes(SECRET));
  assert.ok(lines.length > 10 && !lines.join('').includes(SECRET), 'not in the log');
});

it("a connector in any folder can import the server's errors, dynamically too", async (t) => {
  const source = `
    import { invalidField } from 'switchboard/errors';
    export async function createConnector({ clock }: { readonly clock: { now(): number } }): Promise<object> {
      const { AppError } = await import('switchboard/errors');
      if (!(invalidField('field', 'is wrong') instanceof AppError)) throw new Error('another copy');
      return {
        name: 'typed',
        options: { type: 'object', properties: {} },
        messageTypes: ['text'],
        async open(): Promise<never> {
          throw new AppError('session_state', 'refused in words of its own');
        },
      };
    }`;
  const server = await startServer({ env: { CONNECTORS: newFile(t, source, 'typed.ts') } });
  t.after(() => server.stop());
  const { call } = await server.account();
  const { sessionId } = (await call('POST', '/sessions', { connector: 'typed' })).body;
  const { status, body } = await call('POST', `/sessions/${sessionId}/connect`);
  assert.deepEqual([status, body.code, body.detail], [409, 'session_state', 'refused in words of its own']);
});

it('a network with buttons and without catalogs gets no products, in single and bulk sends', async (t) => {
  const source = `
    export const createConnector = () => ({
      name: 'buttons',
      options: { type: 'object', properties: {} },
      messageTypes: ['interactive'],
      capabilities: [],
      async open(host) {
        await host.onEvent({ type: 'connected', phoneNumber: '4930123456' });
        return { send: async () => ({ timestamp: Date.now() }), async close() {}, async logout() {} };
      },
    });`;
  const server = await startServer({ env: { CONNECTORS: newFile(t, source, 'buttons.js') } });
  t.after(() => server.stop());
  const { call } = await server.account();
  const { sessionId } = (await call('POST', '/sessions', { connector: 'buttons' })).body;
  await call('POST', `/sessions/${sessionId}/connect`);
  const to = '4917012345';
  const contents: [content: object, statuses: readonly number[]][] = [
    [{ message: 'Tea?', buttons: [{ id: 'yes', title: 'Yes' }] }, [201, 202]],
    [{ product: { catalogId: '7', retailerId: 'sencha-100' } }, [422, 422]],
    [{ message: 'All', catalog: { retailerId: 'sencha-100' } }, [422, 422]],
  ];
  for (const [content, statuses] of contents) {
    const single = await call('POST', '/messages/send-interactive', { to, ...content });
    const bulk = await call('POST', '/messages/send-bulk', { to: [to], interactive: content });
    assert.deepEqual([single.status, bulk.status], statuses, JSON.stringify([single.body, bulk.body]));
    if (single.status === 422) assert.match(single.body.detail, /Send products of a catalog/);
  }
});

it('a callback reaches only sessions of a network with callbacks', async (t) => {
  const server = await startServer();
  t.after(() => server.stop());
  const { call } = await server.account();
  const { sessionId, callbackUrl } = (await call('POST', '/sessions', {})).body;
  assert.equal(callbackUrl, null);
  const post = (path: string, body = 'x') => fetch(`${server.url}/api/v1/callbacks/${path}`, { method: 'POST', body });
  assert.equal((await post('ses_none')).status, 404);
  assert.equal((await post(sessionId)).status, 409);
  await call('POST', `/sessions/${sessionId}/connect`);
  // Not a single byte of the large one is read.
  for (const body of ['x', 'x'.repeat(4 * 1024 * 1024 + 1)]) assert.equal((await post(sessionId, body)).status, 422);
});

it('a package that is not a connector prevents startup with a reason', async (t) => {
  const starting = (CONNECTORS: string) => startAgain(t, () => newHome('sqlite'), { env: { CONNECTORS } })();
  const refusal = (pattern: RegExp) => (error: unknown) =>
    error instanceof SettingsError && pattern.test(error.message);
  await assert.rejects(starting('no-such-package'), refusal(/CONNECTORS "no-such-package" cannot be loaded/));
  await assert.rejects(starting(newFile(t, 'export const x = 1;')), refusal(/does not export a function/));
  const cases: [string, RegExp][] = [
    ['throw new Error("no licence");', /cannot be started: no licence/],
    ['return { name: "A B" };', /its name must be/],
    ['return { name: "a", options: {} };', /its options must be/],
    ['return { name: "a", options: { properties: {} }, messageTypes: ["song"] };', /messageTypes must be/],
    [
      'return { name: "a", options: { properties: {} }, messageTypes: [], capabilities: ["singing"] };',
      /capabilities must be/,
    ],
    ['return { name: "a", options: { properties: {} }, messageTypes: [] };', /no function open/],
    [
      'return { name: "sandbox", options: { properties: {} }, messageTypes: [], open() {} };',
      /another connector already has/,
    ],
  ];
  for (const [body, pattern] of cases) {
    await assert.rejects(starting(newFile(t, `export function createConnector() { ${body} }`)), refusal(pattern));
  }
});
