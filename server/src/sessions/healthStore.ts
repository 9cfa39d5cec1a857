import { setImmediate } from 'node:timers/promises';
import { type RawBuilder, sql } from 'kysely';
import type { NetworkStanding } from '../connectors/contract/standing.ts';
import type { Queryable } from '../db/dialect.ts';
import { batch, listed, query, unindexed } from '../db/query.ts';
import type { Schema } from '../db/schema.ts';
import type { RiskLevel } from '../db/tables/sessions.ts';
import { isRestricted, numberStateOf } from '../messages/standing/numberState.ts';
import type { RiskReason } from '../messages/standing/sessionRisk.ts';
import type { RiskFigures } from './risk.ts';

const HOUR_MS = 60 * 60_000;
const DAY_MS = 24 * HOUR_MS;
const WEEK_MS = 7 * DAY_MS;
/** How long rows are kept that figures no longer need. */
const KEPT_MS = 8 * DAY_MS;
/** Sessions that one read covers, with a week of activity each. */
const SESSIONS_READ = 20;

export interface StoredHealth {
  readonly figures: RiskFigures;
  /** The last assessment. */
  readonly risk: RiskLevel;
  readonly reasons: readonly RiskReason[];
}

/** Reads the figures of sessions. Sessions without a row were never connected, and have none. */
export async function readHealth(
  on: Queryable,
  sessionIds: readonly string[],
  now: number,
): Promise<Map<string, StoredHealth>> {
  const found = new Map<string, StoredHealth>();
  for (let at = 0; at < sessionIds.length; at += SESSIONS_READ) {
    if (at > 0) await setImmediate(); // requests that have arrived go first
    for (const [id, health] of await readSome(on, sessionIds.slice(at, at + SESSIONS_READ), now)) found.set(id, health);
  }
  return found;
}

async function readSome(on: Queryable, sessionIds: readonly string[], now: number): Promise<Map<string, StoredHealth>> {
  const wanted = { ids: JSON.stringify(sessionIds) };
  const rows = await healthOf.all(on, wanted);
  const acts = await activityOf.all(on, { ...wanted, week: now - WEEK_MS, day: now - DAY_MS, hour: now - HOUR_MS });
  const activity = new Map(acts.map((row) => [row.session_id, row]));
  return new Map(
    rows.map((row) => {
      const did = activity.get(row.session_id);
      const state = numberStateOf(row);
      // A notice from before concerns an earlier number of the session.
      const isNoticed = state !== null && isRestricted(state, Math.max(row.linked_at, now - DAY_MS));
      const figures: RiskFigures = {
        linkedAt: row.linked_at,
        newChats: did?.new_chats ?? 0,
        sent: did?.sent ?? 0,
        unreachable: did?.unreachable ?? 0,
        blockReports: did?.block_reports ?? 0,
        spamLimits: did?.spam_limits ?? 0,
        restrictions: (did?.restrictions ?? 0) + Number(isNoticed),
        lookUps: did?.look_ups ?? 0,
        unreadable: did?.unreadable ?? 0,
        sentInHour: did?.sent_in_hour ?? 0,
        failedInHour: did?.failed_in_hour ?? 0,
        peakPerMinute: did?.peak_in_hour ?? 0,
        startedInWeek: did?.started ?? 0,
        // Nodes of the previous version count no starts.
        answeredInWeek: Math.min(did?.answered ?? 0, did?.started ?? 0),
        quality: state?.quality ?? null,
        maySend: state?.canSend !== 'no',
        // Both were stored by this code.
        standing: JSON.parse(row.standing ?? '{}') as NetworkStanding,
      };
      return [row.session_id, { figures, risk: row.risk, reasons: JSON.parse(row.reasons) as RiskReason[] }];
    }),
  );
}

interface Sums {
  readonly session_id: string;
  readonly sent: number;
  readonly unreachable: number;
  readonly block_reports: number;
  readonly spam_limits: number;
  readonly restrictions: number;
  readonly look_ups: number;
  readonly new_chats: number;
  readonly started: number;
  readonly answered: number;
  readonly unreadable: number;
  readonly sent_in_hour: number;
  readonly failed_in_hour: number;
  readonly peak_in_hour: number;
}

const healthOf = query((db, p: { ids: string }, dialect) =>
  db
    .selectFrom('session_health as h')
    .innerJoin('sessions as s', 's.session_id', 'h.session_id')
    .selectAll('h')
    .select('s.number_state')
    .where('h.session_id', 'in', dialect.texts(p.ids)),
);

