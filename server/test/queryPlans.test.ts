import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { it } from 'node:test';
import { identify } from '../src/messages/identities.ts';
import type { InboxOptions } from '../src/messages/inboxOptions.ts';
import { newHome } from './support/databases.ts';
import { queryOf } from './support/nodes.ts';
import { startReceiver } from './support/receiver.ts';
import { connectSession, startServer } from './support/server.ts';

const MESSAGES = 1000;
/** Each look-up of a row reads an index entry, or a few if it was updated. A scan reads hundreds. */
const MOST_EACH = 30;

it('PostgreSQL looks up the rows of messages and deliveries in new tables', async (test) => {
  const home = await newHome('postgres');
  test.after(() => home.remove());
  const receiver = await startReceiver();
  test.after(() => receiver.close());
  const server = await startServer({ home });
  const { call } = await server.account();
  await connectSession(call);
  await call('POST', '/webhooks/endpoints', { webhookUrl: receiver.url, events: ['message.sent'] });
  const numbers = Array.from({ length: MESSAGES }, (_, n) => String(491_707_000_000 + n));
  for (let at = 0; at < MESSAGES; at += 20)
    await Promise.all(numbers.slice(at, at + 20).map((to) => call('POST', '/messages/send', { to, message: 'hello' })));
  await receiver.waitFor(MESSAGES);
  await server.stop(); // connections report what they have read when they end

  const read = await queryOf(home)<{ name: string; scanned: number; entries: number }>(`
    select relname as name, seq_tup_read::int as scanned,
      (select sum(idx_tup_read)::int from pg_stat_user_indexes i where i.relid = t.relid) as entries
    from pg_stat_user_tables t where relname in ('messages', 'deliveries') order by relname desc`);
  const [messages, deliveries] = read;
  assert.ok(messages && messages.scanned + messages.entries < MESSAGES * MOST_EACH, JSON.stringify(messages));
  assert.ok(deliveries && deliveries.entries < MESSAGES * MOST_EACH, JSON.stringify(deliveries));
});

it('SQLite merges a hidden number without reading the other messages of its session', async (test) => {
  const server = await startServer();
  test.after(() => server.stop());
  const { accountId, call } = await server.account();
  const sessionId = await connectSession(call);
  const { database, clock, newId } = server.app.services;
  const options = { emit: () => {}, clock, newId } as unknown as InboxOptions;
  const texts = new Set<string>();
  const { prepare } = DatabaseSync.prototype;
  const spy = test.mock.method(DatabaseSync.prototype, 'prepare', function (this: DatabaseSync, text: string) {
    texts.add(text);
    return prepare.call(this, text);
  });
  const person = { standIn: '5511912345678', phoneNumber: '551112345678' };
  await database.commit((tx) => identify(options, tx, { accountId, sessionId }, person));
  spy.mock.restore();

  const steps: string[] = [];
  for (const text of texts) {
    const { rows } = await database.reader.connection.query<{ detail: string }>(`explain query plan ${text}`, []);
    steps.push(...rows.map(({ detail }) => detail));
  }
  const ofMessages = steps.filter((step) => /^(SEARCH|SCAN) (messages|old|twin)\b/.test(step));
  assert.ok(ofMessages.length > 8, steps.join('\n'));
  const finds = /\((account_id=\? AND (message_id|chat_id|from_number)=\?|session_id=\? AND network_id=\?|rowid=\?)/;
  for (const step of ofMessages) assert.match(step, finds);
});
