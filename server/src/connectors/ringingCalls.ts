import type { CallOutcome } from './contract/calls.ts';
import type { NetworkEvent } from './contract/events.ts';
import type { SessionHost } from './contract/host.ts';

type CallEnded = Extract<NetworkEvent, { type: 'call_ended' }>;

export interface RingingCall {
  readonly event: Extract<NetworkEvent, { type: 'call' }>;
  /** The network's own address of the caller. */
  readonly jid?: string;
}

interface Timed extends RingingCall {
  readonly until: number;
}

const KEY = 'ringing calls';
/** Longer than any phone rings. A call whose end the network has not reported by then has ended. */
const RING_MS = 2 * 60_000;
const RETRY_MS = 1000;
/** Calls that ring at the same time, and ids of calls that have ended. */
const MAX_CALLS = 100;

/**
 * The calls of a session that have not ended yet. They are stored, so that a call also ends, or can be rejected, after
 * the server was restarted while it rang.
 */
export class RingingCalls {
  readonly #host: Pick<SessionHost, 'store' | 'clock' | 'log' | 'onEvent'>;
  readonly #report: (event: CallEnded) => Promise<void>;
  #ringing = new Map<string, Timed>();
  #ended = new Set<string>();
  #isStopped = false;
  #cancelTimer = () => {};

  /** @param report reports the end of a call to the host */
  constructor(
    host: Pick<SessionHost, 'store' | 'clock' | 'log' | 'onEvent'>,
    report: (event: CallEnded) => Promise<void> = (event) => host.onEvent(event),
  ) {
    this.#host = host;
    this.#report = report;
  }

  /** Continues with the calls that an earlier connection has left. */
  async start(): Promise<void> {
    this.#isStopped = false;
    const stored = await this.#host.store.get(KEY);
    if (stored === undefined) return;
    const { ringing, ended }: { ringing: Timed[]; ended: string[] } = JSON.parse(stored);
    this.#ringing = new Map(ringing.map((call) => [call.event.callId, call]));
    this.#ended = new Set(ended);
    this.#schedule();
  }

  stop(): void {
    this.#isStopped = true;
    this.#cancelTimer();
  }

  get(callId: string): RingingCall | undefined {
    return this.#ringing.get(callId);
  }

  /** Whether the call has ended. Remembers the last calls only. */
  hasEnded(callId: string): boolean {
    return this.#ended.has(callId);
  }

  async add(call: RingingCall): Promise<void> {
    const { callId } = call.event;
    this.#ringing.set(callId, { ...call, until: this.#host.clock.now() + RING_MS });
    this.#ended.delete(callId);
    const [oldest] = this.#ringing.keys();
    if (this.#ringing.size > MAX_CALLS && oldest !== undefined) await this.end(oldest, 'ended');
    else await this.#save();
    this.#schedule();
  }

  /** Reports the end of a call. Returns false if no such call rings: it has ended already. */
  async end(callId: string, outcome: CallOutcome, timestamp = this.#host.clock.now()): Promise<boolean> {
    const call = this.#ringing.get(callId);
    if (call === undefined) return false;
    this.#ringing.delete(callId);
    try {
      await this.#report({ ...call.event, type: 'call_ended', outcome, timestamp });
    } catch (error) {
      this.#ringing.set(callId, call);
      throw error;
    }
    this.#ended.add(callId);
    const [first] = this.#ended;
    if (this.#ended.size > MAX_CALLS && first !== undefined) this.#ended.delete(first);
    await this.#save();
    return true;
  }

  /** Ends all calls, because the session is unlinked. */
  async endAll(): Promise<void> {
    this.stop();
    const timestamp = this.#host.clock.now();
    for (const { event } of this.#ringing.values())
      await this.#host
        .onEvent({ ...event, type: 'call_ended', outcome: 'ended', timestamp })
        .catch((error) => this.#host.log.warn({ err: error }, 'failed to report the end of a call'));
    this.#ringing.clear();
  }

  async #save(): Promise<void> {
    const value = JSON.stringify({ ringing: [...this.#ringing.values()], ended: [...this.#ended] });
    await this.#host.store
      .set(KEY, value)
      .catch((error) => this.#host.log.warn({ err: error }, 'failed to store the calls that ring'));
  }

  #schedule(): void {
    this.#cancelTimer();
    if (this.#isStopped) return;
    const next = Math.min(...[...this.#ringing.values()].map(({ until }) => until));
    if (!Number.isFinite(next)) return;
    const ms = Math.min(Math.max(next - this.#host.clock.now(), RETRY_MS), RING_MS);
    this.#cancelTimer = this.#host.clock.after(ms, () => {
      this.#expire()
        .catch((error) => this.#host.log.warn({ err: error }, 'failed to report the end of a call; trying again'))
        .finally(() => this.#schedule());
    });
  }

  async #expire(): Promise<void> {
    const now = this.#host.clock.now();
    for (const { event, until } of [...this.#ringing.values()]) if (until <= now) await this.end(event.callId, 'ended');
  }
}
