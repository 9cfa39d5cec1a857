import { chmodSync, closeSync, openSync, rmSync } from 'node:fs';
import { backup, DatabaseSync } from 'node:sqlite';
import { type BinaryOperationNode, SqliteAdapter, SqliteIntrospector, SqliteQueryCompiler, sql } from 'kysely';
import { Children } from '../../childHealth.ts';
import { AppError } from '../../errors.ts';
import { thrownMessage } from '../../thrown.ts';
import { answering, type Connection, type Dialect, type Queryable, queryable, type Store } from '../dialect.ts';
import { comparedWithNothing } from '../emptyLists.ts';
import { Checkpoints } from './checkpoints.ts';
import { LogSync } from './logSync.ts';
import { connectionOn, NEW_FILE, openFile } from './sqliteConnection.ts';
import { commitsOf, type DamageListener, rescuedFile, SqliteFiles } from './sqliteFiles.ts';
import { ThreadReader } from './threadReader.ts';

/** SQLite numbers the indexes that constraints create, so those are identified by their columns. */
const PARTS = `
  with tables as (select name, type, wr from pragma_table_list where schema = 'main' and type in ('table', 'virtual')
    and name not like 'sqlite%'),
  indexes as (
    select t.name as table_name, i.name, i."unique" as is_unique, i.origin, s.sql,
      (select group_concat(coalesce(x.name, 'expression') || iif(x."desc", ' desc', ''), ', ' order by x.seqno)
        from pragma_index_xinfo(i.name) x where x.key = 1) as columns
    from tables t join pragma_index_list(t.name) i left join sqlite_schema s on s.name = i.name
    where t.type = 'table')
  select name as "table", 'options' as part, iif(type = 'virtual', (select sql from sqlite_schema s where s.name = tables.name),
    iif(wr, 'without rowid', '')) as definition, 0 as binding from tables
  union all
  select t.name, 'column ' || c.name, c.type || iif(c."notnull", ' not null', '') || iif(c.pk > 0, ' in primary key', '')
    || iif(c.dflt_value is null, '', ' with default'), c."notnull" and c.dflt_value is null
    from tables t join pragma_table_info(t.name) c where t.type = 'table'
  union all
  select table_name, iif(origin = 'c', 'index ' || name, iif(origin = 'pk', 'primary key', 'unique') || ' (' || columns || ')'),
    iif(is_unique, 'unique ', '') || '(' || columns || ')' ||
      iif(instr(lower(sql), ' where '), substr(sql, instr(lower(sql), ' where ')), ''), is_unique
    from indexes
  union all
  select tbl_name, 'trigger ' || name, sql, 0 from sqlite_schema where type = 'trigger'`;

/** Size of a page of the search index. */
const PAGE_BYTES = 4050;

class Compiler extends SqliteQueryCompiler {
  protected override visitBinaryOperation(node: BinaryOperationNode): void {
    const constant = comparedWithNothing(node);
    if (constant === undefined) super.visitBinaryOperation(node);
    else this.append(constant);
  }
}

