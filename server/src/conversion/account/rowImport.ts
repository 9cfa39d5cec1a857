import { sql } from 'kysely';
import type { OpenTransaction, Queryable } from '../../db/dialect.ts';
import { accountNumber } from '../../db/numbers.ts';
import type { Seal } from '../../seal.ts';
import { type Reporter, RowReport } from '../report.ts';
import { RowSum } from '../rowSum.ts';
import { AccountFileError } from './accountFile.ts';
import type { Digests, Header, TableLine } from './accountLines.ts';
import { readRows, sealedRow, valuesOf } from './accountRows.ts';
import { type AccountTable, accountTables, isLog, type Value, type Values } from './accountTables.ts';
import { AccountMoveError } from './offlineDatabase.ts';
import { PositionMap } from './positionMap.ts';

interface Options {
  readonly header: Header;
  readonly seal: Seal;
  readonly file: string;
  readonly reporter: Reporter;
  /** Leaves out events and deliveries. */
  readonly withoutEvents: boolean;
}

const ROWS_AT_ONCE = 200;
/** SQLite takes 32,766. */
const MAX_PARAMETERS = 16_000;
const MAX_BATCH_LENGTH = 8 * 1024 ** 2;
/** Places in a chat between two messages; see `messages/sendOrder.ts`. */
const PLACES = 65_536;
/** Ids of rows that others refer to, and the tables that have them. */
const OWNERS: Readonly<Record<string, string>> = {
  session_id: 'sessions',
  webhook_id: 'webhooks',
  key_id: 'api_keys',
};

/** Adds the rows of a file to the database, as rows of its account alone. */
export class RowImport {
  readonly #tx: OpenTransaction;
  readonly #options: Options;
  readonly #sums = new Map<string, RowSum>();
  #positions: PositionMap | undefined;
  readonly #receivers = new Map<string, number>();
  /** Ids that no other account has, as far as they were looked up, by column. */
  readonly #own = new Map<string, Set<Value>>();
  #table: AccountTable | undefined;
  #waiting: Values[] = [];
  #length = 0;
  #report: RowReport | undefined;
  /** Added to each `seq`: messages keep their distances, behind those that are here. */
  #shift: number | undefined;

  constructor(tx: OpenTransaction, options: Options) {
    this.#tx = tx;
    this.#options = options;
  }

