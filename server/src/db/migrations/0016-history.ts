import type { Migration } from './migration.ts';

/**
 * Stores the history of a phone: messages from before the session was linked, and the names of the address book. A node
 * of the previous release shows these messages like all others.
 */
export const history: Migration = {
  version: 16,
  name: 'history',
  statements: () => [
    `alter table sessions add column history text`,
    `alter table contacts add column saved_name text`,
    `alter table messages add column origin text`,
    `alter table messages add column reply_network_id text`,
    `alter table messages add column file_reference text`,
    `create index messages_origin on messages (account_id, message_id) where origin = 'history'`,
    // Replies whose original has not been imported yet.
    `create index messages_reply on messages (session_id, reply_network_id)
      where reply_network_id is not null and reply_to is null`,
  ],
};