export const sqlite: Dialect = {
  name: 'sqlite',
  kysely: {
    createAdapter: () => new SqliteAdapter(),
    createQueryCompiler: () => new Compiler(),
    createIntrospector: (db) => new SqliteIntrospector(db),
  },
  clustered: 'without rowid',
  fillfactor: () => '',
  counted: 'integer primary key',
  numbered: 'integer primary key',
  search: {
    // Keeps only the index, not the text. Words are separated by spaces only.
    tables: [
      // Left to itself, a write may merge 64 pages of each level (75 ms), and a deletion of 250 messages as many for
      // each 64 of them (450 ms).
      `create virtual table message_words using fts5
        (words, content = '', contentless_delete = 1, detail = none, tokenize = 'ascii')`,
      `insert into message_words (message_words, rank) values ('automerge', 0)`,
      `insert into message_words (message_words, rank) values ('deletemerge', 0)`,
    ],
    buckets: {
      size: 16_384,
      // A character that no word contains, and that does not separate words for the tokenizer.
      word: (word, bucket) => `${bucket}·${word}`,
      markers: ['a', 'd', 'g', 'j', 'm', 'p', 's', 'v'].map((letter) => letter + 'z'.repeat(PAGE_BYTES)),
      merge: `insert into message_words (message_words, rank) values ('merge', ?)`,
    },
    stored: (words) => words,
    // The hidden column named like the table: querying the others requires the positions of words. A deleted row leaves
    // its words behind under a tombstone until its segment is merged. Tombstones are rows of their own: their segment's
    // id has bit 16 set, above 37 bits for the page.
    purge: {
      isDue: 'select 1 from message_words_data where id >= 65537 << 37 limit 1',
      step: `insert into message_words (message_words, rank) values ('merge', -?)`,
    },
    matches: (terms) => sql<boolean>`message_words.message_words match ${terms}`,
    terms: (words, isPrefix) => `${words.map((word) => `"${word}"`).join(' AND ')}${isPrefix ? ' *' : ''}`,
    concurrency: undefined,
  },
  hasConcurrentWriters: false, // `begin immediate` excludes all other writers
  lockStatement: () => undefined,
  tableLocks: undefined,
  recordset: undefined,
  texts: (json) => sql<string>`(select value from json_each(${json}))`,
  integers: (json) => sql<number>`(select value from json_each(${json}))`,
  startsWith: (column, prefix) =>
    sql<boolean>`(${sql.ref(column)} >= ${prefix} and ${sql.ref(column)} < ${prefix} || char(1114111))`,
  // One writer: rows become visible in the order of their positions.
  log: {
    drawsPositions: false,
    state: async () => ({ horizon: Number.MAX_SAFE_INTEGER, newest: 0, since: '' }),
    newest: async () => 0,
    server: async () => null,
    writer: 'null',
    transaction: sql<string | null>`null`,
    lockEpochs: [],
  },
  positions: [],
  nodeFence: [],
  rowTrigger: ({ name, after, table, when, statements }) =>
    `create trigger ${name} after ${after} on ${table} when ${when} begin ${statements.join('; ')}; end`,
  endTransactions: () => sql`select 1`, // one process has the database to itself
  shape: {
    parts: PARTS,
    async inScratch(_, work) {
      const database = new DatabaseSync(':memory:');
      try {
        return await work(queryable(sqlite, connectionOn(database)));
      } finally {
        database.close();
      }
    },
  },
  through: (index) => (index === null ? sql`not indexed` : sql`indexed by ${sql.ref(index)}`),
  now: sql<number>`cast(unixepoch('subsec') * 1000 as integer)`,
  reclaim: 'pragma incremental_vacuum(200)',
  // The second half of an extended result code: SQLITE_CONSTRAINT_PRIMARYKEY, _UNIQUE, _ROWID
  isUniqueViolation: (error) => [1555, 2067, 2579].includes(sqliteCode(error)),
  faultOf(error) {
    const code = sqliteCode(error) & 0xff;
    if (code === 0) return undefined;
    if (ROW.includes(code)) return 'row';
    if (AWAY.includes(code)) return 'away';
    return CONFLICT.includes(code) ? 'conflict' : 'other';
  },
  isFull: () => false, // the disk is on this machine, where the free space is measured
};

/** SQLITE_TOOBIG, CONSTRAINT, MISMATCH, RANGE */
const ROW = [18, 19, 20, 25];
/** SQLITE_BUSY, LOCKED, NOMEM, READONLY, INTERRUPT, IOERR, FULL, CANTOPEN, PROTOCOL */
const AWAY = [5, 6, 7, 8, 9, 10, 13, 14, 15];
/** SQLITE_ABORT, SCHEMA */
const CONFLICT = [4, 17];

function sqliteCode(error: unknown): number {
  return error instanceof Error && 'errcode' in error && typeof error.errcode === 'number' ? error.errcode : 0;
}

/** SQLITE_CORRUPT, SQLITE_NOTADB */
const isCorrupt = (error: unknown) => [11, 26].includes(sqliteCode(error) & 0xff);

/**
 * Opens SQLite in a file, with one connection for writes, one for committed reads (WAL), and one in a thread for long
 * ones. A commit that resolved survives a power cut: the log is synced outside the main thread where that is slow (see
 * `LogSync`), and reads return nothing that is not on the disk yet.
 * @param onDamage called when the files are deleted, replaced or destroyed; every later write is refused
 * @throws {DatabaseDamagedError} if acknowledged transactions are missing
 */
