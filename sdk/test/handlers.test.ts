import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { connect } from 'node:net';
import { describe, it, type TestContext } from 'node:test';
import { getRequestListener, serve } from '@hono/node-server';
import express from 'express';
import fastify from 'fastify';
import { Hono } from 'hono';
import { portOf } from '../../server/test/support/connections/listening.ts';
import { webhookHandler as expressHandler } from '../src/express.ts';
import { webhookPlugin } from '../src/fastify.ts';
import { webhookHandler as honoHandler } from '../src/hono.ts';
import { webhookHandler as nextHandler } from '../src/next.ts';
import type { HandlerOptions } from '../src/receiver.ts';
import type { WebhookEvent } from '../src/webhooks.ts';

const SECRET = 'between us';
const BODY = JSON.stringify({
  event: 'session.connected',
  data: { sessionId: 'ses_1', phoneNumber: '491701234567', connectedAt: '2026-01-01T00:00:00.000Z' },
});

/** Starts a server with the handler, and returns the URL of its webhook. */
type Start = (test: TestContext, options: HandlerOptions) => Promise<string>;

const frameworks: Readonly<Record<string, Start>> = {
  Express: (test, options) => listen(test, express().post('/hook', expressHandler(options))),
  'node:http': (test, options) => listen(test, expressHandler(options)),
  Fastify: async (test, options) => {
    const app = fastify();
    app.register(webhookPlugin, { path: '/hook', ...options });
    test.after(() => app.close());
    return `${await app.listen({ host: '127.0.0.1', port: 0 })}/hook`;
  },
  Hono: (test, options) => listenHono(test, new Hono().post('/hook', honoHandler(options))),
  'the Fetch API': (test, options) => listen(test, getRequestListener(nextHandler(options))),
};

async function listen(test: TestContext, listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  test.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${portOf(server)}/hook`;
}

async function listenHono(test: TestContext, app: Hono): Promise<string> {
  const server = serve({ fetch: app.fetch, hostname: '127.0.0.1', port: 0 });
  await once(server, 'listening');
  test.after(() => server.close());
  return `http://127.0.0.1:${portOf(server)}/hook`;
}

function signed(body: string, { id = 'evt_1', secret = SECRET, at = Math.floor(Date.now() / 1000) } = {}) {
  const signature = createHmac('sha256', secret).update(`${id}.${at}.${body}`).digest('base64');
  return {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': String(at),
    'webhook-signature': `v1,${signature}`,
  };
}

async function post(url: string, body: string, headers: Record<string, string> = signed(body)) {
  const response = await fetch(url, { method: 'POST', headers, body });
  return { status: response.status, text: await response.text() };
}

/** Sends an endless body without reading an answer first. @returns the status of the answer */
async function postEndlessly(url: string): Promise<number> {
  const { hostname, port, pathname } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => {}); // the server hangs up while this still writes
  socket.write(`POST ${pathname} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n`);
  socket.write('Transfer-Encoding: chunked\r\n\r\n');
  const chunk = `1000\r\n${'x'.repeat(0x1000)}\r\n`;
  const write = () => {
    while (!socket.destroyed && socket.write(chunk));
  };
  socket.on('drain', write);
  write();
  const [answer] = await once(socket, 'data');
  socket.destroy();
  return Number(/^HTTP\/1\.1 (\d+)/.exec(String(answer))?.[1]);
}

