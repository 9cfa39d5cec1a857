import type { Database, Statement } from './database.ts';

export const SCHEMA_VERSION = 2;

/** `to_chatwoot` and `to_whatsapp` are the queues of the two directions; their finished jobs recognize repetitions. */
const QUEUES = ['to_chatwoot', 'to_whatsapp'] as const;

/** Creates the tables. @param serial the type of a number that the database assigns */
const tables = (serial: string): readonly string[] => [
  `CREATE TABLE IF NOT EXISTS inboxes (
    session_id TEXT PRIMARY KEY, inbox_id BIGINT NOT NULL, identifier TEXT NOT NULL, token TEXT NOT NULL,
    chatwoot_secret TEXT, webhook_id TEXT NOT NULL, webhook_secret TEXT NOT NULL)`,
  `CREATE TABLE IF NOT EXISTS chats (
    session_id TEXT NOT NULL, chat_id TEXT NOT NULL, contact_id BIGINT NOT NULL, source_id TEXT NOT NULL,
    conversation_id BIGINT, name TEXT, followed_at BIGINT, PRIMARY KEY (session_id, chat_id))`,
  `CREATE TABLE IF NOT EXISTS links (
    message_id TEXT PRIMARY KEY, session_id TEXT NOT NULL, chat_id TEXT NOT NULL, conversation_id BIGINT NOT NULL,
    chatwoot_id BIGINT NOT NULL, direction TEXT NOT NULL, part TEXT NOT NULL, digest TEXT, status TEXT NOT NULL,
    created_at BIGINT NOT NULL)`,
  'CREATE TABLE IF NOT EXISTS echoes (key TEXT PRIMARY KEY, created_at BIGINT NOT NULL)',
  ...QUEUES.map(
    (table) => `CREATE TABLE IF NOT EXISTS ${table} (
      seq ${serial} PRIMARY KEY, dedup TEXT NOT NULL UNIQUE, lane TEXT NOT NULL, payload TEXT NOT NULL,
      state TEXT NOT NULL, attempts BIGINT NOT NULL, due_at BIGINT NOT NULL, created_at BIGINT NOT NULL,
      finished_at BIGINT, error TEXT)`,
  ),
];

/** Version 2: the first job of each lane, rejections, chats of begun jobs, and failures of messages. */
const columns: readonly string[] = [
  ...QUEUES.flatMap((table) => [
    `ALTER TABLE ${table} ADD COLUMN is_first BIGINT NOT NULL DEFAULT 0`,
    `ALTER TABLE ${table} ADD COLUMN rejections BIGINT NOT NULL DEFAULT 0`,
    `ALTER TABLE ${table} ADD COLUMN chat TEXT`,
    `UPDATE ${table} SET is_first = 1
      WHERE seq IN (SELECT min(seq) FROM ${table} WHERE state = 'waiting' GROUP BY lane)`,
  ]),
  `CREATE TABLE failures (
    chatwoot_id BIGINT NOT NULL, cause TEXT NOT NULL, created_at BIGINT NOT NULL, PRIMARY KEY (chatwoot_id, cause))`,
];

/** An index that `due` walks has a job for each lane, however many wait behind it. */
const indexes: readonly string[] = [
  'CREATE INDEX IF NOT EXISTS chats_by_conversation ON chats (conversation_id)',
  'CREATE INDEX IF NOT EXISTS chats_by_contact ON chats (contact_id)',
  'CREATE INDEX IF NOT EXISTS links_by_chatwoot_id ON links (chatwoot_id)',
  'CREATE INDEX IF NOT EXISTS links_by_chat ON links (session_id, chat_id)',
  'CREATE INDEX IF NOT EXISTS links_by_age ON links (created_at)',
  'CREATE INDEX IF NOT EXISTS echoes_by_age ON echoes (created_at)',
  'CREATE INDEX IF NOT EXISTS failures_by_age ON failures (created_at)',
  ...QUEUES.flatMap((table) => [
    `CREATE INDEX IF NOT EXISTS ${table}_waiting ON ${table} (lane, seq) WHERE state = 'waiting'`,
    `CREATE INDEX IF NOT EXISTS ${table}_first ON ${table} (due_at, seq) WHERE is_first = 1`,
    `CREATE INDEX IF NOT EXISTS ${table}_chats ON ${table} (chat) WHERE chat IS NOT NULL`,
    `CREATE INDEX IF NOT EXISTS ${table}_finished ON ${table} (finished_at)`,
  ]),
];

/** Creates or updates the tables, in one transaction. */
export async function prepareSchema(database: Database, serial: string, version: number): Promise<void> {
  const changes = [...tables(serial), ...(version < 2 ? columns : []), ...indexes];
  const failures = version === 1 ? await oldFailures(database) : [];
  await database.batch([
    ...changes.map((sql): Statement => [sql]),
    ...failures,
    [
      'INSERT INTO meta (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value',
      'schema',
      String(SCHEMA_VERSION),
    ],
  ]);
}

/** Failures were echoes with the key `failed:<message>:<cause>` before. */
async function oldFailures(database: Database): Promise<Statement[]> {
  const rows = await database.all("SELECT key, created_at FROM echoes WHERE key LIKE 'failed:%'");
  return rows.map(({ key, created_at }) => {
    const [, message, cause] = /^failed:(\d+):(.*)$/.exec(String(key)) ?? [];
    return ['INSERT INTO failures VALUES (?, ?, ?)', Number(message), cause ?? '', created_at ?? 0];
  });
}
