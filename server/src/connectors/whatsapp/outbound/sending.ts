import type { AnyMessageContent, BinaryNode, MiscMessageGenerationOptions, WASocket } from 'baileys';
import { settledWithin } from '../../../async.ts';
import type { Clock } from '../../../clock.ts';
import { AppError } from '../../../errors.ts';
import type { OutgoingMessage } from '../../connector.ts';
import type { Link } from '../link/link.ts';
import type { Baileys } from '../link/load.ts';
import { type Asking, LostSocketError } from '../link/requests.ts';
import { jidOfChat } from '../people/addresses.ts';
import { toWireId } from './messageIds.ts';
import { quotedOf, toBaileysContent } from './outgoingContent.ts';
import type { Pacing } from './pacing.ts';
import type { Recipients } from './recipients.ts';
import type { SentMessages } from './sentMessages.ts';

/** Messages on their way to the server. */
export interface Sending {
  send(message: OutgoingMessage): Promise<{ timestamp: number }>;
  /** Sends what changes something: a reaction, an edit, a deletion. Resolves when the server has taken it. */
  change(jid: string, content: AnyMessageContent): Promise<void>;
  /** Resolves when all changes are answered, or when that takes too long to wait for. */
  changed(timeoutMs: number): Promise<void>;
  /** The server has answered about a message. */
  onAck(node: BinaryNode): void;
  /** Somebody has got these messages, or read them: so the server has them, whether or not its answer came. */
  onReceipt(networkIds: readonly string[], timestamp: number): void;
  /** The connection ended: what was not answered is sent again on the next one. */
  onLost(): void;
}

/** Who sends is told "no" after half a minute, beside what a file takes; this leaves some of it for saying so. */
const PATIENCE_MS = 25_000;
/** What a file may take to get to WhatsApp. */
const FILE_MS = 5 * 60_000;
/** A server that takes this long over an answer is not there any more, whatever the socket looks like. */
const ACK_MS = 12_000;

/** A message whose answer is waited for. */
interface Awaited {
  readonly answer: Promise<Answer>;
  isPending(): boolean;
  settle(answer: Answer): void;
  /** From now on it is waited for. */
  within(timeoutMs: number): void;
}

type Answer = { readonly timestamp: number } | { readonly error: string } | 'lost';

