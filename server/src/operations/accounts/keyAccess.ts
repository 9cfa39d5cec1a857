import { findKeyCaller } from '../../auth/keyCaller.ts';
import { scopeOf } from '../../auth/keyScope.ts';
import { allows } from '../../auth/permissions.ts';
import { isRecipient, type RecipientPatterns } from '../../auth/recipientPatterns.ts';
import type { Clock } from '../../clock.ts';
import type { Queryable } from '../../db/dialect.ts';
import type { MessageRow } from '../../db/schema.ts';
import { sessionsOf } from '../../invoke/operation.ts';
import { isListedId } from '../../invoke/recipients.ts';
import { approvalOf } from '../../messages/messages/approval.ts';
import type { People } from '../../sessions/people.ts';
import { maySendToEveryone } from '../shared/callText.ts';

/*
 * The present limits of an API key, for what it has made and what is done later. A key that has ended has none: what it
 * made belongs to the account, which can remove it with the revocation.
 */

type Sent = Pick<MessageRow, 'account_id' | 'session_id' | 'chat_id' | 'key_id' | 'approval'>;

/** Creates the function that returns the reason why the key of a message may no longer send it. */
export function createKeyRefusal(reader: Queryable, clock: Clock, userIdsOf: People['userIdsOf']) {
  return async (row: Sent): Promise<string | undefined> => {
    const caller = row.key_id === null ? undefined : await findKeyCaller(reader, row.key_id, clock.now());
    if (caller === undefined || caller.accountId !== row.account_id) return undefined;
    const { recipients, requiresApproval } = scopeOf(caller) ?? {};
    if (!allows(caller.credential.permissions, 'messages:send'))
      return 'The API key of the message may no longer send messages';
    if (sessionsOf({ caller })?.includes(row.session_id) === false)
      return 'The API key of the message may no longer use the session';
    const isListed = async (patterns: RecipientPatterns) =>
      isRecipient(patterns, row.chat_id) || isListedId(patterns, await userIdsOf(row.session_id, row.chat_id));
    if (recipients !== undefined && !(await isListed(recipients)))
      return `The API key of the message may no longer send to ${row.chat_id}`;
    if (requiresApproval === true && approvalOf(row)?.outcome !== 'approved')
      return 'The API key of the message now needs approval; send the message again';
    return undefined;
  };
}

/** Creates the function that returns whether a key may still have its text sent to people who call. */
export function createMayTextCallers(reader: Queryable, clock: Clock) {
  return async (keyId: string): Promise<boolean> => {
    const caller = await findKeyCaller(reader, keyId, clock.now());
    return caller === undefined || maySendToEveryone(caller);
  };
}
