import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { it } from 'node:test';
import { createLog } from '../src/log.ts';
import { describeOnEachDatabase } from './support/databases.ts';
import { callTool, mcpClient } from './support/mcp.ts';
import { startReceiver } from './support/receiver.ts';
import { startServer } from './support/server.ts';

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

  it('replaces the present one with an overlap, and once for a repeated call', async (test) => {
    const server = await startServer({ database });
    const receiver = await startReceiver();
    test.after(async () => {
      await server.stop();
      await receiver.close();
    });
    const { call } = await server.account();
    const set = { webhookUrl: receiver.url, events: ['message.sent'] };
    const rotate = () => call('POST', '/webhooks/set', { ...set, rotateSecret: true });
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
    await rotate();
    assert.deepEqual((await reveal()).body, made, 'a repeat changes nothing');
    await call('POST', '/webhooks/set', set);
    assert.deepEqual((await reveal()).body, made, 'another change keeps it');

    const { body } = await call('POST', '/webhooks/secret/rotate', { graceSeconds: 0 });
    assert.match(body.secretUrl, /^\/webhooks\/whk_/);
    assert.notEqual((await reveal()).body.secret, made.secret);
    const both = await call('POST', '/webhooks/set', { ...set, secret: 'x', rotateSecret: true });
    assert.deepEqual([both.status, both.body.errors[0].field], [400, 'rotateSecret']);
  });
});