export function createSending({
  baileys,
  link,
  asking,
  pacing,
  recipients,
  sent,
  ownNumber,
  clock,
  onTrouble,
}: {
  baileys: Baileys;
  link: Link;
  asking: Asking;
  pacing: Pacing;
  recipients: Recipients;
  sent: SentMessages;
  ownNumber: () => string;
  clock: Clock;
  onTrouble: (error: unknown) => void;
}): Sending {
  const waiting = new Map<string, (answer: Answer) => void>();
  const changing = new Set<Promise<void>>();

  async function send(message: OutgoingMessage): Promise<{ timestamp: number }> {
    const deadline = clock.now() + PATIENCE_MS;
    await pacing.wait();
    let { chat } = message;
    if (chat.type === 'direct') chat = { ...chat, id: await require(chat.id, deadline) };
    const quoted = quotedOf({ ...message, chat }, ownNumber());
    const options = { messageId: toWireId(message.networkId), ...(quoted && { quoted }) };
    const hasFile = message.content.media !== undefined;
    const makeContent = () => toBaileysContent(message.content);
    return { timestamp: await deliver(jidOfChat(chat), makeContent, options, { deadline, hasFile }) };
  }

  /** @returns the number that the network knows the recipient by */
  async function require(phoneNumber: string, deadline: number): Promise<string> {
    for (;;) {
      const socket = await link.whenOpen(Math.max(0, deadline - clock.now()));
      try {
        return await asking.inTime(socket, () => recipients.require(socket, phoneNumber));
      } catch (error) {
        if (!(error instanceof LostSocketError) || clock.now() > deadline) throw error;
      }
    }
  }

  /**
   * Gives a message to Baileys to send. When that takes too long the connection is given up, or the message would go
   * out when nobody counts on it any more.
   */
  function give<T>(socket: WASocket, awaited: Awaited, work: () => Promise<T>, limitMs = PATIENCE_MS): Promise<T> {
    const orGiveUp = (signal: AbortSignal) => {
      signal.addEventListener('abort', () => {
        if (awaited.isPending()) link.reset('WhatsApp does not answer');
      });
      return work();
    };
    return asking.inTime(socket, orGiveUp, limitMs);
  }

  async function change(jid: string, content: AnyMessageContent): Promise<void> {
    const socket = link.socket;
    if (socket === undefined) throw new AppError('session_not_connected');
    const messageId = baileys.generateMessageIDV2(socket.user?.id);
    await deliver(jid, async () => content, { messageId }, { deadline: clock.now() + PATIENCE_MS, hasFile: false });
  }

  /**
   * Sends until the server has answered: on the next connection again, when one ends before the answer. The id stays
   * the same, by which everybody knows that it is one message.
   */
  async function deliver(
    jid: string,
    makeContent: () => Promise<AnyMessageContent>,
    options: MiscMessageGenerationOptions & { messageId: string },
    { deadline, hasFile }: { deadline: number; hasFile: boolean },
  ): Promise<number> {
    const { messageId } = options;
    let made = await sent.find(messageId);
    let mayBeOut = made !== undefined;
    let until = hasFile ? clock.now() + FILE_MS : deadline;
    for (;;) {
      const socket = await link.whenOpen(Math.max(0, until - clock.now())).catch((cause: unknown) => {
        throw mayBeOut ? new AppError('send_failed', UNCONFIRMED, { cause }) : cause;
      });
      const awaited = awaitAnswer(messageId);
      let trouble: unknown;
      try {
        if (made === undefined) {
          const make = async () => {
            const content = await makeContent();
            mayBeOut = true;
            return socket.sendMessage(jid, content, options);
          };
          made = (await give(socket, awaited, make, hasFile ? FILE_MS : PATIENCE_MS))?.message ?? undefined;
          until = clock.now() + PATIENCE_MS; // a file has taken its own time
        } else {
          // Its file is uploaded, and its secret chosen: the same message, not another one of the same words.
          const content = made;
          await give(socket, awaited, () => socket.relayMessage(jid, content, { messageId }));
        }
        awaited.within(ACK_MS);
      } catch (error) {
        trouble = error;
        awaited.settle('lost'); // unless the answer is there: Baileys has sent it, and failed in what comes after
      }
      const answer = await awaited.answer;
      if (answer === 'lost') {
        if (trouble !== undefined && !(trouble instanceof LostSocketError)) throw unsent(trouble);
        if (clock.now() >= until) throw new AppError('send_failed', UNCONFIRMED);
        continue;
      }
      if ('error' in answer) throw refused(answer.error);
      // It shares the transaction that stores the answer: nobody waits for it.
      if (made !== undefined) sent.keep(messageId, made).catch(onTrouble);
      return answer.timestamp;
    }
  }

  /** The server's answer about a message, which may be there before Baileys is done with sending it. */
  function awaitAnswer(messageId: string): Awaited {
    const { promise, resolve } = Promise.withResolvers<Answer>();
    let cancel = () => {};
    const settle = (answer: Answer) => {
      cancel();
      if (waiting.get(messageId) === settle) waiting.delete(messageId);
      resolve(answer);
    };
    waiting.set(messageId, settle);
    return {
      answer: promise,
      isPending: () => waiting.get(messageId) === settle,
      settle,
      within(timeoutMs) {
        if (waiting.get(messageId) !== settle) return;
        cancel = clock.after(timeoutMs, () => {
          settle('lost');
          link.reset('WhatsApp does not confirm messages');
        });
      },
    };
  }

  return {
    send,
    change(jid, content) {
      const work = change(jid, content);
      changing.add(work);
      const leave = () => changing.delete(work);
      work.then(leave, leave);
      return work;
    },
    async changed(timeoutMs) {
      await settledWithin(clock, timeoutMs, Promise.allSettled(changing));
    },
    onAck({ attrs: { id = '', error, t } }) {
      const settle = waiting.get(id);
      if (error === undefined) settle?.({ timestamp: t === undefined ? clock.now() : Number(t) * 1000 });
      else settle?.({ error });
    },
    onReceipt(networkIds, timestamp) {
      for (const id of networkIds) waiting.get(toWireId(id))?.({ timestamp });
    },
    onLost() {
      for (const settle of [...waiting.values()]) settle('lost');
    },
  };
}

const UNCONFIRMED =
  'WhatsApp did not confirm in time: the message may or may not have been sent, and is not sent again automatically';

function unsent(error: unknown): AppError {
  if (error instanceof AppError) return error;
  const words = error instanceof Error ? error.message : String(error);
  return new AppError('send_failed', `The message could not be sent: ${words}`, { cause: error });
}

/** What the numbers in the server's answer mean, as far as anybody outside knows. */
const REFUSALS: Readonly<Record<string, string>> = {
  '403': 'The session is not allowed to send messages to this chat',
  '404': 'The chat does not exist on WhatsApp',
  '421': 'WhatsApp does not accept this type of message in this chat',
  '463': 'WhatsApp currently does not let this number start new chats',
  '475': 'WhatsApp has restricted the number',
  '479': 'WhatsApp did not accept the message because the encryption with the recipient must be renewed; send it again',
};

function refused(error: string): AppError {
  if (error === '403') return new AppError('network_denied', REFUSALS[error]);
  if (error === '429')
    return new AppError('rate_limited', 'WhatsApp limits how much this number sends; wait before the next message', {
      retryAfterSeconds: 60,
    });
  return new AppError('send_failed', REFUSALS[error] ?? `WhatsApp refused the message (${error})`);
}
