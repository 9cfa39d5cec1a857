import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { createMcpHandler } from '@modelcontextprotocol/server';
import Fastify from 'fastify';
import { AnonymousConnections } from '../../src/http/anonymousConnections.ts';
import { Callers } from '../../src/http/callers.ts';
import { addMcp } from '../../src/http/mcp/mount.ts';
import { createOwnHosts } from '../../src/http/ownHosts.ts';
import { startAuthProxy } from '../support/authProxy.ts';
import { fixtureServer } from '../support/mcpFixtures.ts';
import { startServer, type TestServer } from '../support/server.ts';

/*
 * The official conformance suite and the official inspector. The suite cannot send a credential, so a proxy adds one.
 * Scenarios that require their own tools fail against the product, and run against fixtures behind the same mount.
 * `expected-failures` lists the failures with their reasons: an unlisted failure fails the test, and so does a listed
 * scenario that passes.
 */

const here = dirname(fileURLToPath(import.meta.url));
const modules = join(here, '../../../node_modules/@modelcontextprotocol');
const conformance = join(modules, 'conformance/dist/index.js');
const inspector = join(modules, 'inspector/clients/launcher/build/index.js');
const listed = (name: string) => join(here, 'expected-failures', `${name}.yml`);

interface Outcome {
  readonly code: number;
  readonly output: string;
}

function run(program: string, args: readonly string[]): Promise<Outcome> {
  return new Promise((resolve) => {
    execFile(process.execPath, [program, ...args], { maxBuffer: 64 * 1024 * 1024 }, (error, stdout, stderr) =>
      resolve({ code: typeof error?.code === 'number' ? error.code : error === null ? 0 : 1, output: stdout + stderr }),
    );
  });
}

describe('the conformance suite', () => {
  let server: TestServer;
  let key: string;
  let folder: string;
  before(async () => {
    server = await startServer();
    const { call } = await server.account();
    key = (await call('POST', '/api-keys/create', { name: 'conformance' })).body.key;
    folder = mkdtempSync(join(tmpdir(), 'switchboard-conformance-'));
  });
  after(async () => {
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  async function conforms(url: string, revision: string, list: string): Promise<void> {
    const proxy = await startAuthProxy(url, key);
    const { code, output } = await run(conformance, [
      'server',
      ...['--url', `${proxy.url}/api/v1/mcp`],
      ...['--requirements', revision],
      ...['--expected-failures', listed(list)],
      ...['--timeout', '4000'],
      ...['-o', join(folder, list)],
    ]);
    proxy.close();
    assert.equal(code, 0, output.slice(-6000));
    assert.match(output, /Total: \d+ passed/);
  }

  for (const revision of ['2026-07-28', '2025-11-25']) {
    it(`of ${revision} passes on the product except for the listed failures`, () =>
      conforms(server.url, revision, `product-${revision}`));

    it(`of ${revision} passes on fixtures behind the same mount except for the listed failures`, async () => {
      const app = Fastify({ genReqId: () => 'req_fixture' });
      const { authenticator, settings, requestLimits } = server.app.services;
      const callers = new Callers(authenticator, new AnonymousConnections(10));
      const ownHosts = createOwnHosts(settings);
      // Like the server for all its routes.
      app.addHook('onRequest', async ({ headers }) => ownHosts.require(headers.host));
      const { signal: stopping } = new AbortController();
      const loadHandler = async () => createMcpHandler(fixtureServer);
      addMcp(app, { callers, ownHosts, requestLimits, stopping, toolsets: [], loadHandler });
      const url = await app.listen({ host: '127.0.0.1', port: 0 });
      await conforms(url, revision, `fixtures-${revision}`);
      await app.close();
    });
  }
});

describe('the MCP inspector', () => {
  for (const era of ['modern', 'legacy']) {
    it(`accepts all tools in the ${era} era`, async (test) => {
      const server = await startServer();
      test.after(() => server.stop());
      const { token } = await server.account();
      const { code, output } = await run(inspector, [
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
