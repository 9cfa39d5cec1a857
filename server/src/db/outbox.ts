import { type Kysely, sql } from 'kysely';
import type { Schema } from './schema.ts';
import type { MessageStatus, OutboxStatus } from './tables/messages.ts';

const OUTBOX_STATUSES: readonly MessageStatus[] = ['pending_approval', 'scheduled', 'queued', 'sent'];

/** Whether messages with the status have a row in `outbox`. */
export const isInOutbox = (status: MessageStatus): status is OutboxStatus => OUTBOX_STATUSES.includes(status);

/** Selects the messages with a status as `m`, through their rows in `outbox`, which are `o`. */
export const messagesInOutbox = (db: Pick<Kysely<Schema>, 'selectFrom'>, status: OutboxStatus) =>
  db
    .selectFrom('outbox as o')
    .crossJoin('messages as m') // SQLite keeps this order of the two
    .where('o.status', '=', sql.lit(status))
    .whereRef('m.account_id', '=', 'o.account_id')
    .whereRef('m.message_id', '=', 'o.message_id');
