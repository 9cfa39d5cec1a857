import assert from 'node:assert/strict';
import { it, type TestContext } from 'node:test';
import { sql } from 'kysely';
import { systemClock } from '../../../src/clock.ts';
import { type Database, openDatabase } from '../../../src/db/database.ts';
import type { MessageRow } from '../../../src/db/schema.ts';
import { readShape } from '../../../src/db/shape.ts';
import { messageStatuses } from '../../../src/db/tables/messages.ts';
import { newRow, storeMessages } from '../../../src/messages/store.ts';
import { describeOnEachDatabase } from '../../support/databases/databases.ts';

const SESSION = { account_id: 'acc_1', session_id: 'ses_1' };

type Change = Partial<Pick<MessageRow, 'status' | 'chat_id' | 'scheduled_at' | 'turn'>>;

describeOnEachDatabase('the rows of outbox and unread_messages', (newHome) => {
  /** Opens a database with a message of each status in each direction. */
  async function open(test: TestContext): Promise<Database> {
    const home = await newHome();
    const database = await openDatabase(home, systemClock);
    test.after(async () => {
      await database.close();
      await home.remove();
    });
    const rows = (['incoming', 'outgoing'] as const).flatMap((direction) =>
      messageStatuses.map((status) =>
        newRow({
          ...SESSION,
          message_id: `${direction} ${status}`,
          chat_id: `chat of ${status}`,
          network_id: `${direction} ${status}`,
          direction,
          type: 'text',
          from_number: '491701111111',
          to_id: '491702222222',
          body: '',
          content: null,
          reply_to: null,
          status,
          timestamp: 5,
          created_at: 6,
          ...(status === 'scheduled' && { scheduled_at: 7 }),
        }),
      ),
    );
    await database.commit((tx) => storeMessages(tx, rows));
    return database;
  }

  async function assertComplete({ reader }: Database, what: string): Promise<void> {
    const read = async (text: string) =>
      (await reader.connection.query<object>(text, [])).rows.map((row) => ({ ...row }));
    const outbox = await read('select * from outbox order by account_id, status, message_id');
    const expected = await read(`
      select account_id, status, message_id, case when status <> 'sent' then session_id end as session_id,
        case when status <> 'sent' then chat_id end as chat_id,
        case when status = 'queued' then coalesce(turn, seq * 65536) end as place,
        case status when 'scheduled' then scheduled_at when 'pending_approval' then created_at end as due_at
      from messages where status in ('pending_approval', 'scheduled', 'queued', 'sent')
      order by account_id, status, message_id`);
    assert.deepEqual(outbox, expected, what);
    const unread = await read('select * from unread_messages order by message_id');
    const unreadMessages = await read(`
      select session_id, chat_id, message_id, account_id from messages
      where direction = 'incoming' and status = 'delivered' order by message_id`);
    assert.deepEqual(unread, unreadMessages, what);
  }

  const change = (database: Database, messageId: string, to: Change) =>
    database.commit(({ kysely }) =>
      kysely
        .updateTable('messages')
        .set(to)
        .where('account_id', '=', SESSION.account_id)
        .where('message_id', '=', messageId)
        .execute(),
    );

  it('follow new messages, deleted ones, and all changes from status to status', async (test) => {
    const database = await open(test);
    await assertComplete(database, 'new');
    for (const direction of ['incoming', 'outgoing'])
      for (const from of messageStatuses)
        for (const status of messageStatuses) {
          const what = `${direction} ${from}`;
          await change(database, what, { status });
          await assertComplete(database, `${what} → ${status}`);
          await change(database, what, { status: from });
        }
    await assertComplete(database, 'changed back');
    await database.commit(({ kysely }) => sql`delete from messages`.execute(kysely));
    await assertComplete(database, 'deleted');
    const { rows } = await database.reader.connection.query(
      'select 1 from outbox union select 1 from unread_messages',
      [],
    );
    assert.deepEqual(rows, []);
  });

  it('take the place of indexes with columns that every send changes', async (test) => {
    const { reader } = await open(test);
    const ofMessages = (await readShape(reader)).filter(({ table }) => table === 'messages');
    const indexes = ofMessages.filter(({ part }) => /^(index|unique|primary key) /.test(part));
    assert.ok(indexes.length > 10, JSON.stringify(ofMessages));
    const changing =
      /\b(status|timestamp|sent_at|delivered_at|read_at|scheduled_at|turn|error|error_code|content|expires_in|pricing)\b/;
    assert.deepEqual(
      indexes.filter(({ part, definition }) => changing.test(`${part} ${definition}`)),
      [],
    );
  });

  it('follow the chat, the time and the turn of messages', async (test) => {
    const database = await open(test);
    const changes: readonly Change[] = [
      { chat_id: 'other' },
      { scheduled_at: 70 },
      { turn: 80 },
      { status: 'queued', turn: 90, chat_id: 'last' },
      { turn: null },
    ];
    for (const direction of ['incoming', 'outgoing'])
      for (const from of messageStatuses)
        for (const to of changes) {
          await change(database, `${direction} ${from}`, to);
          await assertComplete(database, `${direction} ${from} ${JSON.stringify(to)}`);
        }
  });
});
