import { type TSchema, Type } from 'typebox';
import { isoTime } from '../clock.ts';
import type { Tx } from '../db/commit.ts';
import type { Queryable } from '../db/dialect.ts';
import type { WebhookTable } from '../db/schema.ts';
import { aboutWebhook } from '../db/sealing.ts';
import { AppError, type FieldError, invalidField } from '../errors.ts';
import { type EventKind, eventKinds, isEventKind } from '../events.ts';
import type { Context } from '../invoke/operation.ts';
import { checkUrl } from '../target.ts';
import { type Breaker, newBreaker, reset } from '../webhooks/breaker.ts';
import { type OutcomeClass, outcomeClasses } from '../webhooks/outcome.ts';
import { cancelPending, dueNow, storeBreaker, type WebhookRef } from '../webhooks/queue.ts';

/*
 * What a webhook is and how it is changed, whichever it is: the account's default one, which `operations/webhooks.ts`
 * manages, or one of several, which `operations/endpoints.ts` does.
 */

const Time = Type.String({ format: 'date-time' });
export const orNull = <T extends TSchema>(schema: T, description?: string) =>
  Type.Union([schema, Type.Null()], description === undefined ? {} : { description });

export const Kind = Type.Enum([...eventKinds], { description: 'Event type.' });

export const Class = Type.Enum(Object.keys(outcomeClasses) as OutcomeClass[], {
  description: 'Outcome class; `ok` means that the receiver answered 2xx.',
});

/** The fields by which a webhook is set or changed. */
export const webhookFields = {
  webhookUrl: Type.String({
    minLength: 1,
    maxLength: 2048,
    description: 'http or https URL, such as https://example.com/hooks. Private addresses are refused.',
  }),
  events: Type.Array(Type.String(), {
    minItems: 1,
    maxItems: 50,
    description: `Event types to receive: ${eventKinds.join(', ')}.`,
  }),
  secret: Type.Optional(
    Type.Union([Type.String({ minLength: 1, maxLength: 512 }), Type.Null()], {
      description: 'Signs deliveries. Never returned. Left out: no change; `null`: removed.',
    }),
  ),
};

export const WebhookConfiguration = Type.Object(
  {
    webhookUrl: orNull(Type.String(), 'URL that receives events; null if no webhook is set.'),
    events: Type.Array(Kind, { description: 'Event types that the webhook receives.' }),
    hasSecret: Type.Boolean({ description: 'Whether a secret is set. The secret itself is never returned.' }),
    enabled: Type.Boolean({ description: 'Whether events are sent.' }),
    createdAt: orNull(Time, 'When the webhook was first set; null if none is set.'),
    updatedAt: orNull(Time, 'When the webhook was last changed; null if none is set.'),
  },
  { title: 'WebhookConfiguration' },
);

export const SecretRotation = Type.Object(
  {
    hasSecret: Type.Boolean({ description: 'Whether a secret is set.' }),
    previousSecretValidUntil: orNull(Time, 'Until when `webhook-signature` has both signatures; null if it has one.'),
  },
  { title: 'SecretRotation' },
);

export const rotationInput = {
  // `/webhooks/set` takes any length, as the contract has it; who rotates wants more safety, not less.
  secret: Type.String({
    minLength: 16,
    maxLength: 512,
    description: 'New secret, with at least 16 characters. Never returned.',
  }),
  graceSeconds: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 2_592_000,
      default: 86_400,
      description:
        'Seconds for which `webhook-signature` also has the signature of the old secret; one day by default.',
    }),
  ),
};

/** What a webhook is to be. A field that is left out stays as it is. */
export interface WebhookChange {
  readonly url?: string;
  readonly events?: readonly string[];
  readonly secret?: string | null | undefined;
  readonly enabled?: boolean | undefined;
  readonly maxInFlight?: number | undefined;
}

const DEFAULT_MAX_IN_FLIGHT = 8;

/**
 * A name is not resolved here: an account could find out the names of the server's network. Every attempt vets it.
 * @throws {AppError} `validation_failed` naming `webhookUrl` and the rule it breaks
 */
export function acceptedUrl(ctx: Context, webhookUrl: string): string {
  const verdict = checkUrl(webhookUrl, ctx.webhooks.targets);
  if (!verdict.ok) throw invalidField('webhookUrl', verdict.message, verdict.rule);
  return verdict.url.href;
}

/**
 * The kinds in the table's order, each once.
 * @param field by which the caller has given them
 * @throws {AppError} naming those that are none
 */
