import { sql } from 'kysely';
import type { MessageRow } from '../db/schema.ts';

/*
 * The order in which the queued messages of a chat go out. The place of a message is a multiple of its `seq`. A message
 * that is queued later than stored gets a `turn` behind everything that was stored or queued in its chat until then.
 * Transactions that queue at the same time may draw the same turn on PostgreSQL, so messages with the same place go out
 * in the order of their ids.
 */

/** Number of places between two stored messages. The triggers of `outbox` have the same factor. */
const PLACES = 65_536;

/** Place of a message of `messages`. While it is queued, `outbox` has it as well. */
export const place = sql<number>`coalesce(turn, seq * ${sql.lit(PLACES)})`;

/**
 * The last place that a message of any chat can have now. Everything stored later is behind it. A chat would need
 * 65,536 messages that were queued later than the newest one was stored to have a place behind it.
 */
export const lastPlace = sql<
  number | null
>`(select max(seq) * ${sql.lit(PLACES)} + ${sql.lit(PLACES - 1)} from messages)`;

/** Returns the place of a message that is being queued now, for its column `turn`. */
export const nextTurn = ({ session_id, chat_id }: Pick<MessageRow, 'session_id' | 'chat_id'>) => sql<number>`
  (select max(last) + 1 from (
    select max(seq) * ${sql.lit(PLACES)} as last from messages
    union all
    select max(place) from outbox
    where session_id = ${session_id} and chat_id = ${chat_id} and status = 'queued') as places)`;
