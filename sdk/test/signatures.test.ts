import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { stripTypeScriptTypes } from 'node:module';
import { describe, test } from 'node:test';
import { runInNewContext } from 'node:vm';
import { sign as signBody } from '@octokit/webhooks-methods';
import { Webhook } from 'standardwebhooks';
import {
  type RefusalReason,
  type VerifyInput,
  type VerifyResult,
  verify,
  verifyAndParse,
  WebhookBodyError,
} from '../src/webhooks.ts';

const SECRET = 'swb-test-secret';
const ID = 'evt_01';
const SENT_AT = 1767323045; // 2026-01-02T03:04:05Z
const NOW = SENT_AT * 1000;
const BODY =
  '{"event":"message.incoming","data":{"messageId":"msg_1","from":"491707654321","message":"Grüße 👋","timestamp":"2026-01-02T03:04:05.000Z"}}';

type HeaderObject = Record<string, string>;

interface Signing {
  readonly secret?: string;
  readonly id?: string;
  readonly sentAt?: number;
}

/** The signatures of a delivery, created by third-party libraries. */
async function signed(
  body: string,
  { secret = SECRET, id = ID, sentAt = SENT_AT }: Signing = {},
): Promise<HeaderObject> {
  return {
    'X-Webhook-Id': id,
    'X-Webhook-Timestamp': String(sentAt),
    'X-Webhook-Signature': await signBody(secret, body),
    'webhook-id': id,
    'webhook-timestamp': String(sentAt),
    'webhook-signature': signStandard(body, { secret, id, sentAt }),
  };
}

function signStandard(body: string, { secret = SECRET, id = ID, sentAt = SENT_AT }: Signing = {}): string {
  // As bytes, because the library uses only the low byte of each character of a string.
  const webhook = new Webhook(new TextEncoder().encode(secret), { format: 'raw' });
  return webhook.sign(id, new Date(sentAt * 1000), body);
}

function without(headers: HeaderObject, ...names: string[]): HeaderObject {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !names.includes(name)));
}

/** The headers left after an attacker strips the signature that covers the timestamp. */
async function signedBodyOnly(body: string, signing?: Signing): Promise<HeaderObject> {
  return without(await signed(body, signing), 'webhook-id', 'webhook-timestamp', 'webhook-signature');
}

function check(headers: VerifyInput['headers'], rest: Partial<VerifyInput> = {}): Promise<VerifyResult> {
  return verify({ body: BODY, headers, secret: SECRET, now: NOW, ...rest });
}

const standard = { ok: true, scheme: 'standard', id: ID, timestamp: SENT_AT };
const bodyOnly = { ok: true, scheme: 'body_only' };
const refused = (reason: RefusalReason) => ({ ok: false, reason });

describe('known test vectors', () => {
  test('accepts a standard signature made by openssl', async () => {
    // printf '%s' "evt_01.1767323045.$BODY" | openssl dgst -sha256 -hmac swb-test-secret -binary | base64
    const headers = {
      'webhook-id': ID,
      'webhook-timestamp': String(SENT_AT),
      'webhook-signature': 'v1,QQMj02Ke5sAKURXu11I8zn5ItfuqKeE43P6BYiz43/Y=',
    };
    assert.deepEqual(await check(headers), standard);
  });

  test('accepts a body signature made by openssl', async () => {
    // printf '%s' "$BODY" | openssl dgst -sha256 -hmac swb-test-secret
    const headers = {
      'X-Webhook-Signature': 'sha256=276181d0fe64ec16062bfe86e8a54a2c0b72776131d1b60d12b452ec3344b1aa',
    };
    assert.deepEqual(await check(headers, { require: 'any' }), bodyOnly);
  });

  test('accepts test case 2 of RFC 4231', async () => {
    const result = await verify({
      body: 'what do ya want for nothing?',
      headers: { 'X-Webhook-Signature': 'sha256=5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843' },
      secret: 'Jefe',
      require: 'any',
    });
    assert.deepEqual(result, bodyOnly);
  });

  test('uses the UTF-8 bytes of a secret as the key', async () => {
    // printf '%s' "$BODY" | openssl dgst -sha256 -hmac 'pässwörd🔑'
    const headers = {
      'X-Webhook-Signature': 'sha256=aa7089c572d8b5cade6c17e87ff2af90d0ca1a44139c168d4f57d8faaa24a77f',
    };
    assert.deepEqual(await check(headers, { secret: 'pässwörd🔑', require: 'any' }), bodyOnly);
  });
});

