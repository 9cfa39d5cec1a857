import type { Queryable } from '../../db/dialect.ts';
import { query } from '../../db/query.ts';
import type { ChatTable } from '../../db/schema.ts';

type Ref = Pick<ChatTable, 'session_id' | 'chat_id' | 'type'>;

/** Reads the names of chats, and returns a function that returns that of one: null if it is not known. */
export async function namesOfChats(
  on: Queryable,
  accountId: string,
  chats: readonly Ref[],
): Promise<(chat: Ref) => string | null> {
  const idsOf = (type: ChatTable['type']) =>
    JSON.stringify(chats.flatMap((chat) => (chat.type === type ? [chat.chat_id] : [])));
  const sessionIds = JSON.stringify([...new Set(chats.map(({ session_id }) => session_id))]);
  const [contacts, groups] = await Promise.all([
    contactNames.all(on, { accountId, sessionIds, phoneNumbers: idsOf('direct') }),
    subjects.all(on, { accountId, groupIds: idsOf('group') }),
  ]);
  const names = new Map([
    ...contacts.map(({ session_id, phone_number, name }) => [`${session_id}/${phone_number}`, name] as const),
    ...groups.map(({ session_id, group_id, subject }) => [`${session_id}/${group_id}`, subject] as const),
  ]);
  return ({ session_id, chat_id }) => names.get(`${session_id}/${chat_id}`) ?? null;
}

const contactNames = query((db, p: { accountId: string; sessionIds: string; phoneNumbers: string }, dialect) =>
  db
    .selectFrom('contacts')
    .select(({ fn }) => ['session_id', 'phone_number', fn.coalesce('saved_name', 'name').as('name')])
    .where('account_id', '=', p.accountId)
    .where('session_id', 'in', dialect.texts(p.sessionIds))
    .where('phone_number', 'in', dialect.texts(p.phoneNumbers)),
);

const subjects = query((db, p: { accountId: string; groupIds: string }, dialect) =>
  db
    .selectFrom('groups')
    .select(['session_id', 'group_id', 'subject'])
    .where('account_id', '=', p.accountId)
    .where('group_id', 'in', dialect.texts(p.groupIds)),
);
