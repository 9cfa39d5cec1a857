import type { TableDescription } from '../description.ts';
import { accountTables } from './accounts.ts';
import { deploymentTables } from './deployment.ts';
import { mediaTables } from './media.ts';
import { messageTables } from './messages.ts';
import { peopleTables } from './people.ts';
import { sessionTables } from './sessions.ts';
import { webhookTables } from './webhooks.ts';

/** Tables of the search index, which `words.ts` writes. */
export const searchTables: readonly string[] = ['message_words', 'search_cursor'];

/** Every other table of the current schema, in copying order. */
export const tableDescriptions: readonly TableDescription[] = [
  ...accountTables,
  ...sessionTables,
  ...messageTables,
  ...peopleTables,
  ...mediaTables,
  ...webhookTables,
  ...deploymentTables,
];
