import { createHash } from 'node:crypto';
import { type RawBuilder, sql } from 'kysely';
import { foundation } from '../db/migrations/0050-foundation.ts';
import { OperatorError } from '../errors.ts';
import type { ConversionDatabase } from './conversionDatabase.ts';
import type { Plan, TableStep } from './plan.ts';
import { Progress } from './progress.ts';
import { type Reporter, RowReport } from './report.ts';

/** The copy differs from the source, or is of another version; the message explains what to do. */
export class CopyError extends OperatorError {}

/** Rows per transaction. */
const BATCH_ROWS = 10_000;
/** Tables with this many rows get a line when they are checked. */
const REPORTED_ROWS = 100_000;
const INDEX = /^\s*create (?:unique )?index (\w+)/i;

/** Creates the tables of the current schema in an empty copy, without the indexes, which are faster to make later. */
export async function createTables(db: ConversionDatabase, now: number): Promise<void> {
  const { kysely, connection, dialect } = db.on;
  const progress = new Progress(db.on);
  const statements = foundation.statements(dialect);
  const existing = await db.targetTables();
  if (existing.size > 0) {
    const { after = [] } = await progress.read(`tables ${fingerprint(statements)}`);
    if (after.length > 0) return;
    throw new CopyError(
      `${db.copyName} was made by another version of Switchboard. To discard it, ${db.discardAdvice}.`,
    );
  }
  await db.transaction(async () => {
    await progress.create();
    await connection.query(
      'create table schema_versions (version integer primary key, name text not null, works_from integer not null, applied_at bigint not null)',
      [],
    );
    for (const text of statements) if (!INDEX.test(text)) await connection.query(text, []);
    const { version, name } = foundation;
    await sql`insert into schema_versions (version, name, works_from, applied_at)
      values (${version}, ${name}, 0, ${now})`.execute(kysely);
    await progress.note(`tables ${fingerprint(statements)}`, { isDone: true, rows: 0, after: [version] });
  });
}

const fingerprint = (statements: readonly string[]) =>
  createHash('sha256').update(statements.join(';')).digest('base64url').slice(0, 16);

/** Copies the rows of all tables, in the order of the plan. Continues after the last batch that was stored. */
export async function copyRows(
  db: ConversionDatabase,
  plan: Plan,
  reporter: Reporter,
  batchRows = BATCH_ROWS,
): Promise<void> {
  for (const step of plan.steps) if (!step.isMaintained) await copyTable(db, step, reporter, batchRows);
}

async function copyTable(
  db: ConversionDatabase,
  step: TableStep,
  reporter: Reporter,
  batchRows: number,
): Promise<void> {
  const { kysely, connection } = db.on;
  const progress = new Progress(db.on);
  const name = `copy ${step.table}`;
  let state = await progress.read(name);
  if (state.isDone) return;
  if (step.helper !== undefined) await createHelper(db, step.helper, step.key);
  const total = Number(
    (await connection.query<{ n: number }>(`select count(*) as n from ${step.from}`, [])).rows[0]?.n,
  );
  const report = new RowReport(reporter, step.table, total);
  while (!state.isDone) {
    state = await db.transaction(async () => {
      // The current schema begins with some rows.
      if (state.rows === 0) await sql`delete from ${sql.raw(step.target)}`.execute(kysely);
      const last = await lastOfBatch(db, step, batchRows, state.after);
      const { numAffectedRows = 0n } = await sql`insert into ${sql.raw(step.target)} (${names(step.columns)})
        ${overriding(db)} select ${sql.raw(step.values.join(', '))} from ${sql.raw(step.from)}
        where ${sql.raw(step.where)} and ${range(step, state.after, last)}`.execute(kysely);
      const rows = state.rows + Number(numAffectedRows);
      const next = last === undefined ? { isDone: true, rows } : { isDone: false, rows, after: last };
      await progress.note(name, next);
      return next;
    });
    report.at(state.rows);
    reporter.stored?.(name);
  }
  report.done(state.rows);
}

const names = (columns: readonly string[]) => sql.join(columns.map((column) => sql.ref(column)));