/** A session has a row for each ten minutes with activity, so at most 1,008 for a week. */
const activityOf = query((_, p: { ids: string; week: number; day: number; hour: number }, dialect) => {
  const within = (condition: RawBuilder<unknown>, column: string) =>
    sql`case when ${condition} then ${sql.ref(column)} else 0 end`;
  const sum = (condition: RawBuilder<unknown>, column: string, name: string) =>
    sql`cast(sum(${within(condition, column)}) as bigint) as ${sql.ref(name)}`;
  const [lastDay, before, lastHour] = [sql`at > ${p.day}`, sql`at <= ${p.day}`, sql`at > ${p.hour}`];
  const columns = [
    'sent',
    'unreachable',
    'block_reports',
    'spam_limits',
    'restrictions',
    'look_ups',
    'new_chats',
    'unreadable',
  ];
  return sql<Sums>`
    select session_id, ${sql.join(columns.map((name) => sum(lastDay, name, name)))},
      ${sum(before, 'new_chats', 'started')}, ${sum(before, 'answered_chats', 'answered')},
      ${sum(lastHour, 'sent', 'sent_in_hour')}, ${sum(lastHour, 'failed', 'failed_in_hour')},
      max(${within(lastHour, 'peak')}) as peak_in_hour
    from session_activity where session_id in ${dialect.texts(p.ids)} and at > ${p.week}
    group by session_id`;
});

export type StartedChat = Pick<Schema['started_chats'], 'started_at'>;

interface SessionChats {
  readonly accountId: string;
  readonly sessionId: string;
  /** JSON list of direct chats. */
  readonly chats: string;
}

/** Returns those of the chats that had a message before a time, sent or received. */
export const earlierChats = query((db, p: SessionChats & { before: number }, dialect) =>
  db
    .selectFrom('chats as c')
    .select('c.chat_id')
    .where('c.account_id', '=', p.accountId)
    .where('c.session_id', '=', p.sessionId)
    .where('c.chat_id', 'in', dialect.texts(p.chats))
    // The oldest message of a chat usually decides.
    .where(({ exists, selectFrom }) =>
      exists(
        selectFrom('messages as m')
          .select('m.seq')
          .where(unindexed('m.account_id'), '=', p.accountId) // SQLite would pass the messages of other sessions
          .where(listed('m.session_id'), '=', p.sessionId)
          .whereRef('m.chat_id', '=', 'c.chat_id')
          .where('m.status', 'in', ['sent', 'delivered', 'read'])
          .where('m.timestamp', '<', p.before),
      ),
    ),
);

/** Stores that a session started chats, and returns those that are new. The others stay as they are. */
export const addStarted = batch(
  { account_id: 'text', session_id: 'text', chat_id: 'text', started_at: 'bigint' },
  ({ row, from }) => sql<StartedChat>`
    insert into started_chats (account_id, session_id, chat_id, started_at)
    select ${row.account_id}, ${row.session_id}, ${row.chat_id}, ${row.started_at} ${from}
    on conflict do nothing returning started_at`,
);

/** Marks chats that the session's present number started as answered, and returns those that it marked. */
export const markAnswered = query((db, p: Pick<SessionChats, 'sessionId' | 'chats'> & { now: number }, dialect) =>
  db
    .updateTable('started_chats')
    .set({ answered_at: p.now })
    .where('session_id', '=', p.sessionId)
    .where('chat_id', 'in', dialect.texts(p.chats))
    .where('answered_at', 'is', null)
    .where('started_at', '>=', ({ selectFrom }) =>
      selectFrom('session_health').select('linked_at').where('session_id', '=', p.sessionId),
    )
    .returning('started_at'),
);

/** Only of connected sessions, because nobody assesses the others. */
export const countByRisk = query((db, _: object) =>
  db
    .selectFrom('session_health as h')
    .innerJoin('sessions as s', 's.session_id', 'h.session_id')
    .select(({ fn }) => ['h.risk', fn.countAll<number>().as('count')])
    .where('h.risk', '<>', sql.lit('low' as const))
    .where('s.status', '=', 'connected')
    .groupBy('h.risk'),
);

/** Sessions whose risk may have gone down by itself. */
export const atRisk = query((db, p: { ids: string }, dialect) =>
  db
    .selectFrom('session_health')
    .select('session_id')
    .where('risk', '<>', sql.lit('low' as const))
    .where('session_id', 'in', dialect.texts(p.ids)),
);

/** Deletes rows that figures no longer need, up to `limit` of each table. Returns the larger number. */
export async function pruneHealth({ kysely }: Queryable, now: number, limit: number): Promise<number> {
  const before = now - KEPT_MS;
  const acts = sql`(select session_id, at from session_activity where at < ${before} limit ${limit})`;
  const chats = sql`(select session_id, chat_id from started_chats where started_at < ${before} limit ${limit})`;
  const deleted = [
    await kysely.deleteFrom('session_activity').where(sql<boolean>`(session_id, at) in ${acts}`).executeTakeFirst(),
    await kysely.deleteFrom('started_chats').where(sql<boolean>`(session_id, chat_id) in ${chats}`).executeTakeFirst(),
  ];
  return Math.max(...deleted.map(({ numDeletedRows }) => Number(numDeletedRows)));
}
