import type { WebhookTest } from '../../../../sdk/src/api.ts';
import type { Client } from '../../../../sdk/src/client.ts';
import { NotFoundError, PermissionError } from '../../../../sdk/src/errors.ts';
import type { DeliveryState } from '../../db/tables/webhooks.ts';
import type { Context } from '../context.ts';
import { CliError } from '../failure.ts';
import { type Part, styled } from '../io.ts';
import { readSecretLine } from '../prompt.ts';
import { type ListOptions, showPage } from './lists.ts';

/** Deliveries for which `replay` asks why. */
const MAX_EXPLAINED = 20;

export async function listWebhooks(context: Context, options: ListOptions): Promise<void> {
  const page = await (await context.client()).webhooks.endpoints.list(options);
  showPage(context, page, {
    none: 'There are no webhooks. Set one with: switchboard webhooks set <url>',
    heads: ['WEBHOOK', 'BREAKER', 'SECRET', 'EVENTS', 'URL'],
    row: ({ webhookId, isDefault, breakerState, hasSecret, events, webhookUrl, enabled, paused }) => [
      `${webhookId}${isDefault ? ' (default)' : ''}`,
      enabled && !paused ? breakerPart(breakerState) : styled('yellow', enabled ? 'paused' : 'disabled'),
      hasSecret ? 'yes' : 'no',
      events.join(','),
      webhookUrl,
    ],
  });
}

export interface SetOptions {
  readonly events: readonly string[];
  /** Whether the secret is on standard input. */
  readonly secretStdin?: boolean;
}

/** Sets the default webhook. The secret comes from the environment or standard input; without one it stays. */
export async function setWebhook(context: Context, webhookUrl: string, options: SetOptions): Promise<void> {
  const secret = options.secretStdin
    ? await readSecretLine(context.io, 'secret')
    : context.io.env['SWITCHBOARD_WEBHOOK_SECRET'] || undefined;
  const client = await context.client();
  const set = await client.webhooks.set({
    webhookUrl,
    events: [...options.events],
    ...(secret !== undefined && { secret }),
  });
  context.out.result(set, () => {
    context.out.fields({ URL: set.webhookUrl, Events: set.events.join(','), Secret: set.hasSecret ? 'yes' : 'no' });
    context.out.note('Send a sample event with: switchboard webhooks test');
  });
}

/** @param webhookId the default webhook if it is left out */
export async function testWebhook(context: Context, webhookId: string | undefined, { event }: { event?: string }) {
  const client = await context.client();
  const kind = event !== undefined && { event };
  const test = await (webhookId === undefined
    ? client.webhooks.test({ ...kind })
    : client.webhooks.endpoints.test({ webhookId, ...kind }));
  context.out.result(test, () => showTest(context, test));
  if (!test.delivered) throw new CliError('failed', test.message);
}

function showTest({ out }: Context, test: WebhookTest): void {
  out.table(
    ['STAGE', 'RESULT', 'TIME'],
    test.stages.map(({ stage, result, ms }) => [
      stage,
      result === 'failed' ? styled('red', result) : result,
      ms === null ? null : `${ms} ms`,
    ]),
  );
  if (test.delivered) out.line(styled('green', 'Delivered'), ` in ${test.latencyMs} ms: ${test.message}`);
}

/** @param webhookId the default webhook if it is left out */
export async function resetBreaker(context: Context, webhookId: string | undefined): Promise<void> {
  const client = await context.client();
  const reset = await (webhookId === undefined
    ? client.webhooks.resetCircuitBreaker()
    : client.webhooks.endpoints.resetCircuitBreaker({ webhookId }));
  context.out.result(reset, () => context.out.line('The breaker is closed; held deliveries go out.'));
}

export interface DeliveryFilters extends ListOptions {
  readonly webhookId?: string;
  readonly state?: DeliveryState;
  readonly event?: string;
  readonly messageId?: string;
  readonly phoneNumber?: string;
  readonly after?: string;
  readonly before?: string;
}

export async function listDeliveries(context: Context, filters: DeliveryFilters): Promise<void> {
  const { state, event, phoneNumber, after, before, ...same } = filters;
  const page = await (await context.client()).webhooks.listDeliveries({
    ...same,
    ...(state !== undefined && { states: [state] }),
    ...(event !== undefined && { events: [event] }),
    ...(phoneNumber !== undefined && { chatId: phoneNumber }),
    ...(after !== undefined && { afterTime: after }),
    ...(before !== undefined && { beforeTime: before }),
  });
  showPage(context, page, {
    none: 'There are no such deliveries.',
    heads: ['DELIVERY', 'CREATED', 'EVENT', 'STATE', 'ATTEMPTS', 'LAST RESULT'],
    row: ({ deliveryId, createdAt, event, state, attempts, lastMessage }) => [
      deliveryId,
      createdAt,
      event,
      state === 'delivered'
        ? styled('green', state)
        : state === 'pending'
          ? styled('yellow', state)
          : styled('red', state),
      attempts,
      lastMessage,
    ],
  });
}

export interface ReplayOptions {
  readonly from?: string;
  readonly to?: string;
  readonly events?: readonly string[];
  readonly webhookId?: string;
  readonly dryRun?: boolean;
}

export async function replay(context: Context, ids: readonly string[], options: ReplayOptions): Promise<void> {
  const { from, to, events, webhookId, dryRun } = options;
  if (ids.length === 0 && (from === undefined || to === undefined))
    throw new CliError('usage', 'Name deliveries, or a period with --from and --to.');
  const client = await context.client();
  const replayed = await client.webhooks.replay({
    ...(ids.length > 0 && { deliveryIds: [...ids] }),
    ...(from !== undefined && { afterTime: from }),
    ...(to !== undefined && { beforeTime: to }),
    ...(events && { events: [...events] }),
    ...(webhookId !== undefined && { webhookId }),
    ...(dryRun && { dryRun }),
  });
  const refused = await explain(client, replayed.notFound ?? []);
  context.out.result(replayed, () => {
    if (dryRun) context.out.line(`${replayed.matched} deliveries match.`);
    else context.out.line(`${replayed.replayed} deliveries are sent again.`);
    for (const [id, why] of refused) context.out.line(`Not replayed: ${id}${why ? `. ${why}` : ''}`);
  });
  if (refused.size === 0) return;
  const isUnknown = [...refused.values()].includes(undefined);
  throw new CliError(isUnknown ? 'not_found' : 'failed', 'Some deliveries cannot be sent again.');
}

/** Returns why deliveries were not replayed, by their ids: undefined if there is no such delivery. */
async function explain(client: Client, ids: readonly string[]): Promise<ReadonlyMap<string, string | undefined>> {
  const reasons = new Map<string, string | undefined>(ids.map((id) => [id, '']));
  for (const deliveryId of ids.slice(0, MAX_EXPLAINED)) {
    try {
      reasons.set(deliveryId, (await client.webhooks.getDelivery({ deliveryId })).why);
    } catch (error) {
      if (error instanceof NotFoundError) reasons.set(deliveryId, undefined);
      else if (!(error instanceof PermissionError)) throw error;
    }
  }
  return reasons;
}

function breakerPart(state: 'closed' | 'open' | 'half_open'): Part {
  return state === 'closed' ? styled('green', state) : styled('red', state);
}
