import { Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { sleep, unlessAborted, withTimeout } from '../../../async.ts';
import { AppError } from '../../../errors.ts';
import type { NetworkChat } from '../../contract/messageKey.ts';
import type { OutgoingMessage } from '../../contract/outgoing.ts';
import { isPlaceholder } from '../../contract/people.ts';
import { verdictOf } from '../errors.ts';
import { GraphError, NoAnswerError } from '../graph.ts';
import { requireHeaderFile, requireSendableMedia } from '../media.ts';
import type { CloudNumber } from '../number/cloudNumber.ts';
import { presentTime } from '../people.ts';
import { toGraph } from './outgoing.ts';
import { Pacing } from './pacing.ts';
import { Uploads } from './uploads.ts';

interface Accepted {
  readonly timestamp: number;
  readonly networkId: string;
}

/** Callers wait 30 s, plus the time for a file. This leaves time for the last answer (8 s), or a status instead. */
const START_WITHIN_MS = 12_000;
const CONFIRM_WITHIN_MS = 8000;
/** For a message of a server that died, because the network must find the new server first. */
const CONFIRM_OLD_WITHIN_MS = 25_000;
const RETRY_MS: readonly number[] = [1000, 2000, 4000];
const PAIR_WAIT_MS = 6000;

const Answer = Compile(Type.Object({ messages: Type.Array(Type.Object({ id: Type.String() }), { minItems: 1 }) }));

/**
 * The recipient of a message. Meta knows some by another number than callers use, as in Brazil, Mexico and Argentina.
 */
const Recipients = Compile(
  Type.Object({
    contacts: Type.Array(
      Type.Object({
        wa_id: Type.Optional(Type.String({ pattern: '^[1-9][0-9]{4,14}$' })),
        user_id: Type.Optional(Type.String()),
      }),
      { minItems: 1, maxItems: 1 },
    ),
  }),
);

/** The limit of a number that Meta has not raised. */
const MESSAGES_PER_SECOND = 80;

/**
 * Sends the messages of one number. The network has no idempotency key, so a request without an answer is never
 * repeated: a status of the message proves that it was sent. A mark in the store, set before the request and deleted
 * once the answer is known, gives the same treatment to a message that was in flight when the server died.
 */
export class Sender {
  readonly #number: CloudNumber;
  readonly #pacing: Pacing;
  readonly #uploads: Uploads;
  readonly #path: string;
  /** Messages in flight, by our id → a function that is called with their network id as soon as a status names it. */
  readonly #unanswered = new Map<string, (networkId: string) => void>();

  constructor(number: CloudNumber) {
    const { host, options, monitor } = number;
    this.#number = number;
    this.#pacing = new Pacing(options.messagesPerSecond ?? MESSAGES_PER_SECOND, host.clock, monitor.closed);
    this.#uploads = new Uploads(number);
    this.#path = `${options.phoneNumberId}/messages`;
  }

  /** @throws {GraphError} {@link NoAnswerError} {@link AppError} */
  async send(message: OutgoingMessage): Promise<Accepted> {
    const { store } = this.#number.host;
    const mark = `sending:${message.networkId}`;
    const wasAttempted = (await store.get(mark)) !== undefined;
    const heard = new Promise<string>((resolve) => this.#unanswered.set(message.networkId, resolve));
    try {
      if (!wasAttempted) return await this.#sendNew(message, mark, heard);
      const accepted = await this.#confirmed(heard, CONFIRM_OLD_WITHIN_MS);
      await store.delete(mark);
      return accepted;
    } finally {
      this.#unanswered.delete(message.networkId);
    }
  }

  /** Repeating a reaction or a pin is harmless, even without an answer. Throws the errors of `send`. */
  async mark(chat: NetworkChat, type: 'reaction' | 'pin', mark: object): Promise<void> {
    const { graph, people } = this.#number;
    const body = { messaging_product: 'whatsapp', ...(await people.addressOf(chat)), type, [type]: mark };
    await this.#inTurn(chat, () => graph.call('POST', this.#path, body));
  }

  /** Records a status: the network has the message, even if it never answered. */
  confirm(ownId: string, networkId: string): void {
    this.#unanswered.get(ownId)?.(networkId);
  }

  /** Meta could not use the file of a message that it had accepted. */
  async onFileLost(): Promise<void> {
    await this.#uploads.forgetAll();
  }

  async #sendNew(message: OutgoingMessage, mark: string, heard: Promise<string>): Promise<Accepted> {
    const { content } = message;
    let isReused = false;
    const build = async () =>
      toGraph(message, await this.#number.people.addressOf(message.chat), async (media) => {
        const header = content.template?.header;
        if (header === undefined) requireSendableMedia(content.type, media);
        else requireHeaderFile(header, media);
        const upload = await this.#uploads.idOf(media);
        isReused = upload.isReused;
        return upload.id;
      });
    try {
      return await this.#sendBody(message, await build(), mark, heard);
    } catch (error) {
      if (!isReused || content.media === undefined || !isFileRefused(error)) throw error;
      await this.#uploads.forget(content.media);
      return this.#sendBody(message, await build(), mark, heard);
    }
  }

  async #sendBody({ chat }: OutgoingMessage, body: object, mark: string, heard: Promise<string>): Promise<Accepted> {
    const { host } = this.#number;
    let unmarked = Promise.resolve();
    return this.#inTurn(chat, async () => {
      await unmarked;
      await host.store.set(mark, 'yes');
      let isKnown = true;
      try {
        return await this.#post(chat, body, heard);
      } catch (error) {
        isKnown = !(error instanceof UncertainError); // otherwise the mark stays, so that the message is not sent again
        throw error;
      } finally {
        // Not awaited: a remaining mark is harmless, because an answered message is not sent again.
        if (isKnown) unmarked = host.store.delete(mark).catch(() => {});
      }
    });
  }

  /** Makes a request when a message to this chat may be sent, and repeats it as long as that may help. */
  async #inTurn<T>({ id: recipient }: NetworkChat, request: () => Promise<T>): Promise<T> {
    const { clock } = this.#number.host;
    const until = clock.elapsed() + START_WITHIN_MS;
    for (let attempt = 0; ; attempt++) {
      await this.#pacing.turn(recipient, until);
      try {
        return await request();
      } catch (error) {
        const waitMs = retryIn(error, attempt);
        if (waitMs === undefined || clock.elapsed() + waitMs > until) throw error;
        await this.#pause(error, recipient, waitMs);
      }
    }
  }

  /** Applies a limit to everything that it concerns, and any other pause to this message only. */
  async #pause(error: unknown, recipient: string, ms: number): Promise<void> {
    const { host, monitor } = this.#number;
    const isPairLimit = error instanceof GraphError && verdictOf(error) === 'pair';
    if (isPairLimit) this.#pacing.hold(recipient, ms);
    else if (error instanceof GraphError && error.status < 500) this.#pacing.hold(null, ms);
    else await sleep(host.clock, ms, monitor.closed);
  }

  async #post(chat: NetworkChat, body: object, heard: Promise<string>): Promise<Accepted> {
    const { graph, host } = this.#number;
    try {
      const answer = await graph.call('POST', this.#path, body);
      // Not awaited: merging two long chats takes longer than the caller waits.
      void this.#meet(chat, answer).catch((err) => host.log.warn({ err }, 'failed to store the number of a recipient'));
      const [message] = Answer.Check(answer) ? answer.messages : [];
      if (message !== undefined) return { timestamp: host.clock.now(), networkId: message.id };
    } catch (error) {
      if (!isUncertain(error)) throw error;
    }
    return this.#confirmed(heard, CONFIRM_WITHIN_MS);
  }

  /** Stores the ids of the recipient of a message, as Meta knows them. */
  async #meet({ type, id }: NetworkChat, answer: unknown): Promise<void> {
    const [recipient] = Recipients.Check(answer) ? answer.contacts : [];
    if (type === 'group' || recipient === undefined) return;
    const { people, host } = this.#number;
    const { wa_id: waId, user_id: userId } = recipient;
    if (waId !== undefined && waId !== id && !isPlaceholder(id)) await people.noteForm(id, waId);
    const phoneNumber = waId && (people.formOf(waId) ?? waId);
    if (userId !== undefined) await people.meet({ userId, phoneNumber, at: presentTime(host) });
  }

  /** @throws {UncertainError} if no status of the message arrives in time */
  async #confirmed(heard: Promise<string>, withinMs: number): Promise<Accepted> {
    const { host, monitor } = this.#number;
    const { clock } = host;
    try {
      const networkId = await withTimeout(clock, withinMs, unlessAborted(monitor.closed, heard));
      return { timestamp: clock.now(), networkId };
    } catch {
      throw new UncertainError();
    }
  }
}

