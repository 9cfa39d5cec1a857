import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { it, type TestContext } from 'node:test';
import { describeAnswer } from '../../src/webhooks/queue/outcome.ts';
import { portOf } from '../support/connections/listening.ts';
import { describeOnEachDeployment } from '../support/databases/databases.ts';
import { eventually } from '../support/eventually.ts';
import { connectSession, newNumber, serversFor } from '../support/server.ts';

/** A receiver that redirects to its result after it has run, as a web app of Google Apps Script does. */
async function startScript(test: TestContext, status: number) {
  let runs = 0;
  const server = createServer((request, response) => {
    runs++;
    request.resume();
    response.writeHead(status, { location: '/result' }).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  test.after(() => server.close());
  return { url: `http://127.0.0.1:${portOf(server)}/exec`, runs: () => runs };
}

describeOnEachDeployment('a webhook with acceptRedirects', (_, database) => {
  const start = serversFor(database);

  async function setUp(test: TestContext, status: number, acceptRedirects: boolean) {
    const script = await startScript(test, status);
    const { call } = await (await start()).account();
    await connectSession(call, newNumber());
    const webhook = { webhookUrl: script.url, events: ['message.sent'], retrySeconds: [3600], acceptRedirects };
    const { body } = await call('POST', '/webhooks/endpoints', webhook);
    await call('POST', '/messages/send', { to: newNumber(), message: 'run' });
    const deliveries = async () => (await call('GET', '/webhooks/deliveries')).body.data;
    const [delivery] = await eventually(deliveries, ([first]) => first?.attempts > 0);
    return { script, call, webhook: body, delivery };
  }

  for (const status of [302, 303])
    it(`counts ${status} as delivered after one request`, async (test) => {
      const { script, call, webhook, delivery } = await setUp(test, status, true);
      assert.equal(webhook.acceptRedirects, true);
      assert.deepEqual([delivery.state, script.runs()], ['delivered', 1]);
      const { body: tested } = await call('GET', `/webhooks/endpoints/${webhook.webhookId}/test`);
      assert.equal(tested.delivered, true, JSON.stringify(tested));
      const path = `/webhooks/endpoints/${webhook.webhookId}`;
      const { body: changed } = await call('PATCH', path, { acceptRedirects: false });
      assert.equal(changed.acceptRedirects, false);
      const { body: failed } = await call('GET', `${path}/test`);
      assert.deepEqual([failed.delivered, failed.class], [false, 'redirect']);
      assert.match(failed.message, /acceptRedirects/);
    });

  it('counts 307, which asks for the request at another URL, as failed', async (test) => {
    const { delivery, call } = await setUp(test, 307, true);
    assert.equal(delivery.state, 'pending');
    const { body } = await call('GET', `/webhooks/deliveries/${delivery.deliveryId}`);
    assert.match(JSON.stringify(body), /set that URL instead/);
    assert.doesNotMatch(JSON.stringify(body), /acceptRedirects/);
  });
});

it('does not advise to set the URL of the result of Google Apps Script', () => {
  const headers = { location: 'https://script.googleusercontent.com/macros/echo?user_content_key=x' };
  const url = new URL('https://script.google.com/macros/s/x/exec');
  const [kind, , message] = describeAnswer(302, headers, '', url);
  assert.equal(kind, 'redirect');
  assert.match(message, /do not set that URL: set `acceptRedirects`/);
  assert.equal(describeAnswer(302, headers, '', url, true)[0], 'ok');
  assert.equal(describeAnswer(302, {}, '', url, true)[0], 'redirect');
});
