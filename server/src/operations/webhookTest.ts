import { Type } from 'typebox';
import { isoTime } from '../clock.ts';
import type { Tx } from '../db/commit.ts';
import type { WebhookTable } from '../db/schema.ts';
import { type EventKind, sampleEvent } from '../events.ts';
import type { Context } from '../invoke/operation.ts';
import { type Breaker, onTestSuccess } from '../webhooks/breaker.ts';
import { storeBreaker, toWebhook, type Webhook } from '../webhooks/queue.ts';
import { deliveryHeaders } from '../webhooks/sign.ts';
import { acceptedKind, Class, findWebhookRow, orNull } from './webhookRecord.ts';

/* A test of a webhook: one real request now, outside of the queue. */

const Stage = Type.Object({
  stage: Type.Enum(['url', 'dns', 'connect', 'tls', 'http'], { description: 'Stage of the request.' }),
  result: Type.Enum(['ok', 'failed', 'skipped'], { description: 'Result of the stage.' }),
  ms: orNull(Type.Integer(), 'Duration in milliseconds; null if the stage was not reached.'),
});

export const WebhookTest = Type.Object(
  {
    delivered: Type.Boolean({ description: 'Whether the receiver answered 2xx.' }),
    class: Class,
    status: orNull(Type.Integer(), 'HTTP status of the answer; null if there was none.'),
    message: Type.String({ description: 'What happened, as a sentence.' }),
    latencyMs: Type.Integer({ description: 'Duration of the request in milliseconds.' }),
    stages: Type.Array(Stage, {
      description: 'Result of each stage, in order: URL, name lookup, connection, TLS, HTTP.',
    }),
    deliveryId: Type.String({ description: 'Id of the entry in the delivery log (`dlv_…`).' }),
    request: Type.Object({
      url: Type.String({ description: 'URL of the request.' }),
      headers: Type.Record(Type.String(), Type.String(), { description: 'Headers as sent, signatures included.' }),
      body: Type.String({ description: 'Body as sent.' }),
    }),
    response: orNull(Type.String(), 'First 1 KiB of the answer; null if there was none.'),
  },
  { title: 'WebhookTest' },
);

export const testInput = {
  event: Type.Optional(
    Type.String({
      maxLength: 50,
      description: 'Event type of the sample, such as `message.incoming`; by default the first one of the webhook.',
    }),
  ),
};

/** Sends a sample now, outside the queue and whatever the breaker's state, and keeps it in the log as a test. */
export async function sendTest(ctx: Context, row: WebhookTable, wanted: string | undefined) {
  const webhook = toWebhook(row, ctx.database.seal);
  const { url, secret, accountId } = webhook;
  const kind = acceptedKind(wanted ?? webhook.events[0] ?? '');
  const now = ctx.clock.now();
  const eventId = ctx.newId('evt');
  const deliveryId = ctx.newId('dlv');
  const body = JSON.stringify(sampleEvent(kind, isoTime(now)));
  const previousSecret = (webhook.previousSecretUntil ?? 0) > now ? webhook.previousSecret : null;
  const headers = deliveryHeaders({ kind, eventId, attempt: 1, body, secret, previousSecret, isTest: true, now });
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
  readonly outcome: Awaited<ReturnType<Context['webhooks']['deliver']['attempt']>>;
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

/** A test that got through lets an open breaker try. */
async function noteSuccess(ctx: Context, tx: Tx, { accountId, webhookId, url }: Webhook): Promise<void> {
  const row = await findWebhookRow(tx, accountId, webhookId);
  if (row.url !== url) return; // it proved something about another URL
  const breaker: Breaker = JSON.parse(row.breaker);
  const next = onTestSuccess(breaker, ctx.steady.now());
  if (next === breaker) return;
  await storeBreaker(tx, webhookId, next, breaker.generation);
  tx.afterCommit(() => ctx.webhooks.engine.reload(webhookId));
}
