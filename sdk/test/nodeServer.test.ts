import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { test } from 'node:test';
import { Webhook } from 'standardwebhooks';
import { portOf } from '../../server/test/support/connections/listening.ts';
import { verifyAndParse } from '../src/webhooks.ts';

const SECRET = 'swb-test-secret';
const ID = 'evt_01';
const SENT_AT = 1767323045; // 2026-01-02T03:04:05Z
const BODY =
  '{"event":"message.incoming","data":{"messageId":"msg_1","from":"491707654321","message":"Grüße 👋","timestamp":"2026-01-02T03:04:05.000Z"}}';

test('verifies and parses deliveries in a Node server', async () => {
  await using server = createServer(async (request, response) => {
    const result = await verifyAndParse({
      body: await buffer(request),
      headers: request.headers,
      secret: SECRET,
      now: SENT_AT * 1000,
    });
    response.writeHead(result.ok ? 200 : 401).end(JSON.stringify(result));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${portOf(server)}`;

  const headers = {
    'Content-Type': 'application/json',
    Connection: 'close',
    'webhook-id': ID,
    'webhook-timestamp': String(SENT_AT),
    'webhook-signature': new Webhook(SECRET, { format: 'raw' }).sign(ID, new Date(SENT_AT * 1000), BODY),
  };
  const right = await fetch(url, { method: 'POST', headers, body: BODY });
  const verified = { ok: true, scheme: 'standard', id: ID, timestamp: SENT_AT, event: JSON.parse(BODY) };
  assert.deepEqual([right.status, await right.json()], [200, verified]);
  const wrong = await fetch(url, { method: 'POST', headers, body: `${BODY} ` });
  assert.deepEqual([wrong.status, await wrong.json()], [401, { ok: false, reason: 'bad_signature' }]);
});
