import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import type { IDataObject } from 'n8n-workflow';
import { allMessageTypes } from '../../server/src/connectors/contract/content.ts';
import { webhookIncludes } from '../../server/src/events/addedFields.ts';
import { callHook, callWebhook, type FakeN8n, loadOptions, startN8n } from './support/contexts.ts';
import { trigger } from './support/nodes.ts';
import { newScene, uploadedTo } from './support/scene.ts';

const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
const PRODUCTION = '/webhook/5c9b/webhook';
const TEST = '/webhook-test/5c9b/webhook';

describe('the trigger for n8n', () => {
  const scene = newScene();
  const opened: FakeN8n[] = [];
  afterEach(async () => {
    for (const n8n of opened.splice(0)) await n8n.close();
    const { call } = scene();
    for (const { webhookId } of await endpoints()) await call('DELETE', `/webhooks/endpoints/${webhookId}`);
  });

  const endpoints = async () => (await scene().call('GET', '/webhooks/endpoints')).body.data;

  /** Publishes a workflow with the trigger. */
  async function publish(parameters: object = {}, staticData: IDataObject = {}) {
    const { credential } = scene();
    const n8n = await startN8n(trigger, credential, { parameters, staticData });
    opened.push(n8n);
    const hook = (name: 'checkExists' | 'create' | 'delete', path = PRODUCTION, more = {}) =>
      callHook(trigger, credential, name, { url: n8n.url + path, parameters, staticData, ...more });
    assert.equal(await hook('checkExists'), false);
    assert.equal(await hook('create'), true);
    return { n8n, hook, staticData };
  }

  it('registers its webhook with the filters of the node, receives events, and removes it', async () => {
    const { sessionId, simulate, friend } = scene();
    const { n8n, hook } = await publish({
      events: ['message.incoming', 'message.reaction'],
      sessionIds: [sessionId],
      options: {
        chats: `${friend}, 4915*`,
        chatTypes: ['direct'],
        from: 'others',
        strictOrder: true,
        include: ['session'],
      },
    });
    const [endpoint] = await endpoints();
    assert.equal(endpoint.webhookUrl, n8n.url + PRODUCTION);
    assert.deepEqual(endpoint.events, ['message.incoming', 'message.reaction']);
    assert.deepEqual(endpoint.sessionIds, [sessionId]);
    assert.deepEqual(endpoint.filters, { chats: [friend, '4915*'], chatTypes: ['direct'], fromMe: false });
    assert.equal(endpoint.ordering, 'strict');
    assert.equal(endpoint.hasSecret, true);
    assert.equal(endpoint.description, 'n8n: Orders');
    assert.equal(endpoint.metadata.n8n, 'production');

    await simulate({ action: 'incoming', from: '491512345678', message: 'matches the prefix' });
    await simulate({ action: 'incoming', from: '491602345678', message: 'another chat' });
    await simulate({ action: 'incoming', from: friend, message: 'Hello' });
    const [, delivered] = await n8n.waitFor(2);
    const item = delivered?.result.workflowData?.[0]?.[0];
    assert.equal(item?.json['event'], 'message.incoming');
    const data = item?.json['data'] as IDataObject;
    assert.equal(data['message'], 'Hello');
    assert.equal(data['from'], friend);
    assert.match(String(item?.json['eventId']), /^evt_/);
    assert.equal(item?.json['attempt'], 1);

    assert.equal(await hook('delete', PRODUCTION, { activation: 'update' }), true);
    assert.deepEqual(await endpoints(), []);
    assert.equal(await hook('delete'), true, 'a repeated delete');
  });

  it('keeps the test address and the production address apart', async () => {
    const { simulate, friend } = scene();
    const { n8n, hook } = await publish();
    assert.equal(await hook('checkExists', TEST), false);
    await hook('create', TEST);
    assert.deepEqual(
      (await endpoints()).map(({ webhookUrl }: { webhookUrl: string }) => webhookUrl),
      [n8n.url + TEST, n8n.url + PRODUCTION],
    );
    await simulate({ action: 'incoming', from: friend, message: 'to both' });
    const delivered = await n8n.waitFor(2);
    assert.deepEqual(
      delivered.map(({ status }) => status),
      [200, 200],
    );

    await hook('delete', TEST, { activation: 'update' });
    assert.equal((await endpoints()).length, 1);
    assert.equal(await hook('checkExists'), true);
  });

  it('updates its webhook instead of creating a second one', async () => {
    const { credential } = scene();
    const { n8n, hook, staticData } = await publish();
    const parameters = { events: ['message.sent'] };
    const again = await callHook(trigger, credential, 'checkExists', {
      url: n8n.url + PRODUCTION,
      parameters,
      staticData,
    });
    assert.equal(again, true);
    const found = await endpoints();
    assert.equal(found.length, 1);
    assert.deepEqual(found[0].events, ['message.sent']);

    const pause = () => scene().call('PATCH', `/webhooks/endpoints/${found[0].webhookId}`, { paused: true });
    await pause();
    await hook('checkExists', PRODUCTION, { activation: 'init' });
    assert.equal((await endpoints())[0].paused, true, 'a restart of n8n');
    await hook('checkExists', PRODUCTION, { activation: 'activate' });
    assert.equal((await endpoints())[0].paused, false);

    await scene().call('DELETE', `/webhooks/endpoints/${found[0].webhookId}`);
    assert.equal(await hook('checkExists'), false, 'a webhook that someone removed');
  });

  it('lets the webhook of a test expire', async () => {
    const { hook } = await publish();
    await hook('create', TEST);
    const found: { webhookUrl: string; expiresAt: string | null }[] = await endpoints();
    const times = found.map(({ webhookUrl, expiresAt }) => [webhookUrl.includes(TEST), expiresAt !== null]);
    assert.deepEqual(times.sort(), [
      [false, false],
      [true, true],
    ]);
  });

  it('replaces a webhook that n8n forgot', async () => {
    const { call } = scene();
    const { n8n, hook, staticData } = await publish();
    for (const key of Object.keys(staticData)) delete staticData[key];
    await call('POST', '/webhooks/endpoints', { webhookUrl: 'http://127.0.0.1:9/mine', events: ['*'] });
    await hook('create');
    const urls = (await endpoints()).map(({ webhookUrl }: { webhookUrl: string }) => webhookUrl);
    assert.deepEqual(urls, [n8n.url + PRODUCTION, 'http://127.0.0.1:9/mine']);
  });

  it('keeps its webhook when n8n starts while Switchboard is not reachable', async () => {
    const { hook, n8n, staticData } = await publish();
    const stopped = await startN8n(trigger, scene().credential);
    await stopped.close();
    const gone = { baseUrl: stopped.url, apiKey: 'key' };
    const url = n8n.url + PRODUCTION;
    assert.equal(await callHook(trigger, gone, 'checkExists', { url, staticData, activation: 'init' }), true);
    await assert.rejects(
      callHook(trigger, gone, 'checkExists', { url, staticData, activation: 'activate' }),
      /refused/,
    );
    assert.equal(await hook('checkExists'), true);
  });

  it('rejects deliveries unless both signatures cover the body', async () => {
    const { credential, call } = scene();
    const { staticData } = await publish();
    const [{ webhookId }] = await endpoints();
    const { body: tested } = await call('GET', `/webhooks/endpoints/${webhookId}/test`);
    const { headers, body } = tested.request;
    const receive = (given: object, raw = body) =>
      callWebhook(
        trigger,
        credential,
        { staticData, mode: 'manual' },
        { headers: { ...headers, ...given } },
        Buffer.from(raw),
      );
    assert.equal((await receive({})).status, 200);
    for (const [given, raw] of [
      [{ 'x-webhook-signature': undefined }],
      [{ 'webhook-signature': undefined }],
      [{ 'x-webhook-signature': `sha256=${'0'.repeat(64)}` }],
      [{ 'webhook-signature': `v1,${'A'.repeat(43)}=` }],
      [{ 'webhook-timestamp': String(Number(headers['webhook-timestamp']) + 1) }],
      [{ 'webhook-id': 'evt_other' }],
      [{}, body.replace('test event', 'fake event')],
    ] as const) {
      const { status, result } = await receive(given, raw);
      assert.equal(status, 401, JSON.stringify(given));
      assert.deepEqual(result, { noWebhookResponse: true });
    }
    const unknown = await callWebhook(trigger, credential, { mode: 'manual' }, { headers }, Buffer.from(body));
    assert.equal(unknown.status, 401, 'a workflow without a secret');
  });

  it('starts no published workflow for a test delivery', async () => {
    const { n8n } = await publish();
    const [{ webhookId }] = await endpoints();
    await scene().call('GET', `/webhooks/endpoints/${webhookId}/test`);
    const [delivered] = await n8n.waitFor(1);
    assert.equal(delivered?.status, 200);
    assert.equal(delivered?.result.workflowData, undefined);
  });

  it('puts each event type into its output', async () => {
    const { simulate, friend } = scene();
    const { n8n } = await publish({
      events: ['message.reaction', 'message.incoming', 'session.*'],
      outputPerEvent: true,
    });
    await simulate({ action: 'incoming', from: friend, message: 'one' });
    const [delivered] = await n8n.waitFor(1);
    assert.deepEqual(
      delivered?.result.workflowData?.map((items) => items.length),
      [0, 1, 0],
    );
    await simulate({ action: 'disconnect', reason: 'The cable was cut', reconnectAfterMs: 0 });
    const [, second] = await n8n.waitFor(2);
    assert.deepEqual(
      second?.result.workflowData?.map((items) => items.length),
      [0, 0, 1],
    );
  });

  it('downloads received files, and delivers the event without a file that is too large', async () => {
    const { simulate, friend, credential } = scene();
    const mediaId = await uploadedTo(credential, PNG);
    const large = await uploadedTo(credential, Buffer.alloc(1024 * 1024 + 1, 'text '));
    const { n8n } = await publish({ downloadFiles: true, options: { maxMegabytes: 1 } });
    const itemOf = async (count: number) => (await n8n.waitFor(count)).at(-1)?.result.workflowData?.[0]?.[0];
    await simulate({ action: 'incoming', from: friend, mediaId, type: 'image' });
    const item = await itemOf(1);
    assert.equal(item?.binary?.['data']?.mimeType, 'image/png');
    assert.deepEqual(Buffer.from(item?.binary?.['data']?.data ?? '', 'base64'), PNG);

    await simulate({ action: 'incoming', from: friend, mediaId: large, type: 'document' });
    const tooLarge = await itemOf(2);
    assert.equal(tooLarge?.binary, undefined);
    assert.match(String(tooLarge?.json['fileError']), /larger than 1 MB/);
  });

  it('uses the default file limit for an invalid number, and accepts a boolean as text', async () => {
    const { simulate, friend, credential } = scene();
    const small = await uploadedTo(credential, PNG);
    const large = await uploadedTo(credential, Buffer.alloc(16 * 1024 * 1024 + 1, 'text '));
    const { n8n } = await publish({ downloadFiles: 'true', options: { maxMegabytes: 'some' } });
    await simulate({ action: 'incoming', from: friend, mediaId: large, type: 'document' });
    await simulate({ action: 'incoming', from: friend, mediaId: small, type: 'image' });
    const [first, second] = (await n8n.waitFor(2)).map(({ result }) => result.workflowData?.[0]?.[0]);
    assert.match(String(first?.json['fileError']), /larger than 16 MB/);
    assert.equal(second?.binary?.['data']?.mimeType, 'image/png');
  });

  it('rejects options that do not exist, and keeps its webhook', async () => {
    for (const from of ['nobody', 'constructor'])
      await assert.rejects(publish({ options: { from } }), /^NodeOperationError: "From" must be one of: /);
    const strictOrder = { options: { strictOrder: 'maybe' } };
    await assert.rejects(publish(strictOrder), /^NodeOperationError: "Strict Order" must be true or false/);
    assert.deepEqual(await endpoints(), []);
    const { n8n, staticData } = await publish();
    const { credential } = scene();
    const changed = { url: n8n.url + PRODUCTION, parameters: strictOrder, staticData };
    await assert.rejects(callHook(trigger, credential, 'checkExists', changed), /"Strict Order" must be/);
    assert.equal((await endpoints()).length, 1);
  });

  it('offers the added fields and message types of the server', () => {
    const { options = [] } = trigger.description.properties.find(({ name }) => name === 'options') ?? {};
    const choicesOf = (wanted: string) => {
      const option = options.find(({ name }) => name === wanted);
      const choices = option !== undefined && 'options' in option ? (option.options ?? []) : [];
      return choices.map((choice) => ('value' in choice ? choice.value : '')).toSorted();
    };
    assert.deepEqual(choicesOf('include'), webhookIncludes.toSorted());
    assert.deepEqual(choicesOf('messageTypes'), allMessageTypes.toSorted());
  });

  it('offers the event types and sessions of the server', async () => {
    const { credential, sessionId } = scene();
    const types = await loadOptions(trigger, credential, 'getEventTypes');
    assert.equal(types[0]?.value, '*');
    assert.ok(types.some(({ value }) => value === 'message.incoming'));
    const sessions = await loadOptions(trigger, credential, 'getSessions');
    assert.deepEqual(
      sessions.map(({ value }) => value),
      [sessionId],
    );
  });
});
