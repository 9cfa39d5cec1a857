import { AsyncResource } from 'node:async_hooks';
import { createRequire } from 'node:module';

/*
 * libsignal runs the jobs of one address one after the other, across the whole process. So a job of one session may run
 * in the loop, and in the async context, that a job of another session has started. Baileys identifies the transaction
 * of a job by this context. In the wrong context, it stores a used key apart from the message that the key has
 * decrypted, and a process that dies in between loses the message; or it reads another transaction's cache.
 */

type Queue = (bucket: unknown, job: () => unknown) => Promise<unknown>;

/**
 * Makes libsignal 6.0.0 run every job in the context of its caller. Call it before anything imports libsignal, whose
 * modules keep the function that they find when they load.
 * @throws {Error} code `ERR_MODULE_NOT_FOUND` or `MODULE_NOT_FOUND` if it is not installed
 */
export function keepSignalContexts(): void {
  const require = createRequire(import.meta.resolve('baileys'));
  const path = require.resolve('libsignal/src/queue_job.js');
  const queue: Queue = require(path);
  const module = require.cache[path];
  if (module === undefined || kept.has(queue)) return;
  const keeping: Queue = (bucket, job) => queue(bucket, AsyncResource.bind(job));
  kept.add(keeping);
  module.exports = keeping;
}

const kept = new WeakSet<Queue>();
