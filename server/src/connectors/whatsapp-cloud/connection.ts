import { Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { AppError } from '../../errors.ts';
import { redactSecrets } from '../../log.ts';
import {
  type CallbackAnswer,
  type CallbackRequest,
  type Connection,
  isStandIn,
  type MessageKey,
  type NetworkChat,
  type OutgoingMessage,
  type ProfileActions,
  type SessionHost,
  type TypingState,
} from '../connector.ts';
import { describe, toAppError, type Verdict, verdictOf } from './errors.ts';
import { createGraph, type Graph, GraphError, type GraphSettings, NoAnswerError } from './graph.ts';
import { wamidOf } from './incoming.ts';
import type { CloudOptions } from './options.ts';
import { createPacing } from './pacing.ts';
import { createPeople } from './people.ts';
import { createProfileActions } from './profile.ts';
import { createReceiver, type Receiver } from './receiver.ts';
import { createSender, type Sender } from './sender.ts';

/** The limit of a number that Meta has not raised. */
const MESSAGES_PER_SECOND = 80;
const CHECK_EVERY_MS = 5 * 60_000;
/** A number that was there may be away for so many checks before that counts as an outage. */
const MISSES = 3;
const RECHECK_MS = 10_000;
const LONGEST_BACKOFF_MS = 5 * 60_000;

/** Nothing goes any more. */
const ENDS: ReadonlySet<Verdict> = new Set(['session']);
/** A number that may not be seen, or not send, is none. What else a token may not do is no reason to stop sending. */
const ENDS_SENDING: ReadonlySet<Verdict> = new Set(['session', 'permission']);

/** In the store: the id of the number that has answered last. */
const ANSWERED = 'answered';
/** Meta's code for a parameter that makes no sense to it. */
const WRONG_ID = 100;

const PhoneNumber = Compile(Type.Object({ display_phone_number: Type.String() }));
const Overridden = Compile(Type.Object({ webhook_configuration: Type.Object({ phone_number: Type.String() }) }));
const Blocked = Compile(
  Type.Object({ block_users: Type.Object({ failed_users: Type.Optional(Type.Array(Type.Unknown())) }) }),
);

/**
 * One phone number of the Cloud API. There is no line to hold: it is connected while the number answers, which is asked
 * every few minutes.
 *
 * - starting: the number was not heard of yet. It answers → online; not → away, and it is asked again, later each time.
 *   Where there never was such a number → closed.
 * - online: it misses three checks in a row → away. The token is refused, or may not send or see the number → closed.
 * - away: it answers → online.
 * - closed: for good. Who waits is told why.
 */
export class CloudConnection implements Connection {
  readonly #host: SessionHost;
  readonly #options: CloudOptions;
  readonly #graph: Graph;
  readonly #sender: Sender;
  readonly #receiver: Receiver;
  readonly #receivers: Map<string, Receiver>;
  readonly profiles: ProfileActions;
  attempt: Promise<void> = Promise.resolve();
  #state: 'starting' | 'online' | 'away' | 'closed' = 'starting';
  #misses = 0;
  #isSubscribed = false;
  #cancelCheck = () => {};
  /** Of those who wait: what ends that. */
  readonly #waiting = new Set<(error: AppError) => void>();

  /** @param receivers of the numbers that are connected in this process, by their ids; this one is added */
  constructor(host: SessionHost, settings: GraphSettings, receivers: Map<string, Receiver>) {
    // Checked against the schema when they were set.
    const options = host.options as CloudOptions;
    const { clock, store } = host;
    const { token, appSecret, verifyToken, phoneNumberId, messagesPerSecond = MESSAGES_PER_SECOND } = options;
    const redact = (text: string) => redactSecrets(text, [token, appSecret, verifyToken]);
    const wait = (ms: number) => this.#wait(ms);
    const graph = createGraph(settings, token, clock, redact);
    const pacing = createPacing(messagesPerSecond, clock, wait);
    const people = createPeople(store);
    const sender = createSender({ graph, phoneNumberId, pacing, people, store, clock, wait });
    const isClosed = () => this.#isClosed();
    const onRefused = (error: GraphError) => this.#end(describe(error));
    this.#host = host;
    this.#options = options;
    this.#graph = graph;
    this.#sender = sender;
    this.#receiver = createReceiver({ host, graph, people, options, sender, siblings: receivers, isClosed, onRefused });
    this.#receivers = receivers;
    this.profiles = createProfileActions({
      graph,
      token,
      phoneNumberId,
      asking: async (ask) => {
        this.#requireOnline();
        return this.#asking(ask);
      },
    });
  }

  /** Asks the number for the first time. What comes of it is told as an event. */
  open(): void {
    this.attempt = this.#checkNow();
  }

  async #checkNow(): Promise<void> {
    try {
      await this.#check();
    } catch (error) {
      if (this.#isClosed()) return;
      this.#host.log.error({ err: error }, 'failed to check the number');
      this.#checkIn(RECHECK_MS);
    }
  }

  async #check(): Promise<void> {
    this.#cancelCheck();
    try {
      const answer = await this.#graph.call('GET', `${this.#options.phoneNumberId}?fields=display_phone_number`);
      if (this.#isClosed()) return;
      if (!PhoneNumber.Check(answer)) throw new Error('the answer has no phone number');
      await this.#answered(answer.display_phone_number.replace(/\D/g, ''));
    } catch (error) {
      if (!this.#isClosed()) await this.#missed(error);
    }
  }

  async #answered(phoneNumber: string): Promise<void> {
    this.#misses = 0;
    if (this.#state !== 'online') {
      await this.#host.store.set(ANSWERED, this.#options.phoneNumberId);
      await this.#host.onEvent({ type: 'connected', phoneNumber });
      if (this.#isClosed()) return;
      this.#state = 'online';
    }
    // Only now: a session with the id of a number that is not its own takes nothing away from the one whose it is.
    this.#receivers.set(this.#options.phoneNumberId, this.#receiver);
    // Meta calls back at once to see whether the address is ours, so nobody may wait for this.
    if (!this.#isSubscribed) void this.#subscribe();
    this.#checkIn(CHECK_EVERY_MS);
  }

  async #missed(error: unknown): Promise<void> {
    if (error instanceof GraphError && (await this.#isEnd(error))) return this.#end(describe(error));
    this.#misses++;
    this.#host.log.warn({ err: error, misses: this.#misses }, 'Cloud API does not answer');
    const isOutage = this.#state !== 'online' || this.#misses >= MISSES;
    if (isOutage && this.#state !== 'away') {
      const reason = error instanceof GraphError ? describe(error) : 'The WhatsApp Cloud API cannot be reached';
      await this.#host.onEvent({ type: 'disconnected', reason, willReconnect: true });
      if (this.#isClosed()) return;
      this.#state = 'away';
    }
    this.#checkIn(isOutage ? Math.min(RECHECK_MS * 2 ** (this.#misses - 1), LONGEST_BACKOFF_MS) : RECHECK_MS);
  }

  /** A number that was never there is a wrong id; of one that was, Meta may be wrong. */
  async #isEnd(error: GraphError): Promise<boolean> {
    if (error.code !== WRONG_ID) return ENDS_SENDING.has(verdictOf(error));
    return (await this.#host.store.get(ANSWERED)) !== this.#options.phoneNumberId;
  }

  #checkIn(ms: number): void {
    if (this.#isClosed()) return;
    this.#cancelCheck = this.#host.clock.after(ms, () => void this.#checkNow());
  }

  /** Nothing goes any more before somebody has changed the options, or something at Meta. */
  async #end(reason: string): Promise<void> {
    if (this.#isClosed()) return;
    this.#leave(reason);
    await this.#host.onEvent({ type: 'disconnected', reason, willReconnect: false });
  }

  /** Has Meta send what concerns this number to the session's own callback URL. By hand it goes as well. */
  async #subscribe(): Promise<void> {
    const { phoneNumberId, businessAccountId, verifyToken } = this.#options;
    const { callbackUrl, log } = this.#host;
    this.#isSubscribed = true;
    try {
      if (businessAccountId !== undefined) await this.#graph.call('POST', `${businessAccountId}/subscribed_apps`);
      if (callbackUrl === null) return;
      await this.#graph.call('POST', phoneNumberId, {
        webhook_configuration: { override_callback_uri: callbackUrl.href, verify_token: verifyToken },
      });
    } catch (error) {
      this.#isSubscribed = false; // the next check tries again
      if (!this.#isClosed()) log.warn({ err: error }, 'failed to set the callback URL; set it in the app at Meta');
    }
  }

  async send(message: OutgoingMessage) {
    this.#requireOnline();
    return this.#asking(() => this.#sender.send(message), ENDS_SENDING);
  }

  /** One mark does for everything before it as well. */
  async markRead(chat: NetworkChat, messages: readonly { networkId: string }[]): Promise<void> {
    requireDirect(chat);
    const last = messages.at(-1);
    if (last !== undefined) await this.#post({ status: 'read', message_id: wamidOf(last.networkId) });
  }

  /** It shows for 25 s, or until a message comes, and marks the message read that it stands under. */
  async setTyping(chat: NetworkChat, state: TypingState): Promise<void> {
    requireDirect(chat);
    if (state === 'recording')
      throw new AppError('not_supported', 'The WhatsApp Cloud API supports only `typing`, not `recording`');
    if (state === 'paused') return;
    const answered = await this.#host.lastIncoming(chat.id);
    if (answered === null)
      throw new AppError('not_supported', 'WhatsApp shows typing only in a chat whose other side has written before');
    await this.#post({ status: 'read', message_id: wamidOf(answered), typing_indicator: { type: 'text' } });
  }

  async react({ networkId, chat }: MessageKey, emoji: string | null): Promise<void> {
    const reaction = { message_id: wamidOf(networkId), emoji: emoji ?? '' };
    this.#requireOnline();
    await this.#asking(() => this.#sender.react(chat, reaction));
  }

  async setBlocked(phoneNumber: string, blocked: boolean): Promise<void> {
    this.#requireOnline();
    if (isStandIn(phoneNumber))
      throw new AppError('not_supported', 'WhatsApp can block only contacts whose phone number is known');
    const body = { messaging_product: 'whatsapp', block_users: [{ user: `+${phoneNumber}` }] };
    const path = `${this.#options.phoneNumberId}/block_users`;
    const answer = await this.#asking(() => this.#graph.call(blocked ? 'POST' : 'DELETE', path, body));
    if (!Blocked.Check(answer) || (answer.block_users.failed_users ?? []).length > 0)
      throw new AppError('not_supported', 'WhatsApp can block only contacts who have written within the last 24 hours');
  }

  async #post(body: object): Promise<void> {
    this.#requireOnline();
    const whole = { messaging_product: 'whatsapp', ...body };
    await this.#asking(() => this.#graph.call('POST', `${this.#options.phoneNumberId}/messages`, whole));
  }

  /**
   * Asks the network in the words of the API.
   * @param ends what concerns the whole session, and ends it
   */
  async #asking<T>(ask: () => Promise<T>, ends = ENDS): Promise<T> {
    try {
      return await ask();
    } catch (error) {
      if (error instanceof NoAnswerError)
        throw new AppError('send_failed', 'The WhatsApp Cloud API did not answer; try again', { cause: error });
      if (!(error instanceof GraphError)) throw error;
      if (!ends.has(verdictOf(error))) throw toAppError(error);
      const reason = describe(error);
      await this.#end(reason);
      throw new AppError('session_not_connected', reason, { cause: error });
    }
  }

  takeCallback(request: CallbackRequest): Promise<CallbackAnswer> {
    return this.#receiver.take(request);
  }

  /** @throws {AppError} `session_not_connected` */
  #requireOnline(): void {
    if (this.#state !== 'online') throw new AppError('session_not_connected');
  }

  #isClosed(): boolean {
    return this.#state === 'closed';
  }

  /** @throws {AppError} `session_not_connected` as soon as the connection is closed */
  async #wait(ms: number): Promise<void> {
    if (this.#isClosed()) throw new AppError('session_not_connected');
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const cancel = this.#host.clock.after(ms, resolve);
    this.#waiting.add(reject);
    try {
      await promise;
    } finally {
      cancel();
      this.#waiting.delete(reject);
    }
  }

  /** What was asked before gets its answer, and what waits to be asked is told that it will not be. */
  #leave(reason?: string): void {
    this.#state = 'closed';
    this.#cancelCheck();
    for (const giveUp of this.#waiting) giveUp(new AppError('session_not_connected', reason));
    const { phoneNumberId } = this.#options;
    if (this.#receivers.get(phoneNumberId) === this.#receiver) this.#receivers.delete(phoneNumberId);
  }

  async close(): Promise<void> {
    if (!this.#isClosed()) this.#leave();
    await this.#graph.close();
  }

  /** There is nothing to unlink; Meta only forgets the callback URL. */
  async logout(): Promise<void> {
    const { callbackUrl, log } = this.#host;
    if (this.#state === 'online' && callbackUrl !== null) {
      await this.#unsubscribe(callbackUrl).catch((error) => {
        log.warn({ err: error }, 'failed to remove the callback URL at Meta');
      });
    }
    await this.close();
  }

  /** A URL that somebody has set since, such as a newer session of the number, stays. */
  async #unsubscribe({ href }: URL): Promise<void> {
    const { phoneNumberId } = this.#options;
    const answer = await this.#graph.call('GET', `${phoneNumberId}?fields=webhook_configuration`);
    if (Overridden.Check(answer) && answer.webhook_configuration.phone_number !== href) return;
    await this.#graph.call('POST', phoneNumberId, { webhook_configuration: { override_callback_uri: '' } });
  }
}

/** @throws {AppError} `not_supported` */
function requireDirect({ type }: NetworkChat): void {
  if (type === 'group') throw new AppError('not_supported', 'The WhatsApp Cloud API does not support this in groups');
}
