import type { Migration } from './migration.ts';

/**
 * Stores the API key with what it made, so that the key's limits apply when the work is done. A node of the previous
 * release leaves the columns null, which stands for a login.
 */
export const keyOrigin: Migration = {
  version: 30,
  name: 'key origin',
  statements: () => [
    `alter table messages add column key_id text`,
    `alter table webhooks add column set_by_key text`,
    `alter table sessions add column call_text_key text`,
    `create index webhooks_set_by_key on webhooks (set_by_key) where set_by_key is not null`,
  ],
};
