import { ChatwootError } from '../chatwoot/client.ts';
import { type Parts, SOURCE_PREFIX } from '../parts.ts';
import type { Job } from '../queue/queue.ts';
import { done, type Outcome } from '../queue/worker.ts';
import type { FailureJob } from './handler.ts';
import { setStatus } from './statuses.ts';

const NOTES = {
  delayed: '⏳ Not sent to WhatsApp yet; still trying',
  unsent: '⚠️ Not sent to WhatsApp',
  unchanged: '⚠️ Not changed on WhatsApp',
};

/** Explains the failure of an agent's message or change in a private note. An unsent message is marked as failed. */
export async function reportFailure(parts: Parts, job: Job, failure: FailureJob): Promise<Outcome> {
  const { chatwoot } = parts;
  const { conversationId, chatwootId, reason, outcome } = failure;
  if (outcome === 'unsent') await setStatus(() => chatwoot.setStatus(conversationId, chatwootId, 'failed', reason));
  const sourceId = `${SOURCE_PREFIX}note:${job.seq}`;
  try {
    const isThere = job.attempt > 1 && (await chatwoot.findMessage(conversationId, sourceId)) !== undefined;
    if (!isThere)
      await chatwoot.createMessage(conversationId, {
        content: `${NOTES[outcome]}: ${reason}`,
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
