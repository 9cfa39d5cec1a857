/* A script of a user in plain JavaScript: calls the server, and receives an event with every handler. */

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { getRequestListener } from '@hono/node-server';
import { createClient } from '@switchboard/sdk';
import { routes } from '@switchboard/sdk/api';
import { NotFoundError } from '@switchboard/sdk/errors';
import { eventKinds } from '@switchboard/sdk/events';
import { webhookHandler as expressHandler } from '@switchboard/sdk/express';
import { webhookPlugin } from '@switchboard/sdk/fastify';
import { webhookHandler as honoHandler } from '@switchboard/sdk/hono';
import { webhookHandler as nextHandler } from '@switchboard/sdk/next';
import { verify } from '@switchboard/sdk/webhooks';
import express from 'express';
import fastify from 'fastify';
import { Hono } from 'hono';

const secret = randomBytes(16).toString('hex');
const sb = createClient({ baseUrl: process.env.SWITCHBOARD_URL, credential: process.env.SWITCHBOARD_KEY });
assert.ok('messages.send' in routes && eventKinds.includes('message.incoming'));
await assert.rejects(sb.messages.get({ messageId: 'msg_none' }), NotFoundError);
assert.deepEqual(await verify({ body: '', headers: {}, secret }), { ok: false, reason: 'missing_signature' });

const servers = [];
async function listen(listener) {
  const server = createServer(listener).listen(0, '127.0.0.1');
  servers.push(server);
  await once(server, 'listening');
  return `http://127.0.0.1:${server.address().port}`;
}

const app = fastify();
const starts = [
  (options) => listen(express().post('/hook', expressHandler(options))),
  (options) => listen(getRequestListener(new Hono().post('/hook', honoHandler(options)).fetch)),
  (options) => listen(getRequestListener(nextHandler(options))),
  (options) => {
    app.register(webhookPlugin, { path: '/hook', ...options });
    return app.listen({ host: '127.0.0.1', port: 0 });
  },
];

const arriving = [];
for (const start of starts) {
  let onEvent;
  arriving.push(
    new Promise((resolve) => {
      onEvent = resolve;
    }),
  );
  const url = await start({ secret, onEvent, seen: new Set() });
  await sb.webhooks.endpoints.create({ webhookUrl: `${url}/hook`, events: ['session.connected'], secret });
}

const { sessionId } = await sb.sessions.create({});
await sb.sessions.connect({ sessionId });
for (const { event, data } of await Promise.all(arriving))
  assert.deepEqual([event, data.sessionId], ['session.connected', sessionId]);

const file = new Blob(['Hello'], { type: 'text/plain' });
const { mediaId } = await sb.media.upload(file, { fileName: 'hello.txt' }, { onProgress: () => {} });
assert.equal(await (await sb.media.content({ mediaId })).text(), 'Hello');

const stop = new AbortController();
const stream = sb.events.stream({ kinds: ['session.disconnected'], signal: stop.signal });
const streamed = stream.next();
await sb.events.list({ limit: 1 });
stop.abort();
await assert.rejects(streamed, { name: 'AbortError' });

await app.close();
for (const server of servers) {
  server.closeAllConnections();
  server.close();
}
