import { sql } from 'kysely';
import { isoTime } from '../../clock.ts';
import type { NetworkEvent } from '../../connectors/contract/events.ts';
import type { Tx } from '../../db/commit.ts';
import { batch, query } from '../../db/query.ts';
import type { Schema } from '../../db/schema.ts';
import type { RiskLevel } from '../../db/tables/sessions.ts';
import type { InboxOptions } from '../inboxOptions.ts';
import { findSession, type SessionRef } from '../store.ts';

/* Rows about a session's risk of being banned. `sessions/risk.ts` assesses it. */

export interface RiskReason {
  /** Such as `new_chats`. */
  readonly code: string;
  /** Its gravity. One with `low` is worth knowing, and does not raise the risk. */
  readonly risk: RiskLevel;
  /** A sentence with the figures. */
  readonly message: string;
}

export interface Assessment {
  readonly risk: RiskLevel;
  /** The gravest first. */
  readonly reasons: readonly RiskReason[];
}

/** Stores an assessment, and emits it if the level has changed. */
export async function storeRisk(
  { emit, clock }: Pick<InboxOptions, 'emit' | 'clock'>,
  tx: Tx,
  session: SessionRef,
  { risk, reasons }: Assessment,
): Promise<void> {
  const { accountId, sessionId } = session;
  const before = await healthById.first(tx, { sessionId });
  const row = await findSession(tx, session);
  if (before === undefined || row === undefined) return;
  await tx.kysely
    .updateTable('session_health')
    .set({ risk, reasons: JSON.stringify(reasons) })
    .where('session_id', '=', sessionId)
    .execute();
  if (before.risk === risk) return;
  const data = {
    sessionId,
    status: row.status,
    previousStatus: row.status,
    reason: null,
    health: { risk, previousRisk: before.risk, reasons: [...reasons] },
    timestamp: isoTime(clock.now()),
  };
  emit(tx, { accountId, kind: 'session.status', data, conversation: sessionId });
}

/** Notes with which number a session is connected. A session that was linked to another number starts again. */
export async function noteNumber(tx: Tx, session: SessionRef, phoneNumber: string, now: number): Promise<void> {
  const { accountId, sessionId } = session;
  const before = await healthById.first(tx, { sessionId });
  if (before?.phone_number === phoneNumber) return;
  const { kysely } = tx;
  if (before !== undefined)
    // Started chats stay, so that writing to them again does not count as new.
    for (const table of ['session_health', 'session_activity'] as const)
      await kysely.deleteFrom(table).where('account_id', '=', accountId).where('session_id', '=', sessionId).execute();
  await kysely
    .insertInto('session_health')
    .values({
      account_id: accountId,
      session_id: sessionId,
      phone_number: phoneNumber,
      linked_at: now,
      risk: 'low',
      reasons: '[]',
      standing: null,
    })
    .execute();
}

/** Stores what the network says about the number. Fields that it left out stay as they are. */
export async function storeStanding(
  tx: Tx,
  { sessionId }: SessionRef,
  { type: _, ...changed }: Extract<NetworkEvent, { type: 'standing' }>,
): Promise<void> {
  const before = await healthById.first(tx, { sessionId });
  if (before === undefined) return;
  const standing = JSON.stringify({ ...JSON.parse(before.standing ?? '{}'), ...changed });
  await tx.kysely.updateTable('session_health').set({ standing }).where('session_id', '=', sessionId).execute();
}

const WARNINGS = { block_report: 'block_reports', spam_limit: 'spam_limits', restricted: 'restrictions' } as const;

export interface Warning extends SessionRef {
  readonly warning: Extract<NetworkEvent, { type: 'warned' }>['warning'];
}

export async function storeWarnings(tx: Tx, warnings: readonly Warning[], now: number): Promise<void> {
  await addCounts(
    tx,
    warnings.map(({ warning, ...session }) => ({ ...session, counted: WARNINGS[warning], now })),
  );
}

