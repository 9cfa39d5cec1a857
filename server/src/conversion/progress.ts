import { sql } from 'kysely';
import type { Queryable } from '../db/dialect.ts';

/** State of a step. Each step stores it in the transaction of its work. */
export interface StepState {
  readonly isDone: boolean;
  /** Rows so far. */
  readonly rows: number;
  /** Key of the last row that was copied. */
  readonly after?: readonly (string | number)[];
}

const TABLE = 'conversion_progress';

/** The steps that a conversion has done, stored in the copy. */
export class Progress {
  readonly #on: Queryable;

  constructor(on: Queryable) {
    this.#on = on;
  }

  async create(): Promise<void> {
    await sql`create table ${sql.table(TABLE)} (step text primary key, state text not null)`.execute(this.#on.kysely);
  }

  async read(step: string): Promise<StepState> {
    const { rows } = await sql<{ state: string }>`
      select state from ${sql.table(TABLE)} where step = ${step}`.execute(this.#on.kysely);
    const [row] = rows;
    return row === undefined ? { isDone: false, rows: 0 } : JSON.parse(row.state);
  }

  async note(step: string, state: StepState): Promise<void> {
    await sql`insert into ${sql.table(TABLE)} (step, state) values (${step}, ${JSON.stringify(state)})
      on conflict (step) do update set state = excluded.state`.execute(this.#on.kysely);
  }
}
