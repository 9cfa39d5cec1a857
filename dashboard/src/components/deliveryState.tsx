import type { Delivery } from '@switchboard/sdk/api';
import { deliveryWords } from '../strings/deliveries.ts';
import { Lamp, type LampTone } from './lamp.tsx';

const tones: Readonly<Record<Delivery['state'], LampTone>> = {
  pending: 'busy',
  delivered: 'good',
  failed: 'bad',
  expired: 'bad',
  cancelled: 'off',
};

/** How far a delivery has come. One that waits after a failure is not one that is merely on its way. */
export function DeliveryState({ delivery: { state, lastClass } }: { readonly delivery: Delivery }) {
  const isWaiting = state === 'pending' && lastClass !== null;
  return <Lamp tone={isWaiting ? 'warn' : tones[state]}>{deliveryWords.states[state]}</Lamp>;
}
