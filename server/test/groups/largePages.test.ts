import assert from 'node:assert/strict';
import { after, before, beforeEach, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { NetworkGroup } from '../../src/connectors/contract/groups.ts';
import { queryable, type Store } from '../../src/db/dialect.ts';
import type { Schema } from '../../src/db/schema.ts';
import { storeOf } from '../../src/sessions/store.ts';
import { describeOnEachDatabase } from '../support/databases/databases.ts';
import { TransactionRows } from '../support/databases/transactionRows.ts';
import { puppet } from '../support/networks/puppet.ts';
import { type Answer, type Call, startServer, type TestServer } from '../support/server.ts';

/* Lists whose entries have lists: together they must neither block the process nor fill a response without bounds. */

const PUPPET = fileURLToPath(new URL('../support/networks/puppet.ts', import.meta.url));
/** Rows that the main thread may read at once. */
const MOST = 4000;

describeOnEachDatabase('large pages', (newHome) => {
  let server: TestServer;
  let call: Call;
  let accountId: string;
  let sessionId: string;
  /** Rows of each read in the main thread. */
  const read: number[] = [];
  const participantRows = new TransactionRows('group_participants');

  before(async () => {
    const wrapStore = (store: Store): Store => ({
      ...participantRows.wrap(store),
      reader: queryable(store.dialect, {
        query: async (text, parameters, name) => {
          const result = await store.reader.connection.query<never>(text, parameters, name);
          read.push(result.rows.length);
          // A count reads what it counts.
          if (/count\(.*status_views/s.test(text)) read.push(Number.POSITIVE_INFINITY);
          return result;
        },
      }),
    });
    server = await startServer({ home: await newHome(), env: { CONNECTORS: PUPPET }, wrapStore });
  });
  after(async () => {
    puppet.parts = {};
    await server.stop();
    await server.home.remove();
  });
  beforeEach(async () => {
    ({ call, accountId } = await server.account());
    ({ sessionId } = (await call('POST', '/sessions', { connector: 'puppet' })).body);
    await call('POST', `/sessions/${sessionId}/connect`);
  });

  async function insert<T extends keyof Schema & string>(table: T, rows: readonly object[]): Promise<void> {
    const { database } = server.app.services;
    await database.commit(async ({ kysely }) => {
      for (let at = 0; at < rows.length; at += 500)
        // The rows are complete; the type of a table that varies is too wide for Kysely.
        await kysely
          .insertInto(table as 'group_participants')
          .values(rows.slice(at, at + 500) as never)
          .execute();
    });
  }

  /** Reads all pages of a list, and checks what the main thread reads. */
  async function pagesOf(path: string): Promise<Answer['body'][][]> {
    const pages: Answer['body'][][] = [];
    read.length = 0;
    for (let cursor = ''; ; ) {
      const { status, body } = await call('GET', `${path}limit=200${cursor}`);
      assert.equal(status, 200);
      pages.push(body.data);
      if (body.nextCursor === null) break;
      assert.ok(body.data.length > 0, 'the list goes on');
      cursor = `&cursor=${body.nextCursor}`;
    }
    assert.ok(Math.max(...read) <= MOST, `${Math.max(...read)} rows in the main thread`);
    return pages;
  }

  const numberOf = (n: number) => `4917${10_000_000 + n}`;
  const groupOf = (networkId: string, members: number): NetworkGroup => ({
    networkId,
    subject: networkId,
    description: null,
    createdBy: numberOf(0),
    createdAt: Date.now(),
    participants: Array.from({ length: members }, (_, n) => ({ phoneNumber: numberOf(n), role: 'member' })),
    settings: { announce: false, locked: false, joinApproval: false },
    inviteCode: null,
    picture: null,
  });

  it('end before the groups have too many participants, and show all groups', async () => {
    const sizes = [10, 3000, 1500, 7000, 10, 2000];
    for (const [index, size] of sizes.entries())
      await puppet.host?.onEvent({ type: 'group_created', group: groupOf(`g-${index}`, size) });
    const pages = await pagesOf('/groups?');
    const shown = pages.map((page) => page.map(({ subject, participants }) => [subject, participants.length]));
    assert.deepEqual(shown, [
      [
        ['g-5', 2000],
        ['g-4', 10],
      ],
      [['g-3', 7000]],
      [
        ['g-2', 1500],
        ['g-1', 3000],
        ['g-0', 10],
      ],
    ]);
    const { body } = await call('GET', `/groups/${pages[1]?.[0].groupId}`);
    assert.equal(body.participants.length, 7000);
  });

  it('end before the messages have too many reactions and votes, and show all messages', async () => {
    const content = { type: 'poll', text: 'Where?', poll: { options: ['a', 'b'], maxSelections: 1 } } as const;
    for (let n = 0; n < 6; n++)
      await puppet.host?.onEvent({
        type: 'message',
        networkId: `m-${n}`,
        chat: { type: 'direct', id: numberOf(n) },
        from: numberOf(n),
        content: n === 5 ? content : { type: 'text', text: `m-${n}` },
        timestamp: Date.now(),
        replyTo: null,
      });
    const messages = (await call('GET', '/messages?limit=200')).body.data;
    const rows = messages.flatMap(({ messageId, type }: Answer['body']) =>
      Array.from({ length: 900 }, (_, n) => ({
        ...{ account_id: accountId, message_id: messageId, from_number: numberOf(n), at: n },
        ...(type === 'poll' ? { options: '["a"]' } : { emoji: '👍' }),
      })),
    );
    await insert(
      'reactions',
      rows.filter((row: object) => 'emoji' in row),
    );
    await insert(
      'poll_votes',
      rows.filter((row: object) => 'options' in row),
    );
    const sizesOf = (pages: Answer['body'][][], messageOf: (entry: Answer['body']) => Answer['body']) =>
      pages.map((page) => page.map((entry) => (messageOf(entry).reactions ?? messageOf(entry).votes).length));
    const expected = [
      [900, 900],
      [900, 900],
      [900, 900],
    ];
    assert.deepEqual(
      sizesOf(await pagesOf('/messages?'), (message) => message),
      expected,
    );
    assert.deepEqual(
      sizesOf(await pagesOf('/chats?'), ({ lastMessage }) => lastMessage),
      expected,
    );
    const [one] = messages;
    const { reactions, votes } = (await call('GET', `/messages/${one.messageId}`)).body;
    assert.equal((reactions ?? votes).length, 900);
    const times = (votes ?? reactions).map(({ from }: Answer['body']) => from);
    assert.deepEqual(times, times.toSorted());
  });

  it('count the views of statuses outside the main thread', async () => {
    await insert('statuses', [
      {
        ...{ account_id: accountId, session_id: sessionId, status_id: `sts_${accountId}`, network_id: 's-1' },
        ...{ from_number: numberOf(0), is_own: 1, type: 'text', body: 'x', content: null, audience: null },
        ...{ timestamp: Date.now(), expires_at: Date.now() + 3_600_000, state: 'sent', error: null },
      },
    ]);
    await insert(
      'status_views',
      Array.from({ length: 5000 }, (_, n) => ({
        ...{ account_id: accountId, session_id: sessionId, status_id: `sts_${accountId}` },
        ...{ phone_number: numberOf(n), emoji: null, viewed_at: n },
      })),
    );
    const [[status] = []] = await pagesOf('/status?');
    assert.equal(status.views, 5000);
  });

  it('write only the participants that a report of a group changes', async () => {
    const group = groupOf('g-1', 2000);
    await puppet.host?.onEvent({ type: 'group_created', group });
    const { data: [{ groupId }] = [] } = (await call('GET', '/groups')).body;
    participantRows.take();
    const added = { phoneNumber: '491799', role: 'member' } as const;
    const participants = [...group.participants.slice(2), added, { phoneNumber: numberOf(0), role: 'admin' } as const];
    await puppet.host?.onEvent({
      type: 'group_updated',
      group: { ...group, participants },
      change: { type: 'participants', action: 'add', phoneNumbers: [added.phoneNumber] },
      timestamp: Date.now(),
    });
    const [counts = 0] = participantRows.take();
    assert.ok(counts <= 2000 + 3, `${counts} rows, with the 2000 that it reads`);
    const { body } = await call('GET', `/groups/${groupId}`);
    const roles = new Map(body.participants.map((one: Answer['body']) => [one.phoneNumber, one.role]));
    assert.deepEqual(
      [roles.size, roles.get(numberOf(0)), roles.has(numberOf(1)), roles.get('491799')],
      [2000, 'admin', false, 'member'],
    );
  });

  it('list the stored keys of a session in parts', async () => {
    const { database } = server.app.services;
    const store = storeOf(database, sessionId);
    const keys = Array.from({ length: 1300 }, (_, n) => `hidden/${String(n).padStart(5, '0')}`);
    await store.write(new Map([...keys, 'hidden', 'hiddeo', 'other/1'].map((key) => [key, key])));
    read.length = 0;
    const found = await store.list('hidden/');
    assert.deepEqual([...found.keys()], keys);
    if (!database.reader.dialect.hasConcurrentWriters) assert.deepEqual(read, [500, 500, 300]);
  });
});
