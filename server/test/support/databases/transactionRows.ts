import { type Connection, queryable, type Store } from '../../../src/db/dialect.ts';

/** Records how many rows of a table each transaction reads and changes. */
export class TransactionRows {
  readonly #table: RegExp;
  readonly #counts: number[] = [];

  constructor(table: string) {
    this.#table = new RegExp(`\\b(from|into|update) "?${table}"?(?![a-z_])`, 'i');
  }

  readonly wrap = (store: Store): Store => ({
    ...store,
    begin: async (as, limits) => {
      const transaction = await store.begin(as, limits);
      const rows = { count: 0 };
      return {
        ...queryable(store.dialect, this.#counting(transaction.connection, rows)),
        commit: async (unanswered) => {
          await transaction.commit(unanswered);
          if (rows.count > 0) this.#counts.push(rows.count);
        },
        rollback: () => transaction.rollback(),
      };
    },
  });

  /** Returns the rows of each transaction with any since the last call. */
  take(): number[] {
    return this.#counts.splice(0);
  }

  #counting({ query, queryEach }: Connection, rows: { count: number }): Connection {
    return {
      query: async (text, parameters, name) => {
        const result = await query<never>(text, parameters, name);
        if (this.#table.test(text)) rows.count += Math.max(result.rows.length, result.changed);
        return result;
      },
      ...(queryEach && {
        queryEach: async (text, lists) => {
          const found = await queryEach<never>(text, lists);
          if (this.#table.test(text)) rows.count += lists.length;
          return found;
        },
      }),
    };
  }
}