/** PostgreSQL draws the values of identity columns, unless told otherwise. */
const overriding = ({ names: { database } }: ConversionDatabase) =>
  database === 'postgres' ? sql`overriding system value` : sql``;

/** Returns the key of the last row of a full batch; undefined if the rest is smaller. */
async function lastOfBatch(
  { on }: ConversionDatabase,
  step: TableStep,
  batchRows: number,
  after: readonly (string | number)[] | undefined,
): Promise<readonly (string | number)[] | undefined> {
  if (step.key.length === 0) return undefined;
  const keys = sql.raw(step.keyValues.join(', '));
  const { rows } = await sql<Record<string, string | number>>`select ${keys} from ${sql.raw(step.from)}
    where ${range(step, after, undefined)} order by ${keys} limit 1 offset ${sql.lit(batchRows - 1)}`.execute(
    on.kysely,
  );
  const [row] = rows;
  return row && step.key.map((column) => row[column] ?? '');
}

/** The rows after one key, up to another one. */
function range(
  { keyValues }: TableStep,
  after: readonly (string | number)[] | undefined,
  upTo: readonly (string | number)[] | undefined,
): RawBuilder<unknown> {
  const keys = sql.raw(`(${keyValues.join(', ')})`);
  const from = after === undefined ? sql`true` : sql`${keys} > (${sql.join([...after])})`;
  return upTo === undefined ? from : sql`${from} and ${keys} <= (${sql.join([...upTo])})`;
}

async function createHelper(
  { on, transaction }: ConversionDatabase,
  { name, as }: { name: string; as: string },
  key: readonly string[],
): Promise<void> {
  await transaction(async () => {
    await on.connection.query(`drop table if exists ${name}`, []);
    await on.connection.query(`create table ${name} as ${as}`, []);
    const plain = name.slice(name.indexOf('.') + 1);
    await on.connection.query(`create index ${plain}_key on ${plain} (${key.join(', ')})`, []);
  });
}

/** Creates the indexes of the copy, each in a transaction. */
export async function createIndexes(db: ConversionDatabase, reporter: Reporter): Promise<void> {
  const progress = new Progress(db.on);
  const statements = foundation.statements(db.on.dialect).filter((text) => INDEX.test(text));
  let created = 0;
  for (const text of statements) {
    const name = `index ${INDEX.exec(text)?.[1]}`;
    if ((await progress.read(name)).isDone) continue;
    await db.transaction(async () => {
      await db.on.connection.query(text, []);
      await progress.note(name, { isDone: true, rows: 0 });
    });
    created++;
    reporter.stored?.(name);
  }
  if (created > 0) reporter.line(`${created} indexes created`);
}

/**
 * Reads the rows of each table from the source and from the copy, and compares their number and their hash.
 * @throws {CopyError}
 */
export async function checkRows(db: ConversionDatabase, plan: Plan, reporter: Reporter): Promise<void> {
  let checked = 0;
  for (const step of plan.steps) {
    const compared = step.columns
      .map((_, index) => index)
      .filter((index) => !step.unchecked.includes(step.columns[index] ?? ''));
    const textOf = (values: readonly string[]) => db.rowText(compared.map((index) => values[index] ?? 'null'));
    const source = await db.digest(`select ${textOf(step.values)} from ${step.from} where ${step.where}`);
    const copy = await db.digest(`select ${textOf(step.columns.map((column) => `t.${column}`))} from ${step.target} t`);
    if (source.rows !== copy.rows || source.hash !== copy.hash)
      throw new CopyError(
        `The copy of ${step.table} differs from the source: ${differenceOf(source, copy)}. The database was not changed. If a node has written to it since the upgrade began, stop that node. Then ${db.discardAdvice} to copy everything again.`,
      );
    checked += source.rows;
    if (source.rows >= REPORTED_ROWS) reporter.line(`${step.table}: checked`);
  }
  reporter.line(`${checked.toLocaleString('en-US')} rows checked in ${plan.steps.length} tables`);
}

const differenceOf = (source: { readonly rows: number }, copy: { readonly rows: number }) =>
  source.rows === copy.rows
    ? 'their rows have different contents'
    : `it has ${copy.rows} rows instead of ${source.rows}`;
