import { type SqlBool, sql } from 'kysely';
import type { NetworkStanding } from '../connectors/contract/standing.ts';
import type { Queryable } from '../db/dialect.ts';
import { batch, query } from '../db/query.ts';
import type { RiskLevel } from '../db/schema.ts';
import { isRestricted, numberStateOf } from '../messages/standing/numberState.ts';
import type { RiskReason } from '../messages/standing/sessionRisk.ts';
import type { RiskFigures } from './risk.ts';

const HOUR_MS = 60 * 60_000;
const DAY_MS = 24 * HOUR_MS;
const WEEK_MS = 7 * DAY_MS;
/** How long rows are kept that figures no longer need. */
const KEPT_MS = 8 * DAY_MS;
/** Rows that are deleted in one transaction. */

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
  if (sessionIds.length === 0) return new Map();
  const wanted = { ids: JSON.stringify(sessionIds) };
  const rows = await healthOf.all(on, wanted);
  const acts = await activityOf.all(on, { ...wanted, day: now - DAY_MS, hour: now - HOUR_MS });
  const chats = await chatsOf.all(on, { ...wanted, day: now - DAY_MS, week: now - WEEK_MS });
  const activity = new Map(acts.map((row) => [row.session_id, row]));
  const started = new Map(chats.map((row) => [row.session_id, row]));
  return new Map(
    rows.map((row) => {
      const did = activity.get(row.session_id);
      const began = started.get(row.session_id);
      const state = numberStateOf(row);
      // A notice from before concerns an earlier number of the session.
      const isNoticed = state !== null && isRestricted(state, Math.max(row.linked_at, now - DAY_MS));
      const figures: RiskFigures = {
        linkedAt: row.linked_at,
        newChats: began?.new_chats ?? 0,
        sent: did?.sent ?? 0,
        unreachable: did?.unreachable ?? 0,
        blockReports: did?.block_reports ?? 0,
        spamLimits: did?.spam_limits ?? 0,
        restrictions: (did?.restrictions ?? 0) + Number(isNoticed),
        lookUps: did?.look_ups ?? 0,
        sentInHour: did?.sent_in_hour ?? 0,
        failedInHour: did?.failed_in_hour ?? 0,
        peakPerMinute: did?.peak_in_hour ?? 0,
        startedInWeek: began?.started ?? 0,
        answeredInWeek: began?.answered ?? 0,
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

const activityOf = query((_, p: { ids: string; day: number; hour: number }, dialect) => {
  const sum = (column: string) => sql`cast(sum(${sql.ref(column)}) as bigint) as ${sql.ref(column)}`;
  const lastHour = (column: string) => sql`case when at > ${p.hour} then ${sql.ref(column)} else 0 end`;
  const columns = ['sent', 'unreachable', 'block_reports', 'spam_limits', 'restrictions', 'look_ups'].map(sum);
  return sql<Sums>`
    select session_id, ${sql.join(columns)},
      cast(sum(${lastHour('sent')}) as bigint) as sent_in_hour,
      cast(sum(${lastHour('failed')}) as bigint) as failed_in_hour,
      max(${lastHour('peak')}) as peak_in_hour
    from session_activity where session_id in ${dialect.texts(p.ids)} and at > ${p.day}
    group by session_id`;
});

const chatsOf = query((_, p: { ids: string; day: number; week: number }, dialect) => {
  const total = (condition: ReturnType<typeof sql<SqlBool>>) =>
    sql`cast(sum(case when ${condition} then 1 else 0 end) as bigint)`;
  return sql<{ session_id: string; new_chats: number; started: number; answered: number }>`
    select session_id, ${total(sql`started_at > ${p.day}`)} as new_chats,
      ${total(sql`started_at <= ${p.day}`)} as started,
      ${total(sql`started_at <= ${p.day} and answered_at is not null`)} as answered
    from started_chats where session_id in ${dialect.texts(p.ids)} and started_at > ${p.week}
    group by session_id`;
});

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
          .where('m.account_id', '=', p.accountId)
          .whereRef('m.chat_id', '=', 'c.chat_id')
          .where('m.session_id', '=', p.sessionId)
          .where('m.status', 'in', ['sent', 'delivered', 'read'])
          .where('m.timestamp', '<', p.before),
      ),
    ),
);

/** Stores that a session started chats. Those that it started before stay as they are. */
export const addStarted = batch(
  { account_id: 'text', session_id: 'text', chat_id: 'text', started_at: 'bigint' },
  ({ row, from }) => sql`
    insert into started_chats (account_id, session_id, chat_id, started_at)
    select ${row.account_id}, ${row.session_id}, ${row.chat_id}, ${row.started_at} ${from}
    on conflict do nothing`,
);

/** Stores that the other side of started chats has written. */
export const markAnswered = query((db, p: Pick<SessionChats, 'sessionId' | 'chats'> & { now: number }, dialect) =>
  db
    .updateTable('started_chats')
    .set({ answered_at: p.now })
    .where('session_id', '=', p.sessionId)
    .where('chat_id', 'in', dialect.texts(p.chats))
    .where('answered_at', 'is', null),
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