describe('signatures of other libraries', () => {
  const bodies = {
    'the sample': BODY,
    'a single space': ' ',
    'every plane of Unicode': '{"event":"x","data":{"a":"é\u2028中\u0000\ufeff🏳️‍🌈"}}',
    'a megabyte': JSON.stringify({ event: 'x', data: { a: 'ä'.repeat(500_000) } }),
  };
  const secrets = { ascii: SECRET, unicode: 'pässwörd🔑', 'one character': 'x', long: 'k'.repeat(200) };

  for (const [bodyName, body] of Object.entries(bodies)) {
    for (const [secretName, secret] of Object.entries(secrets)) {
      test(`for ${bodyName} are accepted under a secret that is ${secretName}, as text and as bytes`, async () => {
        const headers = await signed(body, { secret });
        const stripped = await signedBodyOnly(body, { secret });
        for (const received of [body, new TextEncoder().encode(body)]) {
          assert.deepEqual(await check(headers, { body: received, secret }), standard);
          assert.deepEqual(await check(stripped, { body: received, secret, require: 'any' }), bodyOnly);
        }
      });
    }
  }

  test('are accepted under a secret like whsec_<base64>, which is not decoded', async () => {
    const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
    assert.deepEqual(await check(await signed(BODY, { secret }), { secret }), standard);
    const decoded = { 'webhook-signature': new Webhook(secret).sign(ID, new Date(NOW), BODY) };
    assert.deepEqual(await check({ ...(await signed(BODY)), ...decoded }, { secret }), refused('bad_signature'));
  });
});

describe('the body', () => {
  test('is rejected with one changed character', async () => {
    const body = BODY.replace('491707654321', '491707654322');
    assert.deepEqual(await check(await signed(BODY), { body }), refused('bad_signature'));
    const stripped = await signedBodyOnly(BODY);
    assert.deepEqual(await check(stripped, { body, require: 'any' }), refused('bad_signature'));
  });

  test('is rejected when serialized again with other spacing', async () => {
    const body = JSON.stringify(JSON.parse(BODY), null, 1);
    assert.deepEqual(await check(await signed(BODY), { body }), refused('bad_signature'));
  });

  test('is rejected in another Unicode normal form', async () => {
    const body = BODY.normalize('NFD');
    assert.notEqual(body, BODY);
    assert.deepEqual(await check(await signed(BODY), { body }), refused('bad_signature'));
  });

  test('is read within its bounds inside a larger buffer', async () => {
    const around = Buffer.from(`xx${BODY}yy`);
    const body = around.subarray(2, around.length - 2);
    assert.deepEqual(await check(await signed(BODY), { body }), standard);
  });

  test('may be overwritten during verification', async () => {
    const body = new TextEncoder().encode(BODY);
    const pending = verifyAndParse({ body, headers: await signed(BODY), secret: SECRET, now: NOW });
    body.fill(0);
    const result = await pending;
    assert.ok(result.ok && result.event.event === 'message.incoming');
    assert.equal(result.event.data.message, 'Grüße 👋');
  });

  test('must be raw, not parsed JSON', async () => {
    const body = JSON.parse(BODY);
    await assert.rejects(check(await signed(BODY), { body }), { name: 'TypeError', message: /raw body/ });
  });
});

