import type { TSchema } from 'typebox';
import type { Caller } from '../auth/authenticate.ts';
import { scopeOf } from '../auth/keyScope.ts';
import { isRecipient } from '../auth/recipientPatterns.ts';
import { isUserId, placeholderOfUserId } from '../connectors/contract/people.ts';
import type { Queryable } from '../db/dialect.ts';
import { query } from '../db/query.ts';
import { AppError } from '../errors.ts';
import { digitsOf } from './input/phoneNumbers.ts';
import { referenceOf } from './input/references.ts';

/**
 * The input field that names the people or groups whom an operation reaches. `messageId` stands for the chat of the
 * message. With `each`, the handler calls `requireRecipient` for each, because one that is refused does not affect the
 * others.
 */
export type RecipientField = 'to' | 'chatId' | 'phoneNumbers' | 'messageId' | 'each';

/** @throws {AppError} `permission_denied` naming the first recipient whom the caller's key may not reach */
export async function requireRecipients(
  { recipients: field, input: schema }: { readonly recipients: RecipientField; readonly input: TSchema },
  caller: Caller,
  input: Readonly<Record<string, unknown>>,
  given: Readonly<Record<string, unknown>>,
  on: Queryable,
): Promise<void> {
  if (field === 'each' || scopeOf(caller)?.recipients === undefined) return;
  // Validated by the schema of the input.
  const named = [input[field] ?? []].flat() as string[];
  const typed = [given[field] ?? []].flat();
  for (const [index, one] of named.entries()) {
    const recipient =
      referenceOf(schema, [field]) === 'message'
        ? await chatOfMessage(on, caller.accountId, one)
        : (digitsOf(one) ?? one);
    if (recipient !== undefined) requireRecipient({ caller }, recipient, typed[index]);
  }
}

/**
 * @param recipient phone number digits, or the id of a group
 * @param given how the caller identifies the recipient. A key that is limited to a user id keeps it when the number of
 * the person becomes known.
 * @throws {AppError} `permission_denied` if the caller's key may not send to the recipient
 */
export function requireRecipient(
  { caller }: { readonly caller: Caller },
  recipient: string,
  given: unknown = recipient,
): void {
  const patterns = scopeOf(caller)?.recipients;
  if (patterns === undefined || isRecipient(patterns, recipient)) return;
  const userId = typeof given === 'string' && isUserId(given.trim()) ? placeholderOfUserId(given.trim()) : undefined;
  if (userId === undefined || !patterns.exact.has(userId))
    throw new AppError('permission_denied', `This API key cannot send to ${recipient}`);
}

/**
 * For texts that everybody sees.
 * @throws {AppError} `permission_denied` if the caller's key may send only to some recipients
 */
export function requireAnyRecipient({ caller }: { readonly caller: Caller }, what: string): void {
  if (scopeOf(caller)?.recipients !== undefined)
    throw new AppError(
      'permission_denied',
      `${what} reaches everybody, and this API key can send only to some recipients`,
    );
}

/** Undefined if the account has no such message, which the operation reports. */
async function chatOfMessage(on: Queryable, accountId: string, messageId: string): Promise<string | undefined> {
  return (await chatById.first(on, { accountId, messageId }))?.chat_id;
}

const chatById = query((db, p: { accountId: string; messageId: string }) =>
  db
    .selectFrom('messages')
    .select('chat_id')
    .where('account_id', '=', p.accountId)
    .where('message_id', '=', p.messageId),
);
