import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { it } from 'node:test';
import {
  createMCPClient,
  experimental_createMCPEventWebhook as createMCPEventWebhook,
  type Experimental_MCPEvent as MCPEvent,
} from '@ai-sdk/mcp';
import type { WebhookContext } from '../../src/webhooks/endpoints/destinations.ts';
import { refreshSubscription } from '../../src/webhooks/endpoints/subscriptions.ts';
import { portOf } from '../support/connections/listening.ts';
import { type Deployment, describeOnEachDatabase, describeOnEachDeployment } from '../support/databases/databases.ts';
import { eventually } from '../support/eventually.ts';
import { createFakeClock } from '../support/fakeClock.ts';
import { isSigned, makeKey, newSecret, type Rpc, receive, rpcOf, startCallback } from '../support/mcp/mcpEvents.ts';
import {
  bearer,
  type Call,
  connectSession,
  newNumber,
  serversFor,
  startAgain,
  type TestServerOptions,
} from '../support/server.ts';

const METHOD_NOT_FOUND = -32_601;
const INVALID_PARAMS = -32_602;
const NOT_FOUND = -32_023;
const FORBIDDEN = -32_024;
const RESOURCE_EXHAUSTED = -32_025;
const UNSUPPORTED = -32_026;
const CALLBACK_ENDPOINT_ERROR = -32_027;
const HOUR_MS = 3_600_000;

const name = 'message.incoming';
/** Retries come soon, and the breaker of a failed callback probes soon. */
const QUICK = { WEBHOOK_RETRY_SECONDS: '1,1,1,1,1,1', BREAKER_OPEN_SECONDS: '1' };

function suite(database: Deployment) {
  const start = serversFor(database, { env: QUICK });

  /** An account with a session, and an agent with a key. */
  async function agent(permissions: readonly string[] = ['events:read'], options?: TestServerOptions) {
    const server = await start(options);
    const { call, accountId } = await server.account();
    const sessionId = await connectSession(call);
    const { key, keyId } = await makeKey(call, permissions);
    return { server, call, accountId, sessionId, key, keyId, rpc: rpcOf(server, key) };
  }
  return { agent };
}

/** Subscribes, and expects that it works. */
async function subscribe(rpc: Rpc, url: string, more: object = {}, secret = newSecret()) {
  const { result, error } = await rpc('events/subscribe', {
    name,
    delivery: { mode: 'webhook', url, secret },
    ...more,
  });
  assert.equal(error, undefined, JSON.stringify(error));
  return { ...result, secret };
}

const subscriptionsOf = async (call: Call) => (await call('GET', '/webhooks/subscriptions')).body.data;

const textsOf = (deliveries: readonly { parsed: { data: { message: string } } }[]) =>
  deliveries.map(({ parsed }) => parsed.data.message);

