import { AppError, type ErrorCode } from '../../errors.ts';
import type { CallbackAnswer, CallbackRequest, NetworkMedia, SessionHost } from '../connector.ts';
import { answerChallenge, type Change, type Contact, isSigned, readChanges } from './callbacks.ts';
import { type Verdict, verdictOf } from './errors.ts';
import { type Graph, GraphError, NoAnswerError } from './graph.ts';
import { findGroup, unshownGroup } from './groups.ts';
import { type MessageEvent, toEvents, toReceipt } from './incoming.ts';
import { findMedia } from './media.ts';
import type { CloudOptions } from './options.ts';
import type { People } from './people.ts';
import type { Sender } from './sender.ts';

/** What takes the callbacks of one number. */
export interface Receiver {
  readonly appSecret: string;
  take(request: CallbackRequest): Promise<CallbackAnswer>;
  /**
   * Takes all that it can, for Meta sends all of it again: one part must not hold up the others for ever.
   * @returns whether that was everything
   */
  takeChange(change: Change): Promise<boolean>;
}

/**
 * What Meta cannot hand over just now it is asked for again, until the message is so old: Meta itself gives up after
 * seven days, and what the message says is not to be lost with its file.
 */
const PATIENCE_MS = 6 * 3600_000;
/** Those that tell of messages. The second is sent for numbers that the WhatsApp Business app uses as well. */
const FIELDS: ReadonlySet<string> = new Set(['messages', 'smb_message_echoes']);
const FINAL: ReadonlySet<Verdict> = new Set(['refused', 'nobody', 'window', 'permission']);
/** What is said of a file that it is the file's own fault. */
const OF_THE_FILE: ReadonlySet<ErrorCode> = new Set(['payload_too_large', 'validation_failed', 'fetch_failed']);

