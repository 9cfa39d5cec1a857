import { isoTime } from '../../clock.ts';
import type { Tx } from '../../db/commit.ts';
import type { MessageRow } from '../../db/schema.ts';
import { contentColumn, type StoredContent } from '../content.ts';
import type { InboxOptions } from '../inboxOptions.ts';
import { changeWords } from '../search.ts';
import { nextTurn } from '../sendOrder.ts';
import { CANCELLED } from '../status.ts';
import { findMessage, type NewRow, touchChat } from '../store.ts';
import { emissionOf, emitFailed, statusOf } from './outgoingProgress.ts';

/*
 * A message of a key with `requiresApproval` is stored as `pending_approval`. It leaves this status once: approved, it
 * is queued, or scheduled if its time has not come; rejected, expired or withdrawn, it has failed.
 */

export const approvalOutcomes = ['approved', 'rejected', 'expired', 'withdrawn'] as const;

/** The approval of a message, as it is stored. Times are in milliseconds. */
export interface Approval {
  /** The API key that asked for the message to be sent. */
  readonly keyId: string;
  readonly expiresAt: number;
  /** Undefined while the message waits. */
  readonly outcome?: (typeof approvalOutcomes)[number];
  readonly decidedAt?: number;
  /** Id of the API key that approved or rejected it, or `login`. */
  readonly decidedBy?: string;
  /** Why it was rejected. */
  readonly reason?: string;
  /** Present if the text was edited when it was approved. */
  readonly edited?: true;
}

export type ApprovalDecision =
  | {
      readonly outcome: 'approved';
      readonly by: string;
      readonly text?: string | undefined;
      /** Replaces the content; undefined if it stays. */
      readonly content?: StoredContent | undefined;
    }
  | { readonly outcome: 'rejected'; readonly by: string; readonly reason?: string | undefined }
  | { readonly outcome: 'expired' | 'withdrawn' };

const EXPIRY_DAYS = 7;
export const APPROVAL_EXPIRY_MS = EXPIRY_DAYS * 24 * 3_600_000;

/** Undefined for a message that needed no approval. */
export function approvalOf({ approval }: Pick<MessageRow, 'approval'>): Approval | undefined {
  return approval === null ? undefined : JSON.parse(approval);
}

/** The columns of a message that waits for approval. */
export function pendingColumns(keyId: string, now: number): Pick<NewRow, 'status' | 'created_at' | 'approval'> {
  const approval: Approval = { keyId, expiresAt: now + APPROVAL_EXPIRY_MS };
  return { status: 'pending_approval', created_at: now, approval: JSON.stringify(approval) };
}

/**
 * Decides on a message that waits for approval. One that has expired expires, whatever the decision.
 * @param requireRoom throws if the account may not have one more scheduled message
 * @returns the message after the decision; undefined if it does not wait for approval
 */
export async function decide(
  options: Pick<InboxOptions, 'clock' | 'emit'>,
  tx: Tx,
  { account_id: accountId, message_id: messageId }: Pick<MessageRow, 'account_id' | 'message_id'>,
  decision: ApprovalDecision,
  requireRoom: (tx: Tx) => Promise<void> = async () => {},
  triesLeft = 1,
): Promise<MessageRow | undefined> {
  const before = await findMessage(tx, accountId, messageId);
  const pending = before && approvalOf(before);
  if (before?.status !== 'pending_approval' || pending === undefined) return undefined;
  const now = options.clock.now();
  const made = now >= pending.expiresAt ? ({ outcome: 'expired' } as const) : decision;
  const progress = progressOf(made, before, now);
  if (progress.status === 'scheduled') await requireRoom(tx);
  const row = await tx.kysely
    .updateTable('messages')
    .set({ ...progress, ...textOf(made), ...contentColumnOf(made), approval: columnOf(pending, made, before, now) })
    .where('account_id', '=', accountId)
    .where('message_id', '=', messageId)
    .where('status', '=', 'pending_approval')
    .where('scheduled_at', before.scheduled_at === null ? 'is' : '=', before.scheduled_at)
    .returningAll()
    .executeTakeFirst();
  // Another node was faster: it has decided, or paused the batch of the message. The second try finds out which.
  if (row === undefined)
    return triesLeft > 0 ? decide(options, tx, before, decision, requireRoom, triesLeft - 1) : undefined;
  if (row.body !== before.body || row.content !== before.content) await changeWords(tx, row);
  emitApproval(options, tx, row);
  if (row.status === 'failed') emitFailed(options, tx, row);
  if (row.status === 'queued') {
    await touchChat(tx, row, now);
    options.emit(tx, { ...emissionOf(row), kind: 'message.queued', data: statusOf(row, 'queued', now) });
  }
  return row;
}

