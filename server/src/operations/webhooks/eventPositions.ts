import { invalidField } from '../../errors.ts';
import { timeOfId } from '../../ids.ts';
import type { Context } from '../../invoke/operation.ts';
import { isSelected, type Selected } from '../../webhooks/endpoints/subscriptions.ts';
import { isCursor, type LoggedEvent, laterOf, timeOfCursor } from '../../webhooks/log/eventLog.ts';

/* Where an MCP client starts in the event log, and what it reads from there. */

const DAY_MS = 24 * 60 * 60 * 1000;

export interface Start {
  readonly from: string;
  /** Whether events between the client's cursor and `from` may have been skipped. */
  readonly truncated: boolean;
}

/**
 * Returns the position from which a client reads: its cursor, or now without one. A cursor that is older than the
 * retention or `maxAgeMs` moves to the oldest event that the client can get, and one from before a restore or a
 * failover to what came since.
 * @throws {AppError} `validation_failed` naming the field `cursor`
 */
export async function startOf(
  ctx: Context<'eventLog'>,
  given: string | null | undefined,
  maxAgeMs: number | undefined,
): Promise<Start> {
  const { eventLog, steady, accountId, settings } = ctx;
  const now = steady.now();
  if (given === undefined || given === null) return { from: await present(ctx), truncated: false };
  if (!isCursor(given)) throw invalidField('cursor', 'is not a cursor of this server; leave it out to start now');
  const resumed = await eventLog.resume(given);
  if (resumed.truncated) return resumed;
  const { from: cursor } = resumed;
  if (await eventLog.isForeign(cursor, now)) return { from: await present(ctx), truncated: true };
  const at = timeOfCursor(cursor);
  const oldestKept = now - settings.eventRetentionDays * DAY_MS;
  const oldestWanted = Math.max(oldestKept, now - (maxAgeMs ?? Number.POSITIVE_INFINITY));
  if (at >= oldestWanted) return { from: cursor, truncated: false };
  const oldest = (await eventLog.since(accountId, oldestWanted)) ?? (await present(ctx));
  const truncated = at < oldestKept || (await isSkipped(ctx, cursor, oldestWanted));
  return { from: laterOf(cursor, oldest), truncated };
}

async function present({ eventLog, steady, accountId }: Context<'eventLog'>): Promise<string> {
  const now = await eventLog.now(steady.now());
  return laterOf(now, await eventLog.latest(accountId));
}

/** Whether there is an event after the cursor that is too old. */
async function isSkipped(
  { eventLog, accountId }: Context<'eventLog'>,
  cursor: string,
  oldestWanted: number,
): Promise<boolean> {
  const [next] = await eventLog.read(accountId, cursor, 1);
  return next !== undefined && timeOfId(next.eventId) < oldestWanted;
}

/** Reads of the log in one request. */
const MOST_READS = 10;
const BATCH = 100;

export interface Reading {
  readonly events: LoggedEvent[];
  /** Resumes after everything that was read. */
  readonly cursor: string;
  readonly hasMore: boolean;
}

/** Reads up to `limit` of the selected events after a cursor. */
export async function readSelected(
  ctx: Context<'eventLog' | 'filteredEventLog'>,
  selected: Selected,
  from: string,
  limit: number,
): Promise<Reading> {
  const { accountId, eventLog, filteredEventLog, steady } = ctx;
  // Before reading: what becomes visible later comes after it.
  const now = await eventLog.now(steady.now());
  const { kind, sessionIds } = selected;
  const events: LoggedEvent[] = [];
  let cursor = from;
  for (let reads = 0; reads < MOST_READS; reads++) {
    const read = await filteredEventLog.select(accountId, cursor, { kinds: [kind], sessionIds }, BATCH);
    for (const [index, event] of read.events.entries()) {
      cursor = event.cursor;
      if (isSelected(selected, event)) events.push(event);
      if (events.length < limit || (index === read.events.length - 1 && !read.hasMore)) continue;
      return { events, cursor, hasMore: true };
    }
    cursor = read.cursor ?? cursor;
    if (!read.hasMore) return { events, cursor: laterOf(cursor, now), hasMore: false };
  }
  return { events, cursor, hasMore: true };
}
