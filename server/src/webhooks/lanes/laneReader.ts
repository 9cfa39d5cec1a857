import { setImmediate } from 'node:timers/promises';
import type { Database } from '../../db/database.ts';
import type { SteadyClock } from '../../steadyClock.ts';
import { type Due, readFirstDue, readNextDue } from '../queue/due.ts';
import { findWebhooks, type Webhook } from './webhook.ts';

/** A webhook and the deliveries that its lane starts with. */
export interface LaneStart {
  /** Undefined if the webhook was removed. */
  readonly webhook: Webhook | undefined;
  /** Its first due deliveries. */
  readonly due: readonly Due[];
  /** When its next delivery after now is due; undefined if none is. */
  readonly nextDueAt: number | undefined;
}

interface Waiting {
  readonly webhookId: string;
  readonly resolve: (start: LaneStart) => void;
  readonly reject: (error: unknown) => void;
}

const LANES_AT_ONCE = 128;
/** Due deliveries read with the webhook. A lane that gets as many reads on by itself. */
export const FIRST_DUE = 8;

/** Reads what lanes start with. Those that start at the same time share a read. */
export class LaneReader {
  readonly #database: Database;
  readonly #steady: SteadyClock;
  readonly #waiting: Waiting[] = [];
  #isReading = false;

  constructor(database: Database, steady: SteadyClock) {
    this.#database = database;
    this.#steady = steady;
  }

  read(webhookId: string): Promise<LaneStart> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ webhookId, resolve, reject });
      if (!this.#isReading) void this.#readAll();
    });
  }

  async #readAll(): Promise<void> {
    this.#isReading = true;
    while (this.#waiting.length > 0) {
      // Others join, and between two reads everything else gets its turn.
      await setImmediate();
      await this.#readSome(this.#waiting.splice(0, LANES_AT_ONCE));
    }
    this.#isReading = false;
  }

  async #readSome(lanes: readonly Waiting[]): Promise<void> {
    try {
      const starts = await readStarts(
        this.#database,
        lanes.map(({ webhookId }) => webhookId),
        this.#steady.now(),
      );
      for (const { webhookId, resolve, reject } of lanes) {
        try {
          resolve(starts(webhookId));
        } catch (error) {
          reject(error); // this one's secrets cannot be decrypted
        }
      }
    } catch (error) {
      for (const { reject } of lanes) reject(error);
    }
  }
}

/**
 * Returns the start of each lane.
 * @throws {SealError} on the call for a webhook whose secrets cannot be decrypted
 */
export async function readStarts(
  database: Database,
  webhookIds: readonly string[],
  now: number,
): Promise<(webhookId: string) => LaneStart> {
  const webhooks = await findWebhooks(database, webhookIds);
  const due = await readFirstDue(database.reader, webhookIds, now, FIRST_DUE);
  const next = await readNextDue(database.reader, webhookIds, now);
  return (webhookId) => ({
    webhook: webhooks.get(webhookId)?.(),
    due: due.get(webhookId) ?? [],
    nextDueAt: next.get(webhookId),
  });
}
