import assert from 'node:assert/strict';
import { dirname, join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { startAuthProxy } from '../support/connections/authProxy.ts';
import { missedChecks, runNode } from '../support/mcp/conformanceSuite.ts';
import { mcpClient } from '../support/mcp/mcp.ts';
import { startFixtures } from '../support/mcp/mcpFixtures.ts';
import { startServer, type TestServer } from '../support/server.ts';
import { type Exclusions, fixtureExclusions, productExclusions } from './conformanceExclusions.ts';

/*
 * The official conformance suite and the official inspector. The suite cannot send a credential, so a proxy adds one.
 * It runs against the product, and against fixtures behind the same mount, for scenarios that require their own tools.
 */

const here = dirname(fileURLToPath(import.meta.url));
const inspector = join(here, '../../../node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js');

describe('the conformance suite', () => {
  let server: TestServer;
  let key: string;
  before(async () => {
    server = await startServer();
    const { call } = await server.account();
    key = (await call('POST', '/api-keys/create', { name: 'conformance' })).body.key;
  });
  after(() => server.stop());

  async function conforms(url: string, revision: string, exclusions: Exclusions = {}): Promise<void> {
    const proxy = await startAuthProxy(url, key);
    try {
      const missed = await missedChecks(`${proxy.url}/api/v1/mcp`, revision);
      const nameOf = ({ scenario, check }: (typeof missed)[number]) => `${scenario}:${check}`;
      const unexpected = missed.filter((one) => !Object.hasOwn(exclusions, nameOf(one)));
      assert.deepEqual(unexpected, [], 'misses only what is excluded');
      const needed = new Set(missed.map(nameOf));
      const unneeded = Object.keys(exclusions).filter((name) => !needed.has(name));
      assert.deepEqual(unneeded, [], 'excludes nothing that passes');
    } finally {
      proxy.close();
    }
  }

  for (const revision of ['2026-07-28', '2025-11-25']) {
    it(`of ${revision} passes on the product except for the exclusions`, () =>
      conforms(server.url, revision, productExclusions[revision]));

    it(`of ${revision} passes on the fixtures behind the same mount except for the exclusions`, async (test) => {
      const { app, url } = await startFixtures(server);
      test.after(() => app.close());
      await conforms(url, revision, fixtureExclusions[revision]);
    });
  }

  it('announces changes on a subscription, which ends when the server stops', async (test) => {
    const { app, url } = await startFixtures(server);
    const client = await mcpClient({ url }, key, '2026-07-28');
    test.after(() => client.close());
    const announced = Promise.withResolvers<void>();
    client.setNotificationHandler('notifications/tools/list_changed', () => announced.resolve());
    const subscription = await client.listen({ toolsListChanged: true });
    await client.callTool({ name: 'test_trigger_tool_change', arguments: {} });
    await announced.promise;
    await app.close();
    assert.equal(await subscription.closed, 'remote');
  });
});

describe('the MCP inspector', () => {
  for (const era of ['modern', 'legacy']) {
    it(`accepts all tools in the ${era} era`, async (test) => {
      const server = await startServer();
      test.after(() => server.stop());
      const { token } = await server.account();
      const { code, output } = await runNode(inspector, [
        ...['--cli', `${server.url}/api/v1/mcp`, '--transport', 'http'],
        ...['--header', `Authorization: Bearer ${token}`, '--stored-auth-only'],
        ...['--protocol-era', era, '--method', 'tools/list', '--strict'],
      ]);
      assert.equal(code, 0, output.slice(-3000));
      assert.match(output, /"webhooks_set"/);
      assert.doesNotMatch(output, /^(Warning|Error): /m);
    });
  }
});
