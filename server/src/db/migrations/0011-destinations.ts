import type { Migration } from './migration.ts';

/**
 * Lets a webhook publish its events to a message broker. A node of the previous release takes it for one over HTTP: it
 * refuses the address, or gets an error from Amazon SQS, and the delivery stays pending for a node of this release.
 */
export const destinations: Migration = {
  version: 11,
  name: 'destinations',
  statements: () => [
    `alter table webhooks add column destination text`,
    `alter table webhooks add column credentials text`,
  ],
};
