import { mkdirSync, openSync, writeSync } from 'node:fs';
import { createRequire, syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import type { StatementSync } from 'node:sqlite';
import { threadId } from 'node:worker_threads';

/*
 * Loaded into a server with `--import`: counts the statements that it runs on SQLite, in a file of `COUNTS_DIR` for
 * each thread, and keeps the write-ahead log from being written back, so that its size is the number of bytes written
 * to it.
 */
const folder = process.env['COUNTS_DIR'] ?? '';
mkdirSync(folder, { recursive: true });
let file: number | undefined;
let statements = 0;

function add(count: number): void {
  statements += count;
  file ??= openSync(join(folder, `${process.pid}-${threadId}`), 'w');
  writeSync(file, String(statements), 0);
}

const sqlite = createRequire(import.meta.url)('node:sqlite') as typeof import('node:sqlite');

const withoutCheckpoints = (text: string) =>
  text
    .replaceAll(/wal_autocheckpoint\s*=\s*\d+/gi, 'wal_autocheckpoint = 0')
    .replaceAll(/pragma\s+wal_checkpoint(\s*\(\w+\))?/gi, 'select 0');

class CountingDatabase extends sqlite.DatabaseSync {
  constructor(...args: ConstructorParameters<typeof sqlite.DatabaseSync>) {
    super(...args);
    super.exec('pragma wal_autocheckpoint = 0');
  }

  override exec(text: string): void {
    add(text.split(';').filter((part) => part.trim() !== '').length);
    super.exec(withoutCheckpoints(text));
  }

  override prepare(...[text, ...options]: Parameters<InstanceType<typeof sqlite.DatabaseSync>['prepare']>) {
    return super.prepare(withoutCheckpoints(text), ...options);
  }
}

for (const name of ['run', 'get', 'all', 'iterate'] as const) {
  const run = sqlite.StatementSync.prototype[name] as (this: StatementSync, ...values: unknown[]) => never;
  sqlite.StatementSync.prototype[name] = function counted(this: StatementSync, ...values: unknown[]) {
    add(1);
    return run.apply(this, values);
  };
}
Object.assign(sqlite, { DatabaseSync: CountingDatabase });
syncBuiltinESMExports();
