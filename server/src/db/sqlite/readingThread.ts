import { parentPort, workerData } from 'node:worker_threads';
import { READY } from '../../threadPool.ts';
import { thrownMessage } from '../../thrown.ts';
import { connectionOn, openFile } from './sqliteConnection.ts';
import type { ThreadAnswer, ThreadQuery } from './threadReader.ts';

/* A thread that runs queries and checkpoints on a SQLite database, one after the other. */

const database = openFile(workerData);
// Checkpoints are still allowed: they change no data.
database.exec('pragma query_only = on');
const connection = connectionOn(database);

parentPort?.on('message', async ({ id, text, parameters }: ThreadQuery) => {
  parentPort?.postMessage(await answer(id, text, parameters));
});
parentPort?.postMessage(READY);

async function answer(id: number, text: string, parameters: readonly unknown[]): Promise<ThreadAnswer> {
  try {
    const { rows } = await connection.query(text, parameters);
    return { id, rows };
  } catch (error) {
    // A copy of an error between threads has only its message and stack.
    const errcode = error instanceof Error && 'errcode' in error ? error.errcode : undefined;
    return { id, message: thrownMessage(error), errcode };
  }
}
