import type { Static, TObject, TProperties, TSchema } from 'typebox';
import type { Permission } from '../../auth/permissions.ts';
import type { Queryable } from '../../db/dialect.ts';
import type { WebhookTable } from '../../db/schema.ts';
import { AppError } from '../../errors.ts';
import { optional, string } from '../../invoke/input/fields.ts';
import { ref } from '../../invoke/input/references.ts';
import { type Context, defineOperation, type Operation, type Route } from '../../invoke/operation.ts';
import type { DeclaredService } from '../../invoke/services.ts';
import { findDefault, findLaneRow, findWebhookRow } from '../../webhooks/endpoints/destinations.ts';
import { WebhookId } from './webhookRecord.ts';

/*
 * Operations that exist twice: under `/webhooks` for the default webhook, and under `/webhooks/endpoints` for any. Only
 * the first one is a tool, so it accepts the id of another webhook.
 */

type FindWebhook = (on: Pick<Queryable, 'kysely'>) => Promise<WebhookTable | undefined>;

/** An operation for both the default webhook and a webhook by its id. */
interface AnyWebhook<
  F extends TProperties = TProperties,
  O extends TSchema = TSchema,
  U extends DeclaredService = DeclaredService,
> extends Pick<Operation, 'effect' | 'isRepeatable' | 'thirdPartyText'> {
  /** Last part of both ids: `stats` for `webhooks.stats` and `webhooks.endpoints.stats`. */
  readonly name: string;
  readonly permission: Permission;
  readonly credential?: 'jwt';
  readonly uses?: readonly U[];
  /** Input fields besides `webhookId`. */
  readonly fields: F;
  readonly output: O;
  /** Whether it throws `webhook_not_set` without a default webhook. */
  readonly needsWebhook: boolean;
  /** Whether it also accepts the subscription of an MCP client, which it does not change. */
  readonly acceptsSubscriptions?: true;
  /** @param find returns undefined only if no default webhook is set */
  readonly run: (ctx: Context<NoInfer<U>>, find: FindWebhook, input: Static<TObject<F>>) => Promise<Static<O>>;
}

type Own = Pick<Operation, 'summary' | 'description'> & { readonly route: Route };

export function onAnyWebhook<F extends TProperties, O extends TSchema, U extends DeclaredService = never>(
  shared: AnyWebhook<F, O, U>,
  onDefault: Own & { tool?: true },
  onEndpoint: Own,
): readonly [Operation, Operation];
export function onAnyWebhook(
  { name, fields, needsWebhook, acceptsSubscriptions, run, ...shared }: AnyWebhook,
  onDefault: Own & { tool?: true },
  onEndpoint: Own,
): readonly [Operation, Operation] {
  const findById = acceptsSubscriptions ? findLaneRow : findWebhookRow;
  return [
    defineOperation({
      ...shared,
      ...onDefault,
      scope: 'account',
      id: `webhooks.${name}`,
      input: { ...otherWebhook, ...fields },
      errors: ['not_found', ...(needsWebhook ? (['webhook_not_set'] as const) : [])],
      run: (ctx, input) => run(ctx, (on) => findChosen(on, ctx.accountId, input.webhookId, findById), input),
    }),
    defineOperation({
      ...shared,
      ...onEndpoint,
      scope: 'account',
      id: `webhooks.endpoints.${name}`,
      input: { webhookId: WebhookId, ...fields },
      errors: ['not_found'],
      run: (ctx, input) => run(ctx, (on) => findById(on, ctx.accountId, input.webhookId), input),
    }),
  ];
}

/** The input field of an operation on the default webhook. */
export const otherWebhook = {
  webhookId: optional(string('A webhook other than the default one (`whk_…`).', { ...ref('webhook'), maxLength: 100 })),
};

/**
 * Returns the webhook of that id, or the default one; undefined if none is set.
 * @throws {AppError} `not_found`
 */
export function findChosen(
  on: Pick<Queryable, 'kysely'>,
  accountId: string,
  webhookId: string | undefined,
  findById = findWebhookRow,
) {
  return webhookId === undefined ? findDefault(on, accountId) : findById(on, accountId, webhookId);
}

/** @throws {AppError} `webhook_not_set` */
export function requireWebhook(row: WebhookTable | undefined): WebhookTable {
  if (row === undefined) throw new AppError('webhook_not_set');
  return row;
}
