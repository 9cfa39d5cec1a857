import { sql } from 'kysely';
import { isPlaceholder } from '../../connectors/contract/people.ts';
import type { Tx } from '../../db/commit.ts';
import { unindexed } from '../../db/query.ts';
import type { Schema } from '../../db/schema.ts';
import type { Person } from './personRows.ts';

/** Maximum number of recipients of an API key, and of chats in a list of webhook filters. */
export const MAX_RECIPIENTS = 200;
export const MAX_FILTERED_CHATS = 100;

/** How a column with digits of people follows when a hidden number becomes known. */
type Follows =
  /**
   * The rows of a session have the digits in their key, beside these columns. The rows of the placeholder move to the
   * number, unless it has a row of its own.
   */
  | { readonly by: 'key'; readonly others: readonly string[] }
  /**
   * JSON with the digits as strings, in few rows of the account or of the session. Lists that a person wrote keep a
   * real number or a user id next to the current one, because callers go on to use it. In a full list, the current one
   * takes its place. A user id is never replaced by the number, which can pass to another person.
   */
  | {
      readonly by: 'json';
      readonly key: string;
      readonly of: 'account' | 'session';
      /** Lists that a person wrote, with their maximum lengths. The name is empty if the JSON is the list. */
      readonly written?: Readonly<Record<string, number>>;
    }
  /** Other code in this room merges or moves the rows. */
  | { readonly by: 'code' }
  | { readonly by: 'nothing'; readonly reason: string };

const FILTERS = { chats: MAX_FILTERED_CHATS, ignoredChats: MAX_FILTERED_CHATS, senders: MAX_FILTERED_CHATS };
const AS_REPORTED = 'it repeats what a network or a person wrote';
const AS_EMITTED = 'events are history, and are not sent again';
const FOLLOWS_MESSAGES = 'triggers of messages maintain it';
const OWN = 'the number of the session itself, which is never hidden';

/** Every column that contains digits of people, by its table. A test compares it with the tables. */
export const personColumns: Readonly<Partial<Record<keyof Schema, Readonly<Record<string, Follows>>>>> = {
  chats: { chat_id: { by: 'code' } },
  contacts: { phone_number: { by: 'code' } },
  cleared_chats: { chat_id: { by: 'code' } },
  started_chats: { chat_id: { by: 'key', others: [] } },
  chat_ads: { chat_id: { by: 'key', others: ['ad_id'] } },
  chat_labels: { chat_id: { by: 'key', others: ['label_id'] } },
  messages: {
    chat_id: { by: 'code' },
    from_number: { by: 'code' },
    to_id: { by: 'code' },
    body: { by: 'nothing', reason: AS_REPORTED },
    content: { by: 'nothing', reason: AS_REPORTED },
  },
  outbox: { chat_id: { by: 'nothing', reason: FOLLOWS_MESSAGES } },
  unread_messages: { chat_id: { by: 'nothing', reason: FOLLOWS_MESSAGES } },
  reactions: { from_number: { by: 'code' } },
  poll_votes: { from_number: { by: 'code' } },
  message_receipts: { phone_number: { by: 'code' }, chat_id: { by: 'nothing', reason: 'it is always a group' } },
  early_receipts: { receipt: { by: 'code' } },
  early_changes: { from_number: { by: 'key', others: ['network_id', 'kind'] } },
  removed_placeholders: { from_number: { by: 'key', others: ['network_id'] } },
  groups: { created_by: { by: 'code' } },
  group_former_members: { phone_number: { by: 'code' } },
  group_participants: { phone_number: { by: 'code' } },
  group_join_requests: { phone_number: { by: 'code' } },
  statuses: {
    from_number: { by: 'key', others: ['network_id'] },
    audience: { by: 'json', key: 'status_id', of: 'session' },
    body: { by: 'nothing', reason: AS_REPORTED },
    content: { by: 'nothing', reason: AS_REPORTED },
  },
  status_views: { phone_number: { by: 'key', others: ['status_id'] } },
  followed_presences: { phone_number: { by: 'key', others: [] } },
  channel_posts: {
    body: { by: 'nothing', reason: AS_REPORTED },
    content: { by: 'nothing', reason: AS_REPORTED },
  },
  // Keys that may write to the person still may, and filters go on, as soon as they are read again.
  api_keys: { allowed_recipients: { by: 'json', key: 'key_id', of: 'account', written: { '': MAX_RECIPIENTS } } },
  webhooks: { filters: { by: 'json', key: 'webhook_id', of: 'account', written: FILTERS } },
  waiting: { conversation: { by: 'code' } },
  queue: { conversation: { by: 'nothing', reason: 'these deliveries go out now' } },
  events: {
    conversation: { by: 'nothing', reason: AS_EMITTED },
    body: { by: 'nothing', reason: AS_EMITTED },
  },
  network_numbers: { phone_number: { by: 'nothing', reason: 'placeholders are accepted anyway' } },
  sessions: { phone_number: { by: 'nothing', reason: OWN } },
  session_health: { phone_number: { by: 'nothing', reason: OWN } },
};

