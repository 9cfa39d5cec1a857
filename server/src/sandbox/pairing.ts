import { randomInt, randomUUID } from 'node:crypto';
import type { SessionHost } from '../connectors/contract/host.ts';
import { AppError } from '../errors.ts';

const QR_MS = 20_000;
const QR_ROUNDS = 5;
const CODE_MS = 160_000;
// Without 0, 1, I, L, O and U, because people type the code.
const CODE_LETTERS = '23456789ABCDEFGHJKMNPQRSTVWXYZ';

/** The wait of a session for a phone that scans its QR code or types its pairing code. */
export class SandboxPairing {
  readonly #host: SessionHost;
  #isWaiting = false;
  #cancelTimer = () => {};

  constructor(host: SessionHost) {
    this.#host = host;
  }

  /** Shows QR codes one after another until one is scanned, a pairing code replaces them, or none is left. */
  async start(): Promise<void> {
    await this.#show(QR_ROUNDS);
  }

  stop(): void {
    this.#cancelTimer();
    this.#isWaiting = false;
  }

  /**
   * Ends the wait, because a phone was paired. If `join` fails, the phone can try again.
   * @throws {AppError} `session_state` unless the session waits
   */
  async finish(join: () => Promise<void>): Promise<void> {
    this.#requireWaiting();
    this.#cancelTimer();
    await join();
    this.#isWaiting = false;
  }

  /**
   * Replaces the QR codes by a code to type.
   * @throws {AppError} `session_state` unless the session waits
   */
  requestCode(): { code: string; expiresAt: number } {
    this.#requireWaiting();
    this.#after(CODE_MS, () => this.#expire('The pairing code was not entered in time'));
    const letters = Array.from({ length: 8 }, () => CODE_LETTERS[randomInt(CODE_LETTERS.length)]).join('');
    return { code: `${letters.slice(0, 4)}-${letters.slice(4)}`, expiresAt: this.#host.clock.now() + CODE_MS };
  }

  async #show(roundsLeft: number): Promise<void> {
    if (roundsLeft === 0) return this.#expire('The QR code was not scanned in time');
    this.#isWaiting = true;
    const expiresAt = this.#host.clock.now() + QR_MS;
    await this.#host.onEvent({ type: 'pairing', qr: `sandbox:${randomUUID()}`, expiresAt });
    this.#after(QR_MS, () => this.#show(roundsLeft - 1));
  }

  async #expire(reason: string): Promise<void> {
    this.#isWaiting = false;
    await this.#host.onEvent({ type: 'disconnected', reason, willReconnect: false });
  }

  #after(ms: number, act: () => Promise<void>): void {
    this.#cancelTimer();
    this.#cancelTimer = this.#host.clock.after(ms, () => {
      act().catch((error) => this.#host.log.error({ err: error }, 'failed to renew the QR code'));
    });
  }

  #requireWaiting(): void {
    if (this.#isWaiting) return;
    const reason = 'The session is not waiting to be paired; its status must be awaiting_pairing';
    throw new AppError('session_state', reason);
  }
}
