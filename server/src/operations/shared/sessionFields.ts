import { sql } from 'kysely';
import type { Tx } from '../../db/commit.ts';
import { invalidField } from '../../errors.ts';
import { optional, string } from '../../invoke/input/fields.ts';
import { ref } from '../../invoke/input/references.ts';
import { type Context, sessionsOf } from '../../invoke/operation.ts';
import { resolveSession } from '../../invoke/resources.ts';

/* Input fields that name sessions, and what they refer to. */

export const SessionId = string('Id of the session (`ses_…`).', ref('session'));
/** Filter of a list. */
export const ListedSessionId = optional(
  string('Only those of this session (`ses_…`).', { ...ref('session'), maxLength: 100 }),
);

export const OptionalSessionId = optional(
  string('Id of the session (`ses_…`). Required if the account has several sessions.', ref('session')),
);

/** Returns the sessions that a list covers: the one that it names, or those of the caller's key; undefined for all. */
export async function listedSessions(
  ctx: Context,
  sessionId: string | undefined,
): Promise<readonly string[] | undefined> {
  if (sessionId !== undefined) return [(await resolveSession(ctx, sessionId)).sessionId];
  const allowed = sessionsOf(ctx);
  if (allowed !== undefined) return allowed;
  const sole = await ctx.sessions.sole.of(ctx.accountId);
  return typeof sole === 'object' ? [sole.sessionId] : undefined;
}

/**
 * Selects rows by `listedSessions`. By the session also for all of them, because the keys of the tables begin with it:
 * an account with little data must not scan that of others.
 */
export function isOfSessions({ accountId }: Context, sessionIds: readonly string[] | undefined) {
  const ids =
    sessionIds === undefined
      ? sql`select s.session_id from sessions as s where s.account_id = ${accountId}`
      : sql.join(sessionIds);
  return sql<boolean>`session_id in (${ids})`;
}

/**
 * @param known sessions that need not exist: a deleted session stays in the list of its webhook
 * @throws {AppError} `validation_failed` naming the first session that the account does not have
 */
export async function requireSessions(
  { kysely, dialect }: Tx,
  accountId: string,
  sessionIds: readonly string[] | null | undefined,
  known: readonly string[] | null = null,
): Promise<void> {
  const added = sessionIds?.filter((sessionId) => !known?.includes(sessionId)) ?? [];
  if (added.length === 0) return;
  const rows = await kysely
    .selectFrom('sessions')
    .select('session_id')
    .where('account_id', '=', accountId)
    .where('deleting_at', 'is', null)
    .where('session_id', 'in', dialect.texts(JSON.stringify(added)))
    .execute();
  const found = new Set(rows.map(({ session_id }) => session_id));
  const missing = added.find((sessionId) => !found.has(sessionId));
  if (missing !== undefined)
    throw invalidField(
      'sessionIds',
      `The account has no session ${missing}; \`sessions.list\` names them`,
      'not_found',
    );
}
