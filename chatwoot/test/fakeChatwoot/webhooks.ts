import { createHmac, randomUUID } from 'node:crypto';
import type { InboxRecord } from './records.ts';

export interface SentWebhook {
  readonly event: string;
  readonly payload: Readonly<Record<string, unknown>>;
  /** Undefined if the receiver did not answer in time. */
  readonly status: number | undefined;
  readonly ms: number;
}

/** `webhook_timeout` of lib/webhooks/trigger.rb. */
const TIMEOUT_MS = 5000;

/**
 * Sends one webhook as `Webhooks::Trigger#perform_request` does: one attempt, signed over timestamp and body. Resolves
 * with an error text if the message has to be marked as failed (`handle_error`, of `message_created` and
 * `message_updated` of API inboxes).
 */
export async function deliver(
  inbox: InboxRecord,
  payload: Readonly<Record<string, unknown>> & { readonly event: string },
): Promise<{ readonly sent: SentWebhook; readonly failure: string | undefined }> {
  const body = JSON.stringify(payload);
  const timestamp = String(Math.floor(Date.now() / 1000));
  const startedAt = performance.now();
  let status: number | undefined;
  let failure: string | undefined;
  try {
    const response = await fetch(inbox.webhook_url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json',
        'x-chatwoot-delivery': randomUUID(),
        ...(inbox.secret !== null && {
          'x-chatwoot-timestamp': timestamp,
          'x-chatwoot-signature': `sha256=${createHmac('sha256', inbox.secret).update(`${timestamp}.${body}`).digest('hex')}`,
        }),
      },
      body,
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    await response.arrayBuffer();
    ({ status } = response);
    if (!response.ok) failure = `${status} ${response.statusText}`;
  } catch (error) {
    failure = error instanceof Error ? error.message : String(error);
  }
  const isMessage = payload.event === 'message_created' || payload.event === 'message_updated';
  return {
    sent: { event: payload.event, payload, status, ms: performance.now() - startedAt },
    failure: isMessage ? failure : undefined,
  };
}
