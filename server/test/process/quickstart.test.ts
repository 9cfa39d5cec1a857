import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createServer } from 'node:http';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { quickstart, type VerifiedEvent } from '../../../examples/quickstart.ts';
import { portOf } from '../support/connections/listening.ts';
import { newHome } from '../support/databases/databases.ts';
import { spawnServer } from '../support/processes/process.ts';
import { type Answer, bearer, startServer } from '../support/server.ts';

const script = fileURLToPath(new URL('../../../examples/quickstart.ts', import.meta.url));

function checkEvents(events: readonly VerifiedEvent[], lines: readonly string[]): void {
  const kinds = events.map(({ event }) => event);
  assert.equal(kinds.filter((kind) => kind === 'session.connected').length, 2);
  for (const kind of ['message.sent', 'message.delivered', 'message.incoming', 'message.read']) {
    assert.equal(kinds.filter((one) => one === kind).length, 1, kind);
  }
  const incoming = events.find(({ event }) => event === 'message.incoming');
  assert.equal(incoming?.data['message'], 'Hello Bob');
  assert.equal(lines.filter((line) => line.includes('both signatures verified')).length, events.length);
}

describe('the quickstart', () => {
  it('connects, sends and receives against a running server, and prints a login that works', async () => {
    const home = await newHome('sqlite');
    const server = await spawnServer(home);
    try {
      const lines: string[] = [];
      const print = (line: string) => void lines.push(line);
      checkEvents(await quickstart({ serverUrl: server.url, print }), lines);

      const [address, email, password] = lines.at(-1)?.trim().split(/\n\s*/) ?? [];
      assert.equal(address, `See it in the dashboard: ${server.url}/`);
      const { body } = await bearer(server.url, '')('POST', '/auth/login', { email, password });
      const call = bearer(server.url, body.token);
      assert.deepEqual((await call('GET', '/webhooks/endpoints')).body.data, []);
      const { body: sessions } = await call('GET', '/sessions');
      assert.deepEqual(
        sessions.data.map(({ name, status }: Answer['body']) => [name, status]),
        [
          ['bob', 'connected'],
          ['alice', 'connected'],
        ],
      );
    } finally {
      await server.stop();
      await home.remove();
    }
  });

  it('uses an existing key, and removes what it made', async (test) => {
    const server = await startServer();
    test.after(() => server.stop());
    const { call } = await server.account();
    await call('POST', '/webhooks/set', { webhookUrl: 'http://127.0.0.1:9/hook', events: ['message.incoming'] });
    const { key } = (await call('POST', '/api-keys/create', { name: 'mine' })).body;
    const lines: string[] = [];
    checkEvents(await quickstart({ serverUrl: server.url, key, print: (line) => void lines.push(line) }), lines);
    assert.ok(!lines.some((line) => /registered|dashboard/.test(line)), lines.join('\n'));
    assert.deepEqual((await call('GET', '/sessions')).body.data, []);
    const { body: webhooks } = await call('GET', '/webhooks/endpoints');
    assert.deepEqual(
      webhooks.data.map(({ webhookUrl }: Answer['body']) => webhookUrl),
      ['http://127.0.0.1:9/hook'],
    );
  });

  it('ignores requests that are unsigned or too large', async (test) => {
    const server = await startServer();
    test.after(() => server.stop());
    const lines: string[] = [];
    const foreign: Promise<number | undefined>[] = [];
    const post = (url: string, headers: Record<string, string>, body: string) => {
      // The DOM types lack `duplex`, which a stream requires.
      const request: RequestInit & { duplex: 'half' } = {
        method: 'POST',
        headers,
        body: new Blob([body]).stream(),
        duplex: 'half',
      };
      return fetch(url, request).then(
        ({ status }) => status,
        () => undefined, // the receiver closed the connection
      );
    };
    const print = (line: string) => {
      lines.push(line);
      const [, url] = /^set a webhook +(\S+)$/.exec(line) ?? [];
      if (url === undefined) return;
      foreign.push(post(url, {}, '{}'));
      foreign.push(post(url, { 'x-webhook-signature': 'sha256=00' }, 'x'.repeat(4 * 1024 * 1024)));
    };
    checkEvents(await quickstart({ serverUrl: server.url, print }), lines);
    assert.equal(foreign.length, 2);
    for (const status of await Promise.all(foreign)) assert.ok([401, 413, undefined].includes(status), `${status}`);
  });

  it('removes what it made when it is stopped, at any step', async (test) => {
    const server = await startServer();
    test.after(() => server.stop());
    const { call } = await server.account();
    const { key } = (await call('POST', '/api-keys/create', { name: 'mine' })).body;
    for (const step of ['set a webhook', 'connected', 'sent', 'received']) {
      const stopping = new AbortController();
      const print = (line: string) => void (line.startsWith(step) && stopping.abort(new Error('stopped')));
      const run = quickstart({ serverUrl: server.url, key, print, signal: stopping.signal });
      await assert.rejects(run, /^Error: stopped$/, step);
      assert.deepEqual((await call('GET', '/webhooks/endpoints')).body.data, [], step);
      assert.deepEqual((await call('GET', '/sessions')).body.data, [], step);
    }
  });

  it('says what to do if it cannot register, or no server answers', async (test) => {
    const server = await startServer({ env: { REGISTRATION: 'closed' } });
    test.after(() => server.stop());
    await server.account();
    const run = (url: string) =>
      promisify(execFile)(process.execPath, [script], { env: { SWITCHBOARD_URL: url } }).catch((error) => error);
    const closed = await run(server.url);
    assert.equal(closed.code, 1);
    assert.match(
      closed.stderr,
      /^Registration is closed on this server\. .*\n {2}SWITCHBOARD_KEY=… npm run quickstart\n$/,
    );
    assert.match(
      (await run('http://127.0.0.1:1')).stderr,
      /^No server answers at http:\/\/127\.0\.0\.1:1: run npm start/,
    );
  });

  it('says where the server has to run if it may not post to the receiver', async (test) => {
    const detail = 'The address 127.0.0.1 is not allowed; WEBHOOK_ALLOWED_CIDRS can open it';
    const inContainer = createServer((request, response) => {
      const isWebhook = request.method === 'POST' && request.url === '/api/v1/webhooks/endpoints';
      response.writeHead(isWebhook ? 400 : 200, { 'content-type': 'application/json' });
      response.end(
        JSON.stringify(
          isWebhook
            ? { detail, code: 'validation_failed', errors: [{ field: 'webhookUrl', code: 'address', message: detail }] }
            : { sessionId: 'ses_1' },
        ),
      );
    });
    await new Promise<void>((resolve) => inContainer.listen(0, '127.0.0.1', resolve));
    test.after(() => inContainer.close());
    const env = {
      SWITCHBOARD_URL: `http://127.0.0.1:${portOf(inContainer)}`,
      SWITCHBOARD_KEY: 'x',
    };
    const { code, stderr } = await promisify(execFile)(process.execPath, [script], { env }).catch((error) => error);
    assert.equal(code, 1);
    assert.match(stderr, /not allowed; .* has to run on this machine with HOST=127\.0\.0\.1/);
  });
});
