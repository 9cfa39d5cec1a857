import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import pg from 'pg';
import { accountWord, wordsOf } from '../../server/src/messages/search.ts';
import type { Figure } from './figures.ts';
import { apiOf, newFolder, setUp, startServer } from './harness.ts';
import { startPostgres } from './postgres.ts';

const MESSAGES = 1_000_000;
const AT_ONCE = 5000;
const VOCABULARY = 20_000;
const WORDS_PER_MESSAGE = 8;
const SEARCHES = 400;

/** Words with the frequencies of natural language: the n-th word is 1/n as frequent as the first. */
function createText() {
  let seed = 42;
  const random = () => {
    seed = (seed * 1_103_515_245 + 12_345) & 0x7fff_ffff;
    return seed / 0x7fff_ffff;
  };
  const word = () => spelled(Math.min(VOCABULARY - 1, Math.floor(VOCABULARY ** random())));
  return () => Array.from({ length: WORDS_PER_MESSAGE }, word).join(' ');
}

const SYLLABLES = [
  'ba',
  'co',
  'di',
  'fu',
  'ge',
  'ha',
  'jo',
  'ki',
  'lu',
  'me',
  'na',
  'po',
  'ri',
  'su',
  'te',
  'va',
  'wo',
  'xi',
  'yu',
  'ze',
];

/** The n-th word of the vocabulary. Consecutive words start differently. */
function spelled(n: number): string {
  const size = SYLLABLES.length;
  return [n % size, Math.floor(n / size) % size, Math.floor(n / size ** 2) % size, Math.floor(n / size ** 3)]
    .map((index) => SYLLABLES[index])
    .join('');
}

interface Row {
  readonly seq: number;
  readonly id: string;
  readonly chat: string;
  readonly body: string;
  readonly words: string;
  readonly at: number;
}

/** Messages and their words for the only session of a stopped server, as the product stores them. */
function* rows(accountId: string): Generator<Row[]> {
  const text = createText();
  const now = Date.now() - MESSAGES;
  for (let from = 1; from <= MESSAGES; from += AT_ONCE) {
    yield Array.from({ length: AT_ONCE }, (_, k) => {
      const seq = from + k;
      const body = text();
      return {
        seq,
        id: `msg_01${String(seq).padStart(24, '0')}`,
        chat: String(491_700_000_000 + (seq % 5000)),
        body,
        words: [accountWord(accountId), ...new Set(wordsOf(body))].join(' '),
        at: now + seq,
      };
    });
  }
}

const COLUMNS = `seq, account_id, message_id, session_id, chat_id, network_id, direction, type, from_number, to_id, body,
  status, timestamp, created_at`;

function fillSqlite(folder: string): void {
  const db = new DatabaseSync(join(folder, 'switchboard.db'));
  // The session that was set up has a row.
  const { account_id, session_id } = db
    .prepare('select account_id, session_id from sessions')
    .get() as unknown as Owner;
  const message = db.prepare(
    `insert into messages (${COLUMNS}) values (?, '${account_id}', ?, '${session_id}', ?, ?, 'incoming', 'text', ?, '1', ?, 'read', ?, ?)`,
  );
  const words = db.prepare('insert into message_words (rowid, words) values (?, ?)');
  db.exec('pragma synchronous = off');
  for (const batch of rows(account_id)) {
    db.exec('begin');
    for (const { seq, id, chat, body, words: text, at } of batch) {
      message.run(seq, id, chat, id, chat, body, at, at);
      words.run(seq, text);
    }
    db.exec('commit');
  }
  db.close();
}

interface Owner {
  readonly account_id: string;
  readonly session_id: string;
}

async function fillPostgres(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const owner = await client.query<Owner>('select account_id, session_id from sessions');
  const { account_id = '', session_id = '' } = owner.rows[0] ?? {};
  for (const batch of rows(account_id)) {
    const list = JSON.stringify(batch);
    await client.query(
      `insert into messages (${COLUMNS}) overriding system value
       select seq, '${account_id}', id, '${session_id}', chat, id, 'incoming', 'text', chat, '1', body, 'read', at, at
       from json_to_recordset($1::json) as r(seq bigint, id text, chat text, body text, at bigint)`,
      [list],
    );
    await client.query(
      `insert into message_words select seq, array_to_tsvector(string_to_array(words, ' '))
       from json_to_recordset($1::json) as r(seq bigint, words text)`,
      [list],
    );
  }
  await client.query('vacuum analyze messages');
  await client.query('vacuum analyze message_words');
  await client.end();
}

/** p95 of a search over 1,000,000 messages: common words, rare ones, two at a time, and prefixes. */
export async function search(): Promise<Figure[]> {
  const postgres = await startPostgres();
  const figures = [await searchOn('SQLite'), await searchOn('PostgreSQL', postgres.url)];
  await postgres.stop();
  return figures;
}

async function searchOn(name: string, url?: string): Promise<Figure> {
  const folder = newFolder();
  const env = url === undefined ? undefined : { DATABASE_URL: url };
  const first = await startServer(folder, env);
  const { key } = await setUp(first, 'http://127.0.0.1:9/hook');
  await first.stop();
  if (url === undefined) fillSqlite(folder);
  else await fillPostgres(url);
  const server = await startServer(folder, env);
  const api = apiOf(server.url, key);
  const queries = [
    (n: number) => spelled(1 + (n % 5)),
    (n: number) => spelled(100 + n),
    (n: number) => spelled(10_000 + n),
    (n: number) => `${spelled(1 + (n % 9))} ${spelled(10 + n)}`,
    (n: number) => `${spelled(5 + n)} ${spelled(n).slice(0, 3)}`,
    (n: number) => `${spelled(19_000 + n)} nowhere`,
  ];
  const took: number[] = [];
  for (let n = 0; n < SEARCHES; n++) {
    const q = queries[n % queries.length]?.(n) ?? '';
    const startedAt = performance.now();
    await api('GET', `/messages?q=${encodeURIComponent(q)}`);
    took.push(performance.now() - startedAt);
  }
  await server.stop();
  took.sort((a, b) => a - b);
  const [p50 = 0, p95 = 0] = [took[Math.floor(took.length * 0.5)], took[Math.floor(took.length * 0.95)]];
  return {
    what: `search: p95 over 1,000,000 messages on ${name}`,
    ours: `${p95.toFixed(1)} ms`,
    beside: `median ${p50.toFixed(1)} ms`,
    figure: '',
    goal: '< 50 ms',
    met: p95 < 50,
  };
}
