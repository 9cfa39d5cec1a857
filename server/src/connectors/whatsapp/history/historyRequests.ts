import type { WAMessage } from 'baileys';
import { AppError } from '../../../errors.ts';
import { thrownMessage } from '../../../thrown.ts';
import type { HistoryRequest } from '../../contract/history.ts';
import type { NetworkMedia } from '../../contract/networkMedia.ts';
import { parseContent } from '../content/incomingContent.ts';
import { askPhone, GoneError, openIncomingFile } from '../inbound/incomingFile.ts';
import { boomOf, rateLimited } from '../link/errors.ts';
import { chatAddressOf, keyOf } from '../outbound/messageKeys.ts';
import type { Addresses } from '../people/addresses.ts';
import type { MemberAddresses } from '../people/memberAddresses.ts';
import type { Session } from '../session.ts';

/** Every request wakes the phone. */
const REQUESTS = 20;
const WINDOW_MS = 10 * 60_000;
/** The codes by which the phone says that it does not have a file, or cannot read the request for it. */
const GONE: readonly (number | undefined)[] = [404, 410, 412, 418];

/** Requests of the API to the phone: for older messages of a chat, and for the files of messages. */
export class HistoryRequests {
  readonly #session: Session;
  readonly #addresses: Addresses;
  readonly #members: MemberAddresses;
  readonly #running = new Map<string, Promise<WAMessage>>();
  #recent: number[] = [];

  constructor(session: Session, addresses: Addresses, members: MemberAddresses) {
    this.#session = session;
    this.#addresses = addresses;
    this.#members = members;
  }

  /** @throws {AppError} `rate_limited`, `session_not_connected` */
  async request({ count, ...message }: HistoryRequest): Promise<void> {
    const address = await chatAddressOf(this.#addresses, message);
    const key = await keyOf(this.#session, this.#members, message, address);
    await this.#session.requests.ask(async (socket) => {
      this.#admit();
      await socket.fetchMessageHistory(count, key, message.timestamp);
    });
  }

  /** @throws {AppError} `not_found` if neither the host nor the phone has it any longer; `rate_limited` */
  async openFile(reference: string): Promise<NetworkMedia> {
    const { baileys, link } = this.#session;
    link.requireSocket();
    const message = baileys.proto.WebMessageInfo.decode(Buffer.from(reference, 'base64'));
    const { media } = parseContent(baileys, message.message ?? {}) ?? {};
    if (media === undefined || !message.key) throw new AppError('not_found', 'The message has no file');
    const { mimeType, size, fileName } = media;
    try {
      const stream = await openIncomingFile(this.#session, { ...message, key: message.key }, (_, one) =>
        this.#askOnce(one),
      );
      return { mimeType, size, fileName, open: async () => stream };
    } catch (cause) {
      if (cause instanceof AppError) throw cause;
      if (cause instanceof GoneError || GONE.includes(boomOf(cause).statusCode))
        throw new AppError('not_found', 'WhatsApp no longer has the file, and neither has the phone', { cause });
      const reason = thrownMessage(cause);
      throw new AppError('send_failed', `The file could not be fetched: ${reason}`, { cause });
    }
  }

  /** Callers that want the same file at the same time share one request. */
  #askOnce(message: WAMessage): Promise<WAMessage> {
    const about = JSON.stringify([message.key.remoteJid, message.key.id]);
    const running = this.#running.get(about);
    if (running !== undefined) return running;
    this.#admit();
    const answer = askPhone(this.#session, message).finally(() => this.#running.delete(about));
    this.#running.set(about, answer);
    return answer;
  }

  /** @throws {AppError} `rate_limited` */
  #admit(): void {
    const now = this.#session.host.clock.elapsed();
    this.#recent = this.#recent.filter((at) => at > now - WINDOW_MS);
    const [oldest] = this.#recent;
    if (oldest !== undefined && this.#recent.length >= REQUESTS)
      throw rateLimited(
        `The session may ask the phone for older messages and files ${REQUESTS} times in ${WINDOW_MS / 60_000} minutes`,
        oldest + WINDOW_MS - now,
      );
    this.#recent.push(now);
  }
}
