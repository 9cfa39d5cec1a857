import type { Tx } from '../../db/commit.ts';
import { invalidField } from '../../errors.ts';
import type { SessionRef } from '../store.ts';

/** Data of an account about a chat, by key. Several programs can write to it, each under other keys. */
export type ChatMetadata = Readonly<Record<string, string>>;
/** New values by key, as in a JSON merge patch (RFC 7396): null removes a key, and other keys stay. */
export type MetadataChange = Readonly<Record<string, string | null>>;

/** Maximum number of keys. */
const MAX_KEYS = 50;

/** Reads the column, which only this module writes. */
export const metadataOf = ({ metadata }: { readonly metadata: string }): ChatMetadata => JSON.parse(metadata);

/** @throws {AppError} `validation_failed` if the result has too many keys */
export function changedMetadata(metadata: ChatMetadata, change: MetadataChange): ChatMetadata {
  const entries = Object.entries({ ...metadata, ...change });
  const kept = entries.filter((entry): entry is [string, string] => entry[1] !== null);
  if (kept.length > MAX_KEYS)
    throw invalidField('metadata', `A chat can have ${MAX_KEYS} keys; remove some with null`, 'key_count');
  return Object.fromEntries(kept);
}

/** Joins the metadata of two chats. The first one wins, and loses no key to the limit. */
export function joinedMetadata(first: ChatMetadata, second: ChatMetadata): ChatMetadata {
  const added = Object.entries(second).filter(([key]) => !Object.hasOwn(first, key));
  return Object.fromEntries([...Object.entries(first), ...added].slice(0, MAX_KEYS));
}

/**
 * Changes the metadata of a chat. It concerns the account alone, so there is no event.
 * @throws {AppError} `validation_failed` if the chat would have too many keys
 */
export async function changeChatMetadata(
  { kysely, dialect }: Tx,
  { accountId, sessionId }: SessionRef,
  chatId: string,
  change: MetadataChange,
): Promise<void> {
  const chat = kysely
    .selectFrom('chats')
    .select('metadata')
    .where('account_id', '=', accountId)
    .where('session_id', '=', sessionId)
    .where('chat_id', '=', chatId);
  const row = await (dialect.hasConcurrentWriters ? chat.forUpdate() : chat).executeTakeFirst();
  if (row === undefined) return;
  await kysely
    .updateTable('chats')
    .set({ metadata: JSON.stringify(changedMetadata(metadataOf(row), change)) })
    .where('account_id', '=', accountId)
    .where('session_id', '=', sessionId)
    .where('chat_id', '=', chatId)
    .execute();
}
