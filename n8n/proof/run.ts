import assert from 'node:assert/strict';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { type ServerProcess, spawnServer } from '../../server/test/support/processes/process.ts';
import { bearer, type Call } from '../../server/test/support/server.ts';
import { build } from '../scripts/build.ts';
import { command, type Execution, freePort, installN8n, N8N_VERSION, N8n, until } from './n8n.ts';
import { type Others, startOthers } from './others.ts';

/*
 * npm run test:n8n
 *
 * Installs n8n (2.8 GB, into `N8N_CACHE` or node_modules/.cache/n8n) and the packed nodes, imports the workflows of
 * `n8n/workflows` with n8n's command, and plays the other side on the sandbox. n8n and Switchboard are killed on the
 * way.
 */

const HERE = fileURLToPath(new URL('../', import.meta.url));
const CACHE = process.env['N8N_CACHE'] ?? fileURLToPath(new URL('../../node_modules/.cache/n8n', import.meta.url));
/** In the workflows to import, the number of the person who gets alerts, and the session that sends them. */
const ADMIN = '491701234567';
const ALERTING_SESSION = 'ses_01JZ0000000000000000000000';
const AGENT = 'switchboardAgent01';
const CRM = 'switchboardCrm0001';
const ALERT = 'switchboardAlert01';
const ECHO = 'switchboardEcho001';
const WORKFLOWS = [AGENT, CRM, ALERT, ECHO];
const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