  /** @throws {AccountFileError} if the table is unknown, repeated or of other columns */
  async begin({ table: name, columns }: TableLine): Promise<void> {
    await this.finish();
    const expected = accountTables[this.#sums.size];
    if (expected?.table !== name || expected.columns.join() !== columns.join())
      throw this.#refused(`The table ${name} has another place or other columns than here`);
    this.#table = expected;
    this.#sums.set(name, new RowSum());
    this.#report = new RowReport(this.#options.reporter, name, undefined);
  }

  async add(values: readonly Value[]): Promise<void> {
    const table = this.#table;
    if (table === undefined) throw this.#refused('A row has no table');
    if (values.length !== table.columns.length) throw this.#refused(`A row of ${table.table} has other columns`);
    const text = JSON.stringify(values);
    this.#sums.get(table.table)?.add(text);
    const row: Values = Object.fromEntries(table.columns.map((name, index) => [name, values[index] ?? null]));
    if (isLog(table) && this.#options.withoutEvents) {
      if (['queue', 'waiting'].includes(table.table)) throw pendingLeft();
      return;
    }
    await this.#requireOwn(row, table);
    this.#waiting.push(row);
    this.#length += text.length;
    const most = Math.min(ROWS_AT_ONCE, Math.floor(MAX_PARAMETERS / table.columns.length));
    if (this.#waiting.length >= most || this.#length > MAX_BATCH_LENGTH) await this.#flush(table);
  }

  /** Writes what waits. */
  async finish(): Promise<void> {
    if (this.#table === undefined) return;
    await this.#flush(this.#table);
    this.#report?.done(this.#sums.get(this.#table.table)?.digest().rows ?? 0);
  }

  /**
   * Reads everything back, and compares it with the file.
   * @returns the number of rows
   * @throws {AccountFileError}
   */
  async check(digests: Digests): Promise<number> {
    const { seal, header } = this.#options;
    if (this.#sums.size < accountTables.length) throw this.#refused('It does not have all tables');
    let total = 0;
    for (const table of accountTables) {
      const { table: name } = table;
      const [given, sum] = [digests[name], this.#sums.get(name)?.digest()];
      if (given === undefined || given.rows !== sum?.rows || given.hash !== sum.hash)
        throw this.#refused(`The rows of ${name} differ from those that were exported`);
      if (isLog(table) && this.#options.withoutEvents) continue;
      const found = new RowSum();
      for await (const rows of readRows(this.#tx, seal, table, header.accountId))
        for (const row of rows) found.add(JSON.stringify(valuesOf(table, this.#asGiven(row, table))));
      const actual = found.digest();
      if (actual.rows !== sum.rows || actual.hash !== sum.hash)
        throw new Error(`${name} was read back as ${actual.rows} rows that differ from the ${sum.rows} written`);
      total += actual.rows;
    }
    await this.#carrySequences();
    return total;
  }

  async #flush(table: AccountTable): Promise<void> {
    const rows = this.#waiting;
    this.#waiting = [];
    this.#length = 0;
    if (rows.length === 0) return;
    const { seal } = this.#options;
    const own = await this.#asHere(rows, table);
    const written = own.map((row) => sealedRow(row, seal, table));
    const columns = Object.keys(written[0] ?? {});
    const lists = written.map((row) => sql`(${sql.join(columns.map((name) => row[name] ?? null))})`);
    const overriding = this.#tx.dialect.hasConcurrentWriters ? sql`overriding system value` : sql``;
    await sql`insert into ${sql.table(table.table)} (${sql.join(columns.map((name) => sql.ref(name)))})
      ${overriding} values ${sql.join(lists)}`.execute(this.#tx.kysely);
    this.#report?.at(this.#sums.get(table.table)?.digest().rows ?? 0);
  }

  /** Returns rows with the numbers that they have here. */
  async #asHere(rows: readonly Values[], table: AccountTable): Promise<readonly Values[]> {
    if (table.table === 'messages') {
      const by = this.#shift ?? (await newestSeq(this.#tx)) - Number(rows[0]?.['seq']) + 1;
      this.#shift = by;
      return rows.map((row) => moved(row, by));
    }
    if (!isLog(table)) return rows;
    const positions = this.#positions ?? (await PositionMap.open(this.#tx, this.#options.header));
    this.#positions = positions;
    const { accountId } = this.#options.header;
    const { rows: found } = await sql<{ seq: number }>`select ${accountNumber(accountId)} as seq`.execute(
      this.#tx.kysely,
    );
    const account = found[0]?.seq ?? null;
    const own: Values[] = [];
    for (const { webhook_id: webhookId, ...row } of rows) {
      const moved: Record<string, Value> = {};
      for (const name of table.positions) {
        const given = row[name] ?? null;
        const here = table.table === 'events' ? await positions.add(Number(given)) : positions.here(given);
        if (here === undefined) throw this.#refused(`A row of ${table.table} has no event`);
        moved[name] = here;
      }
      own.push({
        ...row,
        ...moved,
        ...(['events', 'deliveries'].includes(table.table) && { account }),
        ...(webhookId !== undefined && { webhook: await this.#receiver(String(webhookId)) }),
      });
    }
    return own;
  }

  /** Returns the number of a webhook, which may be removed. */
  async #receiver(webhookId: string): Promise<number> {
    const known = this.#receivers.get(webhookId);
    if (known !== undefined) return known;
    const { kysely } = this.#tx;
    await sql`insert into receivers (webhook_id) values (${webhookId}) on conflict do nothing`.execute(kysely);
    const { seq } = await kysely
      .selectFrom('receivers')
      .select('seq')
      .where('webhook_id', '=', webhookId)
      .executeTakeFirstOrThrow();
    this.#receivers.set(webhookId, seq);
    return seq;
  }

  /** The opposite of `asHere`. */
  #asGiven(row: Values, table: AccountTable): Values {
    if (table.table === 'messages') return moved(row, -(this.#shift ?? 0));
    const given = table.positions.map((name) => [name, this.#positions?.given(row[name] ?? null) ?? null]);
    return { ...row, ...Object.fromEntries(given) };
  }

  /** @throws {AccountFileError} if the row belongs to another account, or would be added to one */
  async #requireOwn(row: Values, { table, columns }: AccountTable): Promise<void> {
    const { accountId, email } = this.#options.header;
    if (columns.includes('account_id') && row['account_id'] !== accountId)
      throw this.#refused(`A row of ${table} belongs to another account`);
    if (table === 'accounts' && row['email'] !== email) throw this.#refused('The account has another email address');
    for (const [column, owner] of Object.entries(OWNERS)) {
      const id = row[column];
      if (id === null || id === undefined) continue;
      const own = this.#own.get(column) ?? new Set();
      this.#own.set(column, own);
      if (own.has(id)) continue;
      if (table !== owner && (await isOfOther(this.#tx, { owner, column, id, accountId })))
        throw this.#refused(`A row of ${table} belongs to another account`);
      own.add(id);
    }
  }

  /** Lets PostgreSQL draw numbers after those that were imported. */
  async #carrySequences(): Promise<void> {
    const { accountId } = this.#options.header;
    if (!this.#tx.dialect.hasConcurrentWriters) return;
    const numbers = [
      [`pg_get_serial_sequence('messages', 'seq')`, 'select max(seq) from messages where account_id = $1'],
      [
        `'event_positions'`,
        'select max(e.position) from events e join accounts a on a.seq = e.account where a.account_id = $1',
      ],
    ];
    for (const [sequence, newest] of numbers)
      await this.#tx.connection.query(`select setval(${sequence}, greatest(nextval(${sequence}), (${newest})))`, [
        accountId,
      ]);
  }

  #refused(why: string): AccountFileError {
    return new AccountFileError(`${this.#options.file} cannot be imported: ${why}. Nothing was imported.`);
  }
}

const pendingLeft = () =>
  new AccountMoveError(
    'Deliveries of the account are pending, and --without-events would lose them. Let the server deliver or cancel them, and export again. Nothing was imported.',
  );

function moved(row: Values, by: number): Values {
  const turn = row['turn'];
  return { ...row, seq: Number(row['seq']) + by, turn: typeof turn === 'number' ? turn + by * PLACES : null };
}

/** Returns the last number that is used. The search has indexed those up to its cursor, even of deleted messages. */
async function newestSeq({ kysely }: Queryable): Promise<number> {
  const { rows } = await sql<{ seq: number | null }>`select max(seq) as seq from (
    select max(seq) as seq from messages union all select seq from search_cursor) as used`.execute(kysely);
  return rows[0]?.seq ?? 0;
}

interface Owned {
  readonly owner: string;
  readonly column: string;
  readonly id: Value;
  readonly accountId: string;
}

async function isOfOther({ kysely }: Queryable, { owner, column, id, accountId }: Owned): Promise<boolean> {
  const { rows } = await sql`select 1 from ${sql.table(owner)}
    where ${sql.ref(column)} = ${id} and account_id <> ${accountId}`.execute(kysely);
  return rows.length > 0;
}
