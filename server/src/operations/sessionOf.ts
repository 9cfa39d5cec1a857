import { noSuch } from '../errors.ts';
import { optional, string } from '../invoke/fields.ts';
import type { Context } from '../invoke/operation.ts';
import { findSessionOf, ofOneSession } from '../invoke/owners.ts';
import type { SessionRef } from '../messages/store.ts';
import { resolveSession } from './sessions.ts';

/* Resources whose id determines their session. */

export const SessionOfId = optional(
  string('Id of the session (`ses_…`). It can be left out, because the other id determines it.'),
);

/**
 * Returns the session of a resource; the given one if there is one, even if the resource is not its own.
 * @throws {AppError} `not_found`
 */
export async function resolveSessionOf(
  ctx: Context,
  field: keyof typeof ofOneSession,
  id: string,
  given: string | undefined,
): Promise<SessionRef> {
  const { accountId } = ctx;
  const sessionId = given ?? (await findSessionOf(ctx.database.reader, field, { accountId, id }));
  if (sessionId === undefined) throw noSuch(ofOneSession[field], id);
  return resolveSession(ctx, sessionId);
}