describe('headers', () => {
  test('are read from every type of collection, in any case', async () => {
    const headers = await signed(BODY);
    const upper = Object.entries(headers).map(([name, value]): [string, string] => [name.toUpperCase(), value]);
    const shapes: Record<string, VerifyInput['headers']> = {
      'plain object': headers,
      'upper case': Object.fromEntries(upper),
      'array values': Object.fromEntries(upper.map(([name, value]) => [name, [value]])),
      'absent values': { ...headers, cookie: undefined },
      'no prototype': Object.assign(Object.create(null), headers),
      Headers: new Headers(headers),
      Map: new Map(upper),
      pairs: upper,
      iterator: upper.values(),
    };
    for (const [name, shape] of Object.entries(shapes)) assert.deepEqual(await check(shape), standard, name);
  });

  test('are rejected without a signature', async () => {
    assert.deepEqual(await check({}), refused('missing_signature'));
    assert.deepEqual(await check({}, { require: 'any' }), refused('missing_signature'));
  });

  test('are rejected by name if one of the standard signature is missing or empty', async () => {
    const headers = await signed(BODY);
    for (const require of ['standard', 'any'] as const) {
      const cases = [
        [without(headers, 'webhook-id'), 'missing_id'],
        [{ ...headers, 'webhook-id': '' }, 'missing_id'],
        [without(headers, 'webhook-timestamp'), 'missing_timestamp'],
        [{ ...headers, 'webhook-timestamp': '' }, 'missing_timestamp'],
        [{ ...headers, 'webhook-signature': '' }, 'bad_signature'],
      ] as const;
      for (const [incomplete, reason] of cases) {
        assert.deepEqual(await check(incomplete, { require }), refused(reason));
      }
    }
  });

  test('with the X- prefix do not replace the standard ones', async () => {
    const headers = without(await signed(BODY), 'webhook-id', 'webhook-timestamp');
    assert.deepEqual(await check(headers), refused('missing_id'));
  });

  test('are rejected with another id or timestamp than the signed one', async () => {
    const headers = await signed(BODY);
    assert.deepEqual(await check({ ...headers, 'webhook-id': 'evt_02' }), refused('bad_signature'));
    const later = { ...headers, 'webhook-timestamp': String(SENT_AT + 1) };
    assert.deepEqual(await check(later), refused('bad_signature'));
  });

  test('are rejected if one is repeated with a different value', async () => {
    const headers = await signed(BODY);
    const twice = (name: string, value: string) => check([...Object.entries(headers), [name, value]]);
    assert.deepEqual(await twice('Webhook-Timestamp', String(SENT_AT + 1)), refused('invalid_timestamp'));
    assert.deepEqual(await twice('Webhook-Id', 'evt_02'), refused('bad_signature'));
    const stripped = await signedBodyOnly(BODY);
    const signatures = { ...stripped, 'X-Webhook-Signature': [stripped['X-Webhook-Signature'] ?? '', 'sha256=00'] };
    assert.deepEqual(await check(signatures, { require: 'any' }), refused('bad_signature'));
  });
});

