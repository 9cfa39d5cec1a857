import { NotFoundError } from '@switchboard/sdk/errors';
import { ChatwootError } from '../chatwoot/client.ts';
import type { Parts } from '../parts.ts';
import { done, type Outcome } from '../queue/worker.ts';
import type { FailureJob } from './handler.ts';

const RANK: Readonly<Record<string, number>> = { sending: 0, failed: 0, sent: 1, delivered: 2, read: 3 };

/** Passes the status of an agent's message on. With several parts, the last one counts. */
export async function applyStatus(parts: Parts, messageId: string, status: string, error?: string): Promise<Outcome> {
  const { state, chatwoot, toChatwoot } = parts;
  const link = await state.link(messageId);
  if (link === undefined || status === link.status) return done();
  if (status !== 'failed' && (RANK[status] ?? 0) <= (RANK[link.status] ?? 0)) return done();
  if (link.direction === 'in' && link.status === 'received') return done();
  const statement = state.statusStatement(messageId, status);
  if (status === 'failed' && link.direction === 'out') {
    const { sessionId, conversationId, chatwootId } = link;
    const failure: FailureJob = {
      kind: 'failure',
      sessionId,
      conversationId,
      chatwootId,
      reason: error ?? 'WhatsApp did not accept the message',
      outcome: 'unsent',
    };
    const job = { dedup: `failure:${messageId}`, lane: `failure:${chatwootId}`, payload: failure };
    const statements = [toChatwoot.insertion(job), statement, ...state.failureStatements(chatwootId, messageId)];
    return done(statements, ([inserted = 0]) => toChatwoot.added(inserted));
  }
  const isLast = (await state.linksOf(link.chatwootId)).at(-1)?.messageId === messageId;
  if (isLast) await setStatus(() => chatwoot.setStatus(link.conversationId, link.chatwootId, status, error));
  return done([statement]);
}

/** Reads the present message status from Switchboard. */
export async function refreshStatus(parts: Parts, messageId: string): Promise<Outcome> {
  try {
    const message = await parts.switchboard.messages.get({ messageId });
    if (!['sent', 'delivered', 'read', 'failed'].includes(message.status)) return done();
    return await applyStatus(parts, messageId, message.status, message.error);
  } catch (error) {
    if (error instanceof NotFoundError) return done();
    throw error;
  }
}

/** A message that was deleted in Chatwoot has no status. */
export async function setStatus(call: () => Promise<void>): Promise<void> {
  await call().catch((error) => {
    if (!(error instanceof ChatwootError && [404, 422].includes(error.status))) throw error;
  });
}
