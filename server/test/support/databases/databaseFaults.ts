import { answering, type Connection, queryable, type Store } from '../../../src/db/dialect.ts';

/** Errors that describe the state of the database, not the row, by SQLSTATE. */
const STATES = {
  '57014': 'canceling statement due to statement timeout',
  '55P03': 'canceling statement due to lock timeout',
  '40P01': 'deadlock detected',
  '0A000': 'cached plan must not change result type',
} as const;

/** Fails chosen statements on PostgreSQL with each of the states in turn. */
export class DatabaseFaults {
  /** Decides whether a statement fails. */
  fails: (statement: string, parameters: readonly unknown[]) => boolean = () => false;
  /** Number of failures since the last `end`. */
  count = 0;

  end(): void {
    this.fails = () => false;
    this.count = 0;
  }

  readonly wrap = (store: Store): Store => {
    const { dialect } = store;
    const reading = ({ connection }: Store['reader']) =>
      queryable(dialect, answering(dialect, this.#faulty(connection)));
    return {
      ...store,
      reader: reading(store.reader),
      longReader: reading(store.longReader),
      begin: async (as, limits) => {
        const transaction = await store.begin(as, limits);
        return {
          ...queryable(dialect, this.#faulty(transaction.connection)),
          commit: (unanswered) => transaction.commit(unanswered),
          rollback: () => transaction.rollback(),
        };
      },
    };
  };

  #faulty(inner: Connection): Connection {
    return {
      query: async (text, parameters, name) => {
        if (!this.fails(text, parameters)) return inner.query(text, parameters, name);
        const states = Object.entries(STATES);
        const [code, message] = states[this.count++ % states.length] ?? [];
        throw Object.assign(new Error(message), { code });
      },
    };
  }
}
