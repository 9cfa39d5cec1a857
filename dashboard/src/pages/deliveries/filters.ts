import type { Delivery } from '@switchboard/sdk/api';
import type { api } from '../../api.ts';

export type DeliveryState = Delivery['state'];
export const deliveryStates = [
  'pending',
  'delivered',
  'failed',
  'expired',
  'cancelled',
] as const satisfies readonly DeliveryState[];

/** The filters of the log, which are its search parameters. */
export interface DeliveryFilters {
  readonly state?: DeliveryState | undefined;
  readonly event?: string | undefined;
  readonly webhookId?: string | undefined;
  /** A phone number, or the id of a group. */
  readonly chatId?: string | undefined;
  readonly messageId?: string | undefined;
  /** ISO times. */
  readonly after?: string | undefined;
  readonly before?: string | undefined;
}

export function deliveryFilters(search: Readonly<Record<string, unknown>>): DeliveryFilters {
  const text = (name: string) => {
    const value = search[name];
    return typeof value === 'string' && value !== '' ? value : undefined;
  };
  const time = (name: string) => {
    const at = Date.parse(text(name) ?? '');
    return Number.isNaN(at) ? undefined : new Date(at).toISOString();
  };
  return {
    state: deliveryStates.find((state) => state === search['state']),
    event: text('event'),
    webhookId: text('webhookId'),
    chatId: text('chatId'),
    messageId: text('messageId'),
    after: time('after'),
    before: time('before'),
  };
}

type ListInput = NonNullable<Parameters<typeof api.webhooks.listDeliveries>[0]>;

/** The input of the API: filters that are not set, and unknown search parameters, are left out. */
export function asInput(filters: DeliveryFilters): ListInput {
  const { state, event, after, before, ...same } = deliveryFilters({ ...filters });
  const input = {
    ...same,
    states: state && [state],
    events: event && [event],
    afterTime: after,
    beforeTime: before,
  };
  return Object.fromEntries(Object.entries(input).filter(([, value]) => value !== undefined)) as ListInput;
}
