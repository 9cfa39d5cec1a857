import type { Operation } from '../invoke/operation.ts';
import { simulateSession } from '../sandbox/simulator/simulator.ts';
import { accountOperations } from './accounts/index.ts';
import { broadcastOperations } from './broadcasts/index.ts';
import { bulkOperations } from './bulk/index.ts';
import { fileOperations } from './files/index.ts';
import { groupOperations } from './groups/index.ts';
import { messageOperations } from './messages/index.ts';
import { sessionOperations } from './sessions/index.ts';
import { webhookOperations } from './webhooks/index.ts';

/** All operations. Routes, OpenAPI and permissions derive from this list. */
export const operations: readonly Operation[] = [
  ...accountOperations,
  ...sessionOperations,
  simulateSession,
  ...messageOperations,
  ...fileOperations,
  ...bulkOperations,
  ...broadcastOperations,
  ...groupOperations,
  ...webhookOperations,
];
