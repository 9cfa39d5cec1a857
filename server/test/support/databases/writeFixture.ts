import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { sql } from 'kysely';
import type { Store } from '../../../src/db/dialect.ts';
import { migrations } from '../../../src/db/migrations/index.ts';
import { startReceiver } from '../connections/receiver.ts';
import { eventually } from '../eventually.ts';
import { samples, upload } from '../media/media.ts';
import { type Call, eventOf, sharedSandbox, startServer, type TestServer } from '../server.ts';
import { databaseNames, emptyHome } from './databases.ts';
import { type Credentials, fixturePath, openHome, readContents } from './fixtures.ts';

/*
 * Writes the fixtures of the upgrade tests: a database of the current schema with rows in every table, as a SQLite file
 * and as a PostgreSQL dump. Run it once per released schema, before adding the next migration:
 *
 *   TEST_POSTGRES_URL=postgres://… node server/test/support/databases/writeFixture.ts
 *
 * `pg_dump` must be on the PATH, in the version of that server.
 */

const ALICE = '491700000001';
const BOB = '491700000002';
const CAROL = '491700000003';
const PASSWORD = 'correct horse battery';
const ENCRYPTION_KEY = 'fixture key, thirty-two characters or more';

const version = Math.max(...migrations.map((migration) => migration.version));
async function writeFixture(database: (typeof databaseNames)[number]): Promise<void> {
  const home = await emptyHome(database);
  const server = await startServer({ home, env: { ...sharedSandbox, ENCRYPTION_KEY } });
  const credentials = await fill(server);
  await server.stop();
  const store = openHome(home);
  await addRareRows(store);
  await requireRowsEverywhere(store);
  await store.close();
  mkdirSync(fixturePath(version, ''), { recursive: true });
  if (database === 'sqlite') {
    const file = readFileSync(`${home.dataDir}/switchboard.db`);
    writeFileSync(fixturePath(version, 'sqlite.db.gz'), gzipSync(file, { level: 9 }));
  } else {
    const dump = execFileSync('pg_dump', ['--no-owner', '--no-privileges', '--inserts', home.databaseUrl]);
    writeFileSync(fixturePath(version, 'postgres.sql.gz'), gzipSync(dump, { level: 9 }));
  }
  writeFileSync(fixturePath(version, `${database}.json`), `${JSON.stringify(credentials, null, 2)}\n`);
  await home.remove();
}

