import { Type } from 'typebox';
import { Timestamp } from './fields.ts';
import { SessionId, Test } from './parts.ts';

/* Event types of bulk sends. Part of `optInEvents`. */

export const batchStatuses = ['running', 'paused', 'cancelling', 'cancelled', 'completed'] as const;
export type BatchStatus = (typeof batchStatuses)[number];
/** Status of a batch while its messages are being stored. No event reports it. */
export const PREPARING = 'preparing';

const count = (description: string) => Type.Integer({ minimum: 0, description });

/** Number of a batch's messages in each state. */
export const BatchCounts = Type.Object(
  {
    pendingApproval: count('Messages that wait for approval.'),
    scheduled: count('Messages that wait for their time.'),
    queued: count('Messages that wait for the network.'),
    sent: count('Messages that the network accepted.'),
    delivered: count('Messages that reached the recipient.'),
    read: count('Messages that the recipient read.'),
    failed: count('Messages that failed.'),
    cancelled: count('Messages that were cancelled.'),
  },
  { description: 'Number of messages by their present status. Each message counts once.' },
);

export const batchEvents = {
  'batch.updated': {
    description: 'A bulk send was paused, resumed or cancelled, or its last message has left the queue.',
    data: Type.Object({
      batchId: Type.String({ description: 'Id of the batch (`bat_…`).' }),
      sessionId: SessionId,
      status: Type.Enum([...batchStatuses], {
        description: '`completed`: no message waits any longer. Receipts can still follow.',
      }),
      previousStatus: Type.Enum([...batchStatuses], { description: 'Status before.' }),
      accepted: count('Number of messages in the batch.'),
      counts: BatchCounts,
      timestamp: Timestamp('When the status changed.'),
      ...Test,
    }),
  },
} as const;

/** The samples of these events. */
export const batchSamples = (sessionId: string, timestamp: string) => ({
  'batch.updated': {
    batchId: 'bat_00000000000000000000000000',
    sessionId,
    status: 'completed' as const,
    previousStatus: 'running' as const,
    accepted: 2,
    counts: { pendingApproval: 0, scheduled: 0, queued: 0, sent: 0, delivered: 1, read: 0, failed: 1, cancelled: 0 },
    timestamp,
    test: true as const,
  },
});
