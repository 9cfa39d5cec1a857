import { AsyncResource } from 'node:async_hooks';
import { createRequire } from 'node:module';

/*
 * libsignal does the jobs of one address one after the other, for the whole process: those of a session may be done by
 * the loop that a job of another session has begun, and so in the context of that one. By its context Baileys knows
 * which transaction a job belongs to. In the wrong one it stores a key that is used up apart from the message that it
 * has opened, and a process that dies in between has lost the message; or it reads what another transaction has cached.
 */

type Queue = (bucket: unknown, job: () => unknown) => Promise<unknown>;

/**
 * Has every job of libsignal 6.0.0 done in the context of who asked for it. Call it before anything imports libsignal,
 * whose modules keep the function that they find then.
 * @throws {Error} code `ERR_MODULE_NOT_FOUND` or `MODULE_NOT_FOUND`: it is not installed
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
