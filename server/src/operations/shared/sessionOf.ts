import { noSuch } from '../../errors.ts';
import { optional, string } from '../../invoke/input/fields.ts';
import { ref } from '../../invoke/input/references.ts';
import type { Context } from '../../invoke/operation.ts';
import { findSessionOf, type OfOneSession } from '../../invoke/owners.ts';
import { resolveSession } from '../../invoke/resources.ts';
import type { SessionRef } from '../../messages/store.ts';

/* Resources whose id determines their session. */

export const SessionOfId = optional(
  string('Id of the session (`ses_…`). It can be left out, because the other id determines it.', ref('session')),
);

/**
 * Returns the session of a resource; the given one if there is one, even if the resource is not its own.
 * @throws {AppError} `not_found`
 */
export async function resolveSessionOf(
  ctx: Context,
  of: OfOneSession,
  id: string,
  given: string | undefined,
): Promise<SessionRef> {
  const { accountId } = ctx;
  const sessionId = given ?? (await findSessionOf(ctx.database.reader, of, { accountId, id }));
  if (sessionId === undefined) throw noSuch(of, id);
  return resolveSession(ctx, sessionId);
}