/** Calls the API until every table that it writes to has rows. */
async function fill(server: TestServer): Promise<Credentials> {
  const alice = await server.account();
  const bob = await server.account();
  const post = poster(alice.call);
  const bobPost = poster(bob.call);

  const hooks = await startReceiver();
  const down = await startReceiver();
  down.respond(503);
  await post('/webhooks/set', {
    webhookUrl: hooks.url,
    events: ['message.sent', 'message.incoming'],
    secret: 'first secret, 16 characters',
  });
  await post('/webhooks/secret/rotate', { secret: 'second secret, 16 characters' });
  const failing = await post('/webhooks/endpoints', {
    webhookUrl: down.url,
    events: ['message.sent', 'session.connected'],
  });
  const { key: apiKey } = await post('/api-keys/create', {
    name: 'ci',
    permissions: ['messages:read', 'messages:send'],
  });

  const connect = async (call: typeof post, phoneNumber: string, more: object = {}) => {
    const { sessionId } = await call('/sessions', {
      phoneNumber,
      name: `phone ${phoneNumber}`,
      metadata: { team: 'ops' },
      ...more,
    });
    await call(`/sessions/${sessionId}/connect`);
    return sessionId as string;
  };
  const sessionId = await connect(post, ALICE);
  const bobSession = await connect(bobPost, BOB);
  await alice.call('PATCH', `/sessions/${sessionId}/profile`, { name: 'Alice', about: 'On call' });

  const { body: media } = await upload(server, alice.token, samples.image, { query: '?fileName=pixel.png' });
  const to = BOB;
  const text = await post(
    '/messages/send',
    { sessionId, to, message: 'The quick brown fox' },
    { 'idempotency-key': 'order-1' },
  );
  const answer = await post('/messages/send', {
    sessionId,
    to,
    message: 'Jumps over the lazy dog ä ß 🦊',
    replyTo: text.messageId,
  });
  await post('/messages/send-media', { sessionId, to, type: 'image', mediaId: media.mediaId, caption: 'A pixel' });
  await post('/messages/send-location', {
    sessionId,
    to,
    latitude: 52.5163,
    longitude: 13.3777,
    name: 'Brandenburg Gate',
  });
  await post('/messages/send-contact', { sessionId, to, name: 'Carol', phoneNumbers: [CAROL] });
  const lost = await post('/messages/send', { sessionId, to, message: 'Never arrives' });
  const poll = await post('/messages/send-poll', { sessionId, to, question: 'Lunch?', options: ['pizza', 'salad'] });
  const later = new Date(Date.now() + 365 * 24 * 3_600_000).toISOString();
  await post('/messages/send', { sessionId, to, message: 'Next year', sendAt: later });
  await post('/messages/send-bulk', { sessionId, to: [BOB, CAROL], message: 'To everybody', intervalMs: 0 });
  const gone = await post('/messages/send', { sessionId, to, message: 'Sent by mistake' });
  await alice.call('DELETE', `/messages/${gone.messageId}`);
  await alice.call('PATCH', `/messages/${answer.messageId}`, { message: 'Jumped over the lazy dog' });
  await alice.call('GET', '/webhooks/test');

  const simulate = (input: object) => post(`/sessions/${sessionId}/simulate`, input);
  await simulate({ action: 'incoming', from: CAROL, senderName: 'Carol', message: 'Is anybody there?' });
  await simulate({ action: 'react', messageId: text.messageId, from: BOB, emoji: '👍' });
  await simulate({ action: 'vote', messageId: poll.messageId, from: BOB, options: ['pizza'] });
  await simulate({ action: 'receipt', messageId: text.messageId, status: 'read' });
  await simulate({ action: 'receipt', messageId: lost.messageId, status: 'failed' });
  await eventOf(bob.call, 'message.incoming', ({ message }) => message === 'To everybody');

  await post('/groups', { sessionId, subject: 'Ops', phoneNumbers: [BOB] });
  await alice.call('PUT', `/contacts/${CAROL}/blocked`, { sessionId, blocked: true });
  await alice.call('GET', `/contacts/check?sessionId=${sessionId}&phoneNumbers=${BOB}`);
  await alice.call('PATCH', `/chats/${BOB}`, { sessionId, archived: true, pinned: true });
  // A session paired by QR code, one that is still waiting for that, and one that was disconnected.
  const linking = await post('/sessions', { name: 'linking', options: { pairing: true } });
  await post(`/sessions/${linking.sessionId}/connect`);
  const linked = await post('/sessions', { name: 'linked', phoneNumber: CAROL, options: { pairing: true } });
  await post(`/sessions/${linked.sessionId}/connect`);
  await post(`/sessions/${linked.sessionId}/simulate`, { action: 'pair' });
  await eventOf(alice.call, 'session.connected', (data) => data.sessionId === linked.sessionId);
  const crew = await post('/groups', { sessionId, subject: 'Crew', phoneNumbers: [BOB, CAROL] });
  // Carol's session is connected, so all of this waits for Bob only.
  await bobPost(`/sessions/${bobSession}/disconnect`);
  const draft = await post('/messages/send', { sessionId, to, message: 'While Bob is away' });
  await alice.call('PATCH', `/messages/${draft.messageId}`, { message: 'While Bob was away' });
  await post('/messages/send', { sessionId, to: crew.groupId, message: 'To the crew' });
  await eventOf(alice.call, 'message.incoming', ({ message }) => message === 'To the crew');
  await alice.call('PATCH', `/groups/${crew.groupId}`, { subject: 'Night crew' });

  await eventually(
    async () => down.deliveries.length,
    (count) => count >= 1,
  );
  await eventually(
    async () => (await alice.call('GET', '/webhooks/deliveries?states=delivered')).body.data.length,
    (count) => count >= 3,
  );
  await server.call('POST', '/auth/login', { email: alice.email, password: 'wrong password' });
  await hooks.close();
  await down.close();
  return {
    encryptionKey: ENCRYPTION_KEY,
    writtenAt: Date.now(),
    email: alice.email,
    password: PASSWORD,
    apiKey,
    sessionId,
    webhookId: failing.webhookId,
    messageId: text.messageId,
    away: { email: bob.email, sessionId: bobSession },
  };
}

const poster =
  (call: Call) =>
  // biome-ignore lint/suspicious/noExplicitAny: answers of every shape
  async (path: string, body?: object, headers?: Record<string, string>): Promise<any> => {
    const answer = await call('POST', path, body, headers);
    assert.ok(answer.status < 300, `${path}: ${JSON.stringify(answer.body)}`);
    return answer.body;
  };

/** Creates states that take days to arise, and rows that only several nodes write. */
async function addRareRows(store: Store): Promise<void> {
  const transaction = await store.begin();
  const { kysely } = transaction;
  const { rows } = await sql<{ delivery_id: string }>`
    select delivery_id from deliveries where state = 'delivered' order by delivery_id limit 3`.execute(kysely);
  for (const [index, state] of (['failed', 'expired', 'cancelled'] as const).entries()) {
    await kysely
      .updateTable('deliveries')
      .set({ state, last_class: 'server_error', last_message: `fixture: ${state}` })
      .where('delivery_id', '=', rows[index]?.delivery_id ?? '')
      .execute();
  }
  await sql`update messages set status = 'queued', sent_at = null where status = 'sent'`.execute(kysely);
  for (const [table, row] of Object.entries(RARE)) {
    const { rows: present } = await sql`select 1 from ${sql.table(table)} limit 1`.execute(kysely);
    if (present.length === 0) await sql`insert into ${sql.table(table)} ${sql.raw(row)}`.execute(kysely);
  }
  await transaction.commit();
}

const RARE = {
  nodes: `(node_id, epoch, instance, url, version, carries, joined_at, expires_at)
    values ('nod_dead', 3, 'machine:/data', 'http://10.0.0.1:8080/', '0.1.0', 1, 1, 2)`,
};

async function requireRowsEverywhere(store: Store): Promise<void> {
  const empty = [...(await readContents(store))].flatMap(([name, rows]) => (rows.length === 0 ? [name] : []));
  assert.deepEqual(empty, [], 'tables without rows');
}

for (const name of databaseNames) await writeFixture(name);
