import type { ProcessAnswer, ProcessQuery } from './processReader.ts';
import { connectionOn, openFile } from './sqliteConnection.ts';

/* A process that runs queries on a SQLite database, one after the other, for the process that started it. */

// A terminal and systemd send these to the whole group. The parent still reads while it drains, then kills this process.
process.on('SIGINT', () => {});
process.on('SIGTERM', () => {});
// Does not close the database: the last connection writes back and deletes the log, which a new server may be checking.
process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'));

const database = openFile(process.argv[2] ?? '');
database.exec('pragma query_only = on');
const connection = connectionOn(database);

process.on('message', async ({ id, text, parameters }: ProcessQuery) => {
  // The callback ignores a parent that is gone.
  process.send?.(await answer(id, text, parameters), () => {});
});

async function answer(id: number, text: string, parameters: readonly unknown[]): Promise<ProcessAnswer> {
  try {
    const { rows } = await connection.query(text, parameters);
    return { id, rows };
  } catch (error) {
    // A copy of an error between processes has only its message and stack.
    const errcode = error instanceof Error && 'errcode' in error ? error.errcode : undefined;
    return { id, message: error instanceof Error ? error.message : String(error), errcode };
  }
}
