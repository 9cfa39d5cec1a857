import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { describe, it } from 'node:test';
import type * as signature from '../nodes/Switchboard/shared/signature.ts';
import type * as times from '../nodes/Switchboard/shared/times.ts';
import type * as transport from '../nodes/Switchboard/shared/transport.ts';
import { loadNodeModule } from './support/nodes.ts';

const shared = './nodes/Switchboard/shared';
const { readDelivery }: typeof signature = loadNodeModule(`${shared}/signature.js`);
const { withOffset }: typeof times = loadNodeModule(`${shared}/times.js`);
const { apiUrl, path }: typeof transport = loadNodeModule(`${shared}/transport.js`);

const NOW = 1_767_323_045_000;
const BODY = '{"event":"message.incoming","data":{"message":"Grüße"}}';

function delivery({ id = 'evt_1', at = NOW, body = BODY, secret = 'secret', more = {} } = {}) {
  const timestamp = String(Math.floor(at / 1000));
  const hmac = (text: string) => createHmac('sha256', secret).update(text);
  return {
    body: Buffer.from(body),
    headers: {
      'webhook-id': id,
      'webhook-timestamp': timestamp,
      'webhook-signature': `v1,${hmac(`${id}.${timestamp}.${body}`).digest('base64')}`,
      'x-webhook-signature': `sha256=${hmac(body).digest('hex')}`,
      'x-webhook-attempt': '2',
      'x-webhook-sequence': '17',
      ...more,
    },
  };
}

describe('the verification of deliveries in n8n', () => {
  it('reads an event with two valid signatures', () => {
    assert.deepEqual(readDelivery(delivery(), ['secret'], NOW), {
      eventId: 'evt_1',
      event: 'message.incoming',
      sequence: 17,
      attempt: 2,
      isTest: false,
      data: { message: 'Grüße' },
    });
    const rotated = delivery();
    rotated.headers['webhook-signature'] = `v1,old ${rotated.headers['webhook-signature']}`;
    assert.equal(typeof readDelivery(rotated, ['other', 'secret'], NOW), 'object');
  });

  for (const [reason, given, secrets = ['secret']] of [
    ['no_secret', delivery(), []],
    ['missing_signature', delivery({ more: { 'x-webhook-signature': undefined } })],
    ['missing_signature', delivery({ more: { 'webhook-signature': '' } })],
    ['invalid_id', delivery({ id: '' })],
    ['invalid_id', delivery({ id: 'evt.1' })],
    ['invalid_timestamp', delivery({ more: { 'webhook-timestamp': '1, 2' } })],
    ['timestamp_out_of_tolerance', delivery({ at: NOW - 301_000 })],
    ['timestamp_out_of_tolerance', delivery({ at: NOW + 302_000 })],
    ['bad_signature', delivery({ secret: 'another' })],
    ['bad_signature', delivery({ more: { 'x-webhook-signature': 'sha256=é' } })],
    ['invalid_body', delivery({ body: '{"event":1}' })],
    ['invalid_body', delivery({ body: 'text' })],
  ] as const) {
    it(`rejects ${JSON.stringify(given.headers['webhook-id'])} with ${reason}`, () => {
      assert.equal(readDelivery(given, secrets, NOW), reason);
    });
  }
});

describe('the times and addresses of the nodes for n8n', () => {
  it('reads times of the date picker in the time zone of the workflow', () => {
    assert.equal(withOffset('2026-07-01T14:00:00', 'Europe/Berlin'), '2026-07-01T12:00:00.000Z');
    assert.equal(withOffset('2026-01-01 14:00', 'America/New_York'), '2026-01-01T19:00:00.000Z');
    assert.equal(withOffset('2026-07-01', 'Asia/Kolkata'), '2026-06-30T18:30:00.000Z');
    // An hour after clocks moved forward.
    assert.equal(withOffset('2026-03-29T03:30:00', 'Europe/Berlin'), '2026-03-29T01:30:00.000Z');
    assert.equal(withOffset('2026-07-01T14:00:00', 'UTC'), '2026-07-01T14:00:00.000Z');
    for (const time of ['2026-07-01T14:00:00Z', '2026-07-01T14:00:00+02:00', 'tomorrow']) {
      assert.equal(withOffset(time, 'Europe/Berlin'), time);
    }
  });

  it('accepts base URLs with and without the path of the API', () => {
    for (const url of ['https://example.com', 'https://example.com/', ' https://example.com/api/v1/ ']) {
      assert.equal(apiUrl(url), 'https://example.com/api/v1');
    }
    assert.equal(apiUrl('https://example.com/switchboard'), 'https://example.com/switchboard/api/v1');
    assert.equal(path`/chats/${'a/b'}/read`, '/chats/a%2Fb/read');
  });

  it('rejects an id that would lead to another route', () => {
    for (const id of ['', '.', '..'])
      assert.throws(() => path`/webhooks/endpoints/${id}`, new TypeError(`"${id}" is not an id`));
  });
});
