import type { SessionHost } from '../connectors/contract/host.ts';
import type { SteadyClock } from '../steadyClock.ts';
import type { Simulation } from './simulatedActions.ts';

/** Actions of a blocked contact that never reach the session, besides those in a direct chat. */
const BLOCKED: ReadonlySet<string> = new Set([
  'call',
  'call_end',
  'status',
  'status_delete',
  'status_view',
  'status_react',
]);
/** Prefix of the store's keys for unblocked contacts. The value is the moment of unblocking, in steady time. */
const UNBLOCKED = 'unblocked:';

/** The contacts that a session has blocked. */
export class BlockList {
  readonly #host: Pick<SessionHost, 'store' | 'blocked'>;
  readonly #steady: SteadyClock;
  /**
   * Number → moment of steady time before which its events are blocked; infinite while it is blocked. After it was
   * unblocked, events from before stay blocked even if they arrive late or are repeated: their sender has no receipt.
   */
  readonly #until = new Map<string, number>();

  constructor(host: Pick<SessionHost, 'store' | 'blocked'>, steady: SteadyClock) {
    this.#host = host;
    this.#steady = steady;
  }

  async load(): Promise<void> {
    const unblocked = await this.#host.store.list(UNBLOCKED);
    const blocked = await this.#host.blocked();
    // Set at once: a contact that was unblocked and blocked again must stay blocked during a reconnect.
    for (const [key, at] of unblocked) this.#until.set(key.slice(UNBLOCKED.length), Number(at));
    for (const other of blocked) this.#until.set(other, Number.POSITIVE_INFINITY);
  }

  async set(number: string, blocked: boolean): Promise<void> {
    if (blocked) this.#until.set(number, Number.POSITIVE_INFINITY);
    else if (this.#has(number)) {
      const now = this.#steady.now();
      await this.#host.store.set(`${UNBLOCKED}${number}`, String(now));
      this.#until.set(number, now);
    }
  }

  /**
   * Whether an event in a direct chat does not reach the session.
   * @param sentAt in steady time
   */
  keepsOut(number: string, sentAt: number): boolean {
    return sentAt < (this.#until.get(number) ?? 0);
  }

  /** Whether an action that a simulation plays does not reach the session. In groups, it does. */
  keepsOutAction(action: Simulation): boolean {
    if (!('from' in action) || !this.#has(action.from)) return false;
    if (action.action === 'star' || action.action === 'delete_for_me') return false; // the owner does it
    if ('chat' in action) return action.chat.type === 'direct';
    return action.action === 'incoming' ? action.group === null : BLOCKED.has(action.action);
  }

  #has(number: string): boolean {
    return this.#until.get(number) === Number.POSITIVE_INFINITY;
  }
}