export function openSqlite(
  file: string,
  onDamage: DamageListener = () => {},
  children: Children = new Children(),
): Store {
  SqliteFiles.requireComplete(file);
  // It contains secrets, so only the owner may read it. SQLite gives the files beside it the same mode.
  closeSync(openSync(file, 'a', 0o600));
  chmodSync(file, 0o600);
  const writing = openFile(file);
  writing.exec(`${NEW_FILE}; pragma journal_mode = wal; pragma synchronous = normal`);
  // Overwrites deleted data, so that texts and secrets do not stay readable in free pages.
  writing.exec('pragma wal_autocheckpoint = 0; pragma secure_delete = on');
  const reading = openFile(file);
  reading.exec('pragma query_only = on');
  const files = new SqliteFiles(file, {
    commits: commitsOf(writing),
    save: () => saveHeld(reading, file),
    onDamage,
    checkHealth: children.of('database_check'),
  });
  // If the disk refused a part of the log before, the system may still show it. In the database it is safe.
  if (files.wasUnclean) writing.exec('pragma wal_checkpoint(truncate)');
  const log = new LogSync(`${file}-wal`, { health: children.of('log_sync') });
  const toError = (error: unknown) => {
    if (!isCorrupt(error)) return error;
    files.noteDestroyed('A query found a destroyed page in the database.');
    return new AppError('storage_unavailable', undefined, { cause: error });
  };
  const writer = queryable(sqlite, connectionOn(writing, toError));
  const reader = afterSync(connectionOn(reading, toError), log);
  const thread = new ThreadReader(file, { health: children.of('long_reads') });
  // The thread opens the file by its name, which may be that of another file by now.
  const longReader: Connection = {
    query: (text, parameters) =>
      files.areInPlace()
        ? thread.query<never>(text, parameters).catch((error) => Promise.reject(toError(error)))
        : reader.query(text, parameters),
  };
  const syncedLongReader = afterSync(longReader, log);
  const checkpoints = new Checkpoints(writing, () => longReader.query('pragma wal_checkpoint(passive)', []));
  return {
    dialect: sqlite,
    reader: queryable(sqlite, answering(sqlite, reader)),
    longReader: queryable(sqlite, answering(sqlite, syncedLongReader)),
    writers: 1,
    begin: beginOn(writing, writer, { files, log, checkpoints }),
    shared: undefined,
    poolUse: undefined,
    async rewrite() {
      // Not in memory, because the copy has the size of the whole database.
      writing.exec('pragma temp_store = default; vacuum; pragma temp_store = memory');
      writing.exec('pragma wal_checkpoint(truncate)');
    },
    startCheck: () => files.startCheck(),
    wasReplaced: () => files.wasReplaced,
    keptEpoch: () => files.keptEpoch(),
    async trimLog() {
      // Most of it outside the main thread, because it can take long. The rest reports a failure.
      await longReader.query('pragma wal_checkpoint(passive)', []).catch(() => {});
      // A new connection, because the others may have an open transaction.
      const database = openFile(file);
      try {
        database.exec('pragma busy_timeout = 0; pragma wal_checkpoint(truncate)');
      } finally {
        database.close();
      }
    },
    async close() {
      await thread.stop();
      await files.stop();
      await log.stop();
      reading.close();
      writing.close();
      files.close();
    },
  };
}

interface Durability {
  readonly files: SqliteFiles;
  readonly log: LogSync;
  readonly checkpoints: Checkpoints;
}

/** Returns the function that begins a transaction. Its commit resolves once the transaction survives a power cut. */
function beginOn(writing: DatabaseSync, writer: Queryable, { files, log, checkpoints }: Durability): Store['begin'] {
  const changes = writing.prepare('select total_changes() as n');
  let counted = changes.get()?.['n'];
  return async () => {
    await checkpoints.room();
    files.requireWhole();
    writing.exec('begin immediate');
    let isOver = false;
    return {
      ...writer,
      async commit() {
        const now = changes.get()?.['n'];
        if (now === counted) {
          writing.exec('commit');
          isOver = true;
          files.requireWhole();
          return;
        }
        writing.exec(`pragma user_version = ${files.nextCommits}`);
        writing.exec('commit');
        isOver = true;
        counted = now;
        await files.committed(log.sync());
        checkpoints.committed();
      },
      async rollback() {
        if (isOver) return;
        // SQLite ends a transaction by itself after some errors, such as a full disk.
        if (writing.isTransaction) writing.exec('rollback');
        counted = changes.get()?.['n'];
      },
    };
  };
}

/**
 * Delays the rows of a read until everything that they may contain is on the disk.
 * @throws {AppError} `storage_unavailable` while the disk does not respond, or after it has refused a sync
 */
const afterSync = ({ query }: Connection, log: LogSync): Connection => ({
  async query<R>(text: string, parameters: readonly unknown[]) {
    log.requireResponsive();
    const result = await query<R>(text, parameters);
    const { pending } = log;
    if (pending !== undefined)
      await pending.catch((cause) => Promise.reject(new AppError('storage_unavailable', undefined, { cause })));
    return result;
  },
});

/**
 * Copies the data that the server still holds open after its files are gone. It includes everything that was
 * acknowledged.
 * @returns instructions for the operator
 */
async function saveHeld(held: DatabaseSync, file: string): Promise<string> {
  const rescued = rescuedFile(file);
  try {
    rmSync(rescued, { force: true });
    await backup(held, rescued);
    chmodSync(rescued, 0o600);
    return `All acknowledged data is in ${rescued}. Stop the server, rename that file to ${file}, and delete ${file}-wal and ${file}-shm.`;
  } catch (error) {
    const why = thrownMessage(error);
    return `Stop the server and restore a backup: the data could not be copied to ${rescued} (${why}).`;
  }
}
