import { sql } from 'kysely';
import type { Tx } from '../../db/commit.ts';
import type { SessionTable } from '../../db/schema.ts';
import { AppError, invalidField, isBeingDeleted, noSuch } from '../../errors.ts';
import { optional, string } from '../../invoke/input/fields.ts';
import { ref } from '../../invoke/input/references.ts';
import { type Context, sessionsOf } from '../../invoke/operation.ts';
import { findSession as readSession, type SessionRef } from '../../messages/store.ts';

/* Input fields that name sessions, and what they refer to. */

export const SessionId = string('Id of the session (`ses_…`).', ref('session'));
/** Filter of a list. */
export const ListedSessionId = optional(
  string('Only those of this session (`ses_…`).', { ...ref('session'), maxLength: 100 }),
);

export const OptionalSessionId = optional(
  string('Id of the session (`ses_…`). Required if the account has several sessions.', ref('session')),
);

/**
 * Returns the session with this id, or the only one of the account.
 * @throws {AppError} `not_found`, `session_required`
 */
export async function resolveSession(ctx: Context, sessionId: string | undefined): Promise<SessionRef> {
  const { accountId } = ctx;
  if (sessionId !== undefined) {
    const session = { accountId, sessionId };
    if (ctx.liveSessions.stateOf(session) === undefined) await findSession(ctx, sessionId);
    return session;
  }
  const sole = await ctx.sessions.sole.of(accountId);
  if (sole === 'none') {
    throw new AppError('session_required', 'The account has no session; create and connect one first');
  }
  if (sole === 'several') {
    throw new AppError('session_required', '`sessionId` is required because the account has several sessions', {
      fields: [
        { field: 'sessionId', code: 'required', message: 'is required because the account has several sessions' },
      ],
    });
  }
  return { accountId, sessionId: sole.sessionId };
}

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
 * Selects rows by `listedSessions`. By the session also for all of them, because the keys of the tables begin with it: an
 * account with little data must not scan that of others.
 */
export function isOfSessions({ accountId }: Context, sessionIds: readonly string[] | undefined) {
  const ids =
    sessionIds === undefined
      ? sql`select s.session_id from sessions as s where s.account_id = ${accountId}`
      : sql.join(sessionIds);
  return sql<boolean>`session_id in (${ids})`;
}

/** @throws {AppError} `not_found`, also for a session of another account */
export async function findSession(ctx: Context, sessionId: string): Promise<SessionTable> {
  const row = await readSession(ctx.database.reader, { accountId: ctx.accountId, sessionId });
  if (row === undefined) throw noSuch('session', sessionId, 'sessionId');
  if (row.deleting_at !== null) throw isBeingDeleted(sessionId);
  return row;
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
