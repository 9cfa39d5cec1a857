import { sql } from 'kysely';
import type { HistoryChat, HistoryMessage } from '../../connectors/contract/history.ts';
import type { Tx } from '../../db/commit.ts';
import { query } from '../../db/query.ts';
import type { SessionRef } from '../store.ts';

/* Up to when chats were cleared or deleted. A history that is imported later does not bring their messages back. */

/** Notes that a chat was cleared up to a time. An earlier time changes nothing. */
export async function noteCleared(
  { kysely }: Tx,
  { accountId, sessionId }: SessionRef,
  chatId: string,
  upTo: number,
): Promise<void> {
  await kysely
    .insertInto('cleared_chats')
    .values({ account_id: accountId, session_id: sessionId, chat_id: chatId, cleared_at: upTo })
    .onConflict((conflict) =>
      conflict.columns(['session_id', 'chat_id']).doUpdateSet({ cleared_at: laterOf('cleared_at') }),
    )
    .execute();
}

/** The chat under the placeholder of a person is that of the number. The later of both times counts. */
export async function moveCleared(
  { kysely }: Tx,
  { sessionId }: SessionRef,
  placeholder: string,
  phoneNumber: string,
): Promise<void> {
  await sql`
    insert into cleared_chats (account_id, session_id, chat_id, cleared_at)
    select account_id, session_id, ${phoneNumber}, cleared_at from cleared_chats
    where session_id = ${sessionId} and chat_id = ${placeholder}
    on conflict (session_id, chat_id) do update set cleared_at = ${laterOf('cleared_at')}`.execute(kysely);
  await sql`delete from cleared_chats where session_id = ${sessionId} and chat_id = ${placeholder}`.execute(kysely);
}

const laterOf = (name: string) => {
  const [given, stored] = [sql.ref(`excluded.${name}`), sql.ref(`cleared_chats.${name}`)];
  return sql<number>`case when ${given} > ${stored} then ${given} else ${stored} end`;
};

/** Leaves out the messages that were removed with their chat, and the chats that have no newer ones. */
export async function withoutCleared(
  tx: Tx,
  session: SessionRef,
  { chats, messages }: { readonly chats: readonly HistoryChat[]; readonly messages: readonly HistoryMessage[] },
  toChatId: (entry: Pick<HistoryChat, 'chat'>) => string | undefined,
): Promise<{ chats: readonly HistoryChat[]; messages: readonly HistoryMessage[] }> {
  const ids = [...new Set([...chats, ...messages].flatMap((entry) => toChatId(entry) ?? []))];
  const found = await clearedChats.all(tx, { ...session, ids: JSON.stringify(ids) });
  if (found.length === 0) return { chats, messages };
  const clearedAt = new Map(found.map(({ chat_id, cleared_at }) => [chat_id, cleared_at]));
  const timeOf = (entry: Pick<HistoryChat, 'chat'>) => clearedAt.get(toChatId(entry) ?? '') ?? -1;
  const newer = messages.filter((message) => message.timestamp > timeOf(message));
  const withNewer = new Set(newer.map(toChatId));
  return { chats: chats.filter((chat) => timeOf(chat) === -1 || withNewer.has(toChatId(chat))), messages: newer };
}

const clearedChats = query((db, p: SessionRef & { ids: string }, dialect) =>
  db
    .selectFrom('cleared_chats')
    .select(['chat_id', 'cleared_at'])
    .where('account_id', '=', p.accountId)
    .where('session_id', '=', p.sessionId)
    .where('chat_id', 'in', dialect.texts(p.ids)),
);
