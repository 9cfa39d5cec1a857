import { setTimeout as wait } from 'node:timers/promises';
import type { Operations } from '../../../sdk/src/api.ts';
import type { Client } from '../../../sdk/src/client.ts';
import { isBreak, waitMs } from '../../../sdk/src/retries.ts';

export type FeedEvent = Operations['events.list']['output']['data'][number];

/** Events that were read together. */
export interface FeedPage {
  readonly events: readonly FeedEvent[];
  /** The position before these events; undefined for the beginning. */
  readonly before: string | undefined;
  /** The position after them. */
  readonly after: string | undefined;
}

interface FeedOptions {
  readonly events?: readonly string[] | undefined;
  /** Undefined for the events from now on. */
  readonly after: string | undefined;
  readonly signal: AbortSignal;
  readonly onBreak: (error: Error) => void;
  readonly onResume: () => void;
  /** Called when the server was restored or failed over since the last page. */
  readonly onTruncated: () => void;
}

/** Shown to people when the server reports truncation. */
export const TRUNCATED =
  'The server was restored from a backup or failed over. Events may be missing or repeat from here on.';

const WAIT_SECONDS = 20;
const PAGE = 100;
const MAX_WAIT_MS = 10_000;

/**
 * Follows the account's events. It polls the log, because the stream has neither the ids of events nor their sequence,
 * which the headers of a delivery need. A poll waits at the server, so events arrive at once. After a break it
 * continues where it was, for as long as the break lasts; only a refusal ends it.
 */
export class EventFeed {
  readonly #client: Client;
  readonly #options: FeedOptions;
  #start: string | undefined;

  constructor(client: Client, options: FeedOptions) {
    this.#client = client;
    this.#options = options;
  }

  /** Finds the position from which `pages` reads. Call it once, before. */
  async start(): Promise<void> {
    this.#start = this.#options.after ?? (await this.#now());
  }

  async *pages(): AsyncGenerator<FeedPage, void, undefined> {
    let at = this.#start;
    for (let failures = 0; ; ) {
      const before = at;
      const found = await this.#read(before, failures);
      if (found === undefined) {
        failures++;
        continue;
      }
      if (failures > 0) this.#options.onResume();
      failures = 0;
      if (found.truncated) this.#options.onTruncated();
      at = found.nextCursor ?? undefined;
      if (found.data.length > 0) yield { events: found.data, before, after: at };
    }
  }

  /** Returns the position after the first events that follow another position. */
  async positionAfter(before: string | undefined, count: number, signal: AbortSignal): Promise<string | undefined> {
    const found = await this.#client.events.list({ ...this.#query(before), limit: count }, { signal });
    return found.nextCursor ?? undefined;
  }

  /** The position of the next event; undefined if there has never been one. */
  async #now(): Promise<string | undefined> {
    const { signal } = this.#options;
    const { nextCursor } = await this.#client.events.list({ ...this.#query('now'), limit: 1 }, { signal });
    return nextCursor ?? undefined;
  }

  /** @returns undefined after a break, once it is time to try again */
  async #read(after: string | undefined, failures: number) {
    const { signal, onBreak } = this.#options;
    try {
      const seconds = failures === 0 ? WAIT_SECONDS : 0;
      return await this.#client.events.list({ ...this.#query(after), limit: PAGE, wait: seconds }, { signal });
    } catch (error) {
      signal.throwIfAborted();
      if (!isBreak(error)) throw error;
      if (failures === 0) onBreak(error);
      await wait(waitMs(error, failures, MAX_WAIT_MS), undefined, { signal });
      return undefined;
    }
  }

  #query(after: string | undefined) {
    const { events } = this.#options;
    return { ...(after !== undefined && { afterCursor: after }), ...(events !== undefined && { events: [...events] }) };
  }
}
