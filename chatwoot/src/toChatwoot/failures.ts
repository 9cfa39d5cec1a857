import { ChatwootError } from '../chatwoot/client.ts';
import { type Parts, SOURCE_PREFIX } from '../parts.ts';
import type { Job } from '../queue/queue.ts';
import { done, type Outcome } from '../queue/worker.ts';
import type { FailureJob } from './handler.ts';
import { setStatus } from './statuses.ts';

/** Marks an agent's message as failed, and explains the reason in a private note, which contacts do not see. */
export async function reportFailure(parts: Parts, job: Job, failure: FailureJob): Promise<Outcome> {
  const { chatwoot } = parts;
  const { conversationId, chatwootId, reason, isFinal } = failure;
  if (isFinal) await setStatus(() => chatwoot.setStatus(conversationId, chatwootId, 'failed', reason));
  const sourceId = `${SOURCE_PREFIX}note:${job.seq}`;
  try {
    const isThere = job.attempt > 1 && (await chatwoot.findMessage(conversationId, sourceId)) !== undefined;
    if (!isThere)
      await chatwoot.createMessage(conversationId, {
        content: isFinal ? `⚠️ Not sent to WhatsApp: ${reason}` : `⏳ Not sent to WhatsApp yet; still trying: ${reason}`,
        messageType: 'outgoing',
        isPrivate: true,
        sourceId,
        inReplyTo: chatwootId,
      });
  } catch (error) {
    if (!(error instanceof ChatwootError && error.status === 404)) throw error;
  }
  return done();
}
