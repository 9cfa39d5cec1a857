import { ApiError } from '@switchboard/sdk/errors';
import type { KnownEvent } from '@switchboard/sdk/webhooks';
import { ChatwootError } from '../chatwoot/client.ts';
import { messageOf } from '../log.ts';
import type { Parts } from '../parts.ts';
import { isPassing, outageOf } from '../passing.ts';
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

/** Rejected attempts before a job is given up, so that it does not block its conversation. Outages do not count. */
const MAX_REJECTIONS = 3;
/** The same for errors that neither side has returned. */
const MAX_UNKNOWN = 9;
const MAX_AGE_MS = 7 * 24 * 3_600_000;

/** Brings an event of Switchboard to Chatwoot. */
export async function handleToChatwoot(parts: Parts, job: Job): Promise<Outcome> {
  // The bridge wrote the payload.
  const payload = job.payload as ChatwootJob;
  try {
    return await handle(parts, job, payload);
  } catch (error) {
    const reason = messageOf(error);
    const limit = rejectionLimitOf(error);
    if (Date.now() - job.createdAt > MAX_AGE_MS) return { kind: 'failed', reason };
    if (limit !== undefined && job.rejections + 1 >= limit) return { kind: 'failed', reason };
    const afterMs = error instanceof ChatwootError ? error.retryAfterMs : undefined;
    const cause = limit === undefined ? 'outage' : 'rejection';
    return { kind: 'retry', reason, cause, outage: outageOf(error), ...(afterMs !== undefined && { afterMs }) };
  }
}

/** Number of attempts with such an error before a job is given up, or undefined for an outage, which ends. */
function rejectionLimitOf(error: unknown): number | undefined {
  // 404: the conversation was deleted in Chatwoot. The next attempt opens another one.
  if (error instanceof ChatwootError) return error.isTransient || error.status === 404 ? undefined : MAX_REJECTIONS;
  // A message or file that was deleted in Switchboard does not come back.
  if (error instanceof ApiError) return isPassing(error) ? undefined : MAX_REJECTIONS;
  // Errors of the language are bugs. Others are of the disk, the database or the network, and pass.
  return error instanceof TypeError || error instanceof RangeError || error instanceof SyntaxError
    ? MAX_UNKNOWN
    : undefined;
}

async function handle(parts: Parts, job: Job, payload: ChatwootJob): Promise<Outcome> {
  const inbox = await parts.state.inbox(payload.sessionId);
  if (inbox === undefined) return done();
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
