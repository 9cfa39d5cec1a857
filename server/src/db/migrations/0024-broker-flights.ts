import type { Migration } from './migration.ts';

/**
 * Remembers at which brokers a process had deliveries in flight, and pauses a webhook by which the process died. A node
 * of the previous release neither reads nor writes it.
 */
export const brokerFlights: Migration = {
  version: 24,
  name: 'broker flights',
  statements: () => [
    `alter table webhooks add column paused_reason text`,
    `alter table webhooks add column in_flight_by text`,
    `alter table webhooks add column deaths integer not null default 0`,
    `create index webhooks_in_flight on webhooks (in_flight_by) where in_flight_by is not null`,
  ],
};
