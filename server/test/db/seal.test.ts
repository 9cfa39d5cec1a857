import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { it } from 'node:test';
import { sql } from 'kysely';
import { WrongKeyError } from '../../src/db/sealing.ts';
import { storeOf } from '../../src/sessions/store.ts';
import { sqsCredentials, startFakeSqs } from '../support/brokers/fakeSqs.ts';
import { startReceiver } from '../support/connections/receiver.ts';
import { describeOnEachDatabase } from '../support/databases/databases.ts';
import { type Call, connectSession, newNumber, startAgain, type TestServer } from '../support/server.ts';

const KEY = 'a key of more than thirty-two characters';
const OTHER_KEY = 'another key of more than thirty-two chars';
const SECRET = 'Schlüssel für die Prüfung';
const HEADER = 'a token in a header';
const QUEUE = '/123456789012/events';

/** Imports messages that refer to files. */
async function importFiles(call: Call, count: number): Promise<void> {
  const sessionId = await connectSession(call, newNumber());
  const other = newNumber();
  const timestamp = new Date(Date.now() - 3600_000).toISOString();
  const messages = Array.from({ length: count }, (_, n) => ({
    id: `h${n}`,
    with: other,
    message: 'With a file',
    timestamp,
    mediaId: null,
  }));
  for (let at = 0; at < count; at += 200) {
    const history = { messages: messages.slice(at, at + 200) };
    const { status, body } = await call('POST', `/sessions/${sessionId}/simulate`, { action: 'history', history });
    assert.equal(status, 200, JSON.stringify(body));
  }
}

