import type { Readable } from 'node:stream';
import { AppError } from '../errors.ts';

export interface BudgetedBody {
  /** @throws {AppError} `payload_too_large`; `rate_limited` if other callbacks use up the budget */
  read(payload: Readable): Promise<Buffer>;
  /** Releases the memory of the body. May be called repeatedly, and before the body is read completely. */
  release(): void;
}

/** Limits in bytes at any time. */
export interface BodyLimits {
  readonly body: number;
  readonly session: number;
  readonly all: number;
}

interface Recipient {
  readonly accountId: string;
  readonly sessionId: string;
}

/**
 * Bounds the memory for bodies that arrive without a credential: of one body, of one session and in total. An account
 * may hold no more than remains free, as with `OutgoingConnections`: alone it gets half, two get a third each, and a
 * share is left for the next one. Only bytes that have arrived count.
 */
export class BodyBudget {
  readonly #limits: BodyLimits;
  readonly #bySession = new Map<string, number>();
  readonly #byAccount = new Map<string, number>();
  #all = 0;

  constructor(limits: BodyLimits) {
    this.#limits = limits;
  }

  open(recipient: Recipient): BudgetedBody {
    let held = 0;
    let isReleased = false;
    return {
      read: async (payload) => {
        const chunks: Buffer[] = [];
        for await (const chunk of payload.iterator({ destroyOnReturn: false })) {
          if (held + chunk.length > this.#limits.body) throw tooLarge(this.#limits.body);
          if (isReleased) break; // the sender is gone
          this.#take(recipient, chunk.length);
          held += chunk.length;
          chunks.push(chunk);
        }
        return Buffer.concat(chunks);
      },
      release: () => {
        if (isReleased) return;
        isReleased = true;
        this.#add(recipient, -held);
      },
    };
  }

  #take(recipient: Recipient, bytes: number): void {
    const ofSession = (this.#bySession.get(recipient.sessionId) ?? 0) + bytes;
    const ofAccount = (this.#byAccount.get(recipient.accountId) ?? 0) + bytes;
    const free = this.#limits.all - this.#all - bytes;
    if (ofSession > this.#limits.session || ofAccount > free)
      throw new AppError('rate_limited', 'Too many callbacks at the same time; try again', { retryAfterSeconds: 1 });
    this.#add(recipient, bytes);
  }

  #add({ accountId, sessionId }: Recipient, bytes: number): void {
    this.#all += bytes;
    addTo(this.#byAccount, accountId, bytes);
    addTo(this.#bySession, sessionId, bytes);
  }
}

function addTo(counts: Map<string, number>, key: string, bytes: number): void {
  const count = (counts.get(key) ?? 0) + bytes;
  if (count > 0) counts.set(key, count);
  else counts.delete(key);
}

const tooLarge = (bytes: number) =>
  new AppError('payload_too_large', `The request body is larger than ${bytes / 1024} KiB`);
