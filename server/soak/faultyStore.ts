import { createHash } from 'node:crypto';
import { sleep } from '../src/async.ts';
import type { Clock } from '../src/clock.ts';
import {
  answering,
  type Connection,
  type Dialect,
  type OpenTransaction,
  queryable,
  type Result,
  type Store,
  UnknownCommitError,
} from '../src/db/dialect.ts';
import { postgres } from '../src/db/postgres/postgres.ts';
import { randomFrom } from './settings.ts';

/*
 * A store that fails as PostgreSQL does, on top of one that works: statements are cancelled, locks time out, plans are
 * outdated, transactions deadlock, connections break, and the response to a commit is lost before or after it happened.
 */

/** Errors of a statement, by SQLSTATE. The transaction is aborted, and only a rollback helps. */
const STATEMENT_ERRORS = {
  '57014': 'canceling statement due to statement timeout',
  '55P03': 'canceling statement due to lock timeout',
  '0A000': 'cached plan must not change result type',
  '26000': 'prepared statement "s1" does not exist',
  '40P01': 'deadlock detected',
  '40001': 'could not serialize access due to concurrent update',
  '53300': 'sorry, too many clients already',
} as const;

const BROKEN = 'ECONNRESET';
const ABORTED = '25P02';
/** Of a statement, by the clock of the run. */
export const LONGEST_DELAY_MS = 400;

/** How often something happens, from 0 to 1. */
const CHANCE = { statementError: 0.02, broken: 0.004, lostCommit: 0.03, delay: 0.03 };

export class StoreFaults {
  isActive = false;
  /** Every fault so far, in order. */
  readonly log: string[] = [];
  readonly #seed: number;
  readonly #clock: Clock;
  /** How often each statement ran while faults were active. */
  readonly #counts = new Map<string, number>();

  constructor(seed: number, clock: Clock) {
    this.#seed = seed;
    this.#clock = clock;
  }

  /** Wraps a store. Its faults happen only while they are active. */
  readonly wrap = (store: Store): Store => {
    const dialect = withErrorsOfPostgres(store.dialect);
    const reading = (inner: Store['reader']) =>
      queryable(dialect, answering(dialect, this.#faulty(inner.connection, undefined)));
    return {
      ...store,
      dialect,
      reader: reading(store.reader),
      longReader: reading(store.longReader),
      begin: async (as, limits) => {
        const dice = this.#dice('begin');
        await this.#delay(dice);
        if (dice() < CHANCE.broken) throw this.#error(BROKEN);
        return this.#transaction(dialect, await store.begin(as, limits));
      },
    };
  };

  #transaction(dialect: Dialect, inner: OpenTransaction): OpenTransaction {
    const state: State = { error: undefined, last: '' };
    return {
      ...queryable(dialect, this.#faulty(inner.connection, state)),
      commit: async (unanswered) => {
        const dice = this.#dice(`commit ${state.last}`);
        await this.#delay(dice);
        if (state.error !== undefined) throw state.error;
        const isLost = dice() < CHANCE.lostCommit;
        const cause = isLost ? this.#error('lost commit') : undefined;
        if (isLost && dice() < 0.5) throw new UnknownCommitError(cause);
        await inner.commit(unanswered);
        if (isLost) throw new UnknownCommitError(cause);
      },
      rollback: () => inner.rollback(),
    };
  }

  /** @param state of its transaction; undefined for reads, which are independent of each other */
  #faulty(inner: Connection, state: State | undefined): Connection {
    const { queryEach } = inner;
    const guard = async <T>(text: string, run: () => Promise<T>): Promise<T> => {
      const dice = this.#dice(text);
      await this.#delay(dice);
      if (state !== undefined) recoverOrThrow(state, text);
      const error = this.#nextError(dice);
      if (error === undefined) return run();
      if (state !== undefined) state.error = error;
      throw error;
    };
    return {
      query: <R>(text: string, parameters: readonly unknown[], name?: string): Promise<Result<R>> =>
        guard(text, () => inner.query<R>(text, parameters, name)),
      ...(queryEach && {
        queryEach: <R>(text: string, lists: readonly (readonly unknown[])[]): Promise<R[]> =>
          guard(text, () => queryEach.call(inner, text, lists) as Promise<R[]>),
      }),
    };
  }

  #nextError(dice: () => number): Error | undefined {
    if (dice() < CHANCE.broken) return this.#error(BROKEN);
    if (dice() >= CHANCE.statementError) return undefined;
    const codes = Object.keys(STATEMENT_ERRORS) as (keyof typeof STATEMENT_ERRORS)[];
    const code = codes[Math.floor(dice() * codes.length)] ?? '57014';
    return this.#error(code, STATEMENT_ERRORS[code]);
  }

  async #delay(dice: () => number): Promise<void> {
    if (dice() < CHANCE.delay) await sleep(this.#clock, dice() * LONGEST_DELAY_MS);
  }

  /**
   * Returns the chances of the next run of a statement. They depend on the seed, the statement and how often it ran,
   * and not on other statements, so that a seed has the same faults even if work overlaps in another way.
   */
  #dice(statement: string): () => number {
    if (!this.isActive) return () => 1;
    const count = (this.#counts.get(statement) ?? 0) + 1;
    this.#counts.set(statement, count);
    return randomFrom(createHash('sha256').update(`${this.#seed} ${count} ${statement}`).digest().readInt32LE());
  }

  #error(code: string, message = code): Error {
    this.log.push(code);
    return newError(code, message);
  }
}

/** A transaction, and the error that has aborted it. */
interface State {
  error: Error | undefined;
  /** The latest statement. */
  last: string;
}

/** A savepoint outlives an aborted statement, but not a broken connection. */
function recoverOrThrow(state: State, text: string): void {
  state.last = text;
  const isBroken = codeOf(state.error) === BROKEN;
  if (/^rollback to/.test(text) && !isBroken) state.error = undefined;
  if (state.error === undefined) return;
  throw isBroken ? state.error : newError(ABORTED, 'current transaction is aborted');
}

const withErrorsOfPostgres = (dialect: Dialect): Dialect => ({
  ...dialect,
  faultOf: (error) => (isInjected(error) ? postgres : dialect).faultOf(error),
});

class InjectedError extends Error {
  readonly code: string;

  constructor(code: string, message: string) {
    super(`${message} (injected)`);
    this.code = code;
  }
}

const newError = (code: string, message: string) => new InjectedError(code, message);
const isInjected = (error: unknown) => error instanceof InjectedError;
const codeOf = (error: Error | undefined) => (error instanceof InjectedError ? error.code : undefined);