/**
 * Returns the messages that a report adds to the unreadable ones of its session. Reactions and the like add none: only
 * metrics count them.
 */
export function unreadableMessages(event: NetworkEvent): number {
  if (event.type === 'unreadable') return event.isMessage ? (event.count ?? 1) : 0;
  return event.type === 'message' && event.unreadable !== undefined ? 1 : 0;
}

/** Counts what could not be decrypted, in the transaction of its report, which must not be a repeated one. */
export function countUnreadable(
  { clock, metrics }: Pick<InboxOptions, 'clock' | 'metrics'>,
  tx: Tx,
  { accountId, sessionId }: SessionRef,
  event: NetworkEvent,
): void {
  const count = unreadableMessages(event);
  if (count > 0) tx.writeLater(addCounts, { accountId, sessionId, counted: 'unreadable', count, now: clock.now() });
  tx.afterCommit(() => countInMetrics(metrics, event));
}

export function countInMetrics({ unreadable }: InboxOptions['metrics'], event: NetworkEvent): void {
  if (event.type === 'unreadable') unreadable.inc({ reason: event.reason }, event.count ?? 1);
  else if (event.type === 'message' && event.unreadable !== undefined) unreadable.inc({ reason: event.unreadable });
}

interface Count extends SessionRef {
  readonly counted: keyof typeof nothingDone;
  /** 1 if left out. */
  readonly count?: number;
  readonly now: number;
}

async function addCounts(tx: Pick<Tx, 'dialect' | 'kysely' | 'connection'>, counts: readonly Count[]): Promise<void> {
  // A statement cannot change a row twice.
  const rows = new Map<string, Activity>();
  for (const { accountId, sessionId, counted, count = 1, now } of counts) {
    const at = tenMinutesOf(now);
    const key = `${sessionId} ${at}`;
    const row = rows.get(key) ?? { account_id: accountId, session_id: sessionId, at, ...nothingDone };
    rows.set(key, { ...row, [counted]: row[counted] + count });
  }
  await addActivity.run(tx, [...rows.values()]);
}

export type Activity = Schema['session_activity'];

export const nothingDone = {
  sent: 0,
  failed: 0,
  unreachable: 0,
  peak: 0,
  look_ups: 0,
  block_reports: 0,
  spam_limits: 0,
  restrictions: 0,
  new_chats: 0,
  answered_chats: 0,
  unreadable: 0,
} as const satisfies Omit<Activity, 'account_id' | 'session_id' | 'at'>;

const TEN_MINUTES_MS = 10 * 60_000;

export const tenMinutesOf = (now: number): number => Math.floor(now / TEN_MINUTES_MS) * TEN_MINUTES_MS;

/** Adds to what sessions did in ten minutes. */
export const addActivity = batch(
  {
    account_id: 'text',
    session_id: 'text',
    at: 'bigint',
    sent: 'bigint',
    failed: 'bigint',
    unreachable: 'bigint',
    peak: 'bigint',
    look_ups: 'bigint',
    block_reports: 'bigint',
    spam_limits: 'bigint',
    restrictions: 'bigint',
    new_chats: 'bigint',
    answered_chats: 'bigint',
    unreadable: 'bigint',
  },
  ({ row, from }) => {
    const { peak: _, ...added } = nothingDone;
    const sums = Object.keys(added).map(
      (name) => sql`${sql.ref(name)} = session_activity.${sql.ref(name)} + excluded.${sql.ref(name)}`,
    );
    return sql`
      insert into session_activity (${sql.join(Object.keys(row).map((name) => sql.ref(name)))})
      select ${sql.join(Object.values(row))} ${from}
      on conflict (session_id, at) do update set ${sql.join(sums)},
        peak = case when excluded.peak > session_activity.peak then excluded.peak else session_activity.peak end`;
  },
);

const healthById = query((db, p: { sessionId: string }) =>
  db.selectFrom('session_health').selectAll().where('session_id', '=', p.sessionId),
);
