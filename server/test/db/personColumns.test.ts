import assert from 'node:assert/strict';
import { it, type TestContext } from 'node:test';
import { sql } from 'kysely';
import { systemClock } from '../../src/clock.ts';
import { type Database, openDatabase } from '../../src/db/database.ts';
import { Deletions } from '../../src/jobs/deletions.ts';
import { createLog } from '../../src/log.ts';
import { Identities } from '../../src/messages/identities/identities.ts';
import { MAX_FILTERED_CHATS, MAX_RECIPIENTS, personColumns } from '../../src/messages/identities/personColumns.ts';
import type { InboxOptions } from '../../src/messages/inboxOptions.ts';
import { OutgoingProgress } from '../../src/messages/messages/outgoingProgress.ts';
import { newHome } from '../support/databases/databases.ts';

const PLACEHOLDER = '000123456780';
const NUMBER = '491702222223';
/** A real number that the person had before. */
const FORMER = '491702222224';
const SESSION = { accountId: 'account_id-1', sessionId: 'session_id-1' };
/** Names of columns that contain digits of people, or texts that may. */
const ABOUT_PEOPLE =
  /number$|^chat_id$|^to_id$|^created_by$|audience|recipients|conversation|filters|^body$|^content$|^receipt$/;
/** The simulated network of the sandbox, which has no placeholders. */
const OF_NETWORK = /^sandbox_/;

interface Column {
  readonly table: string;
  readonly name: string;
  readonly type: string;
  readonly isRequired: boolean;
}

async function open(test: TestContext) {
  const home = await newHome('sqlite');
  const database = await openDatabase(home, systemClock);
  test.after(async () => {
    await database.close();
    await home.remove();
  });
  const { rows } = await sql<Column>`
    select t.name as "table", c.name as name, lower(c.type) as type, c."notnull" = 1 and c.pk = 0 or c.pk > 0 as "isRequired"
    from sqlite_master as t join pragma_table_info(t.name) as c where t.type = 'table'`.execute(database.reader.kysely);
  return { database, columns: rows.filter(({ table }) => !OF_NETWORK.test(table)) };
}

const followsOf = ({ table, name }: Pick<Column, 'table' | 'name'>) =>
  Object.entries(personColumns).find(([one]) => one === table)?.[1][name];

/** Values that the merge depends on; other columns get one that follows from their name. */
const VALUES: Readonly<Record<string, string | number>> = {
  'webhooks.ordering': 'strict',
  'chats.metadata': '{}',
  'waiting.webhook': 1,
  'messages.direction': 'incoming',
  'messages.status': 'read',
};

/** Inserts a row with the digits into each table, and returns the columns with them. */
async function insertRows(database: Database, columns: readonly Column[], digits: string, suffix = '1') {
  const tables = Map.groupBy(columns, ({ table }) => table);
  await database.commit(({ kysely }) =>
    kysely
      .insertInto('receivers')
      .values({ seq: 1, webhook_id: 'webhook_id-1' })
      .onConflict((one) => one.doNothing())
      .execute(),
  );
  const valueIn = ({ table, name, type }: Column) => {
    const follows = followsOf({ table, name });
    if (table === 'early_receipts' && name === 'status') return `read ${digits}`;
    if (name === 'receipt')
      return JSON.stringify({ status: 'read', isEarly: true, chat: { type: 'direct', id: digits } });
    if (name === 'conversation') return `${SESSION.sessionId}/${digits}`;
    if (name === 'filters') return JSON.stringify({ chats: [digits] });
    if (follows?.by === 'json') return JSON.stringify([digits]);
    if (follows !== undefined && follows.by !== 'nothing') return digits;
    const isOfAll = ['account_id', 'session_id', 'webhook_id', 'group_id'].includes(name);
    return VALUES[`${table}.${name}`] ?? (/int/.test(type) ? Number(suffix) : `${name}-${isOfAll ? 1 : suffix}`);
  };
  for (const [table, all] of tables) {
    if (!Object.keys(personColumns).includes(table)) continue;
    const some = all.filter((column) => column.isRequired || followsOf(column) !== undefined);
    const names = sql.join(some.map(({ name }) => sql.ref(name)));
    const values = sql.join(some.map(valueIn));
    await database.commit(({ kysely }) =>
      sql`insert into ${sql.table(table)} (${names}) values (${values}) on conflict do nothing`.execute(kysely),
    );
  }
}

/** The columns that contain the placeholder. */
async function columnsWithPlaceholder({ reader }: Database, columns: readonly Column[]) {
  const found: string[] = [];
  for (const { table, name } of columns) {
    const { rows } = await sql`
      select 1 from ${sql.table(table)} where ${sql.ref(name)} like ${`%${PLACEHOLDER}%`} limit 1`.execute(
      reader.kysely,
    );
    if (rows.length > 0) found.push(`${table}.${name}`);
  }
  return found;
}

