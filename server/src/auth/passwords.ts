import { ChildHealth } from '../childHealth.ts';
import { AppError } from '../errors.ts';
import { ThreadPool } from '../threadPool.ts';
import { networkOf } from './network.ts';
import type { PasswordResult, PasswordTask } from './passwordThread.ts';

/** A hash takes 19 MiB and about 40 ms of a core. */
const THREADS = 2;
/** A full queue is processed in less than a second. */
const MAX_QUEUE = 32;
/** Keeps one network from filling the queue. */
const QUEUED_PER_NETWORK = 16;
const TIMEOUT_MS = 15_000;

interface Options {
  readonly health?: ChildHealth;
  readonly script?: URL;
  readonly timeoutMs?: number;
}

/**
 * Hashes and verifies passwords with Argon2id, two at a time, in separate threads: the library's asynchronous functions
 * would occupy libuv's pool, which file access shares. A thread starts when it is first needed.
 */
export class PasswordHasher {
  readonly #pool: ThreadPool<PasswordTask, PasswordResult>;

  constructor({
    health = new ChildHealth('passwords'),
    script = new URL('./passwordThread.ts', import.meta.url),
    timeoutMs = TIMEOUT_MS,
  }: Options = {}) {
    this.#pool = new ThreadPool({ script, size: THREADS, timeoutMs, health, purpose: 'check passwords' });
  }

  /** @throws {AppError} `too_busy` if the queue is full or no thread can be started */
  async hash(password: string, address: string): Promise<string> {
    return String(await this.#do({ password }, address));
  }

  /**
   * Takes as long without a stored hash, so that an unknown email cannot be told from a wrong password.
   * @throws {AppError} `too_busy` if the queue is full or no thread can be started
   */
  async verify(password: string, stored: string | undefined, address: string): Promise<boolean> {
    if (stored !== undefined) return (await this.#do({ password, stored }, address)) === true;
    await this.#do({ password }, address);
    return false;
  }

  async stop(): Promise<void> {
    await this.#pool.stop();
  }

  async #do(task: PasswordTask, address: string): Promise<string | boolean> {
    const network = networkOf(address);
    if (!this.#hasRoomFor(network)) throw new AppError('too_busy', 'Too many logins are in progress; try again');
    const result = await this.#pool.run(task, network);
    if ('error' in result) throw new Error(`hashing a password failed: ${result.error}`);
    return result.value;
  }

  #hasRoomFor(network: string): boolean {
    return this.#pool.waiting() < MAX_QUEUE && this.#pool.waiting(network) < QUEUED_PER_NETWORK;
  }
}