describe('malformed and truncated signatures', () => {
  const right = 'QQMj02Ke5sAKURXu11I8zn5ItfuqKeE43P6BYiz43/Y=';
  const wrongStandard = [
    'v1',
    'v1,',
    `v1,${right.slice(0, -1)}`,
    `v1,${right}=`,
    `v1,${right.replace('/Y=', '/Z=')}`, // Decodes to the same bytes: Z differs from Y only in bits that base64 does not use.
    `v1,${right.replace('/', '_')}`,
    `v1,${right.toLowerCase()}`,
    `v1a,${right}`,
    `v2,${right}`,
    `V1,${right}`,
    right,
    `v1,${right},`,
    `v1,v1,${right}`,
    `\u0000v1,${right}`,
    `v1,${'A'.repeat(43)}=`,
  ];
  for (const signature of wrongStandard) {
    test(`include ${JSON.stringify(signature)}, which is rejected`, async () => {
      const headers = { ...(await signed(BODY)), 'webhook-signature': signature };
      assert.deepEqual(await check(headers), refused('bad_signature'));
    });
  }

  const rightHex = '276181d0fe64ec16062bfe86e8a54a2c0b72776131d1b60d12b452ec3344b1aa';
  const wrongBodyOnly = [
    '',
    'sha256=',
    rightHex,
    `sha256=${rightHex.toUpperCase()}`,
    `SHA256=${rightHex}`,
    `sha1=${rightHex}`,
    `sha256=${rightHex.slice(0, -1)}`,
    `sha256=${rightHex}0`,
    `sha256=${rightHex} `,
    `sha256=${'0'.repeat(64)}`,
  ];
  for (const signature of wrongBodyOnly) {
    test(`include ${JSON.stringify(signature)} for a body, which is rejected`, async () => {
      assert.deepEqual(await check({ 'X-Webhook-Signature': signature }, { require: 'any' }), refused('bad_signature'));
    });
  }

  test('are rejected whichever digit differs', async () => {
    for (let i = 0; i < rightHex.length; i++) {
      const other = rightHex[i] === '0' ? '1' : '0';
      const signature = `sha256=${rightHex.slice(0, i)}${other}${rightHex.slice(i + 1)}`;
      const result = await check({ 'X-Webhook-Signature': signature }, { require: 'any' });
      assert.deepEqual(result, refused('bad_signature'));
    }
  });
});

describe('the timestamp', () => {
  test('may differ by 300 seconds in either direction', async () => {
    const headers = await signed(BODY);
    const at = (seconds: number) => check(headers, { now: NOW + seconds * 1000 });
    assert.deepEqual(await at(300), standard);
    assert.deepEqual(await at(300.999), standard);
    assert.deepEqual(await at(301), refused('timestamp_out_of_tolerance'));
    assert.deepEqual(await at(-300), standard);
    assert.deepEqual(await at(-301), refused('timestamp_out_of_tolerance'));
  });

  test('may differ by a custom tolerance', async () => {
    const headers = await signed(BODY);
    assert.deepEqual(await check(headers, { tolerance: 5, now: NOW + 6000 }), refused('timestamp_out_of_tolerance'));
    assert.deepEqual(await check(headers, { tolerance: 5, now: NOW - 5000 }), standard);
    assert.deepEqual(await check(headers, { tolerance: 0 }), standard);
    assert.deepEqual(await check(headers, { tolerance: 86_400, now: NOW + 86_400_000 }), standard);
  });

  test('is rejected if the time or the tolerance is not a number', async () => {
    const headers = await signed(BODY);
    assert.deepEqual(await check(headers, { now: Number.NaN }), refused('timestamp_out_of_tolerance'));
    assert.deepEqual(await check(headers, { tolerance: Number.NaN }), refused('timestamp_out_of_tolerance'));
  });

  test('is compared with the real clock by default', async () => {
    const sentAt = Math.floor(Date.now() / 1000);
    const fresh = await verify({ body: BODY, headers: await signed(BODY, { sentAt }), secret: SECRET });
    assert.deepEqual(fresh, { ...standard, timestamp: sentAt });
    const stale = await verify({ body: BODY, headers: await signed(BODY, { sentAt: sentAt - 3600 }), secret: SECRET });
    assert.deepEqual(stale, refused('timestamp_out_of_tolerance'));
  });

  test('must be a whole number of seconds in digits', async () => {
    const headers = await signed(BODY);
    for (const timestamp of [
      'now',
      '1767323045.0',
      '-1',
      '+1767323045',
      '0x1',
      '1e9',
      '1767323045 ',
      'Infinity',
      '١',
    ]) {
      assert.deepEqual(await check({ ...headers, 'webhook-timestamp': timestamp }), refused('invalid_timestamp'));
    }
    const milliseconds = { ...headers, 'webhook-timestamp': String(NOW) };
    assert.deepEqual(await check(milliseconds), refused('timestamp_out_of_tolerance'));
  });

  test('is signed as it is written, so leading zeros are rejected', async () => {
    const headers = { ...(await signed(BODY)), 'webhook-timestamp': `0${SENT_AT}` };
    assert.deepEqual(await check(headers), refused('bad_signature'));
  });
});