function identify(database: Database, standIn = PLACEHOLDER) {
  const deletions = new Deletions({ database, clock: systemClock, log: createLog('silent', { write: () => {} }) });
  const options = { emit: () => {}, clock: systemClock } as unknown as InboxOptions;
  const identities = new Identities({
    ...options,
    database,
    deletions,
    outgoing: new OutgoingProgress(options),
    keysChanged: () => {},
  });
  return identities.identify(SESSION, { type: 'identified', standIn, phoneNumber: NUMBER });
}

it('every column that can contain digits of people is declared', async (test) => {
  const { columns } = await open(test);
  const isAboutPeople = ({ name, type }: Column) => type === 'text' && ABOUT_PEOPLE.test(name);
  const found = columns.filter(isAboutPeople).map(({ table, name }) => `${table}.${name}`);
  const declared = Object.entries(personColumns).flatMap(([table, names]) =>
    Object.keys(names).map((name) => `${table}.${name}`),
  );
  assert.deepEqual(found.toSorted(), declared.toSorted());
});

it('every column that follows a person has the number afterwards', async (test) => {
  const { database, columns } = await open(test);
  await insertRows(database, columns, PLACEHOLDER);
  const following = columns.filter((column) => (followsOf(column)?.by ?? 'nothing') !== 'nothing');
  const names = following.map(({ table, name }) => `${table}.${name}`);
  assert.deepEqual((await columnsWithPlaceholder(database, following)).toSorted(), names.toSorted());
  await identify(database);
  assert.deepEqual(await columnsWithPlaceholder(database, following), []);
});

it('no column keeps the placeholder if the number has rows of its own', async (test) => {
  const { database, columns } = await open(test);
  await insertRows(database, columns, NUMBER);
  await insertRows(database, columns, PLACEHOLDER);
  await insertRows(database, columns, PLACEHOLDER, '2');
  await identify(database);
  const following = columns.filter((column) => (followsOf(column)?.by ?? 'nothing') !== 'nothing');
  assert.deepEqual(await columnsWithPlaceholder(database, following), []);
});

it('keeps a real number in the lists that people wrote', async (test) => {
  const { database, columns } = await open(test);
  await insertRows(database, columns, FORMER);
  await identify(database, FORMER);
  await identify(database, FORMER); // networks repeat the report
  const { rows } = await sql<{ recipients: string; filters: string; audience: string }>`
    select (select allowed_recipients from api_keys) as recipients, (select filters from webhooks) as filters,
      (select audience from statuses) as audience`.execute(database.reader.kysely);
  const both = JSON.stringify([FORMER, NUMBER]);
  assert.deepEqual(
    { ...rows[0] },
    { recipients: both, filters: `{"chats":${both}}`, audience: JSON.stringify([NUMBER]) },
  );
});

it('changes only the lists of people, and not beyond their maximum lengths', async (test) => {
  const { database, columns } = await open(test);
  await insertRows(database, columns, FORMER);
  const others = (count: number) => Array.from({ length: count }, (_, index) => `49170${1_000_000 + index}`);
  const [recipients, chats] = [others(MAX_RECIPIENTS - 1), others(MAX_FILTERED_CHATS - 2)];
  const filters = {
    chats: [FORMER, ...chats],
    ignoredChats: [FORMER, ...chats, '4930*'],
    adIds: [FORMER, PLACEHOLDER],
  };
  await database.commit(async ({ kysely }) => {
    await kysely
      .updateTable('api_keys')
      .set({ allowed_recipients: JSON.stringify([FORMER, ...recipients]) })
      .execute();
    await kysely
      .updateTable('webhooks')
      .set({ filters: JSON.stringify(filters) })
      .execute();
  });
  await identify(database, FORMER);
  await identify(database, FORMER); // networks repeat the report
  await identify(database, PLACEHOLDER);
  const read = async (table: 'api_keys' | 'webhooks', column: string) => {
    const { rows } = await sql<{ json: string }>`
      select ${sql.ref(column)} as json from ${sql.table(table)}`.execute(database.reader.kysely);
    return JSON.parse(rows[0]?.json ?? '');
  };
  assert.deepEqual(await read('api_keys', 'allowed_recipients'), [NUMBER, ...recipients]);
  assert.deepEqual(await read('webhooks', 'filters'), {
    chats: [FORMER, ...chats, NUMBER],
    ignoredChats: [NUMBER, ...chats, '4930*'],
    adIds: [FORMER, PLACEHOLDER],
  });
});
