import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { sql } from 'kysely';
import type { TObject } from 'typebox';
import { listCases, listsWithoutRows } from '../../../bench/src/listFilters.ts';
import { accountNumber } from '../../src/db/numbers.ts';
import { indexWords } from '../../src/messages/search.ts';
import { operations } from '../../src/operations/index.ts';
import { describeOnEachDatabase, type Home } from '../support/databases/databases.ts';
import { bearer, type Call, connectSession, startServer, type TestServer } from '../support/server.ts';

/** More than a page passes when its filter has no index. */
const ROWS = 4500;
/** More sessions than a page of `SHORT` entries merges. */
const SESSIONS = 30;
const SHORT = 20;
const paging = ['limit', 'cursor', 'afterCursor', 'wait'];

describe('the measured list filters', () => {
  const lists = operations.filter(
    ({ method, output }) => method === 'GET' && 'data' in ((output as TObject).properties ?? {}),
  );

  it('include every list, and every filter of each', () => {
    for (const { id, path, input } of lists) {
      if (listsWithoutRows.includes(id)) continue;
      const filters = Object.entries(input.properties).flatMap(([name, schema]) =>
        'deprecated' in schema || paging.includes(name) || path.includes(`{${name}}`) ? [] : name,
      );
      const cases = listCases.filter(({ operation }) => operation === id);
      assert.ok(cases.length > 0, `${id} has no case in bench/src/listFilters.ts`);
      const missing = filters.filter((name) => !cases.some(({ fields }) => fields.includes(name)));
      assert.deepEqual(missing, [], `filters of ${id} without a case in bench/src/listFilters.ts`);
    }
  });

  it('include no unknown list', () => {
    const ids = lists.map(({ id }) => id);
    const unknown = [...listCases.map(({ operation }) => operation), ...listsWithoutRows].filter(
      (id) => !ids.includes(id),
    );
    assert.deepEqual(unknown, []);
  });
});

