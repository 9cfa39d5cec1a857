import type { Migration } from './migration.ts';

/**
 * Stores when the pin of a message and the timer of a chat last changed on the network, so that an older change which
 * arrives later does not undo a newer one. Null until the next change. A node of the previous release leaves them as
 * they are.
 */
export const changeTimes: Migration = {
  version: 42,
  name: 'times of pins and timers',
  statements: () => [
    'alter table messages add column pin_changed_at bigint',
    'alter table chats add column disappearing_changed_at bigint',
  ],
};
