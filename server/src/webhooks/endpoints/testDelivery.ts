import { allEnded } from '../../async.ts';
import { isoTime } from '../../clock.ts';
import type { Tx } from '../../db/commit.ts';
import type { OutgoingConnections } from '../../egress/outgoing.ts';
import { AppError } from '../../errors.ts';
import { withFields } from '../../events/addedFields.ts';
import type { EventKind } from '../../events/events.ts';
import { sampleEvent, sampleFields, withSampleLinks } from '../../events/samples.ts';
import type { Deliver } from '../delivery/deliver.ts';
import { destinationOf, isSameReceiver } from '../delivery/destination.ts';
import { deliveryHeaders } from '../lanes/sign.ts';
import { brokerRequest, storeBreakers, type Webhook } from '../lanes/webhook.ts';
import { insertDeliveries, insertEvents, numbersOf } from '../log/emit.ts';
import { type Breaker, onTestSuccess } from '../queue/breaker.ts';
import type { Outcome } from '../queue/outcome.ts';
import { settle } from '../queue/queue.ts';
import { findWebhookRow, type WebhookContext } from './destinations.ts';

interface TestDeliveryContext extends WebhookContext {
  readonly deliver: Deliver;
  readonly outgoing: OutgoingConnections;
}

const HIDDEN = '(hidden)';
/** The conversation of sample events. */
const TEST = 'test';

/** Sends a sample event now, outside the queue and whatever the state of the breaker, and logs it as a test. */
export async function sendTest(ctx: TestDeliveryContext, webhook: Webhook, kind: EventKind) {
  const { url, accountId, timeoutMs, acceptRedirects } = webhook;
  const now = ctx.clock.now();
  const eventId = ctx.newId('evt');
  const deliveryId = ctx.newId('dlv');
  const sample = sampleEvent(kind, isoTime(now));
  const fields = withFields(sample.data, sampleFields(sample), webhook.include);
  const data = webhook.links ? withSampleLinks(fields, now) : fields;
  const body = JSON.stringify({ ...sample, data });
  const headers = deliveryHeaders({ kind, eventId, attempt: 1, isTest: true, sequence: 0, now }, body, webhook);
  const { outcome, stages } = await ctx.outgoing.use(accountId, () =>
    ctx.deliver.probe({
      url,
      headers,
      body,
      timeoutMs,
      acceptRedirects,
      broker: brokerRequest(webhook, TEST),
    }),
  );
  const delivered = outcome.class === 'ok';
  await ctx.database.commit(async (tx) => {
    await logTest(tx, webhook, { kind, eventId, deliveryId, body }, outcome, now);
    if (delivered) await noteSuccess(ctx, tx, webhook);
  }, accountId);
  return {
    delivered,
    class: outcome.class,
    status: outcome.status,
    message: outcome.message,
    latencyMs: outcome.durationMs,
    stages: [...stages],
    deliveryId,
    request: { url, headers: withoutValues(headers, webhook), body },
    response: outcome.response,
  };
}

/** The headers as shown: the values of those that the account has added are never returned. */
function withoutValues(
  headers: Readonly<Record<string, string>>,
  { headers: added }: Webhook,
): Readonly<Record<string, string>> {
  const shown = Object.entries(headers).map(([name, value]) => [name, Object.hasOwn(added, name) ? HIDDEN : value]);
  return Object.fromEntries(shown);
}

/** Stores the sample event and its delivery, which is settled at once. */
async function logTest(
  tx: Tx,
  { accountId, webhookId }: Webhook,
  { deliveryId, ...event }: { kind: EventKind; eventId: string; deliveryId: string; body: string },
  outcome: Outcome,
  startedAt: number,
): Promise<void> {
  const stored = {
    account_id: accountId,
    event_id: event.eventId,
    kind: event.kind,
    conversation: TEST,
    message_id: null,
    body: event.body,
    trace: null,
    is_test: 1,
    created_at: startedAt,
    position: 0,
  };
  const position = (await insertEvents(tx, [stored])).get(event.eventId) ?? 0;
  const numbers = await numbersOf.first(tx, { accountId, webhookId });
  if (numbers === undefined) throw new AppError('not_found'); // it was removed meanwhile
  const delivery = { ...numbers, event: position, delivery_id: deliveryId, kind: event.kind };
  await allEnded(...insertDeliveries(tx, [delivery]));
  const due = { webhook: numbers.webhook, sequence: position, conversation: TEST, attempts: 0 };
  const state = outcome.class === 'ok' ? 'delivered' : 'failed';
  await settle(tx, [{ due, outcome, startedAt, state, dueAt: 0, steps: 0 }]);
}

/** Lets an open breaker send its next probe now. */
async function noteSuccess(ctx: WebhookContext, tx: Tx, webhook: Webhook): Promise<void> {
  const { accountId, webhookId } = webhook;
  const row = await findWebhookRow(tx, accountId, webhookId);
  // The test says nothing about a new receiver.
  if (!isSameReceiver(webhook, { url: row.url, destination: destinationOf(row) })) return;
  const breaker: Breaker = JSON.parse(row.breaker);
  const next = onTestSuccess(breaker, ctx.steady.now());
  if (next === breaker) return;
  const { state: from, generation } = breaker;
  await storeBreakers(ctx, tx, [{ webhookId, breaker: next, from, generation }]);
  tx.afterCommit(() => ctx.engine.reload(webhookId));
}
