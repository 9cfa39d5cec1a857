import { DatabaseSync } from 'node:sqlite';
import { parentPort, workerData } from 'node:worker_threads';
import { thrownMessage } from '../../thrown.ts';

/* A thread that reads a whole SQLite database and checks its pages. */

const database = new DatabaseSync(workerData, { readOnly: true });
try {
  const rows = database.prepare('pragma quick_check(5)').all();
  parentPort?.postMessage(rows.map((row) => row['quick_check']).join('; '));
} catch (error) {
  parentPort?.postMessage(thrownMessage(error));
} finally {
  database.close();
}
