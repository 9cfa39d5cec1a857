import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, it } from 'node:test';
import { execute, loadOptions, searchList } from './support/contexts.ts';
import { credentialType, switchboard, trigger } from './support/nodes.ts';
import { newScene } from './support/scene.ts';

const chosen = (value: string) => ({ __rl: true, mode: 'id', value });
const FOREIGN = /The address does not respond like Switchboard/;

describe('responses of other servers to the nodes for n8n', () => {
  const scene = newScene();
  let server: Server | undefined;
  afterEach(() => {
    server?.closeAllConnections();
    server?.close();
  });

  /** Starts a server with this response to everything. @returns a credential with its address */
  async function responding(body: () => string, status = 200, headers: Record<string, string> = {}) {
    server = createServer((request, response) => {
      request.resume();
      response.writeHead(status, headers).end(body());
    }).listen(0, '127.0.0.1');
    await new Promise((resolve) => server?.once('listening', resolve));
    return { baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, apiKey: 'key' };
  }

  for (const [what, body, status] of [
    ['a page', '<html>Welcome</html>', 200],
    ['nothing', '', 200],
    ['null', 'null', 200],
    ['a redirect', '', 302],
    ['another object', '{}', 200],
  ] as const) {
    it(`explains that the address is wrong if it responds with ${what}`, async () => {
      const credential = await responding(() => body, status, { location: 'http://127.0.0.1:1/' });
      await assert.rejects(execute(switchboard, credential, { resource: 'session', operation: 'getAll' }), (error) => {
        const { name, message, description, context } = error as never as Record<string, unknown>;
        assert.equal(name, 'NodeApiError');
        assert.match(String(message), FOREIGN);
        assert.match(String(description), /Check the base URL/);
        assert.equal((context as { code: string }).code, 'invalid_response');
        return true;
      });
      await assert.rejects(searchList(switchboard, credential, 'searchSessions'), FOREIGN);
      await assert.rejects(loadOptions(trigger, credential, 'getEventTypes'), FOREIGN);
      const check = { resource: 'contact', operation: 'check', phoneNumbers: '491701234567' };
      await assert.rejects(execute(switchboard, credential, check), FOREIGN);
      if (body === '{}') return;
      const sending = { resource: 'message', operation: 'sendText', to: chosen('491701234567'), message: 'Hello' };
      await assert.rejects(execute(switchboard, credential, sending), FOREIGN);
    });
  }

  it('does not follow cursors without end', async () => {
    const listing = { resource: 'session', operation: 'getAll', returnAll: true };
    const same = await responding(() => '{"data":[],"nextCursor":"a"}');
    await assert.rejects(execute(switchboard, same, listing), FOREIGN);
    server?.close();
    let pages = 0;
    const others = await responding(() => `{"data":[],"nextCursor":"${++pages}"}`);
    await assert.rejects(execute(switchboard, others, listing), FOREIGN);
    assert.equal(pages, 1001);
  });

  it('does not read the same events again and again', async () => {
    const credential = await responding(() => '{"data":[{"event":"message.sent","data":{}}],"nextCursor":"a"}');
    const asking = { resource: 'message', operation: 'ask', to: chosen('491701234567'), message: 'Ready?' };
    await assert.rejects(execute(switchboard, credential, { ...asking, waitMode: 'inPlace' }), FOREIGN);
  });

  it('fails the test of a credential with another address', async () => {
    const [rule] = credentialType.test.rules ?? [];
    if (rule?.type !== 'responseSuccessBody') throw new Error('The test has no rule on the body');
    const { key, value, message } = rule.properties;
    // Like n8n's credentials-tester.service.ts, which reads the key with lodash's `get`.
    const isRefused = (body: unknown) =>
      key.split('.').reduce((one: unknown, name) => (one as Record<string, unknown> | null)?.[name], body) === value;
    assert.match(message, FOREIGN);
    for (const body of ['<html>Welcome</html>', '', null, {}, { account: 'other' }]) assert.ok(isRefused(body));
    const { body } = await scene().call('GET', '/auth/me');
    assert.ok(!isRefused(body), JSON.stringify(body));
  });
});