describe('rotation', () => {
  const OLD = 'old-secret';
  const NEW = 'new-secret';

  test('accepts either one of two listed signatures, in any order', async () => {
    const [byOld, byNew] = [signStandard(BODY, { secret: OLD }), signStandard(BODY, { secret: NEW })];
    const headers = await signed(BODY, { secret: NEW });
    for (const list of [`${byNew} ${byOld}`, `${byOld} ${byNew}`, `v1a,abc ${byOld}  ${byNew}`, `${byOld}, ${byNew}`]) {
      for (const secret of [OLD, NEW]) {
        assert.deepEqual(await check({ ...headers, 'webhook-signature': list }, { secret }), standard);
      }
      const other = await check({ ...headers, 'webhook-signature': list }, { secret: 'third' });
      assert.deepEqual(other, refused('bad_signature'));
    }
  });

  test('does not break a receiver with the old secret when X-Webhook-Signature uses the new one', async () => {
    const headers = {
      ...(await signed(BODY, { secret: NEW })),
      'webhook-signature': signStandard(BODY, { secret: OLD }),
    };
    assert.deepEqual(await check(headers, { secret: OLD, require: 'any' }), standard);
  });

  test('accepts deliveries of either secret in a receiver that has both', async () => {
    for (const secret of [OLD, NEW]) {
      assert.deepEqual(await check(await signed(BODY, { secret }), { secret: [OLD, NEW] }), standard);
      const stripped = await signedBodyOnly(BODY, { secret });
      assert.deepEqual(await check(stripped, { secret: [OLD, NEW], require: 'any' }), bodyOnly);
    }
    const third = await signed(BODY, { secret: 'third' });
    assert.deepEqual(await check(third, { secret: [OLD, NEW] }), refused('bad_signature'));
  });
});

describe('a downgrade to body signatures', () => {
  test('is not possible by default when the standard headers are stripped', async () => {
    const stripped = await signedBodyOnly(BODY);
    assert.deepEqual(await check(stripped), refused('standard_signature_required'));
    assert.deepEqual(await check(stripped, { require: 'standard' }), refused('standard_signature_required'));
  });

  test('is not enabled by an unknown value of `require`', async () => {
    const require = 'ANY' as 'any'; // As untyped JavaScript could pass it.
    assert.deepEqual(await check(await signedBodyOnly(BODY), { require }), refused('standard_signature_required'));
  });

  test('is not possible with a wrong standard signature next to a valid X-Webhook-Signature', async () => {
    const headers = { ...(await signed(BODY)), 'webhook-signature': signStandard(BODY, { secret: 'other' }) };
    assert.deepEqual(await check(headers, { require: 'any' }), refused('bad_signature'));
  });

  test('is not possible with an expired standard signature next to a valid X-Webhook-Signature', async () => {
    const later = { require: 'any', now: NOW + 3_600_000 } as const;
    assert.deepEqual(await check(await signed(BODY), later), refused('timestamp_out_of_tolerance'));
  });

  test('rejects an expired X-Webhook-Timestamp, but cannot detect a forged one', async () => {
    const stripped = await signedBodyOnly(BODY);
    const later = { require: 'any', now: NOW + 3_600_000 } as const;
    assert.deepEqual(await check(stripped, later), refused('timestamp_out_of_tolerance'));
    assert.deepEqual(
      await check({ ...stripped, 'X-Webhook-Timestamp': 'soon' }, { require: 'any' }),
      refused('invalid_timestamp'),
    );
    const invented = { ...stripped, 'X-Webhook-Timestamp': String(SENT_AT + 3600) };
    assert.deepEqual(await check(invented, later), bodyOnly);
    assert.deepEqual(await check(without(stripped, 'X-Webhook-Timestamp'), later), bodyOnly);
  });

  test('a body signature cannot be turned into a standard one', async () => {
    const body = BODY.replace('Grüße', `a.${SENT_AT}.b`);
    const [id = '', rest = ''] = body.split(`.${SENT_AT}.`);
    const digest = (await signBody(SECRET, body)).slice('sha256='.length);
    const headers = {
      'webhook-id': id,
      'webhook-timestamp': String(SENT_AT),
      'webhook-signature': `v1,${Buffer.from(digest, 'hex').toString('base64')}`,
    };
    assert.deepEqual(await check(headers, { body: rest }), refused('invalid_id'));
  });

  test('signed content of a standard signature is not parsed as an event when replayed as a body', async () => {
    const body = `${ID}.${SENT_AT}.${BODY}`;
    const digest = Buffer.from(signStandard(BODY).slice('v1,'.length), 'base64').toString('hex');
    const headers = { 'X-Webhook-Signature': `sha256=${digest}` };
    await assert.rejects(verifyAndParse({ body, headers, secret: SECRET, require: 'any' }), WebhookBodyError);
  });
});

