import type { NetworkEvent } from '../connectors/contract/events.ts';
import type { SessionHost } from '../connectors/contract/host.ts';
import type { NetworkChat } from '../connectors/contract/messageKey.ts';
import {
  type Forecast,
  limitForecast,
  type NetworkStanding,
  type PlannedMessage,
  worst,
} from '../connectors/contract/standing.ts';
import { SendBudget } from '../connectors/sendBudget.ts';
import { AppError } from '../errors.ts';

/** Prefix of the store's keys for the chats that the session started or got messages in. */
const WRITTEN = 'written:';
const STANDING = 'standing';

/**
 * The limits of a session: those of its options, like a session of WhatsApp, and those that a simulation sets. Without
 * any of them, messages cost nothing more.
 */
export class SandboxLimits {
  readonly #host: SessionHost;
  readonly #budget: SendBudget | undefined;
  #standing: NetworkStanding = {};

  constructor(host: SessionHost) {
    this.#host = host;
    const { warmUp, newChatsPerDay } = host.options;
    if (warmUp !== true && newChatsPerDay === undefined) return;
    // Validated against the schema when they were set.
    const options = { newChatsPerDay: Number(newChatsPerDay ?? NEW_CHATS_PER_DAY), warmUp: warmUp === true };
    this.#budget = new SendBudget(options, host);
  }

  async start(): Promise<void> {
    await this.#budget?.start();
    this.#standing = JSON.parse((await this.#host.store.get(STANDING)) ?? '{}');
  }

  /** Sets what the network says about the number. */
  async setStanding(changed: NetworkStanding): Promise<NetworkEvent> {
    this.#standing = { ...this.#standing, ...changed };
    await this.#host.store.set(STANDING, JSON.stringify(this.#standing));
    return { type: 'standing', ...changed };
  }

  /** @throws {AppError} `rate_limited` */
  async admit(chat: NetworkChat): Promise<void> {
    const deniedMs = this.#deniedMs();
    if (this.#budget === undefined && deniedMs <= 0) return;
    if (chat.type === 'direct' && !(await this.#isKnown(chat.id))) {
      if (deniedMs > 0)
        throw new AppError('rate_limited', NO_NEW_CHATS, { retryAfterSeconds: Math.ceil(deniedMs / 1000) });
      await this.#budget?.beginChat();
      await this.#host.store.set(`${WRITTEN}${chat.id}`, 'yes');
    }
    await this.#budget?.countMessage();
  }

  async forecast(messages: readonly PlannedMessage[]): Promise<Forecast[]> {
    const [newChats, today] = [await this.#budget?.newChats(), await this.#budget?.messages()];
    const deniedMs = this.#deniedMs();
    const denied: Forecast = { outcome: 'limit_reached', reason: NO_NEW_CHATS, retryAfterMs: deniedMs };
    const isLimited = deniedMs > 0 || newChats !== undefined;
    let started = 0;
    const forecasts: Forecast[] = [];
    for (const [place, { chat }] of messages.entries()) {
      const all = [today && limitForecast(today, place, 'the messages of the day')];
      if (isLimited && chat.type === 'direct' && !(await this.#isKnown(chat.id))) {
        if (deniedMs > 0) all.push(denied);
        all.push(newChats && limitForecast(newChats, started++, 'the new chats of the day'));
      }
      forecasts.push(worst(all));
    }
    return forecasts;
  }

  #deniedMs(): number {
    return (this.#standing.noNewChatsUntil ?? 0) - this.#host.clock.now();
  }

  async #isKnown(number: string): Promise<boolean> {
    if ((await this.#host.store.get(`${WRITTEN}${number}`)) !== undefined) return true;
    return (await this.#host.lastIncoming(number)) !== null;
  }
}

export const NEW_CHATS_PER_DAY = 50;
const NO_NEW_CHATS =
  'The network does not let this number start new chats at the moment; people who have written still get messages';
