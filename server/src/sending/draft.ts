import type { Tx } from '../db/commit.ts';
import type { Database } from '../db/database.ts';
import { MESSAGES, Pace, type PaceLimits } from '../db/pace.ts';
import type { MessageRow } from '../db/schema.ts';
import { AppError } from '../errors.ts';
import type { MessageType } from '../events/networkTypes.ts';
import { contentColumn, type StoredContent } from '../messages/content.ts';
import { findMessage, findSession, type NewRow, newRow, type SessionRef, storeMessages } from '../messages/store.ts';
import type { LiveSession } from '../sessions/liveSessions.ts';
import { countSends, type SendQuota } from './quota.ts';

export interface Draft {
  /** The message's id. A second run with the same id finds the message of the first. */
  readonly messageId: string;
  /** Digits, or the id of a group of the session. */
  readonly to: string;
  readonly type: MessageType;
  readonly text: string;
  readonly content: StoredContent;
  /** Id of the message that it replies to. */
  readonly replyTo: string | null;
  /** API key that sends it; null for a login. */
  readonly keyId: string | null;
}

/** @param from the session's phone number, digits */
export function rowOf(
  { accountId, sessionId }: SessionRef,
  from: string,
  { messageId, to, type, text, content, replyTo, keyId }: Draft,
  state: Pick<NewRow, 'status' | 'timestamp' | 'created_at'> & Partial<NewRow>,
): NewRow {
  return newRow({
    account_id: accountId,
    message_id: messageId,
    session_id: sessionId,
    chat_id: to,
    network_id: messageId,
    direction: 'outgoing',
    type,
    from_number: from,
    to_id: to,
    body: text,
    content: contentColumn(content),
    reply_to: replyTo,
    key_id: keyId,
    ...state,
  });
}

/**
 * Stores an outgoing message, unless an earlier run of the same request has stored it.
 * @returns the message of the earlier run; undefined if the message is new
 * @throws {AppError} `not_found` if it was deleted meanwhile; `quota_exceeded`
 */
export async function storeOutgoing(
  database: Database,
  row: NewRow,
  quota?: SendQuota,
): Promise<MessageRow | undefined> {
  if (quota !== undefined) return (await storeCounted(database, [row], quota))[0];
  if (await database.commitJointly(storeMessages, row, row.session_id)) return undefined;
  return storedEarlier(database, row);
}

/**
 * Like `storeOutgoing`, for messages of a key with a quota. The first transaction counts all of them, so that a refusal
 * stores none.
 * @throws {AppError} `not_found`, `quota_exceeded`
 */
export async function storeCounted(
  database: Database,
  rows: readonly NewRow[],
  quota: SendQuota,
): Promise<(MessageRow | undefined)[]> {
  return storeInSlices(database, rows, {
    complete: async (tx, { isFirst }) => {
      if (isFirst) await countSends(tx, quota, rows.length);
    },
  });
}

/** A request has at most 1,000 recipients. */
const ALL: PaceLimits = { first: 1000, fewest: 1000, most: 1000 };

/** Messages that one transaction has just stored. */
export interface StoredSlice {
  readonly added: readonly NewRow[];
  /** Whether the request has stored nothing before, neither now nor in an earlier run. Slices are stored in order. */
  readonly isFirst: boolean;
  /** Messages that later transactions store. */
  readonly left: number;
}

interface SliceSteps {
  /** Starts the first transaction. */
  begin?(tx: Tx): Promise<void>;
  /** Ends each transaction. If it throws in the first one, nothing is stored. */
  complete(tx: Tx, slice: StoredSlice): Promise<void>;
}

/**
 * Stores outgoing messages that one request sends over one session. On SQLite, where a transaction blocks the process,
 * it uses several short ones; on PostgreSQL one, because several nodes check the same limits.
 * @returns for each message, the row that an earlier run stored; undefined if it is new
 * @throws {AppError} `not_found` if a message of an earlier run was deleted, and the errors of `steps`
 */
export async function storeInSlices(
  database: Database,
  rows: readonly NewRow[],
  steps: SliceSteps,
): Promise<(MessageRow | undefined)[]> {
  const areNew: boolean[] = [];
  const store = async (tx: Tx, slice: readonly NewRow[], start: number) => {
    if (start === 0) await steps.begin?.(tx);
    const stored = await storeMessages(tx, slice);
    for (const [index, isNew] of stored.entries()) areNew[start + index] = isNew;
    const added = slice.filter((_, index) => stored[index]);
    const isFirst = start === 0 && stored[0] === true;
    await steps.complete(tx, { added, isFirst, left: rows.length - start - slice.length });
    return slice.length;
  };
  const pace = new Pace(database.reader.dialect.hasConcurrentWriters ? ALL : MESSAGES);
  await pace.inSlices(database.commit, rows, store, { key: rows[0]?.session_id });
  return Promise.all(rows.map((row, index) => (areNew[index] ? undefined : storedEarlier(database, row))));
}

export async function storedEarlier(database: Database, row: NewRow): Promise<MessageRow> {
  const stored = await findMessage(database.reader, row.account_id, row.message_id);
  if (stored === undefined) throw new AppError('not_found');
  return stored;
}

/** @throws {AppError} `session_not_connected` if the session has no phone number yet */
export async function numberOf({ reader }: Database, session: SessionRef): Promise<string> {
  const phoneNumber = (await findSession(reader, session))?.phone_number;
  if (phoneNumber !== undefined && phoneNumber !== null) return phoneNumber;
  throw new AppError('session_not_connected', 'The session has no phone number yet; connect it first');
}

/** @throws {AppError} `not_supported` */
export function requireType({ connector }: LiveSession, type: MessageType): void {
  if (!connector.messageTypes.includes(type))
    throw new AppError('not_supported', `The network of this session cannot send messages of type ${type}`);
}