describeOnEachDeployment('a subscription to MCP events', (_, database) => {
  const { agent } = suite(database);

  it('delivers signed occurrences to a callback that has confirmed it', async (test) => {
    const { rpc, call, sessionId } = await agent();
    const callback = await startCallback(test);
    const subscribed = await subscribe(rpc, callback.url, { ttlMs: HOUR_MS });
    assert.match(subscribed.id, /^sub_[0-9a-f]{32}$/);
    assert.equal(subscribed.resultType, 'complete');
    assert.equal(subscribed.truncated, false);
    const leftMs = Date.parse(subscribed.refreshBefore) - Date.now();
    assert.ok(leftMs > HOUR_MS - 120_000 && leftMs <= HOUR_MS);
    const [challenge] = callback.challenges;
    assert.ok(challenge && isSigned(challenge, subscribed.secret));
    assert.match(String(challenge.headers['webhook-id']), /^msg_verification_/);

    await receive(call, sessionId, 'hello');
    await callback.waitFor(1);
    const [delivery] = callback.deliveries;
    assert.ok(delivery && isSigned(delivery, subscribed.secret));
    assert.equal(delivery.headers['x-mcp-subscription-id'], subscribed.id);
    assert.equal(delivery.headers['webhook-id'], delivery.parsed.eventId);
    assert.deepEqual(
      Object.keys(delivery.headers).filter((header) => header.startsWith('x-')),
      ['x-mcp-subscription-id'],
    );
    assert.deepEqual(Object.keys(delivery.parsed), ['eventId', 'name', 'timestamp', 'data', 'cursor']);
    assert.equal(delivery.parsed.data.message, 'hello');
    assert.match(delivery.parsed.data.thirdPartyText, /third parties/);
    // The cursor resumes a poll after the event.
    const { result } = await rpc('events/poll', { name, cursor: delivery.parsed.cursor });
    assert.deepEqual([result.events, result.truncated], [[], false]);
  });

  it('delivers only what its arguments select', async (test) => {
    const { rpc, call, sessionId } = await agent();
    const callback = await startCallback(test);
    const anna = newNumber();
    await subscribe(rpc, callback.url, { arguments: { from: anna, sessionId } });
    await receive(call, sessionId, 'from ben');
    await receive(call, sessionId, 'from anna', anna);
    await callback.waitFor(1);
    assert.deepEqual(textsOf(callback.deliveries), ['from anna']);
  });

  it('is one for the same key, URL, type and arguments, which a second call refreshes', async (test) => {
    const { rpc, call } = await agent();
    const callback = await startCallback(test);
    const args = { from: newNumber(), types: ['text'] };
    const first = await subscribe(rpc, callback.url, { arguments: args, ttlMs: 60_000 });
    const again = await subscribe(rpc, callback.url, {
      arguments: { types: args.types, from: args.from },
      cursor: first.cursor,
    });
    assert.equal(again.id, first.id);
    assert.ok(Date.parse(again.refreshBefore) > Date.parse(first.refreshBefore));
    assert.deepEqual([again.deliveryStatus.active, again.deliveryStatus.lastError], [true, null]);
    assert.equal((await subscriptionsOf(call)).length, 1);
    const other = await subscribe(rpc, callback.url, { arguments: { from: newNumber() } });
    assert.notEqual(other.id, first.id);
    assert.equal(callback.challenges.length, 1, 'the callback is verified once per key and URL');
    const listed = await subscriptionsOf(call);
    assert.equal(listed.length, 2);
    assert.deepEqual(listed[1].arguments, args);
    assert.equal(listed[1].event, name);
  });

  it('signs with both secrets after a refresh with a new one', async (test) => {
    const { rpc, call, sessionId } = await agent();
    const callback = await startCallback(test);
    const first = await subscribe(rpc, callback.url);
    const second = await subscribe(rpc, callback.url);
    await receive(call, sessionId, 'hello');
    await callback.waitFor(1);
    const [delivery] = callback.deliveries;
    assert.ok(delivery);
    assert.ok(isSigned(delivery, first.secret) && isSigned(delivery, second.secret));
    assert.ok(!isSigned(delivery, newSecret()));
  });

  it('retries while its callback fails, and then delivers each chat in order', async (test) => {
    const { rpc, call, sessionId } = await agent();
    const callback = await startCallback(test);
    await subscribe(rpc, callback.url);
    callback.respond(503);
    const anna = newNumber();
    const texts = ['one', 'two', 'three'];
    for (const text of texts) await receive(call, sessionId, text, anna);
    await callback.waitFor(2);
    const failed = callback.deliveries.length;
    callback.respond(204);
    await callback.waitFor(failed + texts.length);
    assert.deepEqual(textsOf(callback.deliveries.slice(failed)), texts);
    const { deliveryStatus } = await subscribe(rpc, callback.url);
    // The statistics know the minute, which can be before the subscription.
    assert.equal(deliveryStatus.lastDeliveryAt, undefined);
  });

  it('tells a cursor that never skips an event without an answer', async (test) => {
    const { rpc, call, sessionId } = await agent();
    const callback = await startCallback(test);
    await subscribe(rpc, callback.url);
    const [anna, ben] = [newNumber(), newNumber()];
    callback.respond((received, response) => response.writeHead(received.parsed.data.from === anna ? 503 : 204).end());
    await receive(call, sessionId, 'refused', anna);
    await callback.waitFor(1);
    await receive(call, sessionId, 'accepted', ben);
    await callback.waitFor(2);
    const accepted = () => callback.deliveries.find(({ parsed }) => parsed.data.from === ben);
    await eventually(
      async () => accepted(),
      (found) => found !== undefined,
    );
    const { result } = await rpc('events/poll', { name, cursor: accepted()?.parsed.cursor });
    assert.ok(result.events.some(({ data }: { data: { from: string } }) => data.from === anna));
  });

  it('does not repeat what the callback refuses with 410 or 413, and goes on', async (test) => {
    const { rpc, call, sessionId } = await agent();
    const callback = await startCallback(test);
    await subscribe(rpc, callback.url);
    const anna = newNumber();
    const answers = [410, 413];
    callback.respond((_, response) => response.writeHead(answers.shift() ?? 204).end());
    for (const text of ['gone', 'large', 'good']) await receive(call, sessionId, text, anna);
    await callback.waitFor(3);
    assert.deepEqual(textsOf(callback.deliveries), ['gone', 'large', 'good']);
    const [{ webhookId, breakerState }] = await subscriptionsOf(call);
    assert.equal(breakerState, 'closed');
    const states = async () =>
      (await call('GET', `/webhooks/deliveries?webhookId=${webhookId}`)).body.data.map(
        ({ state }: { state: string }) => state,
      );
    assert.deepEqual(await eventually(states, (found) => !found.includes('pending')), [
      'delivered',
      'failed',
      'failed',
    ]);
  });

  it('replays what a cursor has missed, oldest first', async (test) => {
    const { rpc, call, sessionId } = await agent();
    const { cursor } = (await rpc('events/poll', { name })).result;
    const texts = ['one', 'two', 'three'];
    const anna = newNumber();
    for (const text of texts) await receive(call, sessionId, text, anna);
    const callback = await startCallback(test);
    await subscribe(rpc, callback.url, { cursor });
    await callback.waitFor(3);
    await receive(call, sessionId, 'four', anna);
    await callback.waitFor(4);
    assert.deepEqual(textsOf(callback.deliveries), [...texts, 'four']);
  });

  it('ends with unsubscribe, after which nothing is sent', async (test) => {
    const { rpc, call, sessionId } = await agent();
    const callback = await startCallback(test);
    await subscribe(rpc, callback.url);
    const key = { name, delivery: { url: callback.url } };
    assert.deepEqual((await rpc('events/unsubscribe', key)).error, undefined);
    assert.deepEqual(await subscriptionsOf(call), []);
    const again = await rpc('events/unsubscribe', key);
    assert.deepEqual([again.error.code, again.error.data], [NOT_FOUND, { kind: 'subscription' }]);
    // A second subscription shows that the event was emitted.
    const other = await startCallback(test);
    await subscribe(rpc, other.url);
    await receive(call, sessionId, 'too late');
    await other.waitFor(1);
    assert.equal(callback.deliveries.length, 0);
  });

  it('ends with its key, and tells the callback', async (test) => {
    const { rpc, call, keyId } = await agent();
    const callback = await startCallback(test);
    const { secret, id } = await subscribe(rpc, callback.url);
    await call('DELETE', `/api-keys/${keyId}`);
    await callback.waitFor(1);
    const [notice] = callback.deliveries;
    assert.ok(notice && isSigned(notice, secret));
    assert.equal(notice.headers['x-mcp-subscription-id'], id);
    assert.match(String(notice.headers['webhook-id']), /^msg_terminated_/);
    assert.equal(notice.parsed.type, 'terminated');
    assert.equal(notice.parsed.error.code, FORBIDDEN);
    assert.deepEqual(await subscriptionsOf(call), []);
  });

  it('ends when its key loses the permission, and hides content from a key with metadata only', async (test) => {
    const { rpc, call, sessionId, keyId } = await agent();
    const callback = await startCallback(test);
    await subscribe(rpc, callback.url);
    await call('PATCH', `/api-keys/${keyId}`, { permissions: ['events:metadata'] });
    await receive(call, sessionId, 'a secret');
    await callback.waitFor(1);
    assert.equal(callback.deliveries[0]?.parsed.data.contentHidden, true);
    assert.doesNotMatch(callback.deliveries[0]?.body ?? '', /a secret/);
    await call('PATCH', `/api-keys/${keyId}`, { permissions: ['chats:read'] });
    await callback.waitFor(2);
    assert.equal(callback.deliveries[1]?.parsed.type, 'terminated');
    assert.deepEqual(await subscriptionsOf(call), []);
  });

  it('keeps to the sessions of its key, also when they change', async (test) => {
    const { server, call, sessionId } = await agent();
    const other = await connectSession(call);
    const { key, keyId } = await makeKey(call, ['events:read'], { sessionIds: [sessionId, other] });
    const rpc = rpcOf(server, key);
    const third = await connectSession(call);
    const [all, one] = [await startCallback(test), await startCallback(test)];
    await subscribe(rpc, all.url);
    await subscribe(rpc, one.url, { arguments: { sessionId: other } });
    await receive(call, third, 'not for you');
    await receive(call, other, 'for both');
    await all.waitFor(1);
    await one.waitFor(1);
    await call('PATCH', `/api-keys/${keyId}`, { sessionIds: [sessionId] });
    await one.waitFor(2);
    assert.equal(one.deliveries[1]?.parsed.type, 'terminated');
    await receive(call, other, 'no longer for you');
    await receive(call, sessionId, 'for one');
    await all.waitFor(2);
    assert.deepEqual(textsOf(all.deliveries), ['for both', 'for one']);
  });

  it('is refused for a callback that does not confirm the challenge, and delivers nothing', async (test) => {
    const { rpc, call, sessionId } = await agent();
    const callback = await startCallback(test);
    const attempt = async () => {
      const { error } = await rpc('events/subscribe', { name, delivery: { url: callback.url, secret: newSecret() } });
      return [error.code, error.data.reason];
    };
    callback.confirm((_, response) => response.writeHead(200).end('{"challenge":"wrong"}'));
    assert.deepEqual(await attempt(), [CALLBACK_ENDPOINT_ERROR, 'challenge_failed']);
    callback.confirm((_, response) => response.writeHead(200).end('ok'));
    assert.deepEqual(await attempt(), [CALLBACK_ENDPOINT_ERROR, 'challenge_failed']);
    callback.confirm((challenge, response) => response.writeHead(500).end(JSON.stringify({ challenge })));
    assert.deepEqual(await attempt(), [CALLBACK_ENDPOINT_ERROR, 'challenge_failed']);
    callback.confirm((_, response) => response.writeHead(302, { location: callback.url }).end());
    assert.deepEqual(await attempt(), [CALLBACK_ENDPOINT_ERROR, 'challenge_failed']);
    assert.deepEqual(await subscriptionsOf(call), []);
    await receive(call, sessionId, 'hello');
    assert.equal(callback.deliveries.length, 0);
    const { error } = await rpc('events/subscribe', {
      name,
      delivery: { url: 'http://127.0.0.1:1/hook', secret: newSecret() },
    });
    assert.deepEqual([error.code, error.data.reason], [CALLBACK_ENDPOINT_ERROR, 'connection_refused']);
  });

  it('is refused without a valid callback or secret, for another mode, or a login token', async () => {
    const { rpc, server } = await agent();
    const secret = newSecret();
    for (const [delivery, code, problem] of [
      [{ url: 'http://example.com/hook', secret }, INVALID_PARAMS, /https/],
      [{ url: 'https://10.0.0.1/hook', secret }, INVALID_PARAMS, /private address/],
      [{ url: 'https://169.254.169.254/latest', secret }, INVALID_PARAMS, /link-local/],
      [{ url: 'https://user:pass@example.com/', secret }, INVALID_PARAMS, /user name/],
      [{ url: 'nonsense', secret }, INVALID_PARAMS, /absolute URL/],
      [{ url: 'https://example.com/', secret: 'whsec_c2hvcnQ=' }, INVALID_PARAMS, /24 to 64 bytes/],
      [{ url: 'https://example.com/', secret: newSecret(65) }, INVALID_PARAMS, /24 to 64 bytes/],
      [{ url: 'https://example.com/', secret: secret.slice(6) }, INVALID_PARAMS, /whsec_/],
      [{ mode: 'pigeon', url: 'https://example.com/', secret }, UNSUPPORTED, /webhook/],
    ] as const) {
      const { error } = await rpc('events/subscribe', { name, delivery });
      assert.equal(error?.code, code, JSON.stringify([delivery, error]));
      assert.match(error.message, problem);
    }
    const { token } = await server.account();
    const { error } = await rpcOf(server, token)('events/subscribe', {
      name,
      delivery: { url: 'https://example.com/', secret },
    });
    assert.equal(error.code, FORBIDDEN);
  });

  it('does not reveal what a name in the network of the server resolves to', async () => {
    const { rpc } = await agent();
    const { error } = await rpc('events/subscribe', {
      name,
      delivery: { url: 'https://no-such-host.invalid/hook', secret: newSecret() },
    });
    assert.deepEqual([error.code, error.data], [CALLBACK_ENDPOINT_ERROR, { reason: 'connection_refused' }]);
    assert.doesNotMatch(error.message, /invalid|ENOTFOUND|resolve/);
  });

  it('grants between a minute and a week, and no more than the key has left', async (test) => {
    const { rpc, server, call } = await agent();
    const callback = await startCallback(test);
    const grantedMs = async (ttlMs: number | null | undefined, by: Rpc = rpc) => {
      const before = Date.now();
      const { refreshBefore } = await subscribe(by, callback.url, ttlMs === undefined ? {} : { ttlMs });
      return Math.round((Date.parse(refreshBefore) - before) / 60_000);
    };
    assert.equal(await grantedMs(1), 1);
    assert.equal(await grantedMs(null), 7 * 24 * 60);
    assert.equal(await grantedMs(undefined), 24 * 60);
    assert.equal(await grantedMs(Number.MAX_SAFE_INTEGER), 7 * 24 * 60);
    const expiresAt = new Date(Date.now() + HOUR_MS).toISOString();
    const { key } = await makeKey(call, ['events:read'], { expiresAt });
    assert.equal(await grantedMs(null, rpcOf(server, key)), 60);
  });

  it('counts against a limit of the account, apart from its webhooks', async (test) => {
    const { rpc, call, accountId, server } = await agent();
    const callback = await startCallback(test);
    await subscribe(rpc, callback.url);
    const { kysely } = server.app.services.database.reader;
    const [row] = await kysely.selectFrom('webhooks').selectAll().where('account_id', '=', accountId).execute();
    assert.ok(row);
    const insert = async (keyId: string, from: number, count: number) => {
      const copies = Array.from({ length: count }, (_, index) => from + index).map((n) => ({
        ...{
          ...row,
          webhook_id: `${row.webhook_id.slice(0, -3)}${n + 100}`,
          subscription_id: `sub_${n}`,
          key_id: keyId,
        },
      }));
      await server.app.services.database.commit((tx) => tx.kysely.insertInto('webhooks').values(copies).execute());
    };
    const more = { name: 'message.sent', delivery: { url: callback.url, secret: newSecret() } };
    const refused = async (by: Rpc) => {
      const { error } = await by('events/subscribe', more);
      return [error.code, error.data];
    };
    await insert(row.key_id ?? '', 0, 24);
    assert.deepEqual(await refused(rpc), [RESOURCE_EXHAUSTED, { limit: 'subscriptions', max: 25 }]);
    for (const from of [24, 49, 74]) await insert((await makeKey(call, ['events:read'])).keyId, from, 25);
    const { key: another } = await makeKey(call, ['events:read']);
    assert.deepEqual(await refused(rpcOf(server, another)), [RESOURCE_EXHAUSTED, { limit: 'subscriptions', max: 100 }]);
    const webhook = { webhookUrl: 'https://example.com/hooks', events: ['message.sent'] };
    assert.equal((await call('POST', '/webhooks/endpoints', webhook)).status, 201);
  });

  it('asks only a few times a minute whether a callback wants deliveries, for each account', async (test) => {
    const { server, call } = await agent(['events:read'], { env: QUICK, clock: createFakeClock(Date.now()) });
    const callback = await startCallback(test);
    const codes: number[] = [];
    for (let n = 0; n < 11; n++) {
      const { key } = await makeKey(call, ['events:read']);
      const { error } = await rpcOf(server, key)('events/subscribe', {
        ...{ name, delivery: { url: callback.url, secret: newSecret() } },
      });
      codes.push(error?.code ?? 0);
    }
    assert.deepEqual(codes, [...Array.from({ length: 10 }, () => 0), RESOURCE_EXHAUSTED]);
    const other = await server.account();
    await subscribe(rpcOf(server, (await makeKey(other.call)).key), callback.url);
  });

  it('asks a host that refuses only a few times a minute for all accounts, and no other one less', async (test) => {
    const { server } = await agent(['events:read'], { env: QUICK, clock: createFakeClock(Date.now()) });
    const [refusing, willing] = [await startCallback(test), await startCallback(test)];
    refusing.confirm((_, response) => response.writeHead(200).end('{}'));
    const codes: number[] = [];
    for (let account = 0; account < 4; account++) {
      const { call } = await server.account();
      const rpc = rpcOf(server, (await makeKey(call)).key);
      for (let n = 0; n < (account < 3 ? 10 : 1); n++) {
        const delivery = { url: refusing.url, secret: newSecret() };
        codes.push((await rpc('events/subscribe', { name, delivery })).error.code);
      }
      if (account === 3) await subscribe(rpc, willing.url);
    }
    assert.deepEqual(codes, [...Array.from({ length: 30 }, () => CALLBACK_ENDPOINT_ERROR), RESOURCE_EXHAUSTED]);
  });

  it('says how long to wait while another request makes the same one', async (test) => {
    const { rpc, call } = await agent();
    const callback = await startCallback(test);
    const open: (() => void)[] = [];
    callback.confirm((challenge, response) => {
      open.push(() => response.writeHead(200).end(JSON.stringify({ challenge })));
      if (open.length === 2) for (const answer of open) answer();
    });
    const wanted = { name, delivery: { url: callback.url, secret: newSecret() } };
    const answers = await Promise.all([rpc('events/subscribe', wanted), rpc('events/subscribe', wanted)]);
    const [refused] = answers.filter(({ error }) => error !== undefined);
    const { code, data } = refused?.error ?? {};
    assert.deepEqual([code, data], [RESOURCE_EXHAUSTED, { limit: 'concurrency', retryAfterMs: 2000 }]);
    assert.equal((await subscriptionsOf(call)).length, 1);
  });

  it('is no webhook that people can change, but they see its deliveries and can end it', async (test) => {
    const { rpc, call, sessionId } = await agent();
    const callback = await startCallback(test);
    await subscribe(rpc, callback.url);
    const [{ webhookId }] = await subscriptionsOf(call);
    assert.deepEqual((await call('GET', '/webhooks/endpoints')).body.data, []);
    assert.equal((await call('GET', '/webhooks')).body.others, undefined);
    for (const [method, path, body] of [
      ['GET', `/webhooks/endpoints/${webhookId}`, undefined],
      ['PATCH', `/webhooks/endpoints/${webhookId}`, { webhookUrl: 'https://example.com/' }],
      ['DELETE', `/webhooks/endpoints/${webhookId}`, undefined],
      ['POST', `/webhooks/endpoints/${webhookId}/secret/rotate`, { secret: 'a long random text' }],
      ['GET', `/webhooks/endpoints/${webhookId}/test`, undefined],
    ] as const)
      assert.equal((await call(method, path, body)).status, 404, `${method} ${path}`);
    await receive(call, sessionId, 'hello');
    await callback.waitFor(1);
    const list = async () => (await call('GET', `/webhooks/deliveries?webhookId=${webhookId}`)).body.data;
    const [{ deliveryId }] = await eventually(list, ([first]) => first?.state === 'delivered');
    const { body: delivery } = await call('GET', `/webhooks/deliveries/${deliveryId}`);
    assert.equal(JSON.parse(delivery.body).name, name);
    assert.ok(delivery.attemptLog[0].headers['x-mcp-subscription-id'].startsWith('sub_'));
    assert.equal((await call('GET', `/webhooks/endpoints/${webhookId}/stats`)).body.windows['1h'].attempts, 1);
    assert.equal((await call('GET', `/webhooks/endpoints/${webhookId}/circuit-breaker`)).body.state, 'closed');
    assert.equal((await call('DELETE', `/webhooks/subscriptions/${webhookId}`)).status, 200);
    await callback.waitFor(2);
    assert.equal(callback.deliveries[1]?.parsed.type, 'terminated');
    assert.equal((await call('DELETE', `/webhooks/subscriptions/${webhookId}`)).status, 404);
    const { body: later } = await call('GET', `/webhooks/deliveries/${deliveryId}`);
    assert.equal(later.body, delivery.body);
    const { 'x-mcp-subscription-id': _, ...kept } = delivery.attemptLog[0].headers;
    assert.deepEqual(later.attemptLog[0].headers, kept);
    assert.match(later.why, /subscription has ended/);
  });

  it('is made and ended with a key that asks its user before destructive calls', async (test) => {
    const { server, call } = await agent();
    const { key } = await makeKey(call, ['events:read'], { confirm: ['destructive', 'new_recipients'] });
    const rpc = rpcOf(server, key);
    const callback = await startCallback(test);
    await subscribe(rpc, callback.url);
    const { error } = await rpc('events/unsubscribe', { name, delivery: { url: callback.url } });
    assert.equal(error, undefined, JSON.stringify(error));
    assert.deepEqual(await subscriptionsOf(call), []);
  });

  it('is neither made nor ended by a client that has asked for reading only, or for other toolsets', async (test) => {
    const { server, call, key, rpc } = await agent();
    const [own, callback] = [await startCallback(test), await startCallback(test)];
    await subscribe(rpc, own.url);
    const reading = rpcOf(server, key, '?readonly=true');
    const delivery = { url: callback.url, secret: newSecret() };
    for (const { error } of [
      await reading('events/subscribe', { name, delivery }),
      await reading('events/unsubscribe', { name, delivery: { url: own.url } }),
    ])
      assert.deepEqual([error.code, /read-only/.test(error.data.reason)], [FORBIDDEN, true]);
    const { result } = await reading('events/list');
    assert.deepEqual(result.events[0].delivery, ['poll', 'push']);
    assert.ok((await reading('events/poll', { name })).result.cursor);
    const others = rpcOf(server, key, '?toolsets=messages');
    for (const method of ['events/list', 'events/subscribe'])
      assert.equal((await others(method, { name, delivery })).error.code, METHOD_NOT_FOUND);
    assert.equal((await others('server/discover')).result.capabilities.events, undefined);
    assert.ok((await rpcOf(server, key, '?toolsets=events')('events/list')).result.events.length > 0);
    assert.equal((await subscriptionsOf(call)).length, 1);
    assert.equal(callback.challenges.length, 0);
  });

  it('is listed among the calls of its key, without the secret and with only the host of the callback', async (test) => {
    const { call, keyId, rpc, sessionId } = await agent();
    const callback = await startCallback(test);
    const url = `${callback.url}?token=hidden`;
    const { secret } = await subscribe(rpc, url, { arguments: { sessionId }, ttlMs: HOUR_MS });
    await rpc('events/unsubscribe', { name, arguments: { sessionId }, delivery: { url } });
    await rpc('events/unsubscribe', { name, delivery: { url } });
    callback.confirm((_, response) => response.writeHead(404).end());
    await rpc('events/subscribe', { name, delivery: { url: callback.url, secret } });
    await rpc('events/subscribe', { name, delivery: { url: callback.url, secret: 'short' } });
    const { data } = (await call('GET', `/api-keys/${keyId}/calls`)).body;
    const listed = data.map(({ tool, outcome }: { tool: string; outcome: string }) => [tool, outcome]).reverse();
    assert.deepEqual(listed, [
      ['events_subscribe', 'ok'],
      ['events_unsubscribe', 'ok'],
      ['events_unsubscribe', 'not_found'],
      ['events_subscribe', 'callback_failed'],
      ['events_subscribe', 'validation_failed'],
    ]);
    const kept = { sessionId, event: name, ttlMs: HOUR_MS, callbackHost: new URL(url).host };
    assert.deepEqual(data.at(-1).arguments, kept);
    assert.doesNotMatch(JSON.stringify(data), /hidden|whsec_/);
  });

  it('belongs to its key: another one cannot end it', async (test) => {
    const { rpc, server, call } = await agent();
    const callback = await startCallback(test);
    await subscribe(rpc, callback.url);
    const { key } = await makeKey(call, ['*']);
    const { error } = await rpcOf(server, key)('events/unsubscribe', { name, delivery: { url: callback.url } });
    assert.equal(error.code, NOT_FOUND);
    assert.equal((await subscriptionsOf(call)).length, 1);
  });

  it('works with the client of the AI SDK: list, subscribe, receive, refresh, unsubscribe', async (test) => {
    const { server, key, call, sessionId } = await agent();
    const stored = new Map<string, Parameters<typeof store.set>[0]>();
    const store = {
      get: async (id: string) => stored.get(id),
      getById: async (id: string) => [...stored.values()].find((one) => one.id === id),
      // biome-ignore lint/suspicious/noExplicitAny: the type of the store is the client's own
      set: async (one: any) => void stored.set(one.key, one),
      update: async (id: string, patch: object) => void stored.set(id, { ...stored.get(id), ...patch }),
      delete: async (id: string) => void stored.delete(id),
    };
    const received: MCPEvent[] = [];
    const webhook = createMCPEventWebhook({
      store,
      onEvent: async ({ event }) => {
        received.push(event);
      },
    });
    const http = createServer(async (request, response) => {
      const body = Buffer.concat(await request.toArray());
      const headers = new Headers();
      for (const [header, value] of Object.entries(request.headers)) headers.set(header, String(value));
      const url = `http://${request.headers.host}${request.url}`;
      const answer = await webhook(new Request(url, { method: 'POST', headers, body }));
      response.writeHead(answer.status, Object.fromEntries(answer.headers)).end(await answer.text());
    });
    await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
    test.after(() => http.close());
    const client = await createMCPClient({
      transport: { type: 'http', url: `${server.url}/api/v1/mcp`, headers: { authorization: `Bearer ${key}` } },
      experimental_events: { store },
    });
    test.after(() => client.close());
    const { experimental_events: events } = client;
    assert.equal((await events.list()).events[0]?.name, name);
    const url = `http://127.0.0.1:${portOf(http)}/hook`;
    const delivery = { mode: 'webhook' as const, url, allowInsecureLocalhost: true };
    const { id } = await events.subscribe({ name, arguments: { sessionId }, delivery, ttlMs: HOUR_MS });
    await receive(call, sessionId, 'hello');
    await eventually(
      async () => received.length,
      (count) => count === 1,
    );
    assert.equal(received[0]?.data['message'], 'hello');
    const refreshed = await events.refresh({ id });
    assert.equal(refreshed.id, id);
    await receive(call, sessionId, 'again');
    await eventually(
      async () => received.length,
      (count) => count === 2,
    );
    await events.unsubscribe({ id });
    assert.equal(stored.size, 0);
    assert.deepEqual(await subscriptionsOf(call), []);
  });
});

