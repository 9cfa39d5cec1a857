import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { generate } from 'selfsigned';
import { verify } from '../../../sdk/src/webhooks.ts';
import { type BrokerKind, brokerKinds, type RunningBroker } from '../support/brokers/brokerTable.ts';
import { MANY_RETRIES } from '../support/connections/receiver.ts';
import { eventually } from '../support/eventually.ts';
import { picture, upload } from '../support/media/media.ts';
import { type Answer, connectSession, serversFor } from '../support/server.ts';

const COUNT = 160;
const AT_ONCE = 8;
const SECRET = 'the secret of the webhook';

/** For the name localhost only, and signed by itself. */
const certificate = await generate([{ name: 'commonName', value: 'localhost' }], {
  keyType: 'ec',
  algorithm: 'sha256',
  extensions: [{ name: 'subjectAltName', altNames: [{ type: 2, value: 'localhost' }] }],
}).then(({ private: key, cert }) => ({ key, cert }));

/* Every broker passes the same suite: on the real server where it is installed, and Kafka and Amazon SQS on fakes. */
for (const kind of brokerKinds) describe(`a webhook to ${kind.name}`, { skip: kind.skip }, () => conform(kind));

function conform(kind: BrokerKind): void {
  const start = serversFor('sqlite', { env: { BREAKER_OPEN_SECONDS: '1' } });
  let broker: RunningBroker;
  before(async () => {
    setDefaultCACertificates([...getCACertificates('default'), certificate.cert]);
    broker = await kind.start();
  });
  after(() => broker.stop());

  async function setUp() {
    const server = await start();
    const { call, token } = await server.account();
    const sessionId = await connectSession(call);
    const create = async (more: object = {}) => {
      const fields = { ...broker.webhook, secret: SECRET, timeoutMs: 5000, events: ['message.incoming'], ...more };
      const { status, body } = await call('POST', '/webhooks/endpoints', fields);
      assert.equal(status, 201, JSON.stringify(body));
      return body;
    };
    const write = async (from: string, message: string) => {
      const content = { action: 'incoming', from, message };
      assert.equal((await call('POST', `/sessions/${sessionId}/simulate`, content)).status, 200);
    };
    const deliveries = async (webhookId: string, state: string): Promise<Answer['body'][]> =>
      (await call('GET', `/webhooks/deliveries?webhookId=${webhookId}&states=${state}&limit=200`)).body.data;
    const test = async (webhookId: string) => (await call('GET', `/webhooks/endpoints/${webhookId}/test`)).body;
    const sendFile = async (from: string, bytes: Buffer) => {
      const { mediaId } = (await upload(server, token, bytes)).body;
      const content = { action: 'incoming', from, type: 'image', mediaId };
      assert.equal((await call('POST', `/sessions/${sessionId}/simulate`, content)).status, 200);
    };
    return { call, create, write, sendFile, deliveries, test };
  }

  it('stores an event with its id and a valid signature', async () => {
    const { create, write, deliveries, call } = await setUp();
    const { webhookId, credentialNames } = await create();
    assert.deepEqual(credentialNames, Object.keys(broker.webhook.credentials ?? {}));
    await write('491711111111', 'Grüße 👋');
    const [delivery] = await eventually(
      () => deliveries(webhookId, 'delivered'),
      ({ length }) => length === 1,
    );
    const { eventId, deliveryId } = delivery ?? assert.fail();
    const stored = (await broker.read()).find(({ id }) => id === eventId) ?? assert.fail('it is not stored');
    assert.equal(JSON.parse(stored.body).data.message, 'Grüße 👋');
    assert.equal(stored.headers['x-webhook-event'], 'message.incoming');
    assert.equal(stored.headers['content-type'], 'application/json');
    const verified = await verify({ body: stored.body, headers: stored.headers, secret: SECRET });
    assert.deepEqual(verified.ok && verified.scheme === 'standard' && verified.id, eventId, JSON.stringify(verified));
    const { body } = await call('GET', `/webhooks/deliveries/${deliveryId}`);
    assert.equal(body.body, stored.body, 'the bytes of the log');
    assert.match(body.attemptLog[0].message, /stored|confirmed|added/);
  });

  // Redis accepts 512 MB.
  it('stores an event without its file if that is too large', { skip: kind.name === 'Redis' }, async () => {
    const { create, sendFile, write, deliveries, call } = await setUp();
    const files = { inlineMediaBytes: 2 * 1024 * 1024, include: ['mediaLink'], retrySeconds: [] };
    const { webhookId } = await create(files);
    await sendFile('491711111111', Buffer.concat([picture(), Buffer.alloc(1.5 * 1024 * 1024)]));
    const [delivery] = await eventually(
      () => deliveries(webhookId, 'delivered'),
      ({ length }) => length === 1,
    );
    const { eventId, deliveryId } = delivery ?? assert.fail();
    const stored = (await broker.read()).find(({ id }) => id === eventId) ?? assert.fail('it is not stored');
    const { link, content, contentOmitted } = JSON.parse(stored.body).data.media;
    assert.deepEqual([typeof link.url, content, contentOmitted], ['string', undefined, 'tooLarge']);
    const { body } = await call('GET', `/webhooks/deliveries/${deliveryId}`);
    assert.match(body.attemptLog[0].message, /Sent without the contents of its files/);
    await write('491711111111', 'The connection still works');
    await eventually(
      () => deliveries(webhookId, 'delivered'),
      ({ length }) => length === 2,
    );
  });

  it('tests the broker, stage by stage', async () => {
    const { create, test } = await setUp();
    const { webhookId } = await create();
    const { delivered, message, stages, request } = await test(webhookId);
    assert.ok(delivered, message);
    const over = kind.name === 'Amazon SQS' ? ['http'] : ['login', 'publish'];
    const names = stages.map(({ stage, result }: { stage: string; result: string }) => `${stage} ${result}`);
    assert.deepEqual(names, ['url ok', 'dns skipped', 'connect ok', 'tls skipped', ...over.map((one) => `${one} ok`)]);
    const sent = (await broker.read()).find(
      ({ headers }) => headers['x-webhook-id'] === request.headers['x-webhook-id'],
    );
    assert.equal(sent?.headers['x-webhook-test'], 'true');
  });

  it('says that the broker refuses the credentials', async () => {
    const { create, test } = await setUp();
    const { webhookId } = await create({ credentials: broker.wrongCredentials });
    const { delivered, class: outcome, message, stages } = await test(webhookId);
    assert.deepEqual([delivered, outcome], [false, 'client_error'], message);
    assert.match(message, kind.refusal);
    assert.doesNotMatch(message, /wrong/);
    assert.equal(
      stages.find(({ result }: { result: string }) => result === 'failed').stage,
      /Amazon/.test(kind.name) ? 'http' : 'login',
    );
  });

  it('says that the place in the broker does not exist', async () => {
    const { create, test } = await setUp();
    const webhookUrl = /Amazon/.test(kind.name) ? `${broker.webhook.webhookUrl}-absent` : broker.webhook.webhookUrl;
    const { webhookId } = await create({ webhookUrl, destination: broker.missingDestination });
    const { delivered, class: outcome, message } = await test(webhookId);
    assert.deepEqual([delivered, outcome], [false, 'client_error'], message);
    assert.match(message, kind.absence);
  });

  it('checks the certificate of the broker', async (test) => {
    if (broker.secure === undefined) return test.skip('it is HTTP');
    const { create, test: probe } = await setUp();
    const secure = await broker.secure(certificate);
    test.after(() => secure.stop());
    const { webhookId } = await create({ webhookUrl: secure.webhookUrl });
    const resultsOf = ({ stages }: Answer['body']) =>
      stages.slice(1).map(({ stage, result }: { stage: string; result: string }) => `${stage} ${result}`);
    const trusted = await probe(webhookId);
    const all = ['dns ok', 'connect ok', 'tls ok', 'login ok', 'publish ok'];
    assert.deepEqual(resultsOf(trusted), all, trusted.message);

    const webhookUrl = secure.webhookUrl.replace('localhost', '127.0.0.1');
    const other = await probe((await create({ webhookUrl })).webhookId);
    assert.equal(other.class, 'tls', other.message);
    assert.match(other.message, /its certificate is for another host name/);
    assert.deepEqual(resultsOf(other), ['dns skipped', 'connect ok', 'tls failed', 'login skipped', 'publish skipped']);
  });

  kind.more?.(async () => ({ ...(await setUp()), broker }));

  it('loses nothing when the broker is killed and restarted under load', async () => {
    const { create, write, deliveries } = await setUp();
    const { webhookId } = await create({ retrySeconds: MANY_RETRIES, maxInFlight: 32 });
    const writing = (async () => {
      for (let n = 0; n < COUNT; n += AT_ONCE)
        await Promise.all(
          Array.from({ length: AT_ONCE }, (_, one) =>
            write(`4917${String(n + one).padStart(8, '0')}`, `event ${n + one}`),
          ),
        );
    })();
    await eventually(
      () => deliveries(webhookId, 'delivered'),
      ({ length }) => length > 20,
    );
    await broker.kill();
    await writing;
    await broker.restart();
    const delivered = await eventually(
      () => deliveries(webhookId, 'delivered'),
      ({ length }) => length === COUNT,
    );
    const stored = new Set((await broker.read()).map(({ id }) => id));
    const lost = delivered.filter(({ eventId }) => !stored.has(eventId));
    assert.deepEqual(lost, []);
  });
}
