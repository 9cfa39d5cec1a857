import type { Migration } from './migration.ts';

/**
 * Order and waiting no longer depend on anybody's clock. A delivery takes a `position` when it is stored, and is due at
 * once (`due_at` 0) until it waits for a retry. Pending deliveries of before keep their order: they get the positions
 * up to 0.
 */
export const order: Migration = {
  version: 3,
  name: 'order',
  statements: ({ deliveryPositions }) => [
    `create table steady_time (ms bigint not null, at bigint not null)`,
    `insert into steady_time values (0, 0)`,

    `alter table deliveries add column position bigint not null default 0`,
    `drop index deliveries_due`,
    `update deliveries set due_at = case when due_at <= created_at then 0 else due_at end, position = 1 - later.n
      from (
        select account_id, delivery_id, row_number() over (order by due_at desc, delivery_id desc) as n
        from deliveries where state = 'pending' and attempts = 0
      ) as later
      where deliveries.account_id = later.account_id and deliveries.delivery_id = later.delivery_id`,
    // The queue: what a lane reads, in order. A row leaves it when it is settled.
    `create index deliveries_due on deliveries (webhook_id, due_at, position, delivery_id) where state = 'pending'`,

    ...deliveryPositions,
  ],
};
