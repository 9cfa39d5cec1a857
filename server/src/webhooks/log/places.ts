import { setImmediate } from 'node:timers/promises';
import type { Queryable } from '../../db/dialect.ts';
import { accountNumber } from '../../db/numbers.ts';
import { query } from '../../db/query.ts';
import { firstIdAt, hashOfId, timeOfId } from '../../ids.ts';

/* Finds places in the event log without an index for them. */

/** How far apart the order of positions and the order of ids can be, which concurrent transactions mix. */
const MIXED_MS = 60_000;

/**
 * Returns the position of the first event since a moment of steady time, of any account, or a slightly earlier one.
 * Positions and ids rise together, so it takes a few lookups.
 */
export async function positionAt(on: Queryable, steadyMs: number): Promise<number> {
  const first = firstIdAt('evt', steadyMs - MIXED_MS);
  let low = (await firstFrom.first(on, { from: 0 }))?.position ?? 0;
  let high = (await newest.first(on, {}))?.position ?? 0;
  while (low < high) {
    const middle: number = low + Math.floor((high - low) / 2);
    const event = await firstFrom.first(on, { from: middle });
    if (event !== undefined && event.event_id < first) low = event.position + 1;
    else high = middle;
  }
  return low;
}

/** Entries of the index that one read passes, and all reads together. */
const PASSED_AT_ONCE = 100_000;
const MOST_PASSED = 2_000_000;

/**
 * Returns the positions of the account's events about a message, oldest first. It passes the index of events since the
 * message was stored, at most two million, in the reading thread.
 */
export async function eventsAbout(
  on: Queryable,
  accountId: string,
  messageId: string,
  most = Number.POSITIVE_INFINITY,
): Promise<number[]> {
  const found: number[] = [];
  let after = (await positionAt(on, timeOfId(messageId))) - 1;
  const about = { accountId, messageId, hash: hashOfId(messageId) };
  for (let passed = 0; passed < MOST_PASSED && found.length < most; passed += PASSED_AT_ONCE) {
    const end = await endOfWindow.first(on, { accountId, after, offset: PASSED_AT_ONCE - 1 });
    const last = end?.position ?? Number.MAX_SAFE_INTEGER;
    found.push(...(await candidates.all(on, { ...about, after, last })).map(({ position }) => position));
    if (end === undefined) break;
    after = last;
    await setImmediate(); // other long reads go in between
  }
  return found;
}

const firstFrom = query((db, p: { from: number }) =>
  db.selectFrom('events').select(['position', 'event_id']).where('position', '>=', p.from).orderBy('position').limit(1),
);

const newest = query((db, _: object) =>
  db.selectFrom('events').select('position').orderBy('position', 'desc').limit(1),
);

const endOfWindow = query((db, p: { accountId: string; after: number; offset: number }) =>
  db
    .selectFrom('events')
    .select('position')
    .where('account', '=', accountNumber(p.accountId))
    .where('position', '>', p.after)
    .orderBy('position')
    .offset(p.offset)
    .limit(1),
);

const candidates = query((db, p: { accountId: string; messageId: string; hash: number; after: number; last: number }) =>
  db
    .selectFrom('events')
    .select('position')
    .where('account', '=', accountNumber(p.accountId))
    .where('position', '>', p.after)
    .where('position', '<=', p.last)
    .where('message_hash', '=', p.hash)
    .where('message_id', '=', p.messageId)
    .orderBy('position'),
);
