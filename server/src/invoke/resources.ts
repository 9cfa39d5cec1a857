import type { MessageRow, SessionTable } from '../db/schema.ts';
import { AppError, isBeingDeleted, noSuch } from '../errors.ts';
import { findMessage, findSession as readSession, type SessionRef } from '../messages/store.ts';
import type { Context, Operation, SessionContext } from './operation.ts';
import type { DeclaredService, Services } from './services.ts';

/* Sessions and messages by the ids of an input. */

type Needed = Pick<Services, 'database' | 'liveSessions' | 'sessions'> & Pick<Context, 'accountId'>;

/**
 * Adds the session of the operation to its context.
 * @throws {AppError} `not_found`, `session_required`
 */
export async function withSession(
  operation: Operation,
  ctx: Context<DeclaredService>,
  { sessionId }: Readonly<Record<string, unknown>>,
): Promise<SessionContext<DeclaredService> | Context<DeclaredService>> {
  if (operation.credential === 'none' || operation.scope !== 'sessionId' || operation.findsItself === true) return ctx;
  // Validated by the schema of the input.
  return { ...ctx, session: await resolveSession(ctx, sessionId as string | undefined) };
}

/**
 * Returns the session with this id, or the only one of the account.
 * @throws {AppError} `not_found`, `session_required`
 */
export async function resolveSession(ctx: Needed, sessionId: string | undefined): Promise<SessionRef> {
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

/** @throws {AppError} `not_found`, also for a session of another account, or one that is being deleted */
export async function findSession({ database, accountId }: Needed, sessionId: string): Promise<SessionTable> {
  const row = await readSession(database.reader, { accountId, sessionId });
  if (row === undefined) throw noSuch('session', sessionId, 'sessionId');
  if (row.deleting_at !== null) throw isBeingDeleted(sessionId);
  return row;
}

/** @throws {AppError} `not_found` if the account has no such message, or while its session is being deleted */
export async function requireMessage(ctx: Needed, messageId: string): Promise<MessageRow> {
  const { database, accountId, liveSessions } = ctx;
  const row = await findMessage(database.reader, accountId, messageId);
  if (row === undefined) throw noSuch('message', messageId);
  const { session_id: sessionId } = row;
  const state = liveSessions.stateOf({ accountId, sessionId });
  if (state === undefined || state.isEnding) await findSession(ctx, sessionId);
  return row;
}
