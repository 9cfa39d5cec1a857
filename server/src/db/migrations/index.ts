import { foundation } from './0001-foundation.ts';
import { sandboxScopes } from './0002-sandbox-scopes.ts';
import { order } from './0003-order.ts';
import { logPositions } from './0004-log-positions.ts';
import { sandboxMailbox } from './0005-sandbox-mailbox.ts';
import { lastAttempt } from './0006-last-attempt.ts';
import { webhookScope } from './0007-webhook-scope.ts';
import { webhookOptions } from './0008-webhook-options.ts';
import { keyScope } from './0009-key-scope.ts';
import type { Migration } from './migration.ts';

/** Fingerprints of the tables that all migrations together create. A test computes them. */
export const newestShape = {
  sqlite: 'ac15R_SYSYASg27ivTZ-6_Agxo9a7W7rqN11bPf_LDk',
  postgres: 'TORukp9pEaRsDRYdAegx9Gl9fovxZ0d6dIWg_SIhjxc',
};

/** Every migration, oldest first. A released one never changes; a new one is added below. */
export const migrations: readonly Migration[] = [
  foundation,
  sandboxScopes,
  order,
  logPositions,
  sandboxMailbox,
  lastAttempt,
  webhookScope,
  webhookOptions,
  keyScope,
];
