import { randomBytes } from 'node:crypto';
import type { AuthenticationCreds, WASocket } from 'baileys';
import { settledWithin } from '../../../async.ts';
import type { Clock } from '../../../clock.ts';
import { AppError } from '../../../errors.ts';
import type { NetworkEvent } from '../../contract/events.ts';

/** How long the server accepts a QR code. The first is valid longer, so that a person can find the phone. */
const FIRST_QR_MS = 60_000;
const NEXT_QR_MS = 20_000;
/** The server issues six codes, the first of which is valid longer. */
const PAIRING_MS = FIRST_QR_MS + 5 * NEXT_QR_MS;
const CODE_ANSWER_MS = 3000;
/** The position of the secret in a QR code. */
const SECRET_PART = 3;

type OnQr = (event: Extract<NetworkEvent, { type: 'pairing' }>) => void;

/** The pairing of a device over one socket: by QR codes, or by a code that is typed on the phone. */
export class Pairing {
  readonly #socket: WASocket;
  readonly #creds: AuthenticationCreds;
  readonly #clock: Clock;
  readonly #onQr: OnQr;
  #endsAt = 0;
  #qr: string | undefined;
  #isByCode = false;

  /** @param onQr receives each QR code, unless a pairing code was requested */
  constructor(socket: WASocket, creds: AuthenticationCreds, clock: Clock, onQr: OnQr) {
    this.#socket = socket;
    this.#creds = creds;
    this.#clock = clock;
    this.#onQr = onQr;
  }

  show(qr: string): void {
    const now = this.#clock.now();
    const isFirst = this.#qr === undefined;
    if (isFirst) this.#endsAt = now + PAIRING_MS;
    this.#qr = qr;
    if (this.#isByCode) return;
    const expiresAt = now + (isFirst ? FIRST_QR_MS : NEXT_QR_MS);
    this.#onQr({ type: 'pairing', qr: this.#withSecret(qr), expiresAt });
  }

  /** At the server's request, which Baileys ignores (WhiskeySockets/Baileys#2737). */
  renewSecret(): void {
    this.#creds.advSecretKey = randomBytes(32).toString('base64');
    if (this.#qr !== undefined) this.show(this.#qr);
  }

  /** @throws {AppError} `send_failed` */
  async requestCode(phoneNumber: string): Promise<{ code: string; expiresAt: number }> {
    this.#isByCode = true;
    const refusal = this.#refusalOfCode();
    const code = await this.#socket.requestPairingCode(phoneNumber).catch((cause: unknown) => {
      throw new AppError(
        'send_failed',
        'WhatsApp did not answer the request for a pairing code; try again, or scan the QR code',
        { cause },
      );
    });
    const refused = await refusal;
    if (refused !== undefined) {
      this.#isByCode = false;
      this.#creds.me = undefined;
      throw new AppError(
        'send_failed',
        `WhatsApp refused a pairing code for this number (${refused}); wait, or scan the QR code`,
      );
    }
    return { code: `${code.slice(0, 4)}-${code.slice(4)}`, expiresAt: this.#endsAt };
  }

  /** Baileys writes the secret that it started with into every code. */
  #withSecret(qr: string): string {
    const parts = qr.split(',');
    parts[SECRET_PART] = this.#creds.advSecretKey;
    return parts.join(',');
  }

  /** Waits for the answer of the server, which Baileys does not. Returns the number of a refusal. */
  async #refusalOfCode(): Promise<string | undefined> {
    const { ws } = this.#socket;
    const { promise: answered, resolve } = Promise.withResolvers<void>();
    let refusal: string | undefined;
    const onError = (node: { content?: unknown }) => {
      const [error] = Array.isArray(node.content) ? node.content : [];
      refusal = error?.attrs?.code ?? 'error';
      resolve();
    };
    ws.on('CB:iq,type:error', onError);
    ws.on('CB:iq,,link_code_companion_reg', resolve);
    await settledWithin(this.#clock, CODE_ANSWER_MS, answered);
    ws.off('CB:iq,type:error', onError);
    ws.off('CB:iq,,link_code_companion_reg', resolve);
    return refusal;
  }
}
