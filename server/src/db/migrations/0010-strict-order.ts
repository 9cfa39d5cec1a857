import type { Migration } from './migration.ts';

/**
 * Lets a webhook keep the order of each conversation across retries, and add fields to its events. A node of the
 * previous release ignores both, and delivers what is held behind an earlier delivery once it is due.
 */
export const strictOrder: Migration = {
  version: 10,
  name: 'strict order',
  statements: () => [
    `alter table webhooks add column ordering text not null default 'best_effort'`,
    `alter table webhooks add column include text`,
    `alter table deliveries add column held_behind text`,
    // Deliveries that wait, by conversation: whether a later one has to wait behind them. Not `due_at > 0`, for which
    // SQLite would prefer the index of what is due.
    `create index deliveries_waiting on deliveries (webhook_id, conversation, position, delivery_id)
      where state = 'pending' and due_at <> 0`,
    // Deliveries that an earlier one releases once it is settled.
    `create index deliveries_held on deliveries (webhook_id, conversation, position, delivery_id)
      where held_behind is not null`,
  ],
};
