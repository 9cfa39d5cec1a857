import type { Migration } from './migration.ts';

/** Lets a webhook count redirects as delivered. A node of the previous release counts them as failed attempts. */
export const acceptRedirects: Migration = {
  version: 32,
  name: 'accept redirects',
  statements: () => ['alter table webhooks add column accept_redirects integer not null default 0'],
};