describe(`the nodes in n8n ${N8N_VERSION}`, { timeout: 3_000_000 }, () => {
  let folder: string;
  let n8n: N8n;
  let others: Others;
  let switchboard: ServerProcess;
  let port: number;
  let call: Call;
  let key: string;
  let sessionId: string;

  const startSwitchboard = () =>
    spawnServer({ dataDir: join(folder, 'switchboard'), databaseUrl: '' }, { PORT: String(port), HOST: '127.0.0.1' });

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'switchboard-n8n-'));
    await installN8n(CACHE);
    others = await startOthers();
    port = await freePort();
    switchboard = await startSwitchboard();
    const account = { email: 'proof@example.com', password: 'correct horse battery' };
    const registered = await bearer(switchboard.url, '')('POST', '/auth/register', account);
    const created = await bearer(switchboard.url, registered.body.token)('POST', '/api-keys/create', { name: 'n8n' });
    key = created.body.key;
    call = bearer(switchboard.url, key);
    sessionId = (await call('POST', '/sessions', { connector: 'sandbox', name: 'Shop' })).body.sessionId;
    await call('POST', `/sessions/${sessionId}/connect`);

    const home = join(folder, 'n8n');
    await installNodes(join(home, '.n8n/nodes/node_modules/n8n-nodes-switchboard'));
    n8n = new N8n(CACHE, home, await freePort(), await freePort());
    await n8n.start();
    await n8n.setUp();
    await n8n.stop();
    await importInto(home);
    await n8n.start();
    for (const id of WORKFLOWS) await publish(id);
  });
  after(async () => {
    await n8n?.kill();
    await switchboard?.kill();
    await others?.close();
    if (n8n !== undefined) writeFileSync(join(CACHE, 'proof.log'), n8n.log());
    rmSync(folder, { recursive: true, force: true });
  });

  /** Packs the nodes and unpacks them where n8n keeps community packages. */
  async function installNodes(place: string): Promise<void> {
    const source = join(folder, 'source');
    mkdirSync(source);
    for (const file of ['package.json', 'README.md', 'LICENSE']) cpSync(join(HERE, file), join(source, file));
    build(join(source, 'dist'));
    const packed = await command('npm', ['pack', '--json', '--ignore-scripts'], { cwd: source });
    const [{ filename }] = JSON.parse(packed.slice(packed.indexOf('[')));
    mkdirSync(place, { recursive: true });
    await command('tar', ['-xzf', join(source, filename), '--strip-components=1'], { cwd: place });
  }

  /** Imports credentials and workflows. Only the address of the CRM and the session of alerts are others. */
  async function importInto(home: string): Promise<void> {
    const credentials = [
      {
        id: 'switchboard',
        name: 'Switchboard account',
        type: 'switchboardApi',
        data: { baseUrl: switchboard.url, apiKey: key },
      },
      { id: 'openai', name: 'OpenAI account', type: 'openAiApi', data: { apiKey: 'key', url: `${others.url}/v1` } },
    ];
    writeFileSync(join(home, 'credentials.json'), JSON.stringify(credentials));
    await n8n.cli('import:credentials', `--input=${join(home, 'credentials.json')}`);
    const workflows = join(home, 'workflows');
    mkdirSync(workflows);
    for (const file of readdirSync(join(HERE, 'workflows'))) {
      const text = readFileSync(join(HERE, 'workflows', file), 'utf8');
      const adapted = text.replaceAll('https://crm.example.com', others.url).replaceAll(ALERTING_SESSION, sessionId);
      writeFileSync(join(workflows, file), adapted);
    }
    cpSync(join(HERE, 'proof/send-images-back.json'), join(workflows, 'send-images-back.json'));
    await n8n.cli('import:workflow', '--separate', `--input=${workflows}`);
  }

  const simulate = async (action: object) => {
    const { status, body } = await call('POST', `/sessions/${sessionId}/simulate`, action);
    assert.equal(status, 200, JSON.stringify(body));
  };
  const webhooks = async () => (await call('GET', '/webhooks/endpoints')).body.data;
  const hasWebhookOf = async (workflowId: string) =>
    (await webhooks()).some(
      ({ metadata }: { metadata: Record<string, string> }) => metadata['workflowId'] === workflowId,
    );

  /** Publishes a workflow, which n8n does after its response. */
  const publish = async (id: string) => {
    await n8n.publish(id);
    await until(`the webhook of ${id}`, async () => ((await hasWebhookOf(id)) ? true : undefined));
  };

  /** Waits for a message to a number. @returns it */
  const messageTo = (chatId: string, pattern: RegExp) =>
    until(`a message to ${chatId} like ${pattern}`, async () => {
      const { body } = await call('GET', `/messages?chatId=${chatId}&direction=outgoing`);
      // 404 before the first message.
      return body.data?.find(({ message }: { message: string }) => pattern.test(message));
    });
  const executionOf = (workflowId: string, fits: (execution: Execution) => boolean) =>
    until(`an execution of ${workflowId}`, async () => (await n8n.executions(workflowId)).find(fits));
  /** Returns the executions of a workflow once none of them runs. */
  const ended = (workflowId: string) =>
    until(`executions of ${workflowId} have ended`, async () => {
      const executions = await n8n.executions(workflowId);
      return executions.some(({ status }) => status === 'running' || status === 'new') ? undefined : executions;
    });
  const idsOf = async (workflowId: string) => new Set((await n8n.executions(workflowId)).map(({ id }) => id));

  it('tests the credential', async () => {
    const test = (data: object) =>
      n8n.rest('POST', '/credentials/test', {
        credentials: { id: 'switchboard', name: 'Switchboard account', type: 'switchboardApi', data },
      });
    assert.equal((await test({ baseUrl: `${switchboard.url}/`, apiKey: key })).status, 'OK');
    assert.equal((await test({ baseUrl: switchboard.url, apiKey: 'wrong' })).status, 'Error');
  });

  it('lists sessions to choose from', async () => {
    const { results } = await n8n.rest('POST', '/dynamic-node-parameters/resource-locator-results', {
      path: 'parameters.sessionId',
      methodName: 'searchSessions',
      nodeTypeAndVersion: { name: 'n8n-nodes-switchboard.switchboard', version: 1 },
      currentNodeParameters: {},
      credentials: { switchboardApi: { id: 'switchboard', name: 'Switchboard account' } },
    });
    assert.deepEqual(results, [{ name: 'Shop (connected)', value: sessionId }]);
  });

  it('answers with an agent that searches earlier messages', async () => {
    const customer = '491510000001';
    await call('POST', '/messages/send', { to: customer, message: 'Thanks for order 42' });
    await simulate({ action: 'incoming', from: customer, message: 'Where is my order?' });
    const answer = await messageTo(customer, /^You asked/);
    assert.equal(answer.message, 'You asked: Where is my order?. Your order is 42.');
    assert.ok(answer.replyTo);
    const { id } = await executionOf(AGENT, ({ status }) => status === 'success');
    assert.match(await n8n.dataOf(id), /Search Earlier Messages/);
  });

  it('looks senders up in a CRM', async () => {
    others.contacts.set('491510000002', { name: 'Ada Lovelace', company: 'Engines Ltd' });
    await simulate({ action: 'incoming', from: '491510000002', message: 'A new order' });
    await messageTo(ADMIN, /^Ada Lovelace \(Engines Ltd\) wrote: A new order$/);
    await simulate({ action: 'incoming', from: '491510000003', message: 'Hello', senderName: 'Grace' });
    await messageTo('491510000003', /^Thanks for your message/);
    assert.equal(others.contacts.get('491510000003')?.name, 'Grace');
  });

  it('sends a received image back', async () => {
    const uploaded = await fetch(`${switchboard.url}/api/v1/media?fileName=dot.png`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'image/png' },
      body: new Uint8Array(PNG),
    });
    const { mediaId } = (await uploaded.json()) as { mediaId: string };
    await simulate({ action: 'incoming', from: '491510000004', mediaId, type: 'image' });
    const echo = await messageTo('491510000004', /^Echo$/);
    assert.deepEqual([echo.type, echo.media.size], ['image', PNG.length]);
  });

  it('rejects a delivery that Switchboard did not send', async () => {
    const before = await idsOf(ECHO);
    const own = (await webhooks()).find(
      ({ metadata }: { metadata: Record<string, string> }) => metadata['workflowId'] === ECHO,
    );
    const response = await fetch(own.webhookUrl, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-webhook-signature': 'sha256=00' },
      body: '{"event":"message.incoming","data":{}}',
    });
    assert.equal(response.status, 401);
    assert.deepEqual(await response.json(), {
      message: 'The signature of the delivery is not valid',
      reason: 'missing_signature',
    });
    assert.deepEqual(await idsOf(ECHO), before);
  });

  it('listens for a test event while the workflow is published, and removes that webhook', async () => {
    const before = await idsOf(ECHO);
    const count = (await webhooks()).length;
    const workflowData = await n8n.rest('GET', `/workflows/${ECHO}`);
    const started = await n8n.rest(
      'POST',
      `/workflows/${ECHO}/run`,
      { workflowData, triggerToStartFrom: { name: 'Switchboard Trigger' } },
      { 'push-ref': 'proof' },
    );
    assert.deepEqual(started, { waitingForWebhook: true });
    assert.equal((await webhooks()).length, count + 1);
    const [test] = await webhooks();
    assert.match(test.webhookUrl, /\/webhook-test\//);
    await call('GET', `/webhooks/endpoints/${test.webhookId}/test`);
    await executionOf(ECHO, ({ id, mode }) => mode === 'manual' && !before.has(id));
    await until('the test webhook is removed', async () => ((await webhooks()).length === count ? true : undefined));
    assert.ok(await hasWebhookOf(ECHO));
  });

  it('keeps its webhook when another node of the workflow changes', async () => {
    const idOf = async () =>
      (await webhooks()).find(({ metadata }: { metadata: Record<string, string> }) => metadata['workflowId'] === CRM)
        ?.webhookId;
    const before = await idOf();
    const { nodes, connections } = await n8n.rest('GET', `/workflows/${CRM}`);
    for (const node of nodes)
      if (node.name === 'Welcome') node.parameters.message = 'Thanks for your message! See you.';
    await n8n.rest('PATCH', `/workflows/${CRM}`, { nodes, connections });
    await n8n.publish(CRM);
    let sender = 491510000100;
    await until('the new version', async () => {
      const from = String(sender++);
      await simulate({ action: 'incoming', from, message: 'Hello' });
      const { message } = await messageTo(from, /^Thanks for your message/);
      return message.includes('See you') ? true : undefined;
    });
    assert.equal(await idOf(), before);
  });

  it('removes its webhook with a workflow that is no longer published, and creates it again', async () => {
    await n8n.unpublish(CRM);
    await until('the webhook is removed', async () => ((await hasWebhookOf(CRM)) ? undefined : true));
    await publish(CRM);
    await simulate({ action: 'incoming', from: '491510000010', message: 'published again' });
    await messageTo('491510000010', /^Thanks for your message/);
  });

  it('asks the administrator about a failing endpoint, and resets its breaker after the answer', async () => {
    others.endpointStatus = 410;
    const endpoint = { webhookUrl: `${others.url}/endpoint`, events: ['message.incoming'] };
    const { webhookId } = (await call('POST', '/webhooks/endpoints', endpoint)).body;
    await simulate({ action: 'incoming', from: '491510000005', message: 'to a failing endpoint' });
    await messageTo(ADMIN, /are on hold/);
    await executionOf(ALERT, ({ status }) => status === 'waiting');
    others.endpointStatus = 200;
    await simulate({ action: 'incoming', from: ADMIN, message: 'please retry' });
    await messageTo(ADMIN, /deliveries go out now/);
    await until('the held event', async () => (others.accepted.length > 0 ? true : undefined));
    await until('the webhook of the answer is removed', async () =>
      (await webhooks()).some(({ metadata }: { metadata: Record<string, string> }) => metadata['n8n'] === 'answer')
        ? undefined
        : true,
    );
    await call('DELETE', `/webhooks/endpoints/${webhookId}`);
  });

  it('continues a waiting execution with an answer that came while n8n was killed', async () => {
    const done = await idsOf(ALERT);
    others.endpointStatus = 410;
    const endpoint = { webhookUrl: `${others.url}/endpoint`, events: ['message.incoming'] };
    const { webhookId } = (await call('POST', '/webhooks/endpoints', endpoint)).body;
    await simulate({ action: 'incoming', from: '491510000006', message: 'again' });
    const { id } = await executionOf(ALERT, (one) => !done.has(one.id) && one.status === 'waiting');
    others.endpointStatus = 200;
    await n8n.kill();
    await simulate({ action: 'incoming', from: ADMIN, message: 'Retry!' });
    await simulate({ action: 'incoming', from: '491510000007', message: 'while n8n is down' });
    await n8n.start();
    await executionOf(ALERT, (one) => one.id === id && one.status === 'success');
    assert.match(await n8n.dataOf(id), /Retry!/);
    assert.equal((await call('GET', `/webhooks/endpoints/${webhookId}/circuit-breaker`)).body.state, 'closed');
    await messageTo('491510000007', /^Thanks for your message/);
    await call('DELETE', `/webhooks/endpoints/${webhookId}`);
  });

  it('receives events after Switchboard was killed', async () => {
    for (const id of WORKFLOWS) await ended(id);
    await switchboard.kill();
    switchboard = await startSwitchboard();
    await until('the session is connected', async () =>
      (await call('GET', `/sessions/${sessionId}`)).body.status === 'connected' ? true : undefined,
    );
    await simulate({ action: 'incoming', from: '491510000008', message: 'after the crash' });
    await messageTo('491510000008', /^Thanks for your message/);
  });

  it('starts while Switchboard is not reachable, and keeps its webhooks', async () => {
    const before = (await webhooks()).map(({ webhookId }: { webhookId: string }) => webhookId);
    for (const id of WORKFLOWS) await ended(id);
    await n8n.stop();
    await switchboard.kill();
    await n8n.start();
    switchboard = await startSwitchboard();
    assert.deepEqual(
      (await webhooks()).map(({ webhookId }: { webhookId: string }) => webhookId),
      before,
    );
    await until('the session is connected', async () =>
      (await call('GET', `/sessions/${sessionId}`)).body.status === 'connected' ? true : undefined,
    );
    await simulate({ action: 'incoming', from: '491510000009', message: 'after both' });
    await messageTo('491510000009', /^Thanks for your message/);
  });

  it('does not ask about the webhooks of n8n itself', async () => {
    const { body } = await call('GET', `/messages?chatId=${ADMIN}&direction=outgoing&q=hold&limit=200`);
    for (const { message } of body.data) assert.ok(message.includes(others.url), message);
  });

  it('leaves no failed execution', async () => {
    for (const id of WORKFLOWS) {
      // A second alert can still wait for its answer, and the test address got an event without a file.
      const failed = (await ended(id)).filter(
        ({ status, mode }) => !['success', 'waiting'].includes(status) && mode !== 'manual',
      );
      assert.deepEqual(failed, [], id);
    }
  });
});
