import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { sqlite } from '../../../server/src/db/sqlite/sqlite.ts';
import { markersOf, storedWords } from '../../../server/src/messages/search.ts';
import type { Home } from './home.ts';

/** An account whose tables are filled, with the ids that its operations need. */
export interface BulkAccount {
  readonly sessionId: string;
  readonly otherSessionId: string;
  /** Label of every message. */
  readonly labelId: string;
  /** Paused webhook with settled deliveries. */
  readonly settledWebhookId: string;
  /** Paused webhook with pending deliveries of two event types. */
  readonly pendingWebhookId: string;
}

const DAY_MS = 86_400_000;
/** Share of the messages that are in one chat, and of the settled deliveries that have failed. */
const PART = 10;
/** Minutes with figures of a webhook: 20 days, of which 8 are kept. */
const MINUTES = 20 * 24 * 60;
/** Chat with many messages. */
export const LARGE_CHAT = '491707999999';
/** Chat with as many messages, which are unread. */
export const UNREAD_CHAT = '491707999998';

/**
 * Fills the tables of a SQLite home while no server runs on it, with SQL, because a million messages take the product
 * minutes. Every statement that the product runs later sees the same rows as if it had stored them.
 */
export function fillTables(home: Home, account: BulkAccount, rows: number): void {
  const database = new DatabaseSync(join(home.folder, 'switchboard.db'));
  const owner = database.prepare('select account_id from sessions where session_id = ?').get(account.sessionId);
  const accountId = String(owner?.['account_id']);
  const now = Date.now();
  const series = `with recursive s (n) as (select 1 union all select n + 1 from s where n < ${rows})`;
  const insert = (statement: string) => database.exec(`${statement}`);
  database.exec('pragma synchronous = off; begin');
  const recent = now - 3_600_000;
  const earlier = recent - DAY_MS; // lists of incoming messages pass all others
  const old = now - 40 * DAY_MS;
  insert(`${series} insert into messages (account_id, message_id, session_id, chat_id, network_id, direction, type,
      from_number, to_id, body, status, timestamp, created_at, sent_at, delivered_at, read_at)
    select '${accountId}', ${idOf('msg', recent)}, '${account.sessionId}', chat, 'net' || n, 'outgoing', 'text',
      '491700000001', chat, 'Hello there, this is message ' || n, 'read', ${recent}, ${recent}, ${recent}, ${recent}, ${recent}
    from (select n, iif(n % ${PART} = 0, '${LARGE_CHAT}', '49170' || (7000000 + n % 1000)) as chat from s)`);
  insert(`${series} insert into messages (account_id, message_id, session_id, chat_id, network_id, direction, type,
      from_number, to_id, body, status, timestamp, created_at, sent_at, delivered_at)
    select '${accountId}', ${idOf('msg', earlier)}, '${account.sessionId}', '${UNREAD_CHAT}', 'new' || n,
      'incoming', 'text', '${UNREAD_CHAT}', '491700000001', 'Hello', 'delivered', ${earlier}, ${earlier}, ${earlier}, ${earlier}
    from s where n <= ${rows / PART}`);
  database.function('stored_words', (seq, body) =>
    storedWords(sqlite, { seq: Number(seq), accountId, text: String(body) }),
  );
  insert(`delete from message_words`);
  insert(`insert into message_words (rowid, words) select seq, stored_words(seq, body) from messages`);
  addMarkers(database);
  insert(`update search_cursor set seq = (select max(seq) from messages)`);
  insert(`insert into chats (account_id, session_id, chat_id, type, last_message_id, last_message_at, unread_count,
      archived, pinned)
    select account_id, session_id, chat_id, 'direct', max(message_id), max(timestamp), sum(status = 'delivered'), 0, 0
    from messages
    group by 1, 2, 3 on conflict do nothing`);
  insert(`insert into message_labels (account_id, message_id, label_id)
    select account_id, message_id, '${account.labelId}' from messages where account_id = '${accountId}'`);
  for (const [at, settled, pending] of [
    [recent, account.settledWebhookId, account.pendingWebhookId],
    [old, account.settledWebhookId, undefined],
  ] as const) {
    const kind = `iif(n % ${PART} = 0, 'message.read', 'message.sent')`;
    const conversation = `'${account.sessionId}/49170' || (7000000 + n % 1000)`;
    const position = `${at}000 + n`;
    const accountNumber = `(select seq from accounts where account_id = '${accountId}')`;
    insert(`${series} insert into events (position, account, event_id, kind, conversation, body, is_test, created_at)
      select ${position}, ${accountNumber}, ${idOf('evt', at)}, ${kind}, ${conversation}, '{"event":"message.sent","data":{}}', 0, ${at} from s`);
    for (const [webhookId, state, place] of [
      [settled, at === recent ? `iif(n % ${PART} = 1, 'failed', 'delivered')` : `'delivered'`, 0],
      [pending, `'pending'`, 500_000_000],
    ] as const) {
      if (webhookId === undefined) continue;
      const webhook = `(select seq from receivers where webhook_id = '${webhookId}')`;
      insert(`${series} insert into deliveries (event, webhook, account, delivery_id, state, undelivered, attempts, steps,
          settled_at)
        select ${position}, ${webhook}, ${accountNumber}, ${idOf('dlv', at, place)}, ${state},
          iif(${state} = 'failed', 'failed', null), 1, 1, ${at} from s`);
      if (webhookId === pending)
        insert(`${series} insert into queue (webhook, event) select ${webhook}, ${position} from s`);
    }
  }
  insert(`${series} insert into idempotency_keys (account_id, idempotency_key, request_hash, owner, answer, resource_id,
      created_at) select '${accountId}', 'old' || n, 'hash', 'gone', '{}', 'x' || n, ${now - 2 * DAY_MS} from s`);
  insert(`${series} insert into tool_calls (account_id, call_id, key_id, tool, arguments, outcome, duration_ms,
      request_id, created_at)
    select '${accountId}', ${idOf('cal', old)}, 'key_x', 'messages_send', '{}', 'ok', 5, 'req', ${old} from s`);
  insert(`${series} insert into webhook_minutes (webhook_id, minute, figures)
    select '${account.settledWebhookId}', ${now - MINUTES * 60_000} + n * 60000,
      '{"classes":{},"states":{},"latencies":[]}' from s where n <= ${Math.min(rows / PART, MINUTES)}`);
  database.exec('commit; pragma wal_checkpoint(truncate)');
  database.close();
}