for (const [name, start] of Object.entries(frameworks)) {
  describe(`the webhook handler for ${name}`, () => {
    it('answers 204 once the event is handled', async (test) => {
      const handled: [WebhookEvent, object][] = [];
      const url = await start(test, { secret: SECRET, onEvent: (...each) => void handled.push(each) });
      const headers = signed(BODY);
      assert.deepEqual(await post(url, BODY, headers), { status: 204, text: '' });
      assert.deepEqual(handled, [[JSON.parse(BODY), { id: 'evt_1', timestamp: Number(headers['webhook-timestamp']) }]]);
    });

    it('verifies the exact bytes, in any content type and encoding', async (test) => {
      const url = await start(test, { secret: SECRET, onEvent: () => {} });
      const spaced = ` ${BODY.replace('ses_1', 'Schöne Grüße ✓')}\n`;
      for (const type of ['application/json', 'text/plain', 'application/x-www-form-urlencoded', 'no/such; type'])
        assert.equal((await post(url, spaced, { ...signed(spaced), 'content-type': type })).status, 204, type);
    });

    it('answers 401 with the reason and handles nothing if the signature is wrong', async (test) => {
      const url = await start(test, { secret: SECRET, onEvent: () => assert.fail('handled') });
      const forged = { ...signed(BODY, { secret: 'a guess' }) };
      const old = signed(BODY, { at: 1_700_000_000 });
      const bodyOnly = `sha256=${createHmac('sha256', SECRET).update(BODY).digest('hex')}`;
      const cases: [Record<string, string>, string][] = [
        [{}, 'missing_signature'],
        [forged, 'bad_signature'],
        [old, 'timestamp_out_of_tolerance'],
        [{ ...signed(BODY), 'webhook-id': 'evt_2' }, 'bad_signature'],
        [{ 'x-webhook-signature': bodyOnly }, 'standard_signature_required'],
      ];
      for (const [headers, text] of cases) assert.deepEqual(await post(url, BODY, headers), { status: 401, text });
      assert.deepEqual(await post(url, '', signed(BODY)), { status: 401, text: 'bad_signature' });
    });

    it('answers 400 if a signed body is not an event', async (test) => {
      const errors: unknown[] = [];
      const options = {
        secret: SECRET,
        onEvent: () => assert.fail('handled'),
        onError: (e: unknown) => errors.push(e),
      };
      const url = await start(test, options);
      assert.deepEqual(await post(url, 'hello'), { status: 400, text: 'The body is not JSON in UTF-8' });
      assert.equal(errors.length, 1);
    });

    it('answers 500 without details if the event cannot be handled, and handles the retry', async (test) => {
      const errors: unknown[] = [];
      const failure = new Error('the password of the database is hunter2');
      let tries = 0;
      const url = await start(test, {
        secret: SECRET,
        onEvent: async () => {
          if (++tries === 1) throw failure;
        },
        onError: (error) => void errors.push(error),
        seen: new Set(),
      });
      assert.deepEqual(await post(url, BODY), { status: 500, text: 'The receiver failed to handle the event' });
      assert.deepEqual(errors, [failure]);
      assert.equal((await post(url, BODY)).status, 204);
      assert.equal(tries, 2);
    });

    it('handles an event once if it has a store of seen events', async (test) => {
      const seen = new Set<string>();
      let count = 0;
      const url = await start(test, { secret: SECRET, seen, onEvent: () => void count++ });
      for (const id of ['evt_1', 'evt_1', 'evt_2'])
        assert.equal((await post(url, BODY, signed(BODY, { id }))).status, 204);
      assert.equal(count, 2);
      assert.deepEqual([...seen], ['evt_1', 'evt_2']);
    });

    it('answers 413 to a body above the limit, announced or endless', async (test) => {
      const url = await start(test, { secret: SECRET, maxBytes: 1000, onEvent: () => assert.fail('handled') });
      assert.equal((await post(url, 'x'.repeat(1001))).status, 413);
      assert.equal(await postEndlessly(url), 413);
      const fits = ' '.repeat(1000);
      assert.equal((await post(url, fits, {})).status, 401);
    });

    it('survives a connection that breaks within the body', async (test) => {
      const url = await start(test, {
        secret: SECRET,
        onEvent: () => {},
        onError: (error) => assert.fail(String(error)),
      });
      const { hostname, port, pathname } = new URL(url);
      const socket = connect(Number(port), hostname);
      socket.write(`POST ${pathname} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 500\r\n\r\n{"event":`);
      await once(socket, 'ready');
      socket.destroy();
      assert.equal((await post(url, BODY)).status, 204);
    });

    it('accepts no other method', async (test) => {
      const url = await start(test, { secret: SECRET, onEvent: () => assert.fail('handled') });
      const { status } = await fetch(url, { headers: signed('') });
      assert.ok(status === 404 || status === 405, `${status}`);
    });

    it('takes the secret from a function, and fails while there is none', async (test) => {
      const errors: unknown[] = [];
      let secret = '';
      const onError = (error: unknown) => void errors.push(error);
      const url = await start(test, { secret: async () => secret, onEvent: () => {}, onError });
      assert.equal((await post(url, BODY, signed(BODY))).status, 500);
      assert.match(String(errors[0]), /`secret` must be a string that is not empty/);
      secret = SECRET;
      assert.equal((await post(url, BODY)).status, 204);
    });
  });
}