describe('the secret', () => {
  for (const secret of ['', [], [''], [SECRET, ''], undefined, null, 7, [undefined]]) {
    test(`throws if it is ${JSON.stringify(secret)}, whatever was received`, async () => {
      const wrong = { secret: secret as string }; // As untyped JavaScript could pass it.
      await assert.rejects(check(await signed(BODY), wrong), { name: 'TypeError', message: /secret/ });
      await assert.rejects(check({}, wrong), { name: 'TypeError', message: /secret/ });
    });
  }
});

describe('verification with parsing', () => {
  test('returns the event and which parts of it are signed', async () => {
    const result = await verifyAndParse({ body: BODY, headers: await signed(BODY), secret: SECRET, now: NOW });
    assert.deepEqual(result, { ...standard, event: JSON.parse(BODY) });
  });

  test('never parses an unverified body', async () => {
    const result = await verifyAndParse({ body: '{', headers: await signed(BODY), secret: SECRET, now: NOW });
    assert.deepEqual(result, refused('bad_signature'));
  });

  test('rejects a signed body that is not an event', async () => {
    const input = { body: '[]', headers: await signed('[]'), secret: SECRET, now: NOW };
    await assert.rejects(verifyAndParse(input), WebhookBodyError);
  });

  test('accepts a fetch Request, as in Deno, Bun and workers', async () => {
    const request = new Request('https://example.com', { method: 'POST', headers: await signed(BODY), body: BODY });
    const result = await verifyAndParse({
      body: await request.text(),
      headers: request.headers,
      secret: SECRET,
      now: NOW,
    });
    assert.deepEqual(result, { ...standard, event: JSON.parse(BODY) });
  });
});

test('depends only on the language and web standards', async () => {
  const files = ['../src/events.ts', '../src/secrets.ts', '../src/webhooks.ts'].map((name) =>
    readFile(new URL(name, import.meta.url), 'utf8'),
  );
  const source = stripTypeScriptTypes((await Promise.all(files)).join('\n'));
  const script = `${source.replaceAll(/^(import|export) .* from '.\/\w+.ts';$/gm, '').replaceAll(/^export /gm, '')}; verifyAndParse`;
  // A new context has no Node globals, and its own Uint8Array, so the bytes below are from another realm than the code.
  const run: typeof verifyAndParse = runInNewContext(script, { crypto, TextEncoder, TextDecoder, btoa });
  for (const body of [BODY, new TextEncoder().encode(BODY)]) {
    const result = await run({ body, headers: await signed(BODY), secret: SECRET, now: NOW });
    assert.ok(result.ok && result.event.event === 'message.incoming');
    assert.equal(result.event.data.message, 'Grüße 👋');
  }
});