/** It is unknown whether the network has the message. */
class UncertainError extends AppError {
  constructor() {
    super(
      'send_failed',
      'WhatsApp did not answer: the message may or may not have been sent, and is not sent again automatically; check its status before you send it again',
    );
  }
}

/** Whether the network may have accepted the message nevertheless: only a proxy answered, or nobody. */
function isUncertain(error: unknown): boolean {
  if (error instanceof NoAnswerError) return error.wasSent;
  return error instanceof GraphError && error.status >= 500 && error.code === 0;
}

/** Meta's codes for a file that it does not have, or for a parameter that is wrong, such as the id of a file. */
const FILE_CODES: ReadonlySet<number> = new Set([100, 131009, 131052, 131053]);

const isFileRefused = (error: unknown): boolean => error instanceof GraphError && FILE_CODES.has(error.code);

/** The delay before the next attempt; undefined if another one is pointless or harmful. */
function retryIn(error: unknown, attempt: number): number | undefined {
  const plannedMs = RETRY_MS[attempt];
  if (plannedMs === undefined || error instanceof AppError) return undefined;
  if (error instanceof NoAnswerError) return plannedMs;
  if (!(error instanceof GraphError)) return undefined;
  switch (verdictOf(error)) {
    case 'pair':
      return PAIR_WAIT_MS;
    case 'retry':
      return Math.max(plannedMs, (error.retryAfterSeconds ?? 0) * 1000);
    default:
      return undefined;
  }
}