describe('the webhook handlers', () => {
  it('refuse options that cannot work', async () => {
    const onEvent = () => {};
    for (const create of [expressHandler, honoHandler, nextHandler]) {
      assert.throws(() => create({ secret: '', onEvent }), TypeError);
      assert.throws(() => create({ secret: ['new', ''], onEvent }), TypeError);
      assert.throws(() => create({ secret: SECRET, onEvent, maxBytes: 0 }), TypeError);
      assert.throws(() => create({ secret: SECRET, onEvent: undefined as never }), TypeError);
    }
    const app = fastify();
    app.register(webhookPlugin, { secret: '', onEvent });
    await assert.rejects(async () => app.ready(), TypeError);
  });

  it('give a delivery that is repeated meanwhile the outcome of the first', async (test) => {
    const verified = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const sign = crypto.subtle.sign.bind(crypto.subtle);
    let signatures = 0;
    test.mock.method(crypto.subtle, 'sign', async (...input: Parameters<SubtleCrypto['sign']>) => {
      const signature = await sign(...input);
      verified[signatures++]?.resolve();
      return signature;
    });
    const failing = Promise.withResolvers<void>();
    let count = 0;
    const handler = nextHandler({
      secret: SECRET,
      onError: () => {},
      onEvent: () => {
        count++;
        return failing.promise;
      },
    });
    const deliver = () =>
      handler(new Request('http://localhost', { method: 'POST', headers: signed(BODY), body: BODY }));
    const answers = [deliver(), deliver()];
    await Promise.all(verified.map(({ promise }) => promise));
    // The code after a verification waits only for promises, which are settled before this.
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(count, 1);
    failing.reject(new Error('no database'));
    assert.deepEqual(
      (await Promise.all(answers)).map(({ status }) => status),
      [500, 500],
    );
    assert.equal(count, 1);
  });

  it('answer although `onError` throws', async (test) => {
    const log = test.mock.method(console, 'error', () => {});
    const onError = () => {
      throw new Error('the log is full');
    };
    const onEvent = () => Promise.reject(new Error('no database'));
    const url = await frameworks['Express']?.(test, { secret: SECRET, onEvent, onError });
    assert.equal((await post(url ?? '', BODY)).status, 500);
    assert.match(String(log.mock.calls[0]?.arguments[1]), /the log is full/);
  });

  it('log errors to the console by default', async (test) => {
    const log = test.mock.method(console, 'error', () => {});
    const failure = new Error('no database');
    const url = await frameworks['Hono']?.(test, { secret: SECRET, onEvent: () => Promise.reject(failure) });
    assert.equal((await post(url ?? '', BODY)).status, 500);
    assert.deepEqual(log.mock.calls[0]?.arguments[1], failure);
  });
});

