import type { Received } from './journal.ts';

/** A sealed change, vote or answer that came before its message. */
export interface WaitingChange {
  readonly received: Received;
  /** Id of the message that must arrive first. */
  readonly waitsFor: string;
  /** Address without the device. */
  readonly sender: string;
}

/** Maximum number of changes that wait: of a session, and of one sender. */
const WAITING = 200;
const WAITING_OF_SENDER = 20;

/** Changes that came before their message, oldest first. They stay in the journal. */
export class WaitingChanges {
  readonly #all = new Map<string, WaitingChange>();

  /** Adds a change. Returns the one that has to leave for it, if there is one. */
  add(change: WaitingChange): WaitingChange | undefined {
    this.#all.set(change.received.key, change);
    const all = [...this.#all.values()];
    // A sender whose changes never open must not displace the changes of others.
    const theirs = all.filter(({ sender }) => sender === change.sender);
    return theirs.at(-WAITING_OF_SENDER - 1) ?? (all.length > WAITING ? oldestOfMost(all) : undefined);
  }

  delete({ key }: Received): void {
    this.#all.delete(key);
  }

  /** Removes and returns the changes whose message has arrived. */
  take(hasArrived: (waitsFor: string) => boolean): Received[] {
    const arrived = [...this.#all.values()].filter(({ waitsFor }) => hasArrived(waitsFor));
    return arrived.map(({ received }) => {
      this.#all.delete(received.key);
      return received;
    });
  }
}

/**
 * Returns the oldest change of the message with the most. The votes in a poll from before the session was linked never
 * open, and in a large group they would otherwise displace the changes of all other messages.
 */
function oldestOfMost(all: readonly WaitingChange[]): WaitingChange | undefined {
  const groups = [...Map.groupBy(all, ({ waitsFor }) => waitsFor).values()];
  return groups.reduce((most, one) => (one.length > most.length ? one : most), [])[0];
}
