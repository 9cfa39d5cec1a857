import type { Clock } from '../../clock.ts';
import { AppError } from '../../errors.ts';
import type { NetworkEvent } from '../connector.ts';
import type { Exchange, Parcel, Phone } from './exchange.ts';

/* How events get to phones that are in this process: what every exchange does alike. */

export const RETRY_MS = 500;

interface Held {
  /** Its place among all that was handed in. */
  readonly place: number;
  readonly again: () => void;
}

/** How a process hands parcels to its own phones. */
export interface Handing {
  /**
   * Hands one to a phone. Resolves when it is stored, or is to be tried again later: a network keeps what was not
   * acknowledged, and what comes for the phone meanwhile waits behind it.
   * @param arrived called once it is stored
   * @param again called to hand it in again
   */
  hand(phone: Phone, parcel: Parcel, arrived: () => void, again: () => void): Promise<void>;
  /** @returns what to call when a number has got the parcel: once all of `count` have, its receipt is sent */
  counting(parcel: Parcel, count: number): () => void;
}

export function createHanding(clock: Clock, deliver: Exchange['deliver']): Handing {
  /** Messages that arrived in this moment, by the number that is to learn it. */
  const receipts = new Map<string, string[]>();

  /** Receipts for one phone that come in the same moment travel together. */
  function receipt(to: string, networkId: string): void {
    const waiting = receipts.get(to);
    if (waiting !== undefined) {
      waiting.push(networkId);
      return;
    }
    const networkIds = [networkId];
    receipts.set(to, networkIds);
    setImmediate(() => {
      receipts.delete(to);
      // One that is given up is due again when the sender comes back, with its message.
      deliver({ to: [to], event: deliveredReceipt(networkIds, clock.now()) }).catch(() => {});
    });
  }

  /** What a phone could not store, and what came after that. */
  const held = new Map<Phone, Held[]>();
  let handed = 0;

  function hold(phone: Phone, parcel: Held): void {
    const waiting = held.get(phone);
    if (waiting !== undefined) {
      waiting.push(parcel);
      return;
    }
    held.set(phone, [parcel]);
    clock.after(RETRY_MS, () => {
      const all = held.get(phone) ?? [];
      held.delete(phone);
      // Several may have been under way when the first one failed, and they fail in any order.
      for (const { again } of all.sort((one, other) => one.place - other.place)) again();
    });
  }

  return {
    async hand(phone, { event, sentAt, directFrom }, arrived, again) {
      const place = ++handed;
      if (held.has(phone)) return hold(phone, { place, again });
      if (directFrom !== undefined && phone.refuses(directFrom, sentAt ?? 0)) return;
      try {
        await phone.receive(event, sentAt);
      } catch {
        return hold(phone, { place, again });
      }
      arrived();
    },
    counting({ event, receiptTo }, count) {
      if (receiptTo === undefined || event.type !== 'message') return () => {};
      let missing = count;
      return () => {
        if (--missing === 0) receipt(receiptTo, event.networkId);
      };
    },
  };
}

export function deliveredReceipt(networkIds: readonly string[], timestamp: number): NetworkEvent {
  return { type: 'receipt', networkIds, status: 'delivered', timestamp };
}

export function numberInUse(number: string): AppError {
  return new AppError('phone_number_in_use', `Another session uses ${number}; log it out or delete it first`);
}