export function createReceiver({
  host,
  graph,
  people,
  options: { phoneNumberId, appSecret, verifyToken },
  sender,
  siblings,
  isClosed,
  onRefused,
}: {
  host: Pick<SessionHost, 'onEvent' | 'log' | 'groups' | 'phoneNumber' | 'clock'>;
  graph: Graph;
  people: People;
  options: CloudOptions;
  sender: Sender;
  /** Of all numbers that are connected in this process, by their ids. */
  siblings: ReadonlyMap<string, Receiver>;
  /** Then nothing can be asked any more, and that says nothing of what was asked for. */
  isClosed: () => boolean;
  /** Meta refuses the token. */
  onRefused: (error: GraphError) => Promise<void>;
}): Receiver {
  const { log, clock } = host;
  /** Messages that the number itself has sent, which are being stored. */
  const echoes = new Set<unknown>();
  let knownGroups: Set<string> | undefined;
  const leaveOut = (problem: string) => log.warn({ problem }, 'ignored part of a callback');

  async function take(request: CallbackRequest): Promise<CallbackAnswer> {
    if (request.method === 'GET') return answerChallenge(request.query, verifyToken);
    if (!isSigned(request, appSecret)) {
      log.warn('rejected a callback with an invalid signature');
      return { status: 403 };
    }
    const read = readChanges(request.body);
    if (read === undefined) return { status: 400 };
    if (read.unknown > 0) leaveOut(`${read.unknown} changes of an unknown shape`);
    let isStored = true;
    for (const change of read.changes) {
      const id = change.value.metadata?.phone_number_id ?? phoneNumberId;
      const whose = id === phoneNumberId ? receiver : siblings.get(id);
      // The same app signs for all of its numbers; the secret shows that the other session is of that app.
      if (whose?.appSecret === appSecret) isStored = (await whose.takeChange(change)) && isStored;
      else {
        // Its session may be back soon: Meta keeps what is not taken, and sends it again.
        log.warn({ number: id }, 'rejected a callback for a number without a connected session');
        isStored = false;
      }
    }
    return { status: isStored ? 200 : 500 };
  }

  async function takeChange({ field, value }: Change): Promise<boolean> {
    if (!FIELDS.has(field)) {
      log.info({ field }, 'received an account notification from Meta');
      return true;
    }
    const { contacts = [] } = value;
    const parts = [
      ...(value.message_echoes ?? []).map((echo) => () => takeEcho(echo)),
      ...(value.statuses ?? []).map((status) => () => takeStatus(status)),
      ...(value.messages ?? []).map((message) => () => takeMessage(message, contacts)),
    ];
    let isStored = true;
    for (const takePart of parts) {
      await takePart().catch((error) => {
        isStored = false;
        log.error({ err: error }, 'failed to store part of a callback; Meta sends it again');
      });
    }
    return isStored;
  }

  async function takeStatus(told: unknown): Promise<void> {
    const receipt = toReceipt(told);
    if ('problem' in receipt) return leaveOut(receipt.problem);
    const { given, networkId, event } = receipt;
    if (echoes.has(networkId)) throw new Error('a status came before its message was stored');
    if (given !== undefined && event?.status !== 'failed') sender.confirm(given, networkId);
    if (event !== undefined) await host.onEvent(event);
  }

  async function takeMessage(told: unknown, contacts: readonly Contact[]): Promise<void> {
    const events = await toEvents(told, contacts, people.hide, findFile);
    if ('problem' in events) return leaveOut(events.problem);
    for (const event of events) {
      await identify(event.from, contacts);
      await tell(event);
    }
  }

  /** What the number itself has sent, by the app on its phone. Meta repeats a status of it that comes meanwhile. */
  async function takeEcho(told: unknown): Promise<void> {
    const id = idOf(told);
    echoes.add(id);
    try {
      const events = await toEvents(told, [], people.hide, findFile, host.phoneNumber ?? '');
      if ('problem' in events) return leaveOut(events.problem);
      for (const event of events) await tell(event);
    } finally {
      echoes.delete(id);
    }
  }

  /** A file that cannot be taken must not keep its message away: it then comes without. */
  async function tell(event: MessageEvent): Promise<void> {
    if (event.type === 'message' && event.chat.type === 'group') await meetGroup(event.chat.id, event.timestamp);
    try {
      await host.onEvent(event);
    } catch (error) {
      if (event.type !== 'message' || event.content.media === undefined || !isFinal(error, event.timestamp))
        throw error;
      log.warn({ err: error }, 'failed to fetch the file of a message; storing it without the file');
      const { media: _, ...content } = event.content;
      await host.onEvent({ ...event, content });
    }
  }

  /** Somebody who kept the phone number secret before shows it now. */
  async function identify(phoneNumber: string, contacts: readonly Contact[]): Promise<void> {
    const userId = contacts.find(({ wa_id: waId }) => waId === phoneNumber)?.user_id;
    const standIn = userId && (await people.hiddenAs(userId));
    if (!standIn) return;
    await host.onEvent({ type: 'identified', standIn, phoneNumber });
    await people.show(standIn, phoneNumber); // last: when this fails, it is told again with the next message
  }

  /** The session is in a group that it has not heard of: somebody has made it at Meta. */
  async function meetGroup(id: string, sentAt: number): Promise<void> {
    knownGroups ??= new Set((await host.groups()).map(({ networkId }) => networkId));
    if (knownGroups.has(id)) return;
    const about = [id, host.phoneNumber ?? '', clock.now()] as const;
    const group = (await shown(sentAt, () => findGroup(graph, ...about))) ?? unshownGroup(...about);
    await host.onEvent({ type: 'group_created', group });
    knownGroups.add(id);
  }

  function findFile(id: string, fileName: string | null, sentAt: number): Promise<NetworkMedia | undefined> {
    return shown(sentAt, () => findMedia(graph, id, fileName));
  }

  /** What belongs to a message that was sent at that time; undefined when Meta does not show it, or will not. */
  async function shown<T>(sentAt: number, ask: () => Promise<T>): Promise<T | undefined> {
    try {
      return await ask();
    } catch (error) {
      if (error instanceof GraphError && verdictOf(error) === 'session') await onRefused(error);
      if (!isFinal(error, sentAt)) throw error;
      log.warn({ err: error }, 'left out an unreadable part of a message');
      return undefined;
    }
  }

  /** Whether what belongs to a message is not worth another try, or has had its time. */
  function isFinal(error: unknown, sentAt: number): boolean {
    if (error instanceof AppError) return OF_THE_FILE.has(error.code);
    if (error instanceof GraphError && FINAL.has(verdictOf(error))) return true;
    const isOfNetwork = error instanceof GraphError || error instanceof NoAnswerError;
    return isOfNetwork && !isClosed() && clock.now() - sentAt > PATIENCE_MS;
  }

  const receiver = { appSecret, take, takeChange };
  return receiver;
}

const idOf = (told: unknown): unknown =>
  typeof told === 'object' && told !== null && 'id' in told ? told.id : undefined;
