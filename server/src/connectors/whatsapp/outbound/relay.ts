import type { AnyMessageContent, MiscMessageGenerationOptions, proto, WASocket } from 'baileys';
import { KeyedQueue } from '../../../async.ts';
import { AppError, isConnecting } from '../../../errors.ts';
import { FILE_MS } from '../../contract/connector.ts';
import type { ArrivedMessage, NetworkChat } from '../../contract/messageKey.ts';
import type { Baileys } from '../link/load.ts';
import { LostSocketError } from '../link/requests.ts';
import { type Addresses, numberAddress } from '../people/addresses.ts';
import type { OutdatedLids } from '../people/outdatedLids.ts';
import type { Session } from '../session.ts';
import type { Acknowledgements } from './acknowledgements.ts';
import { type DeviceSessions, lacksKeys } from './deviceSessions.ts';
import { makeMessage } from './madeMessages.ts';
import {
  ANSWER_REFUSED,
  BUSY,
  NO_NEW_CHATS,
  refused,
  sendFailure,
  UNCONFIRMED,
  WARNINGS,
  WITHOUT_CHAT,
  WRONG_ADDRESSES,
} from './sendErrors.ts';
import { findSent, keepSent, type Restore } from './sentMessages.ts';
import { stanzaOptionsOf } from './stanzaOptions.ts';
import type { StatusAddresses } from './statusAudience.ts';

/** Callers of the host wait half a minute, plus the time for a file. This leaves some of it for the answer. */
export const TIMEOUT_MS = 25_000;

/**
 * Limit for fetching the keys for a message to many, and for each pause in its encryption: 2,500 devices, at about 3 ms
 * of CPU each on a free core. The caller may have its answer by then, which says that the message can still go out.
 * Ending the connection would only begin the work again (tulir/whatsmeow#1077: 30 s for 700 to 1,000 members).
 */
const ENCRYPTION_MS = 2 * 60_000;

/**
 * Baileys encrypts one message per session at a time: a later one waits this long for its turn, or until its deadline.
 */
const MIN_TURN_MS = 5000;

/** A message on its way to the server, over one connection or several. */
export interface Delivery {
  /** The first one is used. The second one is for an answer that WhatsApp refuses at the first. */
  readonly addresses: readonly [string, ...string[]];
  /** For a status, in place of the second address. */
  readonly audience?: StatusAddresses;
  /** Receives the users with a device that the message was encrypted for. */
  readonly reached?: Set<string>;
  /** Left out for a status or a post. */
  readonly chat?: NetworkChat;
  readonly makeContent: () => Promise<AnyMessageContent>;
  /** Takes the place of the content that Baileys would make. */
  readonly wire?: proto.IMessage | undefined;
  readonly prepare?: Prepare | undefined;
  readonly options: MiscMessageGenerationOptions & { readonly messageId: string };
  readonly deadline: number;
  readonly hasFile: boolean;
}

interface Progress {
  /** Whether the server may have the message although it did not confirm it. */
  isUncertain: boolean;
  /** Call it after the message, once its sessions were repaired. */
  endRepair?: () => Promise<void>;
}

export interface Accepted extends ArrivedMessage {
  readonly timestamp: number;
  /** The number of a post in its channel. */
  readonly serverId: string | null;
}

/** Runs before something is sent. Returns how to undo it. */
export type Prepare = () => Promise<Restore>;

interface Options {
  readonly session: Session;
  readonly acknowledgements: Acknowledgements;
  readonly addresses: Addresses;
  readonly deviceSessions: DeviceSessions;
  readonly outdatedLids: OutdatedLids;
}

/** Brings messages to the server, over as many connections, addresses and repairs as one takes. */
export class Relay {
  readonly #session: Session;
  readonly #acknowledgements: Acknowledgements;
  readonly #addresses: Addresses;
  readonly #deviceSessions: DeviceSessions;
  readonly #outdatedLids: OutdatedLids;
  readonly #turns = new KeyedQueue();

  constructor({ session, acknowledgements, addresses, deviceSessions, outdatedLids }: Options) {
    this.#session = session;
    this.#acknowledgements = acknowledgements;
    this.#addresses = addresses;
    this.#deviceSessions = deviceSessions;
    this.#outdatedLids = outdatedLids;
  }

