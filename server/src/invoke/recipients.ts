import type { TSchema } from 'typebox';
import type { Caller } from '../auth/authenticate.ts';
import { scopeOf } from '../auth/keyScope.ts';
import { isRecipient, type RecipientPatterns } from '../auth/recipientPatterns.ts';
import { isUserId, placeholderOfUserId } from '../connectors/contract/people.ts';
import { query } from '../db/query.ts';
import { AppError } from '../errors.ts';
import { isGroupId } from '../ids.ts';
import { digitsOf } from './input/phoneNumbers.ts';
import { referenceOf } from './input/references.ts';
import type { Services } from './services.ts';

/**
 * The input field that names the people or groups whom an operation reaches. `messageId` stands for the chat of the
 * message. With `each`, the handler calls `requirePerson` for each, because one that is refused does not affect the
 * others.
 */
export type RecipientField = 'to' | 'chatId' | 'phoneNumbers' | 'messageId' | 'each';

type Needed = Pick<Services, 'database' | 'sessions'>;

/** @throws {AppError} `permission_denied` naming the first recipient whom the caller's key may not reach */
export async function requireRecipients(
  { recipients: field, input: schema }: { readonly recipients: RecipientField; readonly input: TSchema },
  caller: Caller,
  input: Readonly<Record<string, unknown>>,
  given: Readonly<Record<string, unknown>>,
  services: Needed,
): Promise<void> {
  if (field === 'each' || scopeOf(caller)?.recipients === undefined) return;
  const ctx = { ...services, caller };
  const isMessage = referenceOf(schema, [field]) === 'message';
  // Validated by the schema of the input.
  const named = [input[field] ?? []].flat() as string[];
  const typed = [given[field] ?? []].flat();
  for (const [index, one] of named.entries()) {
    const message = isMessage
      ? await chatById.first(services.database.reader, { ...caller, messageId: one })
      : undefined;
    // The operation reports an unknown message.
    if (isMessage && message === undefined) continue;
    const recipient = message?.chat_id ?? digitsOf(one) ?? one;
    const place = Array.isArray(input[field]) ? `${field}.${index}` : field;
    await requirePerson(ctx, message?.session_id ?? input['sessionId'], recipient, typed[index], place);
  }
}

/**
 * @param sessionId defaults to the account's only session
 * @param recipient phone number digits, or the id of a group
 * @param given how the caller identifies the recipient. A key that is limited to a user id keeps it when the number of
 * the person becomes known.
 * @param field place of the recipient in the input, if the error is about the whole request
 * @throws {AppError} `permission_denied` if the caller's key may not send to the recipient
 */
export async function requirePerson(
  ctx: Needed & { readonly caller: Caller },
  sessionId: unknown,
  recipient: string,
  given: unknown = recipient,
  field?: string,
): Promise<void> {
  const patterns = scopeOf(ctx.caller)?.recipients;
  if (patterns === undefined || isRecipient(patterns, recipient)) return;
  const { people, sole } = ctx.sessions;
  const typed = typeof given === 'string' ? given.trim() : '';
  if (isUserId(typed) && isListedId(patterns, [typed])) return;
  if (!isGroupId(recipient)) {
    const only = typeof sessionId === 'string' ? { sessionId } : await sole.of(ctx.caller.accountId);
    // Without a session, the operation fails.
    const userIds = typeof only === 'string' ? [] : await people.userIdsOf(only.sessionId, recipient);
    if (isListedId(patterns, userIds)) return;
  }
  throw deniedRecipient(recipient, field);
}

/** The field separates one denied recipient from a key without the permission, which fails for every recipient. */
function deniedRecipient(recipient: string, field?: string): AppError {
  const message = `This API key cannot send to ${recipient}`;
  const fields = field === undefined ? [] : [{ field, code: 'recipient_denied', message }];
  return new AppError('permission_denied', message, { fields });
}

/** Whether one of the user ids is listed. A key can list placeholders instead of ids. */
export const isListedId = ({ exact }: RecipientPatterns, userIds: readonly string[]): boolean =>
  userIds.some((userId) => exact.has(userId) || exact.has(placeholderOfUserId(userId)));

/**
 * For groups, channels, and people on networks without user ids.
 * @throws {AppError} `permission_denied` if the caller's key may not send to the recipient
 */
export function requireRecipient({ caller }: { readonly caller: Caller }, recipient: string): void {
  const patterns = scopeOf(caller)?.recipients;
  if (patterns !== undefined && !isRecipient(patterns, recipient)) throw deniedRecipient(recipient);
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

const chatById = query((db, p: { accountId: string; messageId: string }) =>
  db
    .selectFrom('messages')
    .select(['chat_id', 'session_id'])
    .where('account_id', '=', p.accountId)
    .where('message_id', '=', p.messageId),
);
