import type { Readable } from 'node:stream';
import { AppError } from '../errors.ts';

export interface BudgetedBody {
  /** @throws {AppError} `payload_too_large`; `rate_limited` when others take up the room */
  read(payload: Readable): Promise<Buffer>;
  /** Gives its room back. May be called again, and before it is read to its end. */
  release(): void;
}

/**
 * Bounds the memory for bodies that come without a credential: of one body, of all that are meant for one session and
 * of all together. What counts are the bytes that are here, so a slow sender keeps nobody else's room.
 */
export class BodyBudget {
  readonly #limits: { readonly body: number; readonly session: number; readonly all: number };
  readonly #ofSession = new Map<string, number>();
  #all = 0;

  constructor(limits: { readonly body: number; readonly session: number; readonly all: number }) {
    this.#limits = limits;
  }

  open(sessionId: string): BudgetedBody {
    let held = 0;
    let isReleased = false;
    return {
      read: async (payload) => {
        const chunks: Buffer[] = [];
        for await (const chunk of payload.iterator({ destroyOnReturn: false })) {
          if (held + chunk.length > this.#limits.body) throw tooLarge(this.#limits.body);
          if (isReleased) break; // the sender is gone
          this.#take(sessionId, chunk.length);
          held += chunk.length;
          chunks.push(chunk);
        }
        return Buffer.concat(chunks);
      },
      release: () => {
        if (isReleased) return;
        isReleased = true;
        this.#give(sessionId, held);
      },
    };
  }

  #take(sessionId: string, bytes: number): void {
    const ofSession = (this.#ofSession.get(sessionId) ?? 0) + bytes;
    if (ofSession > this.#limits.session || this.#all + bytes > this.#limits.all)
      throw new AppError('rate_limited', 'Too many callbacks at a time', { retryAfterSeconds: 1 });
    this.#ofSession.set(sessionId, ofSession);
    this.#all += bytes;
  }

  #give(sessionId: string, bytes: number): void {
    this.#all -= bytes;
    const left = (this.#ofSession.get(sessionId) ?? 0) - bytes;
    if (left > 0) this.#ofSession.set(sessionId, left);
    else this.#ofSession.delete(sessionId);
  }
}

const tooLarge = (bytes: number) => new AppError('payload_too_large', `The body may have up to ${bytes / 1024} KiB`);
