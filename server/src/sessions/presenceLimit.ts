import type { NetworkEvent } from '../connectors/contract/events.ts';

const WINDOW_MS = 60_000;
/** Reports of one session in a minute: as many about the contacts that it follows as about all others. */
const MAX_REPORTS = 60;
const REPEATED_MS = 30_000;
const MAX_PEOPLE = 500;

/** Bounds the presence reports of a session: other people cause them at will, and each is stored as an event. */
export class PresenceLimit {
  /** Chat and person → the last admitted presence, oldest first. */
  readonly #last = new Map<string, { readonly presence: string; readonly at: number }>();
  #windowStart = 0;
  #admitted = { followed: 0, others: 0 };
  /** The contacts that the session follows, which the reports about others must not displace. */
  readonly followed = new Set<string>();

  /** Returns whether a report is news and within the limit. */
  admits({ chat, from, presence, timestamp: at }: Extract<NetworkEvent, { type: 'presence' }>): boolean {
    const key = `${chat.id} ${from}`;
    const last = this.#last.get(key);
    if (last?.presence === presence && at - last.at < REPEATED_MS) return false;
    if (at - this.#windowStart >= WINDOW_MS || at < this.#windowStart) {
      this.#windowStart = at;
      this.#admitted = { followed: 0, others: 0 };
    }
    const share = chat.type === 'direct' && this.followed.has(from) ? 'followed' : 'others';
    if (this.#admitted[share] >= MAX_REPORTS) return false;
    this.#admitted[share]++;
    this.#last.delete(key);
    this.#last.set(key, { presence, at });
    const [oldest] = this.#last.keys();
    if (this.#last.size > MAX_PEOPLE && oldest !== undefined) this.#last.delete(oldest);
    return true;
  }
}