export function acceptedKinds(events: readonly string[], field = 'events'): EventKind[] {
  const unknown = events.flatMap((kind, index): FieldError[] =>
    isEventKind(kind) ? [] : [{ field: `${field}.${index}`, code: 'unknown_kind', message: noSuchKind(kind) }],
  );
  if (unknown.length > 0) throw new AppError('validation_failed', unknown[0]?.message, { fields: unknown });
  return eventKinds.filter((kind) => events.includes(kind));
}

export async function insertWebhook(
  ctx: Context,
  tx: Tx,
  isDefault: boolean,
  { url = '', events = [], secret = null, enabled = true, maxInFlight = DEFAULT_MAX_IN_FLIGHT }: WebhookChange,
): Promise<WebhookTable> {
  const now = ctx.clock.now();
  const breaker = newBreaker(ctx.steady.now());
  const webhookId = ctx.resourceId === undefined ? ctx.newId('whk') : `whk_${ctx.resourceId}`;
  tx.afterCommit(() => ctx.webhooks.engine.reload(webhookId));
  return tx.kysely
    .insertInto('webhooks')
    .values({
      account_id: ctx.accountId,
      webhook_id: webhookId,
      is_default: isDefault ? 1 : 0,
      url,
      events: JSON.stringify(events),
      secret: sealed(ctx, webhookId, secret),
      previous_secret: null,
      previous_secret_until: null,
      enabled: enabled ? 1 : 0,
      max_in_flight: maxInFlight,
      breaker_state: breaker.state,
      breaker_generation: breaker.generation,
      breaker: JSON.stringify(breaker),
      created_at: now,
      updated_at: now,
      lease_owner: null,
      lease_generation: 0,
    })
    .returningAll()
    .executeTakeFirstOrThrow();
}

/**
 * Changes a webhook. A new URL closes the breaker and sends what waits for a retry with the rest; deliveries of kinds
 * that are no longer wanted are cancelled.
 */
export async function changeWebhook(
  ctx: Context,
  tx: Tx,
  present: WebhookTable,
  { url = present.url, events, secret, enabled, maxInFlight }: WebhookChange,
): Promise<WebhookTable> {
  const { webhook_id: webhookId } = present;
  const now = ctx.clock.now();
  const changed = await tx.kysely
    .updateTable('webhooks')
    .set({
      url,
      updated_at: now,
      ...(events !== undefined && { events: JSON.stringify(events) }),
      ...(enabled !== undefined && { enabled: enabled ? 1 : 0 }),
      ...(maxInFlight !== undefined && { max_in_flight: maxInFlight }),
      ...(secret !== undefined && {
        secret: sealed(ctx, webhookId, secret),
        previous_secret: null,
        previous_secret_until: null,
      }),
    })
    .where('account_id', '=', ctx.accountId)
    .where('webhook_id', '=', webhookId)
    .returningAll()
    .executeTakeFirstOrThrow();
  if (url !== present.url) {
    const breaker: Breaker = JSON.parse(present.breaker);
    await storeBreaker(tx, webhookId, reset(breaker, 'new_url', ctx.steady.now()), breaker.generation);
    await inPieces(ctx, tx, present, (on, webhook) => dueNow(on, webhook, ctx.steady.now()));
  }
  const removed = (JSON.parse(present.events) as string[]).filter(
    (kind) => events !== undefined && !events.includes(kind),
  );
  if (events !== undefined && removed.length > 0) {
    const reason = 'The webhook no longer subscribes to this event type';
    await inPieces(ctx, tx, present, (on, webhook) => cancelPending(on, webhook, events, reason, now));
  }
  tx.afterCommit(() => ctx.webhooks.engine.reload(webhookId));
  return changed;
}

export async function rotateSecret(ctx: Context, tx: Tx, present: WebhookTable, secret: string, graceSeconds = 86_400) {
  const until = present.secret === null || graceSeconds === 0 ? null : ctx.clock.now() + graceSeconds * 1000;
  await tx.kysely
    .updateTable('webhooks')
    .set({
      secret: sealed(ctx, present.webhook_id, secret),
      previous_secret: until === null ? null : present.secret,
      previous_secret_until: until,
      updated_at: ctx.clock.now(),
    })
    .where('account_id', '=', ctx.accountId)
    .where('webhook_id', '=', present.webhook_id)
    .execute();
  tx.afterCommit(() => ctx.webhooks.engine.reload(present.webhook_id));
  return { hasSecret: true, previousSecretValidUntil: isoTime(until) };
}

