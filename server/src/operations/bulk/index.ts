import type { Operation } from '../../invoke/operation.ts';
import * as batches from './batchOperations.ts';
import * as bulk from './sendBulk.ts';

/** Bulk sends, and what becomes of them. */
export const bulkOperations: readonly Operation[] = [
  bulk.sendBulk,
  batches.listBatches,
  batches.getBatch,
  batches.pauseBatchOperation,
  batches.resumeBatchOperation,
  batches.cancelBatchOperation,
];
