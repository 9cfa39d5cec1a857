import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { systemClock } from '../../src/clock.ts';
import { createTargetPolicy } from '../../src/egress/target.ts';
import { type Deliver, HttpDeliver } from '../../src/webhooks/delivery/deliver.ts';
import type { Outcome } from '../../src/webhooks/queue/outcome.ts';
import {
  type Behavior,
  behaviors,
  behaviorTable,
  type FaultyReceiver,
  startFaultyReceiver,
} from '../support/connections/faultyReceiver.ts';

const TIMEOUT_MS = 1500;

/** The message shown to users. */
const sentences: Partial<Record<Behavior, RegExp>> = {
  hanging: /did not answer within 1\.5 s/,
  headerDrip: /did not answer within 1\.5 s/,
  resetAtOnce: /closed the connection before it answered/,
  garbageStatusLine: /did not answer in valid HTTP/,
  unaskedUpgrade: /answered 101 Switching Protocols without being asked/,
  bareUpgrade: /answered 101 Switching Protocols without being asked/,
  closedPort: /Nothing listens on 127\.0\.0\.1:\d+/,
  unknownHost: /The name \S+\.invalid does not resolve to a public address/,
  redirect: /redirecting to http:\/\/127\.0\.0\.1:\d+\/redirect\/target\. Redirects are not followed/,
  unauthorized: /Answered 401: .* requires a credential/,
  gone: /Answered 410 Gone/,
  tlsSelfSigned: /its certificate is self-signed/,
  tlsExpired: /its certificate has expired/,
  tlsWrongHost: /its certificate is for another host name/,
  loginPage: /Answered 200 with an HTML page that looks like a login/,
  n8nTestUrl: /n8n test URL/,
};

describe('an attempt at a faulty receiver', () => {
  let receiver: FaultyReceiver;
  let deliver: Deliver;

  before(async () => {
    receiver = await startFaultyReceiver({ slowMs: 300, dripMs: 20, retryAfterSeconds: 7 });
    setDefaultCACertificates([...getCACertificates('default'), receiver.caPem]);
    const policy = createTargetPolicy({ host: '127.0.0.1', allowedCidrs: [] });
    deliver = new HttpDeliver({ policy, timeoutMs: TIMEOUT_MS, maxSockets: 1000, clock: systemClock });
  });
  after(async () => {
    await deliver.close();
    await receiver.close();
  });

  const attempt = (url: string): Promise<Outcome> =>
    deliver.attempt({
      url,
      headers: { 'content-type': 'application/json' },
      body: '{"event":"message.sent","data":{}}',
    });

  for (const behavior of behaviors) {
    it(`classifies one that ${behaviorTable[behavior].does} as ${behaviorTable[behavior].outcome}`, async () => {
      const outcome = await attempt(receiver.url(behavior));
      assert.equal(outcome.class, behaviorTable[behavior].outcome, outcome.message);
      if (sentences[behavior] !== undefined) assert.match(outcome.message, sentences[behavior]);
      assert.ok(outcome.durationMs < TIMEOUT_MS + 10_000);
      assert.ok((outcome.response ?? '').length <= 1100);
    });
  }

  it('does not follow a redirect', () => {
    assert.equal(receiver.visits('redirectTarget'), 0);
  });

  it('reads both forms of Retry-After', async () => {
    assert.equal((await attempt(receiver.url('throttledSeconds'))).retryAfterMs, 7000);
    for (const behavior of ['throttledDate', 'unavailableDate'] as const) {
      const { retryAfterMs } = await attempt(receiver.url(behavior));
      assert.ok(retryAfterMs !== null && retryAfterMs > 4000 && retryAfterMs <= 8000, `${retryAfterMs}`);
    }
  });

  it('is repeated once, immediately, if a reused connection closes before the response', async () => {
    const url = receiver.url('keepAliveClosed');
    const seen = receiver.visits('keepAliveClosed');
    for (let n = 0; n < 3; n++) assert.equal((await attempt(url)).class, 'ok');
    assert.ok(receiver.visits('keepAliveClosed') - seen > 3, 'some needed two requests');
  });

  it('times out while waiting for a connection, and releases what it held', async () => {
    const outcomes = await Promise.all(Array.from({ length: 20 }, () => attempt(receiver.url('hanging'))));
    assert.ok(outcomes.every(({ class: kind }) => kind === 'timeout'));
    assert.equal((await attempt(receiver.url('slow'))).class, 'ok');
  });

  it('escapes unprintable characters of a response', async () => {
    const outcome = await attempt(receiver.url('gzipBomb'));
    assert.doesNotMatch(outcome.response ?? '', /[^\P{C}\n\t]/u);
  });

  it('ends as unknown_outcome if the server stops meanwhile', async () => {
    const own = new HttpDeliver({
      maxSockets: 1000,
      policy: createTargetPolicy({ host: '127.0.0.1', allowedCidrs: [] }),
      timeoutMs: TIMEOUT_MS,
      clock: systemClock,
    });
    const pending = own.attempt({ url: receiver.url('hanging'), headers: {}, body: '' });
    await new Promise((resolve) => setImmediate(resolve));
    await own.close();
    assert.equal((await pending).class, 'unknown_outcome');
  });
});
