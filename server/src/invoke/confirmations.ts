import { sql } from 'kysely';
import type { Caller } from '../auth/authenticate.ts';
import { ConfirmationTokens } from '../auth/confirmationTokens.ts';
import type { Clock } from '../clock.ts';
import type { Database } from '../db/database.ts';
import { query } from '../db/query.ts';
import type { NewId } from '../ids.ts';
import type { Cleaning } from '../jobs/cleaning.ts';

/** A call before which the user of its key is asked. */
export interface Confirmation {
  /** Says what will happen to whom. */
  readonly question: string;
  /** Digest of the caller, the operation, its input and the question. An answer is good for nothing else. */
  readonly subject: string;
}

/**
 * Obtains the user's consent for a call. Only channels that can ask have such a function.
 * @throws {AppError} `confirmation_required`, `confirmation_declined`
 */
export type Confirm = (confirmation: Confirmation) => Promise<void>;

/** How a question reaches the user. An answer that comes back in the other way is not accepted. */
export type AskedBy = 'elicitation' | 'token';

interface Options {
  readonly database: Pick<Database, 'commit'>;
  readonly secret: string;
  readonly clock: Clock;
  readonly newId: NewId;
}

/** Issues the tokens of questions, and accepts each once, on any node. */
export class Confirmations {
  readonly #options: Options;
  readonly #tokens: ConfirmationTokens;

  constructor(options: Options) {
    this.#options = options;
    this.#tokens = new ConfirmationTokens(options.secret, options.clock);
  }

  issue(askedBy: AskedBy, { subject }: Confirmation): Promise<{ token: string; expiresAt: number }> {
    return this.#tokens.issue(this.#options.newId('req'), `${askedBy} ${subject}`);
  }

  /** Marks the token as used. Returns false if it is not a token of this question, or was used before. */
  async redeem(askedBy: AskedBy, { subject }: Confirmation, { accountId }: Caller, token: string): Promise<boolean> {
    const known = await this.#tokens.verify(token, `${askedBy} ${subject}`);
    if (known === undefined) return false;
    return (await this.#options.database.commit((tx) => use.run(tx, { accountId, ...known }))) === 1;
  }
}

/** The clocks of nodes differ, and another node may still accept a token that has expired here. */
const KEPT_MS = 60 * 60 * 1000;

/** Deletes expired confirmations. */
export function prunesConfirmations(clock: Clock): Cleaning {
  return {
    name: 'used confirmations',
    run: (steps) => steps.repeat((tx, limit) => deleteExpired.run(tx, { before: clock.now() - KEPT_MS, limit })),
  };
}

const deleteExpired = query((db, p: { before: number; limit: number }) =>
  db.deleteFrom('used_confirmations').where(
    sql<boolean>`(account_id, confirmation_id) in (
        select account_id, confirmation_id from used_confirmations where expires_at < ${p.before} limit ${p.limit})`,
  ),
);

const use = query((db, p: { accountId: string; id: string; expiresAt: number }) =>
  db
    .insertInto('used_confirmations')
    .values({ account_id: p.accountId, confirmation_id: p.id, expires_at: p.expiresAt })
    .onConflict((conflict) => conflict.doNothing()),
);
