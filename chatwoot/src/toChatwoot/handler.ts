import { ApiError, ConnectionError, NotFoundError } from '@switchboard/sdk/errors';
import type { KnownEvent } from '@switchboard/sdk/webhooks';
import { ChatwootError, ChatwootUnreachable } from '../chatwoot/client.ts';
import type { Parts } from '../parts.ts';
import type { Job } from '../queue/queue.ts';
import { done, type Outcome } from '../queue/worker.ts';
import type { InboxRow } from '../state.ts';
import { changedContact, changedText, deleted, reacted, replacedFile } from './changes.ts';
import { reportFailure } from './failures.ts';
import { MessageMirror } from './messages.ts';
import { applyStatus, refreshStatus } from './statuses.ts';

/** A job of the queue to Chatwoot. */
export type ChatwootJob =
  | { readonly kind: 'event'; readonly sessionId: string; readonly eventId: string; readonly event: KnownEvent }
  /** Reads the status after an agent has sent a message: its receipts can precede its link. */
  | { readonly kind: 'status'; readonly sessionId: string; readonly messageId: string }
  | FailureJob;

export interface FailureJob {
  readonly kind: 'failure';
  readonly sessionId: string;
  readonly conversationId: number;
  readonly chatwootId: number;
  readonly reason: string;
  /** `unsent` messages can be tried again by the agent; `unchanged` ones are on WhatsApp as before. */
  readonly outcome: 'delayed' | 'unsent' | 'unchanged';
}

/** A context of one attempt. */
export interface Attempt {
  readonly parts: Parts;
  readonly inbox: InboxRow;
  readonly job: Job;
  /** Id that makes what the attempt creates recognizable. */
  readonly eventId: string;
}

/** Attempts before a request that either side rejects is given up, so that it does not block its conversation. */
const MAX_REJECTIONS = 3;
const MAX_AGE_MS = 7 * 24 * 3_600_000;

/** Brings an event of Switchboard to Chatwoot. */
export async function handleToChatwoot(parts: Parts, job: Job): Promise<Outcome> {
  // The bridge wrote the payload.
  const payload = job.payload as ChatwootJob;
  try {
    return await handle(parts, job, payload);
  } catch (error) {
    const isTooOld = Date.now() - job.createdAt > MAX_AGE_MS;
    const reason = error instanceof Error ? error.message : String(error);
    const isRejected = error instanceof ChatwootError && !error.isTransient && error.status !== 404;
    // A message or file that was deleted in Switchboard does not come back.
    if (isRejected || error instanceof NotFoundError)
      return job.attempt >= MAX_REJECTIONS ? { kind: 'failed', reason } : { kind: 'retry', reason };
    if (isTooOld) return { kind: 'failed', reason };
    const isKnown = [ChatwootError, ChatwootUnreachable, ApiError, ConnectionError].some(
      (type) => error instanceof type,
    );
    if (!isKnown && job.attempt >= MAX_REJECTIONS * 3) return { kind: 'failed', reason };
    const afterMs = error instanceof ChatwootError ? error.retryAfterMs : undefined;
    return { kind: 'retry', reason, ...(afterMs !== undefined && { afterMs }) };
  }
}

async function handle(parts: Parts, job: Job, payload: ChatwootJob): Promise<Outcome> {
  const inbox = await parts.state.inbox(payload.sessionId);
  if (inbox === undefined || !parts.inboxes.has(payload.sessionId)) return done();
  if (payload.kind === 'failure') return reportFailure(parts, job, payload);
  if (payload.kind === 'status') return refreshStatus(parts, payload.messageId);
  const attempt: Attempt = { parts, inbox, job, eventId: payload.eventId };
  const { event } = payload;
  switch (event.event) {
    case 'message.incoming':
      return new MessageMirror(attempt).mirror(event.data, 'incoming');
    case 'message.sent':
      if (event.data.sentElsewhere)
        return new MessageMirror(attempt).mirror(
          { ...event.data, message: event.data.message ?? '', from: event.data.from ?? '' },
          'outgoing',
        );
      return new MessageMirror(attempt).mirrorApiMessage(event.data);
    case 'message.delivered':
    case 'message.read':
      return applyStatus(parts, event.data.messageId, event.data.status);
    case 'message.failed':
      return applyStatus(parts, event.data.messageId, 'failed', event.data.error);
    case 'message.reaction':
      return reacted(attempt, event.data);
    case 'message.edited':
      return changedText(attempt, event.data);
    case 'message.deleted':
      return deleted(attempt, event.data);
    case 'message.media':
      return replacedFile(attempt, event.data);
    case 'contact.updated':
      return changedContact(attempt, event.data);
    default:
      return done();
  }
}