/** Emits that a message waits for approval, or what was decided. Call it with the row after the change. */
export function emitApproval({ emit }: Pick<InboxOptions, 'emit'>, tx: Tx, row: NewRow): void {
  const { keyId = '', outcome, decidedAt = row.created_at, reason } = approvalOf(row) ?? {};
  emit(tx, {
    ...emissionOf(row),
    kind: 'message.approval',
    data: {
      ...statusOf(row, row.status, decidedAt),
      approval: outcome ?? 'pending',
      keyId,
      ...(reason !== undefined && { reason }),
    },
  });
}

/** When the approved message was queued or scheduled; undefined if it never was. */
export function approvedAs(row: Pick<MessageRow, 'approval' | 'scheduled_at'>) {
  const { outcome, decidedAt } = approvalOf(row) ?? {};
  if (outcome !== 'approved' || decidedAt === undefined) return undefined;
  return { status: decidedAt < (row.scheduled_at ?? 0) ? 'scheduled' : 'queued', at: decidedAt } as const;
}

function progressOf(decision: ApprovalDecision, message: MessageRow, now: number) {
  const { scheduled_at: scheduledAt } = message;
  if (decision.outcome !== 'approved') return { status: 'failed', error: errorOf(decision), failed_at: now } as const;
  if (scheduledAt !== null && scheduledAt > now) return { status: 'scheduled' } as const;
  // It counts from the approval, in the queue and among the messages of an hour.
  return { status: 'queued', timestamp: now, scheduled_at: now, turn: nextTurn(message) } as const;
}

function errorOf(decision: Exclude<ApprovalDecision, { outcome: 'approved' }>): string {
  // Without the reason, which can quote the message: see `shownError`.
  if (decision.outcome === 'rejected') return 'The message was rejected';
  if (decision.outcome === 'withdrawn') return CANCELLED;
  return `The message was not approved within ${EXPIRY_DAYS} days`;
}

function textOf(decision: ApprovalDecision) {
  return decision.outcome === 'approved' && decision.text !== undefined && { body: decision.text };
}

function contentColumnOf(decision: ApprovalDecision) {
  return (
    decision.outcome === 'approved' && decision.content !== undefined && { content: contentColumn(decision.content) }
  );
}

function columnOf(pending: Approval, decision: ApprovalDecision, { body }: MessageRow, now: number): string {
  const isEdited = decision.outcome === 'approved' && decision.text !== undefined && decision.text !== body;
  const decided: Approval = {
    ...pending,
    outcome: decision.outcome,
    decidedAt: now,
    ...('by' in decision && { decidedBy: decision.by }),
    ...('reason' in decision && decision.reason !== undefined && { reason: decision.reason }),
    ...(isEdited && { edited: true as const }),
  };
  return JSON.stringify(decided);
}

/** Why the message failed, in the form of the API. @param hidesContent whether to leave out why it was rejected */
export function shownError(row: Pick<MessageRow, 'approval' | 'error'>, hidesContent: boolean): string | null {
  const reason = hidesContent ? undefined : approvalOf(row)?.reason;
  return row.error === null || reason === undefined ? row.error : `${row.error}: ${reason}`;
}

/** The approval of a message in the form of the API. */
export function shownApproval(row: Pick<MessageRow, 'approval' | 'created_at'>) {
  const approval = approvalOf(row);
  if (approval === undefined) return undefined;
  const { keyId, expiresAt, outcome, decidedAt, decidedBy, reason, edited } = approval;
  return {
    status: outcome ?? ('pending' as const),
    keyId,
    requestedAt: isoTime(row.created_at),
    ...(outcome === undefined && { expiresAt: isoTime(expiresAt) }),
    ...(decidedAt !== undefined && { decidedAt: isoTime(decidedAt) }),
    ...(decidedBy !== undefined && { decidedBy }),
    ...(reason !== undefined && { reason }),
    ...(edited && { edited }),
  };
}
