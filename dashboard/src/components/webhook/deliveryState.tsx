import type { Delivery } from '@switchboard/sdk/api';
import { deliveryStrings } from '../../strings/deliveries.ts';
import { Lamp, type LampTone } from '../lamp.tsx';

const tones: Readonly<Record<Delivery['state'], LampTone>> = {
  pending: 'busy',
  delivered: 'good',
  failed: 'bad',
  expired: 'bad',
  cancelled: 'off',
};

/** The state of a delivery. A pending delivery that has failed before looks different from a new one. */
export function DeliveryState({ delivery: { state, lastClass } }: { readonly delivery: Delivery }) {
  const isWaiting = state === 'pending' && lastClass !== null;
  return <Lamp tone={isWaiting ? 'warn' : tones[state]}>{deliveryStrings.states[state]}</Lamp>;
}
