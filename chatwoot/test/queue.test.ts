import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { openDatabase } from '../src/database/database.ts';
import { Queue } from '../src/queue/queue.ts';
import { done, Worker } from '../src/queue/worker.ts';

describe('the queue', () => {
  it('reports to a job which of its additions to another queue were new', async (test) => {
    const folder = mkdtempSync(join(tmpdir(), 'chatwoot-queue-'));
    const database = await openDatabase(join(folder, 'queue.db'));
    const first = new Queue(database, 'to_chatwoot', 10, () => {});
    const second = new Queue(database, 'to_whatsapp', 10, () => {});
    const changes = Promise.withResolvers<readonly number[]>();
    const job = (dedup: string) => ({ dedup, lane: 'lane', payload: {} });
    const worker = new Worker({
      queue: first,
      log: () => {},
      handle: async () => done([second.insertion(job('known')), second.insertion(job('new'))], changes.resolve),
    });
    test.after(async () => {
      await worker.stop();
      await database.close();
      rmSync(folder, { recursive: true });
    });
    await second.add(job('known'));
    await first.add(job('job'));
    worker.start();
    assert.deepEqual(await changes.promise, [0, 1]);
    assert.equal(first.waiting, 0);
  });
});
