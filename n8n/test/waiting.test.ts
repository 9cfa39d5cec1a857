import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { describe, it } from 'node:test';
import { newNumber } from '../../server/test/support/server.ts';
import { callWebhook, execute, type RunOptions, startN8n } from './support/contexts.ts';
import { switchboard } from './support/nodes.ts';
import { newScene } from './support/scene.ts';

const chosen = (value: string) => ({ __rl: true, mode: 'id', value });

describe('sending and waiting for the answer in n8n', () => {
  const scene = newScene();
  const endpoints = async () => (await scene().call('GET', '/webhooks/endpoints')).body.data;
  const ask = (to: string, parameters: object, options: RunOptions = {}) =>
    execute(
      switchboard,
      scene().credential,
      { resource: 'message', operation: 'ask', to: chosen(to), message: 'Do you want it?', ...parameters },
      options,
    );
  let runs = 0;
  const fresh = (): RunOptions => ({ run: ++runs });

  it('keeps the execution running until the recipient answers', async () => {
    const { simulate } = scene();
    const [friend, other] = [newNumber(), newNumber()];
    await simulate({ action: 'incoming', from: friend, message: 'an earlier message' });
    const asking = ask(friend, { waitMode: 'inPlace', waitLimit: 1, waitUnit: 'minutes' }, fresh());
    await sent(friend);
    await simulate({ action: 'incoming', from: other, message: 'another chat' });
    await simulate({ action: 'incoming', from: friend, message: 'Yes, please' });
    const [item] = await asking;
    assert.deepEqual([item?.json['answered'], item?.json['message']], [true, 'Yes, please']);
    assert.deepEqual(await endpoints(), []);
  });

  it('returns the question when the time is over', async () => {
    const [item] = await ask(newNumber(), { waitMode: 'inPlace', waitLimit: 1 / 60, waitUnit: 'minutes' }, fresh());
    assert.equal(item?.json['answered'], false);
    assert.equal((item?.json['question'] as { message: string } | undefined)?.message, 'Do you want it?');
  });

  it('keeps the execution of an agent running, because n8n could not store it', async () => {
    const friend = newNumber();
    const asking = ask(friend, { waitMode: 'suspend', waitLimit: 1 }, { ...fresh(), isTool: true });
    await sent(friend);
    await scene().simulate({ action: 'incoming', from: friend, message: 'Fine' });
    const [item] = await asking;
    assert.equal(item?.json['message'], 'Fine');
  });

  it('suspends the execution, and continues it with the answer', async () => {
    const { credential, simulate } = scene();
    const friend = newNumber();
    const n8n = await startN8n(switchboard, credential);
    try {
      let until: Date | undefined;
      const items = [{ json: { order: 42 } }];
      const onWait = (time: Date) => {
        until = time;
      };
      const resumeUrl = `${n8n.url}/webhook-waiting/4711?signature=token`;
      const passedOn = await ask(friend, { waitLimit: 2, waitUnit: 'days' }, { ...fresh(), items, onWait, resumeUrl });
      assert.deepEqual(passedOn, items, 'the input continues when the time is over');
      const hours = (Number(until) - Date.now()) / 3_600_000;
      assert.ok(hours > 47.9 && hours <= 48, String(until));
      const [endpoint] = await endpoints();
      assert.equal(endpoint.webhookUrl, `${n8n.url}/webhook-waiting/4711/answer?signature=token`);
      assert.deepEqual(endpoint.filters, { chats: [friend], fromMe: false });
      const retriedHours = endpoint.retrySeconds.reduce((sum: number, seconds: number) => sum + seconds, 0) / 3600;
      assert.ok(retriedHours > 24 && retriedHours <= 48, String(retriedHours));

      await simulate({ action: 'incoming', from: newNumber(), message: 'another chat' });
      await simulate({ action: 'incoming', from: friend, message: 'In two days' });
      const [delivered] = await n8n.waitFor(1);
      const item = delivered?.result.workflowData?.[0]?.[0];
      assert.deepEqual([item?.json['answered'], item?.json['message']], [true, 'In two days']);
      assert.deepEqual(await endpoints(), []);
    } finally {
      await n8n.close();
    }
  });

  it('notices an answer that came before its webhook was enabled', async () => {
    const { credential, simulate } = scene();
    const friend = newNumber();
    // Answers as soon as the node wants to enable the webhook.
    const proxy = startProxy(async (request) => {
      if (!isEnabling(request)) return undefined;
      await simulate({ action: 'incoming', from: friend, message: 'Quick' });
      return undefined;
    });
    try {
      await once(proxy, 'listening');
      const baseUrl = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
      const parameters = { resource: 'message', operation: 'ask', to: chosen(friend), message: 'Ready?' };
      const onWait = () => assert.fail('the execution waits');
      const resumeUrl = 'http://127.0.0.1:1/webhook-waiting/4711?signature=token';
      const [item] = await execute(switchboard, { ...credential, baseUrl }, parameters, {
        ...fresh(),
        onWait,
        resumeUrl,
      });
      assert.equal(item?.json['message'], 'Quick');
      assert.deepEqual(await endpoints(), []);
    } finally {
      proxy.closeAllConnections();
      proxy.close();
    }
  });

  it('rejects an answer without a valid signature, and goes on waiting after a test', async () => {
    const { credential, call } = scene();
    const resumeUrl = 'http://127.0.0.1:1/webhook-waiting/4711?signature=token';
    await ask(newNumber(), {}, { ...fresh(), resumeUrl });
    const [{ webhookId }] = await endpoints();
    const { headers, body } = (await call('GET', `/webhooks/endpoints/${webhookId}/test`)).body.request;
    const tested = await callWebhook(switchboard, credential, {}, { headers }, Buffer.from(body));
    assert.deepEqual(tested, { status: 200, result: { webhookResponse: 'ignored' } });
    const forged = { headers: { ...headers, 'x-webhook-test': undefined } };
    const changed = Buffer.from(body.replace('test event', 'fake answer'));
    assert.equal((await callWebhook(switchboard, credential, {}, forged, changed)).status, 401);
    const otherKey = { ...credential, apiKey: 'another' };
    assert.equal((await callWebhook(switchboard, otherKey, {}, forged, Buffer.from(body))).status, 401);
    await call('DELETE', `/webhooks/endpoints/${webhookId}`);
  });

  it('finds an answer that came between a failed try and the next one', async () => {
    const { credential, simulate } = scene();
    for (const waitMode of ['suspend', 'inPlace']) {
      const friend = newNumber();
      let isFailing = true;
      const proxy = startProxy(async (request) => {
        const isFollowing = request.url?.includes('/events?') === true && !request.url.includes('afterCursor=now');
        return isFailing && (isEnabling(request) || isFollowing) ? 400 : undefined;
      });
      try {
        await once(proxy, 'listening');
        const baseUrl = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
        const parameters = { resource: 'message', operation: 'ask', to: chosen(friend), message: 'Ready?', waitMode };
        const stored = {};
        const options: RunOptions = {
          ...fresh(),
          stored,
          onWait: () => assert.fail('the execution waits'),
          resumeUrl: 'http://127.0.0.1:1/webhook-waiting/4711?signature=token',
        };
        const tryOnce = () => execute(switchboard, { ...credential, baseUrl }, parameters, options);
        await assert.rejects(tryOnce(), { name: 'NodeApiError' });
        await simulate({ action: 'incoming', from: friend, message: 'In between' });
        isFailing = false;
        const [item] = await tryOnce();
        assert.deepEqual([item?.json['message'], stored], ['In between', {}]);
        assert.deepEqual(await endpoints(), []);
        const { body } = await scene().call('GET', `/messages?chatId=${friend}&direction=outgoing`);
        assert.equal(body.data.length, 1, 'the question was sent once');
      } finally {
        proxy.closeAllConnections();
        proxy.close();
      }
    }
  });

  it('lets the webhook expire an hour after the wait, and refuses a wait of more than a year', async () => {
    const { call } = scene();
    const resumeUrl = 'http://127.0.0.1:1/webhook-waiting/4711?signature=token';
    let until = 0;
    const onWait = (time: Date) => {
      until = time.getTime();
    };
    await ask(newNumber(), { waitLimit: '30', waitUnit: 'minutes' }, { ...fresh(), resumeUrl, onWait });
    const [{ webhookId, expiresAt }] = await endpoints();
    assert.equal(Date.parse(expiresAt) - until, 3_600_000);
    await call('DELETE', `/webhooks/endpoints/${webhookId}`);
    for (const waitLimit of [366, 0, 'soon'])
      await assert.rejects(
        ask(newNumber(), { waitLimit, waitUnit: 'days' }, { ...fresh(), resumeUrl }),
        /"Limit" must be/,
      );
    assert.deepEqual(await endpoints(), []);
  });

  it('asks nobody if the server refuses the webhook', async () => {
    const { credential, call, sessionId } = scene();
    const resumeUrl = 'http://127.0.0.1:1/webhook-waiting/4711?signature=token';
    const keyWith = async (limits: object): Promise<string> =>
      (await call('POST', '/api-keys/create', { name: 'limited', ...limits })).body.key;
    const limited = await keyWith({ sessionIds: [sessionId] });
    const approved = await keyWith({ requiresApproval: true });
    for (const [apiKey, url] of [
      [limited, resumeUrl],
      [approved, resumeUrl],
      [credential.apiKey, 'http://169.254.169.254/webhook-waiting/4711'],
    ] as const) {
      const friend = newNumber();
      const options = { ...fresh(), resumeUrl: url, onWait: () => assert.fail('the execution waits'), stored: {} };
      const parameters = { resource: 'message', operation: 'ask', to: chosen(friend), message: 'Ready?' };
      for (let tried = 0; tried < 2; tried++)
        await assert.rejects(execute(switchboard, { ...credential, apiKey }, parameters, options), {
          name: 'NodeApiError',
        });
      assert.deepEqual(await messagesTo(friend), []);
    }
    assert.deepEqual(await endpoints(), []);
  });

  it('removes the webhook of a question that is not sent', async () => {
    const resumeUrl = 'http://127.0.0.1:1/webhook-waiting/4711?signature=token';
    await assert.rejects(ask('not a number', {}, { ...fresh(), resumeUrl }), /^NodeApiError: to must be/);
    assert.deepEqual(await endpoints(), []);
  });

  it('does not take a message from before the question for its answer', async () => {
    const { credential, simulate } = scene();
    const friend = newNumber();
    const n8n = await startN8n(switchboard, credential);
    const proxy = startProxy(async (request) => {
      if (request.url?.endsWith('/messages/send') !== true) return undefined;
      await simulate({ action: 'incoming', from: friend, message: 'Too early' });
      return undefined;
    });
    try {
      await once(proxy, 'listening');
      const baseUrl = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
      const parameters = { resource: 'message', operation: 'ask', to: chosen(friend), message: 'Ready?' };
      let waits = 0;
      const resumeUrl = `${n8n.url}/webhook-waiting/4711?signature=token`;
      await execute(switchboard, { ...credential, baseUrl }, parameters, {
        ...fresh(),
        resumeUrl,
        onWait: () => waits++,
      });
      assert.equal(waits, 1);
      await simulate({ action: 'incoming', from: friend, message: 'In time' });
      const [delivered] = await n8n.waitFor(1);
      assert.equal(delivered?.result.workflowData?.[0]?.[0]?.json['message'], 'In time');
      assert.deepEqual(await endpoints(), []);
    } finally {
      proxy.closeAllConnections();
      proxy.close();
      await n8n.close();
    }
  });

  it('keeps the execution running while the server restarts', async () => {
    const { credential, simulate } = scene();
    const friend = newNumber();
    // More than the attempts of one call.
    const failures = [503, 503, 503, 502];
    let isOver = false;
    const proxy = startProxy(async (request) => {
      if (request.url?.includes('/events?') !== true || request.url.includes('afterCursor=now')) return undefined;
      const status = isOver ? 503 : failures.shift();
      if (failures.length === 0 && !isOver) await simulate({ action: 'incoming', from: friend, message: 'Yes' });
      return status;
    });
    try {
      await once(proxy, 'listening');
      const baseUrl = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
      const waiting = (waitLimit: number) => ({
        resource: 'message',
        operation: 'ask',
        to: chosen(friend),
        message: 'Ready?',
        waitMode: 'inPlace',
        waitLimit,
        waitUnit: 'minutes',
      });
      const [item] = await execute(switchboard, { ...credential, baseUrl }, waiting(1), fresh());
      assert.equal(item?.json['message'], 'Yes');
      isOver = true;
      await assert.rejects(execute(switchboard, { ...credential, baseUrl }, waiting(1 / 60), fresh()), {
        httpCode: '503',
      });
    } finally {
      proxy.closeAllConnections();
      proxy.close();
    }
  });

  it('asks nobody for an unknown unit or kind of wait', async () => {
    const resumeUrl = 'http://127.0.0.1:1/webhook-waiting/4711?signature=token';
    for (const parameters of [
      { waitUnit: 'weeks' },
      { waitUnit: 'constructor' },
      { waitUnit: null },
      { waitMode: 'inPlace', waitUnit: 'weeks' },
      { waitMode: 'forever' },
    ]) {
      const friend = newNumber();
      await assert.rejects(
        ask(friend, parameters, { ...fresh(), resumeUrl }),
        /^NodeOperationError: "(?:Unit|Wait)" must be one of: /,
      );
      assert.deepEqual(await messagesTo(friend), []);
    }
    assert.deepEqual(await endpoints(), []);
  });

  it('suspends for one item only', async () => {
    const items = [{ json: {} }, { json: {} }];
    await assert.rejects(
      ask(newNumber(), {}, { ...fresh(), items, resumeUrl: 'http://127.0.0.1:1/' }),
      /one answer only/,
    );
    assert.deepEqual(await endpoints(), []);
  });

  const isEnabling = (request: IncomingMessage) =>
    request.method === 'PATCH' && request.url?.includes('/webhooks/endpoints/') === true;
  const messagesTo = async (to: string) =>
    (await scene().call('GET', `/messages?chatId=${to}&direction=outgoing`)).body.data ?? [];

  /** Starts a proxy to the server. @param before runs before each request, and returns a status to respond with */
  function startProxy(before: (request: IncomingMessage) => Promise<number | undefined>) {
    const { baseUrl, apiKey } = scene().credential;
    return createServer(async (request, response) => {
      const status = await before(request);
      if (status !== undefined) return void response.writeHead(status, { 'retry-after': '0' }).end('{}');
      const key = request.headers['idempotency-key'];
      const answer = await fetch(new URL(request.url ?? '', baseUrl), {
        method: request.method ?? 'GET',
        headers: {
          authorization: `Bearer ${apiKey}`,
          'content-type': 'application/json',
          ...(typeof key === 'string' && { 'idempotency-key': key }),
        },
        ...(['POST', 'PATCH'].includes(request.method ?? '') && { body: await text(request) }),
      });
      response.writeHead(answer.status, { 'content-type': 'application/json' }).end(await answer.text());
    }).listen(0, '127.0.0.1');
  }

  /** Resolves once a message to this number was sent. */
  async function sent(to: string): Promise<void> {
    const { call } = scene();
    for (let cursor = ''; ; ) {
      const { body } = await call('GET', `/events?events=message.sent&wait=30${cursor && `&afterCursor=${cursor}`}`);
      if (body.data.some(({ data }: { data: { to: string } }) => data.to === to)) return;
      cursor = body.nextCursor ?? '';
    }
  }
});