describeOnEachDatabase('a filter in a large account', (newHome) => {
  let home: Home;
  let server: TestServer;
  let call: Call;
  let accountId: string;
  let sessionId: string;
  let otherId: string;

  const run = (statement: ReturnType<typeof sql>) =>
    server.app.services.database.commit((tx) => statement.execute(tx.kysely));
  const series = (count = ROWS) =>
    sql`with recursive s (n) as (select 1 union all select n + 1 from s where n < ${sql.lit(count)})`;

  before(async () => {
    home = await newHome();
    server = await startServer({ home });
    const account = await server.account();
    ({ call, accountId } = account);
    sessionId = await connectSession(call);
    otherId = await connectSession(call);
    await run(sql`insert into chats (account_id, session_id, chat_id, type, last_message_id, unread_count, archived, pinned)
      ${series()} select ${accountId}, case when n % 3 = 0 then ${otherId} else ${sessionId} end,
      '4917' || (10000000 + n), 'direct', 'msg_' || (10000000 + n), case when n = 2 then 1 else 0 end, 0, 0 from s`);
    await run(sql`insert into contacts (account_id, session_id, phone_number, name, blocked)
      ${series()} select ${accountId}, case when n % 3 = 0 then ${otherId} else ${sessionId} end,
      '4917' || (10000000 + n), case when n = ${sql.lit(ROWS)} then 'Zoe' else 'Ann' end,
      case when n = ${sql.lit(ROWS - 1)} then 1 else 0 end from s`);
    await run(sql`insert into events (account, event_id, kind, conversation, body, is_test, created_at)
      ${series()} select ${accountNumber(accountId)}, 'evt_01' || '00000000000000000' || (1000000 + n),
      case when n = ${sql.lit(ROWS)} then 'message.incoming' else 'message.sent' end,
      case when n = ${sql.lit(ROWS)} then ${`${sessionId}/1`} else ${`${otherId}/1`} end,
      '{"event":"message.sent","data":{}}', 0, 1 from s order by n`);
    await run(sql`insert into messages (account_id, message_id, session_id, chat_id, network_id, direction, type,
      from_number, to_id, body, status, timestamp, created_at)
      ${series()} select ${accountId}, 'msg_' || (10000000 + n), ${sessionId}, '1', 'net' || n, 'outgoing',
      case when n = 1 then 'image' else 'text' end, '1', '1', 'hello', 'read', 1, 1 from s order by n`);
    await server.app.services.database.commit(async (tx) => {
      const stored = await tx.kysely.selectFrom('messages').select('seq').execute();
      for (const { seq } of stored) tx.writeLater(indexWords, { seq, accountId, text: 'hello' });
    });
  });

  after(async () => {
    await server.stop();
    await home.remove();
  });

  /** Follows the cursors of a list, and returns its pages. */
  async function pagesOf(path: string, as: Call = call, limit = 200) {
    const pages: { [name: string]: unknown }[][] = [];
    let cursor = '';
    do {
      const { status, body } = await as('GET', `${path}${path.includes('?') ? '&' : '?'}limit=${limit}${cursor}`);
      assert.equal(status, 200, JSON.stringify(body));
      pages.push(body.data);
      cursor = body.nextCursor === null ? '' : `&cursor=${body.nextCursor}`;
    } while (cursor !== '');
    return pages;
  }

  const numbers = (pages: { [name: string]: unknown }[][], name: string) => pages.flat().map((row) => row[name]);
  const chatIds = Array.from({ length: ROWS }, (_, n) => `4917${10_000_001 + n}`);

  it('returns all chats of several sessions once, newest first', async () => {
    assert.deepEqual(numbers(await pagesOf('/chats'), 'chatId'), chatIds.toReversed());
  });

  it('returns all contacts of several sessions once, by number', async () => {
    assert.deepEqual(numbers(await pagesOf('/contacts'), 'phoneNumber'), chatIds);
  });

  it('finds an old unread chat in steps of a bounded number of chats', async () => {
    const pages = await pagesOf('/chats?unread=true');
    assert.deepEqual(numbers(pages, 'chatId'), [chatIds[1]]);
    assert.ok(pages.length > 2, 'no page passes all chats');
    assert.equal(numbers(await pagesOf('/chats?unread=false'), 'chatId').length, ROWS - 1);
  });

  it('finds the last contact by name in steps of a bounded number of contacts', async () => {
    const pages = await pagesOf('/contacts?q=zoe');
    assert.deepEqual(numbers(pages, 'phoneNumber'), [chatIds.at(-1)]);
    assert.ok(pages.length > 2, 'no page passes all contacts');
  });

  it('finds the last blocked contact on the first page', async () => {
    const { body } = await call('GET', '/contacts?blocked=true');
    assert.deepEqual(numbers([body.data], 'phoneNumber'), [chatIds.at(-2)]);
    assert.equal(body.nextCursor, null);
  });

  it('finds an old message of an ad on the first page, and its chat in bounded steps', async () => {
    await run(sql`update messages set ad_id = '7', chat_id = ${chatIds[0]} where message_id = 'msg_10000001'`);
    await run(sql`insert into chat_ads (account_id, session_id, chat_id, ad_id)
      select account_id, session_id, chat_id, ad_id from messages where message_id = 'msg_10000001'`);
    for (const filter of ['hasReferral=true', 'adId=7']) {
      const { body } = await call('GET', `/messages?${filter}`);
      assert.deepEqual([numbers([body.data], 'messageId'), body.nextCursor], [['msg_10000001'], null]);
      const pages = await pagesOf(`/chats?${filter}`);
      assert.deepEqual(numbers(pages, 'chatId'), [chatIds[0]]);
      assert.ok(pages.length > 1, 'no page passes all chats');
    }
    assert.deepEqual((await pagesOf('/messages?adId=8')).flat(), []);
  });

  it('finds the chats and messages with a label', async () => {
    const { body: label } = await call('POST', '/labels', { sessionId, name: 'Paid' });
    assert.deepEqual((await pagesOf(`/chats?labelId=${label.labelId}`)).flat(), []);
    const insert = (least: number) =>
      run(sql`insert into chat_labels (account_id, session_id, chat_id, label_id)
        select account_id, session_id, chat_id, ${label.labelId} from chats
        where session_id = ${sessionId} and chat_id >= ${`4917${10_000_000 + least}`} on conflict do nothing`);
    const own = chatIds.filter((_, n) => (n + 1) % 3 !== 0).toReversed();
    await insert(ROWS - 11);
    assert.deepEqual(numbers(await pagesOf(`/chats?labelId=${label.labelId}`), 'chatId'), own.slice(0, 8));
    await insert(0);
    assert.deepEqual(numbers(await pagesOf(`/chats?labelId=${label.labelId}`), 'chatId'), own);
  });

  it('takes a deleted label off many chats in several transactions', async (test) => {
    const { body: label } = await call('POST', '/labels', { sessionId, name: 'Old' });
    await run(sql`insert into chat_labels (account_id, session_id, chat_id, label_id)
      select account_id, session_id, chat_id, ${label.labelId} from chats where session_id = ${sessionId}`);
    const { database } = server.app.services;
    const commits = test.mock.method(database, 'commit').mock;
    assert.equal((await call('DELETE', `/labels/${label.labelId}?sessionId=${sessionId}`)).status, 200);
    assert.ok(commits.callCount() > 6, `${commits.callCount()} transactions for 3000 rows`);
    const left = await database.reader.kysely
      .selectFrom('chat_labels')
      .select('chat_id')
      .where('label_id', '=', label.labelId)
      .execute();
    assert.deepEqual(left, []);
  });

  it('finds the messages with a label in steps of a bounded number of messages', async () => {
    const { body: label } = await call('POST', '/labels', { sessionId, name: 'Sent' });
    await run(sql`insert into message_labels (account_id, message_id, label_id)
      select account_id, message_id, ${label.labelId} from messages`);
    assert.equal((await pagesOf(`/messages?labelId=${label.labelId}`)).flat().length, ROWS);
    const pages = await pagesOf(`/messages?labelId=${label.labelId}&type=image`);
    assert.deepEqual(numbers(pages, 'messageId'), ['msg_10000001']);
    assert.ok(pages.length > 2, 'no page passes all messages with the label');
  });

  it('reads no more labels than a page of a label without other filters needs', async (test) => {
    const { body: label } = await call('POST', '/labels', { sessionId, name: 'All' });
    await run(sql`insert into message_labels (account_id, message_id, label_id)
      select account_id, message_id, ${label.labelId} from messages`);
    const { mock } = test.mock.method(server.app.services.database.longReader.connection, 'query');
    assert.equal((await call('GET', `/messages?labelId=${label.labelId}&limit=2`)).body.data.length, 2);
    const [first] = mock.calls.filter(({ arguments: [text] }) => /from "message_labels"/.test(String(text)));
    assert.equal((await first?.result)?.rows.length, 3);
  });

  it('finds a filtered message with a common word', async () => {
    const pages = await pagesOf('/messages?q=hello&type=image');
    assert.deepEqual(numbers(pages, 'messageId'), ['msg_10000001']);
    assert.ok(pages.length > 2, 'no page passes all messages with the word');
  });

  /** Reads the events until some are found, and returns how many reads that took. */
  async function readsUntilFound(query: string, as: Call) {
    let after = '';
    for (let reads = 1; reads <= ROWS; reads++) {
      const { body } = await as('GET', `/events?${query}${after}`);
      if (body.data.length > 0) return { reads, found: body.data.map((one: { event: string }) => one.event) };
      after = `&afterCursor=${body.nextCursor}`;
    }
    throw new Error('no event was found');
  }

  it('finds an event of a mixture of rare and usual types in steps', async () => {
    const { reads, found } = await readsUntilFound('events=message.incoming,group.created', call);
    assert.deepEqual(found, ['message.incoming']);
    assert.ok(reads > 2, 'no read passes the whole log');
  });

  it('finds an event of a quiet session in steps, or in one call that waits', async () => {
    const { body } = await call('POST', '/api-keys/create', { name: 'quiet', sessionIds: [sessionId] });
    const limited = bearer(server.url, body.key);
    const { reads, found } = await readsUntilFound('events=message.incoming', limited);
    assert.deepEqual(found, ['message.incoming']);
    assert.ok(reads > 2, 'no read passes the whole log');
    const { body: waited } = await limited('GET', '/events?events=message.incoming&wait=20');
    assert.equal(waited.data.length, 1);
  });

  it('merges more sessions than fit into a page', async () => {
    const { accountId: large, call: ofLarge } = await server.account();
    await run(sql`insert into sessions (account_id, session_id, connector, status, wanted, will_reconnect, options,
      metadata, created_at, lease_generation)
      ${series(SESSIONS)} select ${large}, 'ses_m' || (1000 + n), 'sandbox', 'disconnected', 0, 0, '{}', '{}', 1, 0 from s`);
    await run(sql`insert into chats (account_id, session_id, chat_id, type, last_message_id, unread_count, archived, pinned)
      ${series(SESSIONS * 6)} select ${large}, 'ses_m' || (1001 + n % ${sql.lit(SESSIONS)}), '49' || (n / ${sql.lit(SESSIONS)}),
      'direct', case when n < ${sql.lit(SESSIONS)} then null else 'msg_l' || (100000 + n) end,
      case when n = ${sql.lit(SESSIONS + 3)} then 1 else 0 end, 0, 0 from s where n < ${sql.lit(SESSIONS * 6)}`);
    const { rows } = await sql<{ at: string }>`select session_id || '/' || chat_id as at from chats
      where account_id = ${large} order by coalesce(last_message_id, chat_id) desc, session_id desc`.execute(
      server.app.services.database.reader.kysely,
    );
    const listed = (await pagesOf('/chats', ofLarge, SHORT))
      .flat()
      .map((row) => `${row['sessionId']}/${row['chatId']}`);
    assert.deepEqual(
      listed,
      rows.map(({ at }) => at),
    );
    assert.equal((await pagesOf('/chats?unread=true', ofLarge, SHORT)).flat().length, 1);
  });
});
