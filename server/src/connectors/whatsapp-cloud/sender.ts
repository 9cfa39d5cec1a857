import { Type } from 'typebox';
import { Compile } from 'typebox/compile';
import type { Clock } from '../../clock.ts';
import { AppError } from '../../errors.ts';
import type { NetworkChat, OutgoingMessage, SessionStore } from '../connector.ts';
import { verdictOf } from './errors.ts';
import { type Graph, GraphError, NoAnswerError } from './graph.ts';
import { requireFit, uploadMedia } from './media.ts';
import { toGraph } from './outgoing.ts';
import type { Pacing } from './pacing.ts';
import type { People } from './people.ts';

export interface Sender {
  /** @throws {GraphError} {@link NoAnswerError} {@link AppError} */
  send(message: OutgoingMessage): Promise<Taken>;
  /**
   * Reacts to a message. Twice does no harm, so it is repeated without an answer as well.
   * @throws as `send`
   */
  react(chat: NetworkChat, reaction: object): Promise<void>;
  /** A status has come for a message, so the network has it, whether or not it ever answered. */
  confirm(given: string, networkId: string): void;
}

interface Taken {
  readonly timestamp: number;
  readonly networkId: string;
}

/**
 * Who waits for a send does so for 30 s, and longer only for its file to get there; then it counts as failed. So the
 * last request is made within these, which leaves the time for its answer (8 s) and for a status in place of one.
 */
const START_WITHIN_MS = 12_000;
const CONFIRM_WITHIN_MS = 8000;
/** For a message of a server that died: its network has to find the new one first. */
const CONFIRM_OLD_WITHIN_MS = 25_000;
const RETRY_MS: readonly number[] = [1000, 2000, 4000];
const PAIR_WAIT_MS = 6000;

const Accepted = Compile(Type.Object({ messages: Type.Array(Type.Object({ id: Type.String() }), { minItems: 1 }) }));

/**
 * Sends messages of one number. The network has no idempotency key, so a request that got no answer is never repeated:
 * a status that comes for the message tells that it went. A mark in the store, made before the request and taken away
 * once the answer is known, has a message that was on its way when the server died treated the same.
 *
 * @param wait rejects as soon as the connection is closed
 */
export function createSender({
  graph,
  phoneNumberId,
  pacing,
  people,
  store,
  clock,
  wait,
}: {
  graph: Graph;
  phoneNumberId: string;
  pacing: Pacing;
  people: People;
  store: SessionStore;
  clock: Clock;
  wait: (ms: number) => Promise<void>;
}): Sender {
  /** Of messages that are under way, by our id: who wants to hear what the network calls them. */
  const underWay = new Map<string, (networkId: string) => void>();
  const path = `${phoneNumberId}/messages`;

  async function send(message: OutgoingMessage): Promise<Taken> {
    const mark = `sending:${message.networkId}`;
    const wasUnderWay = (await store.get(mark)) !== undefined;
    const heard = new Promise<string>((resolve) => underWay.set(message.networkId, resolve));
    try {
      if (!wasUnderWay) return await sendNew(message, mark, heard);
      const taken = await confirmed(heard, CONFIRM_OLD_WITHIN_MS);
      await store.delete(mark);
      return taken;
    } finally {
      underWay.delete(message.networkId);
    }
  }

  async function sendNew(message: OutgoingMessage, mark: string, heard: Promise<string>): Promise<Taken> {
    const { chat, content } = message;
    const body = await toGraph(message, await people.addressOf(chat), async (media) => {
      requireFit(content.type, media);
      return uploadMedia(graph, phoneNumberId, media);
    });
    let unmarked = Promise.resolve();
    return inTurn(chat, async () => {
      await unmarked;
      await store.set(mark, 'yes');
      let isKnown = true;
      try {
        return await post(body, heard);
      } catch (error) {
        isKnown = !(error instanceof UncertainError); // then the mark stays, and with it the message is not sent again
        throw error;
      } finally {
        // Nobody waits for it: where a mark stays it is only clutter, for what was answered for is not sent again.
        if (isKnown) unmarked = store.delete(mark).catch(() => {});
      }
    });
  }

  async function react(chat: NetworkChat, reaction: object): Promise<void> {
    const body = { messaging_product: 'whatsapp', ...(await people.addressOf(chat)), type: 'reaction', reaction };
    await inTurn(chat, () => graph.call('POST', path, body));
  }

  /** Asks when a message to this chat may go, and again while that may help. */
  async function inTurn<T>({ id: recipient }: NetworkChat, ask: () => Promise<T>): Promise<T> {
    const until = clock.elapsed() + START_WITHIN_MS;
    for (let attempt = 0; ; attempt++) {
      await pacing.turn(recipient, until);
      try {
        return await ask();
      } catch (error) {
        const waitMs = retryIn(error, attempt);
        if (waitMs === undefined || clock.elapsed() + waitMs > until) throw error;
        await holdBack(error, recipient, waitMs);
      }
    }
  }

  /** A limit holds for all that it is about, and anything else only for this message. */
  async function holdBack(error: unknown, recipient: string, ms: number): Promise<void> {
    const isOfPair = error instanceof GraphError && verdictOf(error) === 'pair';
    if (isOfPair) pacing.hold(recipient, ms);
    else if (error instanceof GraphError && error.status < 500) pacing.hold(null, ms);
    else await wait(ms);
  }

  async function post(body: object, heard: Promise<string>): Promise<Taken> {
    try {
      const answer = await graph.call('POST', path, body);
      const [message] = Accepted.Check(answer) ? answer.messages : [];
      if (message !== undefined) return { timestamp: clock.now(), networkId: message.id };
    } catch (error) {
      if (!isUncertain(error)) throw error;
    }
    return confirmed(heard, CONFIRM_WITHIN_MS);
  }

  /** Waits for a status of a message that may have been sent. @throws {UncertainError} */
  async function confirmed(heard: Promise<string>, withinMs: number): Promise<Taken> {
    const networkId = await Promise.race([heard, wait(withinMs).catch(() => undefined)]);
    if (networkId !== undefined) return { timestamp: clock.now(), networkId };
    throw new UncertainError();
  }

  return { send, react, confirm: (given, networkId) => underWay.get(given)?.(networkId) };
}

/** Nobody here knows whether the network has the message. */
class UncertainError extends AppError {
  constructor() {
    super(
      'send_failed',
      'WhatsApp did not answer: the message may or may not have been sent, and is not sent again automatically',
    );
  }
}

/** Whether the network may have taken the message all the same: something in front of it answered, or nothing did. */
function isUncertain(error: unknown): boolean {
  if (error instanceof NoAnswerError) return error.wasSent;
  return error instanceof GraphError && error.status >= 500 && error.code === 0;
}

/** How long to wait before the next attempt; undefined when another one would do no good, or harm. */
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
