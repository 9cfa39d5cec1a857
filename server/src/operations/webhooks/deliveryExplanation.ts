import { isoTime } from '../../clock.ts';
import type { WebhookTable } from '../../db/schema.ts';
import type { SteadyClock } from '../../steadyClock.ts';
import type { Breaker } from '../../webhooks/queue/breaker.ts';
import type { ShownRow } from './deliveryRecord.ts';

/** Explains in one sentence why a delivery has or has not arrived. */
export function explain(row: ShownRow, webhook: WebhookTable | undefined, steady: SteadyClock): string {
  const settledAt = isoTime(row.settled_at);
  const last = row.reason ?? row.last_message ?? 'no attempt has been made';
  switch (row.state) {
    case 'delivered':
      return `It was delivered at ${settledAt}, on attempt ${row.attempts}.`;
    case 'failed':
      return row.attempts === 1
        ? `Its only attempt failed: ${last}.`
        : `All ${row.attempts} attempts failed; the last one: ${last}.`;
    case 'expired':
      return `It expired at ${settledAt}: ${last}.`;
    case 'cancelled':
      return `It was cancelled at ${settledAt}: ${last}.`;
    case 'pending':
      return explainPending(row, webhook, steady);
  }
}

function explainPending(row: ShownRow, webhook: WebhookTable | undefined, steady: SteadyClock): string {
  const now = steady.now();
  const shown = (at: number) => isoTime(steady.toWall(at));
  if (webhook === undefined) return 'The webhook was removed.';
  if (webhook.enabled === 0) return 'The webhook is disabled; the delivery goes out once you enable it.';
  if (webhook.paused === 1 && webhook.paused_reason !== null) return `The webhook is paused. ${webhook.paused_reason}`;
  if (webhook.paused === 1) return 'The webhook is paused; the delivery goes out once you resume it.';
  const { state, since, outageSince, lastError, openUntil, pausedUntil }: Breaker = JSON.parse(webhook.breaker);
  const error = lastError === null ? '' : `: ${lastError.message}`;
  if (state === 'open') {
    const next =
      openUntil !== null && openUntil > now ? `the next probe goes out at ${shown(openUntil)}` : 'a probe goes out now';
    return `The circuit breaker holds this delivery and has been open since ${shown(outageSince ?? since)}${error}; ${next}.`;
  }
  if (state === 'half_open') return `The circuit breaker is half open, and this delivery waits for its probes${error}.`;
  if (pausedUntil !== null && pausedUntil > now)
    return `The receiver throttled deliveries, so they are paused until ${shown(pausedUntil)}.`;
  if (row.held_now !== null)
    return `It waits for the earlier delivery ${row.held_now} of its chat, because the webhook has \`ordering: "strict"\`.`;
  if (row.held_behind !== null) return 'The earlier deliveries of its chat are settled; it is about to be sent.';
  if (row.due_at > now && (row.attempts === 0 || row.last_class === 'ok'))
    return `It is being replayed, and is due at ${shown(row.due_at)}.`;
  if (row.due_at > now)
    return `Attempt ${row.attempts} failed: ${row.last_message}; the next one is due at ${shown(row.due_at)}.`;
  return row.attempts === 0 ? 'It is about to be sent for the first time.' : 'Its next attempt is about to be made.';
}
