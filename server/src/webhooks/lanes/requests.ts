import type { AttemptRequest } from '../delivery/attempt.ts';
import type { Due } from '../queue/due.ts';
import type { Outcome } from '../queue/outcome.ts';
import { deliveryHeaders } from './sign.ts';
import { type Subscription, signedHeaders } from './subscription.ts';
import { brokerRequest, type Webhook } from './webhook.ts';

/**
 * Returns the body of an event for its subscriber, or the reason why it may not see the event, if its API key has been
 * revoked or limited since.
 */
export type ShowOccurrence = (delivery: {
  readonly webhook: Webhook;
  readonly subscription: Subscription;
  readonly due: Due;
}) => Promise<Shown>;

/**
 * Calls `use` with the body of an attempt, with links to its files and their contents, and frees the memory of the
 * contents afterwards. If the receiver refuses the contents, calls `use` again without them.
 */
export type WithFiles = (
  webhook: Pick<Webhook, 'accountId' | 'webhookId' | 'url' | 'links' | 'inlineBytes' | 'setByKey'>,
  body: string,
  use: (body: string) => Promise<Outcome>,
) => Promise<Outcome>;

type Shown =
  | { readonly body: string; readonly refusal?: undefined }
  /** A sentence, for the delivery log. */
  | { readonly refusal: string };

/**
 * Returns the request of an attempt, or its outcome if the subscriber may not see the event.
 * @param now the time of day
 */
export async function requestOf(
  webhook: Webhook,
  due: Due,
  now: number,
  showOccurrence: ShowOccurrence,
): Promise<AttemptRequest | Outcome> {
  const { url, timeoutMs, acceptRedirects, subscription } = webhook;
  const { kind, eventId, body, trace, sequence } = due;
  if (subscription === undefined) {
    const attempt = { kind, eventId, attempt: due.attempts + 1, isTest: false, sequence, now };
    const headers = deliveryHeaders(attempt, body, webhook);
    const broker = brokerRequest(webhook, due.conversation);
    return { url, headers, body, trace, timeoutMs, acceptRedirects, broker };
  }
  const shown = await showOccurrence({ webhook, subscription, due });
  if (shown.refusal !== undefined) return refused(shown.refusal);
  const headers = signedHeaders({ id: eventId, subscriptionId: subscription.id, now }, shown.body, webhook);
  return { url, headers, body: shown.body, trace, timeoutMs };
}

/** The outcome of an attempt that was not made. */
function refused(reason: string): Outcome {
  return { class: 'client_error', status: null, durationMs: 0, message: reason, response: null, retryAfterMs: null };
}

/**
 * Whether a subscriber does not want a delivery again, or may not have it. Unlike at a webhook, 410 concerns only this
 * delivery, and not the receiver.
 */
export function isFinalFor({ subscription }: Webhook, { class: kind, status }: Outcome): boolean {
  return (
    subscription !== undefined && (status === 410 || status === 413 || (kind === 'client_error' && status === null))
  );
}
