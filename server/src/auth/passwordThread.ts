import { constants, setPriority } from 'node:os';
import { parentPort } from 'node:worker_threads';
import { hashSync, verifySync } from '@node-rs/argon2';
import { READY } from '../threadPool.ts';
import { thrownMessage } from '../thrown.ts';

/** A task for a thread of `PasswordHasher`. Without `stored` the password is hashed, otherwise verified. */
export interface PasswordTask {
  readonly password: string;
  readonly stored?: string;
}

export type PasswordResult = { readonly value: string | boolean } | { readonly error: string };

// Argon2id (the library's default) with 19 MiB and two passes, as in OWASP's password storage cheat sheet.
const OPTIONS = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };

// Requests take precedence over hashes when cores are scarce. On two cores, an upload during 50 concurrent
// registrations took 16 ms instead of 350. On Linux this sets the priority of this thread; elsewhere it would be the
// whole process.
if (process.platform === 'linux') setPriority(constants.priority.PRIORITY_BELOW_NORMAL);

parentPort?.on('message', (task: PasswordTask) => parentPort?.postMessage(resultOf(task)));
parentPort?.postMessage(READY);

function resultOf({ password, stored }: PasswordTask): PasswordResult {
  try {
    return { value: stored === undefined ? hashSync(password, OPTIONS) : verifySync(stored, password) };
  } catch (error) {
    return { error: thrownMessage(error) };
  }
}
