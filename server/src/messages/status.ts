import type { MessageRow } from '../db/schema.ts';

/**
 * How far an outgoing message has come only moves forward: queued → sent → delivered → read, or failed. What failed
 * because no answer came in time may have been sent all the same, and moves on when the network tells of it later.
 */
const STEPS = ['sent', 'delivered', 'read'] as const;
type Step = (typeof STEPS)[number];

/**
 * The steps to `target`, each of which is an event: networks confirm out of order, and a message that
 * was read has been sent and delivered, whether or not anybody said so. Empty when there is nothing to move.
 */
function stepsTo(target: Step, { status, sent_at: sentAt }: Pick<MessageRow, 'status' | 'sent_at'>): readonly Step[] {
  // The network had taken it, and then said that it failed.
  if (status === 'failed' && sentAt !== null) return [];
  // −1 for what is none of the steps, so has not been sent: all of them are still ahead.
  const done = STEPS.indexOf(status as Step);
  return STEPS.slice(done + 1, STEPS.indexOf(target) + 1);
}

/** What a network tells of an outgoing message. */
export interface Receipt {
  readonly status: Step | 'failed';
  /** When it happened. */
  readonly timestamp: number;
  /** Why, in words, where it has failed. */
  readonly error?: string;
}

/** What of a message a receipt changes. */
type Progress = Pick<MessageRow, 'status' | 'error' | 'sent_at' | 'delivered_at' | 'read_at' | 'failed_at'>;

/**
 * Where a message is after a receipt, and the steps it has done with it, each of which is an event. Undefined when the
 * receipt tells nothing new.
 */
export function progressOf(
  before: Progress,
  { status, timestamp, error = 'failed' }: Receipt,
): { after: Progress; steps: readonly Step[] } | undefined {
  const sentAt = before.sent_at ?? timestamp;
  if (status === 'failed') {
    // What somebody has got did not fail.
    if (before.status === 'delivered' || before.status === 'read') return undefined;
    return { after: { ...before, status, error, sent_at: sentAt, failed_at: timestamp }, steps: [] };
  }
  const steps = stepsTo(status, before);
  if (steps.length === 0) return undefined;
  const after = {
    ...before,
    status,
    error: null,
    failed_at: null,
    sent_at: sentAt,
    delivered_at: before.delivered_at ?? (status === 'sent' ? null : timestamp),
    read_at: status === 'read' ? timestamp : before.read_at,
  };
  return { after, steps };
}
