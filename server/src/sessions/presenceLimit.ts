import type { NetworkEvent } from '../connectors/connector.ts';

const WINDOW_MS = 60_000;
/** Reports of one session in a minute. */
const MAX_REPORTS = 60;
const REPEATED_MS = 30_000;
const MAX_PEOPLE = 500;

/** Bounds the presence reports of a session: other people cause them at will, and each is stored as an event. */
export class PresenceLimit {
  /** Chat and person → the last admitted presence, oldest first. */
  readonly #last = new Map<string, { readonly presence: string; readonly at: number }>();
  #windowStart = 0;
  #admitted = 0;

  /** Returns whether a report is news and within the limit. */
  admits({ chat, from, presence, timestamp: at }: Extract<NetworkEvent, { type: 'presence' }>): boolean {
    const key = `${chat.id} ${from}`;
    const last = this.#last.get(key);
    if (last?.presence === presence && at - last.at < REPEATED_MS) return false;
    if (at - this.#windowStart >= WINDOW_MS || at < this.#windowStart) {
      this.#windowStart = at;
      this.#admitted = 0;
    }
    if (this.#admitted >= MAX_REPORTS) return false;
    this.#admitted++;
    this.#last.delete(key);
    this.#last.set(key, { presence, at });
    const [oldest] = this.#last.keys();
    if (this.#last.size > MAX_PEOPLE && oldest !== undefined) this.#last.delete(oldest);
    return true;
  }
}