describe('the webhook handler for Express', () => {
  const options = { secret: SECRET, onEvent: () => {} };

  for (const [parser, middleware] of [
    ['express.raw()', express.raw({ type: '*/*' })],
    ['express.text()', express.text({ type: '*/*' })],
    ['express.json() that keeps the raw body', express.json({ verify: keepRawBody })],
  ] as const) {
    it(`works behind ${parser}`, async (test) => {
      const url = await listen(test, express().use(middleware).post('/hook', expressHandler(options)));
      assert.equal((await post(url, BODY)).status, 204);
      assert.equal((await post(url, BODY, signed(BODY, { secret: 'a guess' }))).status, 401);
    });
  }

  it('says what to do if express.json() read the body first', async (test) => {
    const errors: unknown[] = [];
    const handler = expressHandler({ ...options, onError: (error) => void errors.push(error) });
    const url = await listen(test, express().use(express.json()).post('/hook', handler));
    const { status, text } = await post(url, BODY);
    assert.equal(status, 500);
    assert.match(text, /express\.json\(\) read it first\. Register the webhook handler before/);
    assert.equal((errors[0] as Error).message, text);
    // A parser that has nothing to parse leaves the body alone.
    assert.equal((await post(url, BODY, { ...signed(BODY), 'content-type': 'text/plain' })).status, 204);
  });

  it('limits a body that a parser has read', async (test) => {
    const handler = expressHandler({ ...options, maxBytes: 10 });
    const url = await listen(
      test,
      express()
        .use(express.raw({ type: '*/*' }))
        .post('/hook', handler),
    );
    assert.equal((await post(url, BODY)).status, 413);
  });

  it('leaves an answer that a middleware has sent', async (test) => {
    const app = express().use((_request, response, next) => {
      response.status(202).end();
      next();
    });
    assert.equal((await post(await listen(test, app.post('/hook', expressHandler(options))), BODY)).status, 202);
  });

  it('ends if the connection broke before it was called', async (test) => {
    const outcome = Promise.withResolvers<void>();
    const handler = expressHandler(options);
    const url = await listen(test, async (request, response) => {
      // As behind a slow middleware.
      request.once('close', () => handler(request, response).then(outcome.resolve, outcome.reject));
    });
    const { hostname, port } = new URL(url);
    const socket = connect(Number(port), hostname);
    socket.end('POST /hook HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n{', () => socket.destroy());
    await outcome.promise;
  });
});

function keepRawBody(request: object, _response: unknown, rawBody: Buffer): void {
  Object.assign(request, { rawBody });
}

describe('the webhook plugin for Fastify', () => {
  it('leaves the bodies of other routes alone, and logs to the log of the request', async (test) => {
    const lines: string[] = [];
    const app = fastify({ logger: { level: 'error', stream: { write: (line: string) => void lines.push(line) } } });
    app.post('/before', async ({ body }) => body);
    app.register(webhookPlugin, { prefix: '/hooks', secret: SECRET, onEvent: () => Promise.reject(new Error('full')) });
    app.post('/after', async ({ body }) => body);
    test.after(() => app.close());
    const base = await app.listen({ host: '127.0.0.1', port: 0 });
    for (const path of ['/before', '/after'])
      assert.deepEqual(JSON.parse((await post(`${base}${path}`, '{"a":1}')).text), { a: 1 });
    assert.equal((await post(`${base}/hooks`, BODY)).status, 500);
    const [line] = lines;
    assert.match(JSON.parse(line ?? '{}').err.message, /full/);
  });
});

describe('the webhook handler for Hono', () => {
  const handler = honoHandler({ secret: SECRET, onEvent: () => {}, onError: () => {}, maxBytes: 1000 });

  it('works behind a middleware that reads the body through the context', async (test) => {
    const app = new Hono().use(async (c, next) => {
      await c.req.json();
      await next();
    });
    const url = await listenHono(test, app.post('/hook', handler));
    assert.equal((await post(url, ` ${BODY}`)).status, 204);
    assert.equal((await post(url, JSON.stringify('x'.repeat(1000)))).status, 413);
  });

  it('says what to do behind a middleware that reads the body past the context', async (test) => {
    const app = new Hono().use(async (c, next) => {
      await c.req.raw.text();
      await next();
    });
    const { status, text } = await post(await listenHono(test, app.post('/hook', handler)), BODY);
    assert.equal(status, 500);
    assert.match(text, /Read it with `c\.req\.text\(\)`/);
  });
});

it('the webhook handler for the Fetch API says so if the request was read before', async () => {
  const request = new Request('http://localhost/hook', { method: 'POST', headers: signed(BODY), body: BODY });
  await request.text();
  const response = await nextHandler({ secret: SECRET, onEvent: () => {}, onError: () => {} })(request);
  assert.equal(response.status, 500);
  assert.match(await response.text(), /Pass the request to the handler unread/);
});
