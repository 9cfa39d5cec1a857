import { isoTime } from '../clock.ts';
import type { Tx } from '../db/commit.ts';
import { type EventKind, sampleEvent } from '../events.ts';
import { type Breaker, onTestSuccess } from './breaker.ts';
import { findWebhookRow, type WebhookContext } from './destinations.ts';
import type { Outcome } from './outcome.ts';
import { deliveryHeaders } from './sign.ts';
import { storeBreaker, type Webhook } from './webhook.ts';

/** Sends a sample event now, outside the queue and whatever the state of the breaker, and logs it as a test. */
export async function sendTest(ctx: WebhookContext, webhook: Webhook, kind: EventKind) {
  const { url, accountId } = webhook;
  const now = ctx.clock.now();
  const eventId = ctx.newId('evt');
  const deliveryId = ctx.newId('dlv');
  const body = JSON.stringify(sampleEvent(kind, isoTime(now)));
  const headers = deliveryHeaders({ kind, eventId, attempt: 1, isTest: true, now }, body, webhook);
  const { outcome, stages } = await ctx.webhooks.outgoing.use(accountId, () =>
    ctx.webhooks.deliver.probe({ url, headers, body }),
  );
  const delivered = outcome.class === 'ok';
  await ctx.database.commit(async (tx) => {
    await logTest(tx, webhook, { kind, eventId, deliveryId, body, outcome, now });
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
    request: { url, headers, body },
    response: outcome.response,
  };
}

interface SentTest {
  readonly kind: EventKind;
  readonly eventId: string;
  readonly deliveryId: string;
  readonly body: string;
  readonly outcome: Outcome;
  readonly now: number;
}

async function logTest({ kysely }: Tx, webhook: Webhook, test: SentTest): Promise<void> {
  const { outcome, now } = test;
  const shared = {
    account_id: webhook.accountId,
    event_id: test.eventId,
    kind: test.kind,
    conversation: 'test',
    is_test: 1,
    created_at: now,
  };
  await kysely
    .insertInto('events')
    .values({ ...shared, message_id: null, body: test.body })
    .execute();
  await kysely
    .insertInto('deliveries')
    .values({
      ...shared,
      delivery_id: test.deliveryId,
      webhook_id: webhook.webhookId,
      state: outcome.class === 'ok' ? 'delivered' : 'failed',
      due_at: 0,
      attempts: 1,
      steps: 0,
      last_class: outcome.class,
      last_message: outcome.message,
      settled_at: now + outcome.durationMs,
    })
    .execute();
  await kysely
    .insertInto('attempts')
    .values({
      account_id: webhook.accountId,
      delivery_id: test.deliveryId,
      number: 1,
      webhook_id: webhook.webhookId,
      class: outcome.class,
      status: outcome.status,
      duration_ms: outcome.durationMs,
      message: outcome.message,
      response: outcome.response,
      started_at: now,
    })
    .execute();
}

/** Lets an open breaker send its next probe now. */
async function noteSuccess(ctx: WebhookContext, tx: Tx, { accountId, webhookId, url }: Webhook): Promise<void> {
  const row = await findWebhookRow(tx, accountId, webhookId);
  if (row.url !== url) return; // the test says nothing about the new URL
  const breaker: Breaker = JSON.parse(row.breaker);
  const next = onTestSuccess(breaker, ctx.steady.now());
  if (next === breaker) return;
  await storeBreaker(tx, webhookId, next, breaker.generation);
  tx.afterCommit(() => ctx.webhooks.engine.reload(webhookId));
}