describeOnEachDatabase('a subscription to MCP events', (newHome, database) => {
  const start = serversFor(database);

  it('survives a restart with what is pending', async (test) => {
    const restart = startAgain(test, newHome, { database, env: QUICK });
    const before = await restart();
    const { call } = await before.account();
    const sessionId = await connectSession(call);
    const { key } = await makeKey(call, ['*']);
    const callback = await startCallback(test);
    const { id } = await subscribe(rpcOf(before, key), callback.url);
    callback.respond(503);
    await receive(call, sessionId, 'hello');
    await callback.waitFor(1);
    await before.stop();
    callback.respond(204);
    const seen = callback.deliveries.length;
    const after = await restart();
    await callback.waitFor(seen + 1);
    assert.equal(callback.deliveries.at(-1)?.parsed.data.message, 'hello');
    assert.equal((await subscribe(rpcOf(after, key), callback.url)).id, id, 'the id stays the same');
    assert.equal(callback.challenges.length, 1);
  });

  it('delivers nothing once it has expired, and is removed by any node', async (test) => {
    const clock = createFakeClock();
    const server = await start({ database, clock });
    const { call } = await server.account();
    const sessionId = await connectSession(call);
    const { key } = await makeKey(call, ['*']);
    const own = bearer(server.url, key); // outlives a login
    const callback = await startCallback(test);
    const rpc = rpcOf(server, key);
    const short = await subscribe(rpc, callback.url, { ttlMs: 60_000 });
    const long = await startCallback(test);
    await subscribe(rpc, long.url, { ttlMs: HOUR_MS });
    clock.skip(120_000);
    await receive(own, sessionId, 'too late for one');
    await long.waitFor(1);
    assert.equal(callback.deliveries.length, 0);
    const { subscriptionKeeper: keeper } = server.app.services;
    const ended = await Promise.all([keeper.sweep(), keeper.sweep()]);
    assert.ok(Math.max(...ended) >= 1);
    assert.equal((await subscriptionsOf(own)).length, 1);
    // A client that comes late starts again: its callback is asked again, and its cursor resumes.
    const again = await subscribe(rpc, callback.url, { cursor: short.cursor });
    assert.equal(again.id, short.id);
    await callback.waitFor(1);
    assert.deepEqual(textsOf(callback.deliveries), ['too late for one']);
    assert.equal(callback.challenges.length, 2);
  });

  it('is removed if the node that made it died before it was active', async (test) => {
    const clock = createFakeClock();
    const server = await start({ database, clock });
    const { call, accountId } = await server.account();
    const { key } = await makeKey(call, ['*']);
    const own = bearer(server.url, key);
    const callback = await startCallback(test);
    await subscribe(rpcOf(server, key), callback.url);
    const { database: store, subscriptionKeeper: keeper } = server.app.services;
    await store.commit(({ kysely }) =>
      kysely.updateTable('webhooks').set({ paused: 1 }).where('account_id', '=', accountId).execute(),
    );
    await keeper.sweep();
    assert.equal((await subscriptionsOf(own)).length, 1, 'it may still be in the making');
    clock.skip(61_000);
    await keeper.sweep();
    assert.deepEqual(await subscriptionsOf(own), []);
  });

  it('is made again if it ends while it is refreshed', async (test) => {
    const server = await start();
    const { call } = await server.account();
    const sessionId = await connectSession(call);
    const { key } = await makeKey(call, ['*']);
    const callback = await startCallback(test);
    const { id } = await subscribe(rpcOf(server, key), callback.url);
    const { database: store, subscriptionKeeper: keeper } = server.app.services;
    const row = await store.reader.kysely
      .selectFrom('webhooks')
      .selectAll()
      .where('subscription_id', '=', id)
      .executeTakeFirstOrThrow();
    // The end comes after the refresh has read the subscription.
    const context: WebhookContext = { ...server.app.services, accountId: row.account_id, resourceId: undefined };
    await keeper.end(row);
    const change = { secret: newSecret(), expiresAt: Date.now() + HOUR_MS, sessionIds: undefined };
    assert.equal(await store.commit((tx) => refreshSubscription(context, tx, row, change)), false);
    assert.equal((await subscribe(rpcOf(server, key), callback.url)).id, id);
    await receive(call, sessionId, 'hello');
    await callback.waitFor(1);
  });

  it('is removed if its key expires', async (test) => {
    const clock = createFakeClock();
    const server = await start({ database, clock });
    const { call } = await server.account();
    const sessionId = await connectSession(call);
    const { key } = await makeKey(call, ['*']);
    const own = bearer(server.url, key);
    const short = await makeKey(call, ['events:read'], { expiresAt: new Date(clock.now() + HOUR_MS).toISOString() });
    const callback = await startCallback(test);
    await subscribe(rpcOf(server, short.key), callback.url, { ttlMs: null });
    clock.skip(2 * HOUR_MS);
    await receive(own, sessionId, 'too late');
    await server.app.services.subscriptionKeeper.sweep();
    assert.deepEqual(await subscriptionsOf(own), []);
    assert.equal(callback.deliveries.length, 0);
  });

  it('starts now if it would have to replay too much', async (test) => {
    const server = await start();
    const { call, accountId } = await server.account();
    const sessionId = await connectSession(call);
    const { key } = await makeKey(call, ['*']);
    const rpc = rpcOf(server, key);
    const { cursor } = (await rpc('events/poll', { name })).result;
    const { database: store, emit } = server.app.services;
    const timestamp = new Date().toISOString();
    await store.commit(async (tx) => {
      for (let n = 0; n < 1200; n++)
        emit(tx, {
          ...{ accountId, kind: 'message.incoming', conversation: `${sessionId}/491701` },
          data: { messageId: `msg_${n}`, from: '491701', message: `${n}`, timestamp, sessionId },
        });
    }, accountId);
    const callback = await startCallback(test);
    const subscribed = await subscribe(rpc, callback.url, { cursor });
    assert.equal(subscribed.truncated, true);
    await receive(call, sessionId, 'new');
    await callback.waitFor(1);
    assert.deepEqual(textsOf(callback.deliveries), ['new']);
    const { result } = await rpc('events/poll', { name, cursor: subscribed.cursor });
    assert.equal(result.events.length, 1);
  });
});
