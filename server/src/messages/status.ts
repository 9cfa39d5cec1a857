import type { NetworkEvent } from '../connectors/contract/events.ts';
import type { MessageRow } from '../db/schema.ts';
import { AppError, type ErrorCode, errors } from '../errors.ts';

/**
 * The status of an outgoing message only moves forward: queued → sent → delivered → read, or failed. A message that
 * failed on a timeout may have been sent nevertheless, and moves on when the network reports it later. Before it is
 * queued, a message may be scheduled; and before that, it may wait for approval, where no network moves it.
 */
export const STEPS = ['sent', 'delivered', 'read'] as const;
export type Step = (typeof STEPS)[number];

/** Sent longer after its creation, a message is found by its column `late_at`, because its id is from before. */
export const LATE_MS = 60_000;

/** The error of a message that was cancelled while it was scheduled or waited for approval. */
export const CANCELLED = 'Cancelled before it was sent';

export const isCancelled = ({ status, error }: Pick<MessageRow, 'status' | 'error'>): boolean =>
  status === 'failed' && error === CANCELLED;

/** Returns the error of a message that failed. Rows of earlier releases have no code. */
export function failureOf({ error, error_code: code }: Pick<MessageRow, 'error' | 'error_code'>): AppError {
  return new AppError(code !== null && isErrorCode(code) ? code : 'send_failed', error ?? undefined);
}

/** Whether an outgoing message has got as far as a step. */
export const hasReached = (status: MessageRow['status'], step: Step): boolean =>
  STEPS.indexOf(status as Step) >= STEPS.indexOf(step);

/** Networks confirm out of order, and a message that was read was also sent and delivered. */
function stepsTo(target: Step, { status, sent_at: sentAt }: Pick<MessageRow, 'status' | 'sent_at'>): readonly Step[] {
  // The network accepted it and reported the failure later.
  if (status === 'failed' && sentAt !== null) return [];
  // −1 if the message has not been sent: all steps are still ahead.
  const done = STEPS.indexOf(status as Step);
  return STEPS.slice(done + 1, STEPS.indexOf(target) + 1);
}

export type Receipt = Pick<Extract<NetworkEvent, { type: 'receipt' }>, 'status' | 'timestamp' | 'error' | 'errorCode'>;

/** The columns of a message that a receipt changes. */
type Progress = Pick<
  MessageRow,
  'status' | 'error' | 'error_code' | 'sent_at' | 'delivered_at' | 'read_at' | 'failed_at'
>;

/** Each step emits an event. Returns undefined if the receipt changes nothing. */
export function progressOf(
  before: Progress,
  { status, timestamp, error = 'failed', errorCode }: Receipt,
): { after: Progress; steps: readonly Step[] } | undefined {
  if (before.status === 'pending_approval') return undefined;
  const sentAt = before.sent_at ?? timestamp;
  if (status === 'failed') {
    // A message that somebody received did not fail.
    if (before.status === 'delivered' || before.status === 'read') return undefined;
    const { delivered_at, read_at } = before;
    const failure = {
      error,
      error_code: errorCode !== undefined && isErrorCode(errorCode) ? errorCode : null,
      failed_at: timestamp,
    };
    return { after: { status, ...failure, sent_at: sentAt, delivered_at, read_at }, steps: [] };
  }
  const steps = stepsTo(status, before);
  if (steps.length === 0) return undefined;
  const after = {
    status,
    error: null,
    error_code: null,
    failed_at: null,
    sent_at: sentAt,
    delivered_at: before.delivered_at ?? (status === 'sent' ? null : timestamp),
    read_at: status === 'read' ? timestamp : before.read_at,
  };
  return { after, steps };
}

const isErrorCode = (text: string): text is ErrorCode => Object.hasOwn(errors, text);
