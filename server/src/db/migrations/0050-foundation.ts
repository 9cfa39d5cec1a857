import { accountTables } from './foundation/accounts.ts';
import { broadcastTables } from './foundation/broadcasts.ts';
import { chatTables } from './foundation/chats.ts';
import { deploymentTables } from './foundation/deployment.ts';
import { fileTables } from './foundation/files.ts';
import { messageTables } from './foundation/messages.ts';
import { sandboxTables } from './foundation/sandbox.ts';
import { sessionTables } from './foundation/sessions.ts';
import { webhookTables } from './foundation/webhooks.ts';
import type { Migration } from './migration.ts';

/**
 * Everything that the product stores. It takes the place of the 49 steps before the first release, and its version
 * follows theirs, so that a database that they made is recognized; `switchboard upgrade` converts it.
 */
export const foundation: Migration = {
  version: 50,
  name: 'foundation',
  statements: (dialect) => [
    ...accountTables(dialect),
    ...sessionTables(dialect),
    ...chatTables(dialect),
    ...messageTables(dialect),
    ...broadcastTables,
    ...fileTables,
    ...webhookTables(dialect),
    ...sandboxTables(dialect),
    ...deploymentTables(dialect),
  ],
};
