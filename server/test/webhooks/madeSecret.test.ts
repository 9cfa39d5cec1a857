import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { it } from 'node:test';
import { createLog } from '../../src/log.ts';
import { startReceiver } from '../support/connections/receiver.ts';
import { describeOnEachDatabase } from '../support/databases/databases.ts';
import { callTool, mcpClient } from '../support/mcp/mcp.ts';
import { startServer } from '../support/server.ts';

describeOnEachDatabase('a webhook secret that the server makes', (_, database) => {
  it('signs deliveries, and only a person with a login reads it', async (test) => {
    const lines: string[] = [];
    const log = createLog('debug', { write: (line: string) => void lines.push(line) });
    const server = await startServer({ database, log });
    const receiver = await startReceiver();
    test.after(async () => {
      await server.stop();
      await receiver.close();
    });
    const { call } = await server.account();
    const { key } = (await call('POST', '/api-keys/create', { name: 'agent' })).body;
    const client = await mcpClient(server, key, '2026-07-28');
    const { tools } = await client.listTools();
    const shown = Object.keys(tools.find(({ name }) => name === 'webhooks_set')?.inputSchema.properties ?? {});
    assert.ok(shown.includes('rotateSecret') && !shown.includes('secret'));

    const set = { webhookUrl: receiver.url, events: ['message.sent'] };
    const first = await callTool(client, 'webhooks_set', { ...set, rotateSecret: true });
    assert.equal(first.output.hasSecret, true);
    assert.match(first.output.secretUrl, /^\/webhooks\/whk_\w+$/);
    const { secret } = (await call('POST', '/webhooks/secret/reveal')).body;
    assert.match(secret, /^made_/);
    const seen = [JSON.stringify(first), JSON.stringify((await call('GET', '/webhooks')).body), ...lines];
    assert.ok(seen.every((text) => !text.includes(secret)));

    await callTool(client, 'webhooks_test', {});
    const { headers, body } = receiver.deliveries[0] ?? assert.fail();
    const expected = `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;
    assert.equal(headers['x-webhook-signature'], expected);

    const asKey = (path: string) => server.call('POST', path, undefined, { authorization: `Bearer ${key}` });
    const refused = await asKey('/webhooks/secret/reveal');
    assert.deepEqual([refused.status, refused.body.code], [403, 'jwt_required']);
    const webhookId = first.output.secretUrl.split('/').at(-1);
    assert.equal((await asKey(`/webhooks/endpoints/${webhookId}/secret/reveal`)).status, 403);
    const stranger = await server.account();
    assert.equal((await stranger.call('POST', `/webhooks/endpoints/${webhookId}/secret/reveal`)).status, 404);
    assert.equal((await call('POST', `/webhooks/endpoints/${webhookId}/secret/reveal`)).body.secret, secret);
    await client.close();
  });

  it('replaces the present one with an overlap, again with every call', async (test) => {
    const server = await startServer({ database });
    const receiver = await startReceiver();
    test.after(async () => {
      await server.stop();
      await receiver.close();
    });
    const { call } = await server.account();
    const set = { webhookUrl: receiver.url, events: ['message.sent'] };
    const rotate = (more: object = {}) => call('POST', '/webhooks/set', { ...set, rotateSecret: true, ...more });
    const reveal = () => call('POST', '/webhooks/secret/reveal');
    const readableUntil = async () => (await call('GET', '/webhooks/endpoints')).body.data[0].secretReadableUntil;
    await call('POST', '/webhooks/set', { ...set, secret: 'chosen by the caller' });
    assert.equal((await reveal()).status, 404, 'a secret that was passed is never returned');
    assert.equal(await readableUntil(), null);

    await rotate();
    const { body: made } = await reveal();
    assert.equal(await readableUntil(), made.readableUntil);
    await call('GET', '/webhooks/test');
    assert.match(String(receiver.deliveries[0]?.headers['webhook-signature']), /^v1,\S+ v1,\S+$/);
    await call('POST', '/webhooks/set', set);
    assert.deepEqual((await reveal()).body, made, 'another change keeps it');
    await rotate();
    const { body: next } = await reveal();
    assert.notEqual(next.secret, made.secret, 'a second rotation replaces it at once');
    const once = { idempotencyKey: 'rotate once' };
    const { body: answer } = await rotate(once);
    const { body: last } = await reveal();
    assert.notEqual(last.secret, next.secret);
    assert.deepEqual((await rotate(once)).body, answer);
    assert.deepEqual((await reveal()).body, last, 'a repeat with its key changes nothing');
    const elsewhere = { webhookUrl: `${receiver.url}/other` };
    assert.equal((await rotate({ ...elsewhere, ...once })).body.code, 'idempotency_mismatch');
    await rotate(elsewhere);
    assert.notEqual((await reveal()).body.secret, last.secret, 'another receiver gets another secret');

    const { body } = await call('POST', '/webhooks/secret/rotate', { graceSeconds: 0 });
    assert.match(body.secretUrl, /^\/webhooks\/whk_/);
    assert.notEqual((await reveal()).body.secret, last.secret);
    const both = await call('POST', '/webhooks/set', { ...set, secret: 'x', rotateSecret: true });
    assert.deepEqual([both.status, both.body.errors[0].field], [400, 'rotateSecret']);
  });

  it('starts a webhook that was stopped only if more than the secret changes', async (test) => {
    const server = await startServer({ database });
    test.after(() => server.stop());
    const { call } = await server.account();
    const set = { webhookUrl: 'https://example.com/hooks', events: ['message.sent', 'message.read'] };
    await call('POST', '/webhooks/set', set);
    const [{ webhookId }] = (await call('GET', '/webhooks/endpoints')).body.data;
    const other = (await call('POST', '/webhooks/endpoints', { ...set, enabled: false, paused: true })).body.webhookId;
    const stateAfter = async (id: string, change: object) => {
      await call('PATCH', `/webhooks/endpoints/${id}`, { enabled: false, paused: true });
      const answer = await call('POST', '/webhooks/set', { ...set, ...change, ...(id === other && { webhookId: id }) });
      assert.equal(answer.status, 200, JSON.stringify(answer.body));
      const { enabled, paused } = (await call('GET', `/webhooks/endpoints/${id}`)).body;
      return { enabled, paused };
    };
    const [stopped, started] = [
      { enabled: false, paused: true },
      { enabled: true, paused: false },
    ];
    const sameEvents = set.events.toReversed();
    for (const id of [webhookId, other]) {
      assert.deepEqual(await stateAfter(id, { rotateSecret: true }), stopped);
      assert.deepEqual(await stateAfter(id, { rotateSecret: true, events: sameEvents }), stopped);
      assert.deepEqual(await stateAfter(id, { rotateSecret: true, events: ['message.sent'] }), started);
      assert.deepEqual(await stateAfter(id, { rotateSecret: true, webhookUrl: 'https://example.com/new' }), started);
      assert.deepEqual(await stateAfter(id, {}), started);
    }
  });

  it('cannot be passed by a caller, who could then read it', async (test) => {
    const server = await startServer({ database });
    test.after(() => server.stop());
    const { call } = await server.account();
    const set = { webhookUrl: 'https://example.com/hooks', events: ['message.sent'] };
    const { webhookId } = (await call('POST', '/webhooks/endpoints', set)).body;
    await call('POST', '/webhooks/set', { ...set, rotateSecret: true });
    const { secret: made } = (await call('POST', '/webhooks/secret/reveal')).body;
    for (const secret of [`made_zzzzzzzzz_${'a'.repeat(43)}`, made])
      for (const [method, path, body] of [
        ['POST', '/webhooks/set', { ...set, secret }],
        ['POST', '/webhooks/endpoints', { ...set, secret }],
        ['PATCH', `/webhooks/endpoints/${webhookId}`, { secret }],
        ['POST', '/webhooks/secret/rotate', { secret }],
        ['POST', `/webhooks/endpoints/${webhookId}/secret/rotate`, { secret }],
      ] as const) {
        const { status, body: problem } = await call(method, path, body);
        const [{ field, code }] = problem.errors;
        assert.deepEqual([status, field, code], [400, 'secret', 'reserved'], `${method} ${path}`);
        assert.match(problem.detail, /must not have the form of a secret that the server makes/);
        assert.ok(!JSON.stringify(problem).includes(secret));
      }
    await call('POST', '/webhooks/set', { ...set, secret: null });
    assert.equal((await call('GET', '/webhooks')).body.hasSecret, false);
  });
});
