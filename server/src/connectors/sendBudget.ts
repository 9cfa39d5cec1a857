import { KeyedQueue } from '../async.ts';
import type { Clock } from '../clock.ts';
import { AppError } from '../errors.ts';
import type { SessionStore } from './contract/host.ts';

export interface SendBudgetOptions {
  /** How many chats the session can start in 24 hours. */
  readonly newChatsPerDay: number;
  /** Whether to begin with less, and to allow more each day. */
  readonly warmUp?: boolean;
}

/** A limit, and how much of it is used. */
export interface Allowance {
  readonly used: number;
  readonly total: number;
  /** Until more is allowed, if all of it is used, in ms. */
  readonly freeInMs: number;
}

interface WarmUp {
  /** When the session connected for the first time with the option. */
  readonly since: number;
  readonly day: number;
  /** Messages that were sent on that day. */
  readonly messages: number;
}

export const WARM_UP_DAYS = 14;
/** On the first day; from then on it grows evenly up to the limit of the session. */
const FIRST_NEW_CHATS = 10;
/** For each day that the warm-up has lasted. */
const MORE_MESSAGES = 50;

const DAY_MS = 24 * 3600 * 1000;
const CHATS_BEGUN = 'chats-begun';
const WARMED_UP = 'warm-up';

/** Describes the option in the schemas of connectors. */
export const WARM_UP = `Warm up a new number for ${WARM_UP_DAYS} days: it may start ${FIRST_NEW_CHATS} chats and send ${MORE_MESSAGES} messages on the first day, and more each day. Counted from when the session first connects with this option.`;

export const newChatsOnDay = (day: number, newChatsPerDay: number): number => {
  const first = Math.min(FIRST_NEW_CHATS, newChatsPerDay);
  return Math.round(first + ((newChatsPerDay - first) * (day - 1)) / (WARM_UP_DAYS - 1));
};

export const messagesOnDay = (day: number): number => MORE_MESSAGES * day;

/** Counts what a session may do in a day: the chats that it starts and, while it warms up, its messages. */
export class SendBudget {
  readonly #options: SendBudgetOptions;
  readonly #clock: Clock;
  readonly #store: Pick<SessionStore, 'get' | 'set'>;
  readonly #counting = new KeyedQueue();

  constructor(
    options: SendBudgetOptions,
    { clock, store }: { clock: Clock; store: Pick<SessionStore, 'get' | 'set'> },
  ) {
    this.#options = options;
    this.#clock = clock;
    this.#store = store;
  }

  /** Begins the warm-up once the session is connected for the first time. Later connections change nothing. */
  async start(): Promise<void> {
    if (!this.#options.warmUp) return;
    await this.#counting.run(WARMED_UP, async () => {
      if ((await this.#store.get(WARMED_UP)) === undefined)
        await this.#store.set(WARMED_UP, JSON.stringify(this.#firstDay()));
    });
  }

  /** @throws {AppError} `rate_limited` if the session started enough chats in the last 24 hours */
  beginChat(): Promise<void> {
    return this.#counting.run(CHATS_BEGUN, async () => {
      const { used, total, freeInMs } = await this.newChats();
      if (used >= total) throw await this.#tooManyChats(total, freeInMs);
      const recent = await this.#recentChats();
      await this.#store.set(CHATS_BEGUN, JSON.stringify([...recent, this.#clock.now()]));
    });
  }

  /** @throws {AppError} `rate_limited` if a number that is warming up has sent enough messages today */
  async countMessage(): Promise<void> {
    if (!this.#options.warmUp) return;
    await this.#counting.run(WARMED_UP, async () => {
      const warmUp = await this.#warmUp();
      if (warmUp === undefined) return;
      const { day, messages } = warmUp;
      const { used, total, freeInMs } = this.#messagesOf(warmUp);
      if (used >= total)
        throw rateLimited(
          `The number is warming up: it may send ${total} messages on day ${day} of ${WARM_UP_DAYS}`,
          freeInMs,
        );
      await this.#store.set(WARMED_UP, JSON.stringify({ ...warmUp, messages: messages + 1 }));
    });
  }

  /** The chats that the session may start in 24 hours. */
  async newChats(): Promise<Allowance> {
    const recent = await this.#recentChats();
    const now = this.#clock.now();
    const { newChatsPerDay } = this.#options;
    const day = (await this.#warmUp())?.day;
    const total = day === undefined ? newChatsPerDay : newChatsOnDay(day, newChatsPerDay);
    // The oldest chat that must become older than a day before there is room for one more.
    const last = recent[recent.length - total] ?? recent[0];
    return { used: recent.length, total, freeInMs: (last ?? now) + DAY_MS - now };
  }

  /** The messages that the session may send today; undefined if their number is not limited. */
  async messages(): Promise<Allowance | undefined> {
    const warmUp = await this.#warmUp();
    return warmUp && this.#messagesOf(warmUp);
  }

  #messagesOf({ since, day, messages }: WarmUp): Allowance {
    return { used: messages, total: messagesOnDay(day), freeInMs: since + day * DAY_MS - this.#clock.now() };
  }

  async #recentChats(): Promise<number[]> {
    const begun: number[] = JSON.parse((await this.#store.get(CHATS_BEGUN)) ?? '[]');
    return begun.filter((at) => at > this.#clock.now() - DAY_MS);
  }

  #firstDay(): WarmUp {
    return { since: this.#clock.now(), day: 1, messages: 0 };
  }

  /**
   * Returns undefined for a number that does not warm up, or no longer. A warm-up that has not begun is on its first
   * day.
   */
  async #warmUp(): Promise<WarmUp | undefined> {
    if (!this.#options.warmUp) return undefined;
    const text = await this.#store.get(WARMED_UP);
    if (text === undefined) return this.#firstDay();
    const stored: WarmUp = JSON.parse(text);
    // At least the day that was stored: the clock can be set back.
    const day = Math.max(stored.day, Math.floor((this.#clock.now() - stored.since) / DAY_MS) + 1);
    if (day > WARM_UP_DAYS) return undefined;
    return day === stored.day ? stored : { ...stored, day, messages: 0 };
  }

  async #tooManyChats(total: number, waitMs: number): Promise<AppError> {
    const day = (await this.#warmUp())?.day;
    const reason =
      day === undefined
        ? `The session has reached its limit of ${total} new chats per day; WhatsApp bans numbers that start many`
        : `The number is warming up: it may start ${total} chats on day ${day} of ${WARM_UP_DAYS}`;
    return rateLimited(reason, waitMs);
  }
}

const rateLimited = (message: string, waitMs: number) =>
  new AppError('rate_limited', message, { retryAfterSeconds: Math.max(1, Math.ceil(waitMs / 1000)) });