function sealed({ database }: Context, webhookId: string, secret: string | null): string | null {
  return secret && database.seal.close(secret, aboutWebhook(webhookId));
}

/**
 * Removes a webhook and cancels its pending deliveries. Once this resolves, nothing more is sent to its URL.
 * @returns whether there was one
 * @throws {MovedError} another node delivers to it
 */
export async function removeWebhook(
  ctx: Context,
  find: (on: Queryable) => Promise<WebhookTable | undefined>,
): Promise<boolean> {
  const { engine } = ctx.webhooks;
  const known = await find(ctx.database.reader);
  if (known === undefined) return false;
  await engine.requireHere(known.webhook_id);
  const removed = await ctx.database.commit(async (tx) => {
    const row = await find(tx);
    if (row !== undefined) await deleteWebhookRow(ctx, tx, row);
    return row;
  }, ctx.accountId);
  if (removed !== undefined) await engine.retire(removed.webhook_id);
  return removed !== undefined;
}

async function deleteWebhookRow(ctx: Context, tx: Tx, present: WebhookTable): Promise<void> {
  const { webhook_id: webhookId } = present;
  const now = ctx.clock.now();
  await inPieces(ctx, tx, present, (on, webhook) => cancelPending(on, webhook, [], 'The webhook was removed', now));
  await tx.kysely
    .deleteFrom('webhooks')
    .where('account_id', '=', ctx.accountId)
    .where('webhook_id', '=', webhookId)
    .execute();
  tx.afterCommit(() => ctx.webhooks.engine.reload(webhookId));
}

/**
 * Changes a queue, which may be a million long: a first piece with the transaction, the others after it, one by one, so
 * that nobody else has to wait. A server that dies in between has cancelled less than it should have: what the lane of
 * a removed webhook finds it cancels itself, and kinds that are no longer wanted go out once more.
 */
export async function inPieces(
  ctx: Context,
  tx: Tx,
  { account_id: accountId, webhook_id: webhookId }: WebhookTable,
  change: (on: Queryable, webhook: WebhookRef) => Promise<boolean>,
): Promise<void> {
  const webhook = { accountId, webhookId };
  if (await change(tx, webhook)) return;
  const { database, log, webhooks } = ctx;
  const goOn = async () => {
    while (!(await database.commit((next) => change(next, webhook))))
      await new Promise((resolve) => setImmediate(resolve));
    webhooks.engine.reload(webhookId);
  };
  tx.afterCommit(() => {
    goOn().catch((error) => log.error({ err: error, webhook: webhookId }, 'failed to update the queue of a webhook'));
  });
}

export async function findDefault(
  { kysely }: Pick<Queryable, 'kysely'>,
  accountId: string,
): Promise<WebhookTable | undefined> {
  return kysely
    .selectFrom('webhooks')
    .selectAll()
    .where('account_id', '=', accountId)
    .where('is_default', '=', 1)
    .executeTakeFirst();
}

/** @throws {AppError} `not_found` */
export async function findWebhookRow(
  { kysely }: Pick<Queryable, 'kysely'>,
  accountId: string,
  webhookId: string,
): Promise<WebhookTable> {
  const row = await kysely
    .selectFrom('webhooks')
    .selectAll()
    .where('account_id', '=', accountId)
    .where('webhook_id', '=', webhookId)
    .executeTakeFirst();
  if (row === undefined) throw new AppError('not_found', `The webhook ${webhookId} does not exist`);
  return row;
}

export function toConfiguration(row: WebhookTable | undefined) {
  if (row === undefined) {
    return { webhookUrl: null, events: [], hasSecret: false, enabled: false, createdAt: null, updatedAt: null };
  }
  return {
    webhookUrl: row.url,
    events: (JSON.parse(row.events) as string[]).filter(isEventKind),
    hasSecret: row.secret !== null,
    enabled: row.enabled === 1,
    createdAt: isoTime(row.created_at),
    updatedAt: isoTime(row.updated_at),
  };
}

/** @throws {AppError} naming the field `event` */
export function acceptedKind(event: string): EventKind {
  if (!isEventKind(event)) throw invalidField('event', noSuchKind(event), 'unknown_kind');
  return event;
}

function noSuchKind(kind: string): string {
  return `"${kind}" is not an event type; use ${eventKinds.join(', ')}`;
}
