import { Queue, Worker } from 'bullmq';
import { Redis } from 'ioredis';
import { createSignedPost, eventId } from './signedPost.ts';

/*
 * The usual self-built alternative: a BullMQ queue on Redis, and a worker that signs and posts. As with the product,
 * the jobs are queued before the run starts.
 */
const { TARGET = '', CONCURRENCY = '', TOTAL = '', REDIS_PORT = '' } = process.env;
const connection = new Redis(Number(REDIS_PORT), '127.0.0.1', { maxRetriesPerRequest: null });
const { body, post } = await createSignedPost(TARGET);
const queue = new Queue('webhooks', { connection });
const AT_ONCE = 1000;
for (let n = 0; n < Number(TOTAL); n += AT_ONCE) {
  await queue.addBulk(
    Array.from({ length: AT_ONCE }, (_, k) => ({
      name: 'deliver',
      data: { id: eventId(n + k), body },
      opts: { attempts: 10, removeOnComplete: true },
    })),
  );
}
const worker = new Worker('webhooks', ({ data }) => post(data.id, data.body), {
  connection,
  concurrency: Number(CONCURRENCY),
});
worker.on('error', () => {}); // Redis stops before the worker
process.stdout.write('http://127.0.0.1:0\n'); // listens on nothing; the harness waits for a line
process.on('SIGTERM', () => process.exit(0));
