import { isUserId } from '../../connectors/contract/people.ts';
import { AppError, invalidField } from '../../errors.ts';
import { isGroupId } from '../../ids.ts';
import { recipientOf } from '../../invoke/input/phoneNumbers.ts';
import { recipientFinder, requireNamed } from '../../invoke/networkIds.ts';
import type { SessionContext } from '../../invoke/operation.ts';
import { requirePerson } from '../../invoke/recipients.ts';
import { numberFinder } from '../../invoke/typedNumbers.ts';
import { chatOf } from '../../messages/messages/outgoing.ts';

/* The recipients of a bulk send. */

export interface Recipient {
  readonly given: string;
  /** Digits, or the id of a group; undefined if it gets no message. */
  readonly to?: string;
  readonly error?: string;
  readonly duplicateOf?: number;
}

/**
 * Looks up the recipients. Both forms of a number, and a number and a hidden one of the same person, are one.
 * @param rules.onlyGroups whether the content is only for groups
 */
export async function findRecipients(
  ctx: SessionContext,
  given: readonly string[],
  { onlyGroups }: { readonly onlyGroups: boolean },
): Promise<Recipient[]> {
  const { session } = ctx;
  const groupOf = await recipientFinder(ctx, session, given);
  const numberOf = await numberFinder(ctx, session, given);
  const connection = ctx.liveSessions.find(session)?.connection;
  const places = new Map<string, number>();
  const found: Recipient[] = [];
  for (const [place, one] of given.entries()) {
    try {
      const to = recipientOf(numberOf(groupOf(one), 'to'));
      if (onlyGroups && !isGroupId(to)) throw invalidField('to', '`mentionAll` is only for groups');
      await requirePerson(ctx, session.sessionId, to, one);
      await chatOf(ctx.database.reader, session, to); // throws unless a group belongs to the session
      if (isUserId(one.trim())) await requireNamed(ctx.sessions.people, session, [one.trim()]);
      const key = connection?.numberOf?.(to) ?? to;
      const duplicateOf = places.get(key);
      if (duplicateOf !== undefined) {
        const error = `The same recipient is at position ${duplicateOf} of \`to\`, and gets the message once`;
        found.push({ given: one, error, duplicateOf });
        continue;
      }
      places.set(key, place);
      found.push({ given: one, to });
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      found.push({ given: one, error: error.message });
    }
  }
  return found;
}