/** Updates the columns that no other code merges or moves. Returns whether the recipients of a key changed. */
export async function followPerson(tx: Tx, person: Person): Promise<boolean> {
  let isAboutKeys = false;
  for (const [table, columns] of Object.entries(personColumns))
    for (const [column, follows] of Object.entries(columns))
      if (follows.by === 'key') await moveKeyed(tx, person, { table, column, ...follows });
      else if (follows.by === 'json') {
        const isReplaced = await replaceInJson(tx, person, { table, column, ...follows });
        isAboutKeys ||= isReplaced && table === 'api_keys';
      }
  return isAboutKeys;
}

interface Column {
  readonly table: string;
  readonly column: string;
}

async function moveKeyed(
  { kysely }: Tx,
  { accountId, sessionId, placeholder, phoneNumber }: Person,
  { table, column, others }: Column & { readonly others: readonly string[] },
): Promise<void> {
  const [name, digits] = [sql.table(table), sql.ref(column)];
  // By the session: an index that begins with the account may lead to all rows of it.
  const ofSession = (account: string, session: string) => sql`
    ${unindexed(account)} = ${accountId} and ${sql.ref(session)} = ${sessionId}`;
  const isSame = others.map((other) => sql`and present.${sql.ref(other)} = former.${sql.ref(other)}`);
  await sql`
    delete from ${name} as former
    where ${ofSession('account_id', 'session_id')} and ${digits} = ${placeholder} and exists (
      select 1 from ${name} as present
      where ${ofSession('present.account_id', 'present.session_id')}
        and present.${digits} = ${phoneNumber} ${sql.join(isSame, sql` `)})`.execute(kysely);
  await sql`
    update ${name} set ${digits} = ${phoneNumber}
    where ${ofSession('account_id', 'session_id')} and ${digits} = ${placeholder}`.execute(kysely);
}

async function replaceInJson(
  { kysely }: Tx,
  { accountId, sessionId, placeholder, phoneNumber, change }: Person,
  { table, column, key, of, written }: Column & Extract<Follows, { by: 'json' }>,
): Promise<boolean> {
  const [name, json, id] = [sql.table(table), sql.ref(column), sql.ref(key)];
  const { previousUserId: formerId = placeholder, userId } = written ? (change ?? {}) : {};
  const isKept = !isPlaceholder(placeholder);
  const current = (written && isPlaceholder(phoneNumber) ? userId : undefined) ?? phoneNumber;
  const followed = (name: string, value: unknown) => {
    if (written === undefined) return value === placeholder ? current : value;
    const limit = written[name];
    if (limit === undefined || !Array.isArray(value)) return value;
    const list = listWith(value, placeholder, current, isKept ? limit : 0);
    return userId === undefined ? list : listWith(list, formerId, userId, limit);
  };
  const isOfOwner = of === 'account' ? sql`account_id = ${accountId}` : sql`session_id = ${sessionId}`;
  const { rows } = await sql<{ id: string; json: string }>`
    select ${id} as id, ${json} as json from ${name}
    where ${isOfOwner} and (${json} like ${`%"${placeholder}"%`} or ${json} like ${`%"${formerId}"%`})`.execute(kysely);
  let areReplaced = false;
  for (const row of rows) {
    const replaced = JSON.stringify(JSON.parse(row.json, followed));
    if (replaced === row.json) continue;
    areReplaced = true;
    await sql`update ${name} set ${json} = ${replaced} where ${isOfOwner} and ${id} = ${row.id}`.execute(kysely);
  }
  return areReplaced;
}

/** Adds the current id of a person next to the former one. A list that has no room gets it in place of that. */
function listWith(list: readonly unknown[], former: string, current: string, limit: number): readonly unknown[] {
  if (!list.includes(former) || (limit > 0 && list.includes(current))) return list;
  if (list.length < limit) return [...list, current];
  return [...new Set(list.map((value) => (value === former ? current : value)))];
}
