/* A script of a user in CommonJS. */

const assert = require('node:assert/strict');
const { createClient } = require('@switchboard/sdk');
const { NotFoundError } = require('@switchboard/sdk/errors');
const { webhookHandler } = require('@switchboard/sdk/express');
const { verify } = require('@switchboard/sdk/webhooks');

const sb = createClient({ baseUrl: process.env.SWITCHBOARD_URL, credential: process.env.SWITCHBOARD_KEY });
assert.equal(typeof webhookHandler({ secret: 'between us', onEvent() {} }), 'function');

async function main() {
  await assert.rejects(sb.messages.get({ messageId: 'msg_none' }), NotFoundError);
  const result = await verify({ body: '', headers: {}, secret: 'between us' });
  assert.deepEqual(result, { ok: false, reason: 'missing_signature' });
}

main();