describeOnEachDatabase('encryption at rest', (newHome, database) => {
  const texts = async ({ app }: TestServer, table: string, columns: string) => {
    const { kysely } = app.services.database.reader;
    const { rows } = await sql<object>`select ${sql.raw(columns)} from ${sql.raw(table)}`.execute(kysely);
    return JSON.stringify(rows);
  };

  it('signs deliveries as before, and stores no webhook secret in plain text', async (t) => {
    const server = await startAgain(t, newHome, { database, env: { ENCRYPTION_KEY: KEY } })();
    const receiver = await startReceiver();
    t.after(() => receiver.close());
    const { call } = await server.account();
    await call('POST', '/webhooks/set', { webhookUrl: receiver.url, events: ['message.sent'], secret: 'the old one' });
    await call('POST', '/webhooks/secret/rotate', { secret: SECRET });
    assert.equal((await call('GET', '/webhooks/test')).body.delivered, true);
    const [{ headers, body } = assert.fail()] = receiver.deliveries;
    assert.equal(headers['x-webhook-signature'], `sha256=${createHmac('sha256', SECRET).update(body).digest('hex')}`);
    assert.equal(String(headers['webhook-signature']).split(' ').length, 2, 'the old secret still signs too');
    const rows = await texts(server, 'webhooks', 'secret, previous_secret');
    assert.ok(!rows.includes(SECRET) && !rows.includes('the old one'), rows);
  });

  it('reads values that were stored before the key was set, and seals them at the first start with the key', async (t) => {
    const options = { database, env: {} as Record<string, string> };
    const start = startAgain(t, newHome, options);
    const before = await start();
    const receiver = await startReceiver();
    t.after(() => receiver.close());
    const { call, token } = await before.account();
    await call('POST', '/webhooks/set', { webhookUrl: receiver.url, events: ['message.sent'], secret: SECRET });
    const { sessionId } = (await call('POST', '/sessions', {})).body;
    await storeOf(before.app.services.database, sessionId).set('credentials', 'kept by a connector');
    assert.ok((await texts(before, 'webhooks', 'secret')).includes(SECRET), 'plain text without a key, as documented');
    await importFiles(call, 600);
    const rowsWithHash = async (server: TestServer) =>
      (await texts(server, 'messages', 'file_reference')).split(String.raw`\"hash\"`).length - 1;
    assert.equal(await rowsWithHash(before), 600);
    await before.stop();

    options.env['ENCRYPTION_KEY'] = KEY;
    const after = await start();
    const rows = (await texts(after, 'webhooks', 'secret')) + (await texts(after, 'session_store', 'value'));
    assert.ok(!rows.includes(SECRET) && !rows.includes('kept by'), rows);
    assert.equal(await storeOf(after.app.services.database, sessionId).get('credentials'), 'kept by a connector');
    assert.equal(await rowsWithHash(after), 0, 'more than one page of files');
    const test = await after.call('GET', '/webhooks/test', undefined, { authorization: `Bearer ${token}` });
    assert.equal(test.body.delivered, true, 'earlier login tokens stay valid');
    const [{ headers, body } = assert.fail()] = receiver.deliveries;
    assert.equal(headers['x-webhook-signature'], `sha256=${createHmac('sha256', SECRET).update(body).digest('hex')}`);
  });

  it('refuses to start with a wrong or missing key, and says so', async (t) => {
    const options = { database, env: { ENCRYPTION_KEY: KEY } };
    const start = startAgain(t, newHome, options);
    await (await start()).stop();
    options.env.ENCRYPTION_KEY = OTHER_KEY;
    await assert.rejects(start(), (error) => error instanceof WrongKeyError && /not the key/.test(error.message));
    options.env.ENCRYPTION_KEY = '';
    await assert.rejects(
      start(),
      (error) => error instanceof WrongKeyError && /Set ENCRYPTION_KEY to the key/.test(error.message),
    );
    options.env.ENCRYPTION_KEY = KEY;
    assert.equal((await (await start()).call('GET', '/health')).status, 200);
  });

  it('changes or removes the key at a start that also knows the old one', async (t) => {
    const options = { database, env: { ENCRYPTION_KEY: KEY } as Record<string, string> };
    const start = startAgain(t, newHome, options);
    const first = await start();
    const receiver = await startReceiver();
    t.after(() => receiver.close());
    const { call, token } = await first.account();
    await call('POST', '/webhooks/set', { webhookUrl: receiver.url, events: ['message.sent'], secret: SECRET });
    const { body: endpoints } = await call('GET', '/webhooks/endpoints');
    const headers = { 'X-Token': HEADER };
    await call('PATCH', `/webhooks/endpoints/${endpoints.data[0].webhookId}`, { headers });
    const sqs = await startFakeSqs([QUEUE]);
    t.after(() => sqs.stop());
    const { body: broker } = await call('POST', '/webhooks/endpoints', {
      webhookUrl: `http://127.0.0.1:${sqs.port}${QUEUE}`,
      destination: { type: 'sqs', region: 'eu-central-1' },
      credentials: sqsCredentials,
      events: ['message.sent'],
    });
    const { sessionId } = (await call('POST', '/sessions', { options: { pairing: true } })).body;
    await storeOf(first.app.services.database, sessionId).set('credentials', 'kept by a connector');
    await first.stop();

    const starts: Record<string, string>[] = [
      { ENCRYPTION_KEY: OTHER_KEY, ENCRYPTION_KEY_PREVIOUS: KEY },
      { ENCRYPTION_KEY: OTHER_KEY },
      { ENCRYPTION_KEY_PREVIOUS: OTHER_KEY },
      {},
    ];
    for (const env of starts) {
      options.env = env;
      const server = await start();
      const headers = { authorization: `Bearer ${token}` };
      assert.equal((await server.call('GET', '/webhooks/test', undefined, headers)).body.delivered, true);
      const toBroker = `/webhooks/endpoints/${broker.webhookId}/test`;
      const { body: stored } = await server.call('GET', toBroker, undefined, headers);
      assert.equal(stored.delivered, true, 'the broker accepts the signature');
      assert.deepEqual((await server.call('GET', `/sessions/${sessionId}`, undefined, headers)).body.options, {
        pairing: true,
      });
      assert.equal(await storeOf(server.app.services.database, sessionId).get('credentials'), 'kept by a connector');
      const isOpen = (await texts(server, 'webhooks', 'secret')).includes(SECRET);
      assert.equal(isOpen, !('ENCRYPTION_KEY' in env), JSON.stringify(env));
      const hasHeader = (await texts(server, 'webhooks', 'headers')).includes(HEADER);
      assert.equal(hasHeader, isOpen, JSON.stringify(env));
      const hasKey = (await texts(server, 'webhooks', 'credentials')).includes(sqsCredentials.secretAccessKey);
      assert.equal(hasKey, isOpen, JSON.stringify(env));
      await server.stop();
    }
    assert.ok(receiver.deliveries.every(({ headers: sent }) => sent['x-token'] === HEADER));
    const signed = receiver.deliveries.map(
      ({ headers, body }) =>
        headers['x-webhook-signature'] === `sha256=${createHmac('sha256', SECRET).update(body).digest('hex')}`,
    );
    assert.deepEqual(signed, [true, true, true, true]);
  });
});