/** Adds what the search index has besides the words of messages. */
function addMarkers(database: DatabaseSync): void {
  const { buckets } = sqlite.search;
  if (buckets === undefined) return;
  const newest = database.prepare('select max(seq) as seq from messages').get()?.['seq'];
  const insert = database.prepare('insert into message_words (rowid, words) values (?, ?)');
  insert.setReadBigInts(true);
  for (let bucket = 0; bucket <= Number(newest) / buckets.size; bucket++) {
    const { rowid, words } = markersOf(buckets, bucket);
    insert.run(rowid, words);
  }
}

/** Fills the tables that only lists read, which `fillTables` leaves empty. */
export function fillLists(home: Home, account: BulkAccount, keyId: string, rows: number): void {
  const database = new DatabaseSync(join(home.folder, 'switchboard.db'));
  const owner = database.prepare('select account_id from sessions where session_id = ?').get(account.sessionId);
  const accountId = String(owner?.['account_id']);
  const { sessionId, labelId } = account;
  const now = Date.now();
  const series = (count: number) =>
    `with recursive s (n) as (select 1 union all select n + 1 from s where n < ${count})`;
  database.exec('pragma synchronous = off; begin');
  database.exec(`insert into chats (account_id, session_id, chat_id, type, last_message_id, last_message_at,
      unread_count, archived, pinned)
    select account_id, session_id, '4916' || (10000000 + seq), 'direct', message_id, timestamp, 0, 0, 0 from messages
    where account_id = '${accountId}'`);
  database.exec(`insert into chat_labels (account_id, session_id, chat_id, label_id)
    select account_id, session_id, chat_id, '${labelId}' from chats where account_id = '${accountId}'
    limit ${Math.min(rows, MOST_LABELLED)}`);
  database.exec(`${series(rows)} insert into contacts (account_id, session_id, phone_number, name, blocked)
    select '${accountId}', '${sessionId}', '4916' || (10000000 + n), 'Person ' || n, 0 from s`);
  database.exec(`${series(rows)} insert into groups (account_id, session_id, group_id, network_id, subject, created_by,
      announce, locked, join_approval, created_at, is_community)
    select '${accountId}', '${sessionId}', ${idOf('grp', now)}, 'g' || n, 'Group ' || n, '4916', 0, 0, 0, ${now}, 1 from s`);
  database.exec(`${series(rows)} insert into channels (account_id, session_id, channel_id, network_id, name, role, muted,
      verified, created_at)
    select '${accountId}', '${sessionId}', ${idOf('chn', now)}, 'c' || n, 'Channel ' || n, 'follower', 0, 0, ${now} from s`);
  database.exec(`${series(rows)} insert into statuses (account_id, session_id, status_id, network_id, from_number, is_own,
      type, body, state, timestamp, expires_at)
    select '${accountId}', '${sessionId}', ${idOf('sta', now)}, 's' || n, '4916' || n, 0, 'text', 'Hello', 'sent', ${now},
      ${now + DAY_MS} from s`);
  database.exec(`update tool_calls set key_id = '${keyId}'`);
  database.exec('commit; pragma wal_checkpoint(truncate)');
  database.close();
}

/** Labels that a session can have on chats. */
const MOST_LABELLED = 50_000;

/** SQL of an id of a moment, in the order of `n`. */
function idOf(prefix: string, ms: number, place = 0): string {
  const digits = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
  let time = '';
  for (let i = 0, rest = ms; i < 10; i++, rest = Math.floor(rest / 32)) time = digits[rest % 32] + time;
  return `'${prefix}_${time}' || printf('%016d', n + ${place})`;
}
