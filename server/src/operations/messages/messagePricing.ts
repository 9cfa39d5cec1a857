import type { Pricing } from '../../connectors/contract/business.ts';
import { boolean, object, optional, string } from '../../invoke/input/fields.ts';
import type { NewRow } from '../../messages/store.ts';

export const MessagePricing = object('Price of the message; only if the network has reported it.', {
  category: string('Category of the price, such as `marketing`, `utility` or `service`.'),
  billable: boolean('Whether the message costs something.'),
  type: optional(string('Reason for the price, such as `regular`, `free_customer_service` or `free_entry_point`.')),
  model: optional(string('Unit of the price: `PMP` (per message) or `CBP` (per conversation).')),
});

export function pricingField({ pricing }: Pick<NewRow, 'pricing'>) {
  return pricing !== null && { pricing: JSON.parse(pricing) as Pricing };
}
