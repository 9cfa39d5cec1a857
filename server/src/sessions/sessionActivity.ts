import type { NetworkEvent } from '../connectors/contract/events.ts';
import type { ErrorCode } from '../errors.ts';
import { nothingDone, unreadableMessages } from '../messages/standing/sessionRisk.ts';

const MINUTE_MS = 60_000;
/** Chats that are remembered until they are stored. Beyond, new ones count again with their next message. */
const MAX_CHATS = 1000;
/** Failed messages that are recognized when the network reports them again. */
const MAX_FAILURES = 200;
/** Errors that the network did not cause: the message was not sent to it, or goes out later. */
const OWN_ERRORS: ReadonlySet<ErrorCode> = new Set([
  'rate_limited',
  'session_not_connected',
  'session_unavailable',
  'storage_unavailable',
  'not_supported',
  'not_found',
]);

/** Counts since the last `take`. */
export interface NewActivity {
  readonly sent: number;
  readonly failed: number;
  readonly unreachable: number;
  readonly peak: number;
  readonly look_ups: number;
  /** Direct chats → when the session first sent to them. */
  readonly written: Map<string, number>;
  /** Direct chats with messages of the other side → when it first wrote. */
  readonly answered: Map<string, number>;
}

/**
 * Counts what a session does, in memory: a write for each message would slow them down. The counts of some seconds are
 * stored together, and lost if the process dies before that.
 */
export class SessionActivity {
  #counts = { sent: 0, failed: 0, unreachable: 0, peak: 0, look_ups: 0 };
  #written = new Map<string, number>();
  #answered = new Map<string, number>();
  readonly #failures = new Set<string>();
  /** Whether something has been stored that can change the risk. */
  #hasNews = false;
  #minute = 0;
  #inMinute = 0;

  /** @param directChat undefined for a group */
  onSent(directChat: string | undefined, at: number): void {
    this.#counts.sent++;
    const minute = Math.floor(at / MINUTE_MS);
    this.#inMinute = minute === this.#minute ? this.#inMinute + 1 : 1;
    this.#minute = minute;
    this.#counts.peak = Math.max(this.#counts.peak, this.#inMinute);
    if (directChat === undefined || this.#answered.has(directChat)) return;
    keep(this.#written, directChat, at);
  }

  onRefused(code: ErrorCode): void {
    if (OWN_ERRORS.has(code)) return;
    this.#counts.failed++;
    if (code === 'recipient_not_on_network') this.#counts.unreachable++;
  }

  /** The numbers that the network is asked about. */
  onLookUps(count: number): void {
    this.#counts.look_ups += count;
  }

  /** Those that are not stored yet. */
  get lookUps(): number {
    return this.#counts.look_ups;
  }

  onEvent(event: NetworkEvent): void {
    if (event.type === 'warned' || event.type === 'standing' || isWarning(event)) this.#hasNews = true;
    if (unreadableMessages(event) > 0) this.#hasNews = true; // stored already
    if (event.type === 'message' && event.chat.type === 'direct' && event.isOwn !== true)
      keep(this.#answered, event.chat.id, event.timestamp);
    if (event.type !== 'receipt' || event.status !== 'failed') return;
    for (const id of event.networkIds) {
      if (this.#failures.has(id)) continue;
      this.#failures.add(id);
      const [oldest] = this.#failures;
      if (this.#failures.size > MAX_FAILURES && oldest !== undefined) this.#failures.delete(oldest);
      this.#counts.failed++;
      if (event.isUnreachable === true) this.#counts.unreachable++;
    }
  }

  /** Returns what happened since the last call; undefined if nothing did. */
  take(): NewActivity | undefined {
    const [counts, written, answered] = [this.#counts, this.#written, this.#answered];
    const hasCounts = Object.values(counts).some((count) => count > 0);
    if (!hasCounts && answered.size === 0 && !this.#hasNews) return undefined;
    this.#hasNews = false;
    const { sent, failed, unreachable, peak, look_ups } = nothingDone;
    this.#counts = { sent, failed, unreachable, peak, look_ups };
    if (written.size > 0) this.#written = new Map();
    if (answered.size > 0) this.#answered = new Map();
    return { ...counts, written, answered };
  }

  /** Puts back what could not be stored, so that the session is assessed then. */
  putBack({ written, answered, ...counts }: NewActivity): void {
    const now = this.#counts;
    this.#counts = {
      sent: now.sent + counts.sent,
      failed: now.failed + counts.failed,
      unreachable: now.unreachable + counts.unreachable,
      peak: Math.max(now.peak, counts.peak),
      look_ups: now.look_ups + counts.look_ups,
    };
    for (const [chat, at] of this.#written) keep(written, chat, at);
    for (const [chat, at] of this.#answered) keep(answered, chat, at);
    this.#written = written;
    this.#answered = answered;
    this.#hasNews = true;
  }
}

/** Keeps the first time of a chat. */
function keep(chats: Map<string, number>, chat: string, at: number): void {
  if (!chats.has(chat) && chats.size < MAX_CHATS) chats.set(chat, at);
}

/** Whether a message failed for a reason that comes before a restriction of the number. */
export const isWarning = (event: NetworkEvent): boolean => event.type === 'receipt' && event.warning !== undefined;
