import { type RawBuilder, sql } from 'kysely';

/* The event log has numbers in place of the ids of accounts and webhooks. */

/** The number of an account, which never changes. */
export const accountNumber = (accountId: unknown): RawBuilder<number> =>
  sql`(select seq from accounts where account_id = ${accountId})`;

/** The number of a webhook, which may be removed; null if the log has nothing of it. */
export const webhookNumber = (webhookId: unknown): RawBuilder<number> =>
  sql`(select seq from receivers where webhook_id = ${webhookId})`;