  /** Prepares and sends a message. The preparation is undone if the network certainly did not accept the message. */
  async deliver(delivery: Delivery): Promise<Accepted> {
    const restore = await delivery.prepare?.();
    const progress: Progress = { isUncertain: false };
    try {
      return await this.#attempt(delivery, progress);
    } catch (error) {
      if (!progress.isUncertain) await this.#undo(restore);
      throw error;
    } finally {
      // Not awaited: the caller has its answer, and the next message waits for the same lock.
      progress.endRepair?.().catch((error) => {
        this.#session.host.log.warn({ err: error }, 'failed to renew the group key of skipped devices');
      });
    }
  }

  async #undo(restore: Restore | undefined): Promise<void> {
    await restore?.().catch((error) => {
      this.#session.host.log.warn({ err: error }, 'failed to restore a sent message for retries');
    });
  }

  /** Repeated on the next connection until the server answers. It stays one message, because the id stays the same. */
  async #attempt(
    { addresses, audience, reached, chat, makeContent, wire, options, deadline, hasFile }: Delivery,
    progress: Progress,
  ): Promise<Accepted> {
    const { link, host, baileys } = this.#session;
    const { clock, log } = host;
    const { messageId } = options;
    let made = await findSent(this.#session, messageId);
    let mayHaveBeenSent = made !== undefined;
    made ??= wire;
    let until = hasFile ? clock.now() + FILE_MS : deadline;
    let isRepeated = false;
    let [target, ...others] = targetsOf(addresses, audience);
    let hasRenewed = false;
    let isSecond = false;
    for (;;) {
      const socket = await link.whenOpen(Math.max(0, until - clock.now())).catch((cause: unknown) => {
        throw mayHaveBeenSent ? new AppError('send_failed', UNCONFIRMED, { cause }) : cause;
      });
      const { jid, ...readers } = target;
      if (made === undefined) {
        // Not in turn, because an upload would delay all others.
        const make = async () => makeMessage(this.#session, socket, jid, await makeContent(), options);
        try {
          made = await this.#session.requests.run(socket, make, hasFile ? FILE_MS : TIMEOUT_MS);
        } catch (error) {
          if (error instanceof LostSocketError && clock.now() < until) continue;
          throw sendFailure(error);
        }
        if (hasFile) until = clock.now() + TIMEOUT_MS; // a file has its own time
      }
      // The same message on each connection, with its uploaded file and its secret.
      const content = made;
      const relayed = { messageId, ...stanzaOptionsOf(this.#session, content), ...readers };
      const relay = () => {
        mayHaveBeenSent = true;
        const sending = () => socket.relayMessage(jid, content, relayed);
        return reached === undefined ? sending() : this.#deviceSessions.noteReached(reached, sending);
      };
      const limitMs = isShared(baileys, jid) ? ENCRYPTION_MS : TIMEOUT_MS;
      const answer = await this.#acknowledgements.answerTo(messageId, chat?.id ?? jid, async () => {
        await this.#inTurn(until, () => this.#dispatch(socket, messageId, relay, limitMs));
        // The time of the encryption does not count, so that a lost acknowledgement leaves time for another connection.
        if (!isRepeated) until = clock.now() + TIMEOUT_MS;
        isRepeated = true;
      });
      if (answer === 'lost') {
        progress.isUncertain ||= mayHaveBeenSent;
        if (clock.now() < until) continue;
        throw mayHaveBeenSent ? new AppError('send_failed', UNCONFIRMED) : isConnecting();
      }
      if ('failure' in answer) {
        const { failure } = answer;
        if (progress.endRepair !== undefined || !lacksKeys(failure)) throw sendFailure(failure);
        const repair = (signal: AbortSignal) => this.#deviceSessions.repair(socket, jid, signal);
        const run = () => this.#session.requests.run(socket, repair, TIMEOUT_MS);
        progress.endRepair = await this.#inTurn(until, run).catch((error) => {
          throw sendFailure(error);
        });
        mayHaveBeenSent = progress.isUncertain;
        continue;
      }
      if ('refusal' in answer) {
        const renewed =
          answer.hasOutdatedLid && !hasRenewed ? await this.#renewedAddresses(socket, chat, jid) : undefined;
        hasRenewed ||= answer.hasOutdatedLid;
        if (renewed !== undefined) {
          [target, ...others] = targetsOf(renewed, undefined);
          mayHaveBeenSent = progress.isUncertain;
          continue;
        }
        const isAnswer = answer.refusal === NO_NEW_CHATS && (await this.#hasWritten(chat));
        const isStatus = answer.refusal === WRONG_ADDRESSES && audience !== undefined;
        const [next, ...rest] = isAnswer || isStatus ? others : [];
        if (next === undefined) throw this.#refused(answer.refusal, chat, isAnswer);
        [target, others] = [next, rest];
        isSecond = true;
        mayHaveBeenSent = progress.isUncertain;
        continue;
      }
      // Each refused attempt can count as another new chat (WhiskeySockets/Baileys, `handleBadAck`).
      if (isSecond && chat !== undefined) this.#addresses.prefer(chat, jid);
      // Not awaited: it shares the transaction that stores the answer.
      if (made !== undefined)
        keepSent(this.#session, messageId, made, addresses, audience?.flat()).catch((error) =>
          log.warn({ err: error }, 'failed to store a sent message for retries'),
        );
      const { timestamp, serverId = null } = answer;
      return { timestamp, serverId, ...(chat?.type === 'direct' && numberAddress(baileys, jid)) };
    }
  }

  /** Returns the addresses of a chat whose LID was outdated; undefined if the first one has not changed. */
  async #renewedAddresses(
    socket: WASocket,
    chat: NetworkChat | undefined,
    jid: string,
  ): Promise<Delivery['addresses'] | undefined> {
    if (chat?.type !== 'direct') return undefined;
    await this.#outdatedLids.renew(socket, jid);
    const addresses = await this.#addresses.addressesOf(chat);
    return addresses[0] === jid ? undefined : addresses;
  }

  /** Whether the person of a direct chat has written to the session. */
  async #hasWritten(chat: NetworkChat | undefined): Promise<boolean> {
    return chat?.type === 'direct' && (await this.#session.host.lastIncoming(chat.id)) !== null;
  }

  /**
   * Returns the error of a refusal, and reports one that comes before a ban.
   * @param isAnswer whether the message went to somebody who has written to the session, which starts no chat
   */
  #refused(refusal: string, chat: NetworkChat | undefined, isAnswer: boolean): AppError {
    if (isAnswer) return new AppError('send_failed', ANSWER_REFUSED);
    // A message to a group, a status or a channel starts no chat.
    if (refusal === NO_NEW_CHATS && chat?.type !== 'direct') return refused(refusal, WITHOUT_CHAT);
    const { reporter, host } = this.#session;
    const warning = WARNINGS[refusal];
    if (warning !== undefined) reporter.reportInOrder({ type: 'warned', warning, timestamp: host.clock.now() });
    return refused(refusal);
  }

  /**
   * Runs work one after the other, so that the limit of each begins with its turn.
   * @throws {AppError} `send_failed` if its turn does not come in time; the work never runs then
   */
  async #inTurn<T>(until: number, work: () => Promise<T>): Promise<T> {
    const { clock } = this.#session.host;
    const { promise: late, reject } = Promise.withResolvers<never>();
    let isLate = false;
    const cancel = clock.after(Math.max(MIN_TURN_MS, until - clock.now()), () => {
      isLate = true;
      reject(new AppError('send_failed', BUSY));
    });
    const done = this.#turns.run('', async () => {
      cancel();
      return isLate ? late : work();
    });
    return Promise.race([done, late]);
  }

  /** The connection is replaced if the message is neither encrypted for a device nor written within `limitMs`. */
  #dispatch<T>(socket: WASocket, messageId: string, work: () => Promise<T>, limitMs: number): Promise<T> {
    const abandonOnAbort = (signal: AbortSignal) => {
      signal.addEventListener('abort', () => this.#acknowledgements.abandon(messageId));
      return work();
    };
    return this.#session.requests.run(socket, abandonOnAbort, limitMs, this.#deviceSessions.observeWork());
  }
}

/** An address, and for a status the people who see it. */
interface Target {
  readonly jid: string;
  readonly statusJidList?: string[];
}

function targetsOf([jid, ...others]: Delivery['addresses'], audience: Delivery['audience']): [Target, ...Target[]] {
  if (audience === undefined) return [{ jid }, ...others.map((other) => ({ jid: other }))];
  const [first, ...rest] = audience.map((statusJidList) => ({ jid, statusJidList: [...statusJidList] }));
  return [first ?? { jid }, ...rest];
}

/** Whether it is encrypted for the devices of many people. */
const isShared = ({ isJidGroup, isJidStatusBroadcast }: Baileys, jid: string): boolean =>
  isJidGroup(jid) === true || isJidStatusBroadcast(jid);
