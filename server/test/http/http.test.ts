import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { DatabaseSync } from 'node:sqlite';
import { after, before, describe, it } from 'node:test';
import { eventKinds } from '../../src/events/events.ts';
import { eventually } from '../support/eventually.ts';
import { startServer, type TestServer } from '../support/server.ts';

describe('HTTP', () => {
  let server: TestServer;
  let token: string;
  before(async () => {
    server = await startServer();
    ({ token } = await server.account());
  });
  after(() => server.stop());

  const post = (body: string | Buffer<ArrayBuffer>, headers: Record<string, string> = {}) =>
    fetch(`${server.url}/api/v1/webhooks/set`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers },
      body,
    });
  /** @returns the whole answer to a request with this first line */
  const raw = (line: string) =>
    new Promise<string>((resolve, reject) => {
      const socket = connect(Number(new URL(server.url).port), '127.0.0.1');
      let answer = '';
      socket.on('data', (chunk) => (answer += chunk));
      socket.on('end', () => resolve(answer)).on('error', reject);
      socket.write(`${line}\r\nhost: localhost\r\nconnection: close\r\n\r\n`);
    });
  const codeOf = async (response: Response) => [response.status, (await response.json()).code];

  it('answers unreadable requests with the matching status', async () => {
    assert.deepEqual(await codeOf(await post('{"a":')), [400, 'invalid_json']);
    assert.deepEqual(await codeOf(await post('{"__proto__":{"x":1}}')), [400, 'invalid_json']);
    assert.deepEqual(await codeOf(await post('{"constructor":{"prototype":{}}}')), [400, 'invalid_json']);
    const notUtf8 = Buffer.concat([Buffer.from('{"name":"'), Buffer.from([0xff, 0xfe]), Buffer.from('"}')]);
    assert.deepEqual(await codeOf(await post(notUtf8)), [400, 'invalid_json']);
    assert.deepEqual(await codeOf(await post('[]')), [400, 'validation_failed']);
    assert.deepEqual(await codeOf(await post('"text"')), [400, 'validation_failed']);
    assert.deepEqual(await codeOf(await post('null')), [400, 'validation_failed']);
    assert.deepEqual(await codeOf(await post('')), [400, 'validation_failed']);
    assert.deepEqual(await codeOf(await post('x=1', { 'content-type': 'application/x-www-form-urlencoded' })), [
      415,
      'unsupported_media_type',
    ]);
    assert.deepEqual(await codeOf(await post('{}', { 'content-type': 'text/plain' })), [415, 'unsupported_media_type']);
    const compressed = { 'content-type': 'application/json', 'content-encoding': 'gzip' };
    assert.deepEqual(await codeOf(await post('{}', compressed)), [415, 'unsupported_media_type']);
    assert.deepEqual(await codeOf(await post(JSON.stringify({ x: 'y'.repeat(1024 * 1024) }))), [
      413,
      'payload_too_large',
    ]);
  });

  it('says what it refuses in valid JSON, and in a path that it cannot decode', async () => {
    for (const body of ['{"__proto__":{"x":1}}', '{"a":[{"constructor":{"prototype":{}}}]}']) {
      const { detail } = await (await post(body)).json();
      assert.match(detail, /^The request body has a field that the server refuses: `__proto__`, /);
    }
    assert.match((await (await post('{"__proto__":')).json()).detail, /is not valid JSON/);
    const { status, body } = await server.call('GET', '/messages/%ff');
    assert.deepEqual([status, body.code], [400, 'validation_failed']);
    assert.match(body.detail, /^The path has an invalid percent-encoding; /);
  });

  it('rejects a body with too many values before parsing it', async () => {
    // Each is truncated, so parsing it would fail with `invalid_json`.
    for (const [body, field, code] of [
      [`{"webhookUrl":"https://example.com","events":[${'"x",'.repeat(25_001)}`, 'events', 'width'],
      [`{${Array.from({ length: 25_002 }, (_, n) => `"f\\"${n}":0`).join()}`, 'body', 'width'],
      [`{"secret":${'['.repeat(6000)}`, 'secret', 'depth'],
      [`[${'{},'.repeat(13_000)}`, 'body', 'width'],
    ] as const) {
      const answer = await post(body);
      const { errors } = await answer.json();
      assert.deepEqual([answer.status, errors?.[0].field, errors?.[0].code], [400, field, code]);
    }
    // Text that looks like values does not count as values.
    assert.deepEqual(await codeOf(await post(JSON.stringify({ secret: '\\",[{'.repeat(26_000) }))), [
      400,
      'validation_failed',
    ]);
    assert.deepEqual(await codeOf(await post(`{"secret":"${',['.repeat(26_000)}"`)), [400, 'invalid_json']);
  });

  it('accepts bodies of up to 8 KiB on public routes', async () => {
    for (const path of ['/auth/login', '/auth/register']) {
      const { status, body } = await server.call('POST', path, { email: 'x'.repeat(8200), password: 'x' });
      assert.deepEqual(
        [status, body.code, body.detail],
        [413, 'payload_too_large', 'The request body is larger than 8 KiB'],
        path,
      );
    }
    assert.equal((await server.call('POST', '/auth/login', { email: 'x'.repeat(8100), password: 'x' })).status, 400);
  });

  it('answers unknown routes with 404, and known ones with 405 and the allowed methods', async () => {
    const unknown = await server.call('GET', '/nonsense');
    assert.deepEqual([unknown.status, unknown.body.code], [404, 'route_not_found']);
    const method = await server.call('PUT', '/webhooks/set');
    assert.deepEqual(
      [method.status, method.body.code, method.headers.get('allow')],
      [405, 'method_not_allowed', 'POST'],
    );
    for (const [path, allow] of [
      ['/sessions', 'GET, HEAD, POST'],
      ['/webhooks/test', 'GET'],
      ['/events/stream', 'GET'],
      ['/health', 'GET, HEAD'],
    ] as const) {
      const options = await server.call('OPTIONS', path);
      assert.deepEqual([options.status, options.headers.get('allow')], [405, allow], path);
    }
    // `fetch` does not send it.
    assert.match(await raw('TRACE /api/v1/sessions HTTP/1.1'), /^HTTP\/1\.1 405 .*allow: GET, HEAD, POST\r\n/s);
    assert.match(await raw('TRACE /metrics HTTP/1.1'), /^HTTP\/1\.1 405 .*allow: GET, HEAD\r\n/s);
  });

  it('keeps a valid request id of the caller, and generates one otherwise', async () => {
    const id = async (sent: string) =>
      (await server.call('GET', '/nonsense', undefined, { 'x-request-id': sent })).headers.get('x-request-id');
    assert.equal(await id('trace-1.2_3'), 'trace-1.2_3');
    assert.match((await id('not an id!')) ?? '', /^req_/);
  });

  it('limits requests per credential and reports how many are left', async () => {
    const limited = await startServer({ env: { RATE_LIMIT: '3' } });
    const { call } = await limited.account();
    const answers = [
      await call('GET', '/sessions'),
      await call('GET', '/sessions'),
      await call('GET', '/sessions'),
      await call('GET', '/sessions'),
    ];
    assert.deepEqual(
      answers.map(({ status }) => status),
      [200, 200, 200, 429],
    );
    assert.equal(answers[0]?.headers.get('ratelimit-policy'), '"credential";q=3;w=60');
    assert.match(answers[0]?.headers.get('ratelimit') ?? '', /^"credential";r=2;t=\d+$/);
    assert.ok(Number(answers[3]?.headers.get('retry-after')) >= 1);
    const other = await limited.account();
    assert.equal((await other.call('GET', '/sessions')).status, 200);
    await limited.stop();
  });

  it('reveals no internals in the error of an incomplete database', async (test) => {
    const broken = await startServer();
    test.after(() => broken.stop());
    const { call } = await broken.account();
    await broken.app.services.database.commit(({ connection }) =>
      connection.query('alter table sessions rename to gone', []),
    );
    const answer = await call('GET', '/sessions');
    assert.deepEqual([answer.status, answer.body.code], [503, 'storage_unavailable']);
    assert.doesNotMatch(JSON.stringify(answer.body), /gone|sessions|select|sqlite/i);
  });

  it('reveals no internals in an unexpected error', async (test) => {
    const broken = await startServer();
    test.after(() => broken.stop());
    const { call } = await broken.account();
    const { database } = broken.app.services;
    for (const { connection } of [database.reader, database.longReader])
      test.mock.method(connection, 'query', async () => {
        throw new TypeError('sqlite: select of gone sessions');
      });
    const answer = await call('GET', '/sessions');
    test.mock.restoreAll();
    assert.deepEqual([answer.status, answer.body.code], [500, 'internal_error']);
    assert.doesNotMatch(JSON.stringify(answer.body), /gone|sessions|select|sqlite/i);
  });

  it('reports liveness and readiness, with and without the API prefix', async () => {
    for (const path of ['/health', '/ready', '/api/v1/health', '/api/v1/ready']) {
      assert.equal((await fetch(server.url + path)).status, 200, path);
    }
  });

  it('is not ready if the disk is nearly full or another process holds the database', async () => {
    const ready = (url: string) => async () => (await fetch(`${url}/ready`)).status;
    const full = await startServer({ env: { DISK_RESERVE_BYTES: String(1e15) } });
    assert.equal(await ready(full.url)(), 503);
    assert.equal((await fetch(`${full.url}/health`)).status, 200);
    await full.stop();

    const locked = await startServer();
    const intruder = new DatabaseSync(`${locked.home.dataDir}/switchboard.db`);
    intruder.exec('begin immediate');
    assert.equal(await ready(locked.url)(), 503);
    intruder.close();
    await eventually(ready(locked.url), (status) => status === 200);
    await locked.stop();
  });

  it('reports that it is not ready before it stops accepting requests', async () => {
    const ending = await startServer({ env: { STOP_DELAY_SECONDS: '1' } });
    const { call } = await ending.account();
    let isStopped = false;
    const stopped = ending.stop().then(() => (isStopped = true));
    assert.equal((await fetch(`${ending.url}/ready`)).status, 503);
    assert.equal((await call('GET', '/sessions')).status, 200);
    assert.equal(isStopped, false);
    await stopped;
    await assert.rejects(fetch(`${ending.url}/health`));
  });

  it('serves the committed OpenAPI document', async () => {
    const served = await (await fetch(`${server.url}/openapi.json`)).json();
    const committed = JSON.parse(readFileSync(new URL('../../../openapi.json', import.meta.url), 'utf8'));
    assert.deepEqual(served, committed);
    assert.equal(served.openapi, '3.1.0');
    assert.equal(Object.keys(served.webhooks).length, eventKinds.length);
  });
});
