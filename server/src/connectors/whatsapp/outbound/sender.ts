import type {
  AnyMessageContent,
  MessageRelayOptions,
  MiscMessageGenerationOptions,
  proto,
  WAMessageKey,
  WASocket,
} from 'baileys';
import { settledWithin } from '../../../async.ts';
import { AppError } from '../../../errors.ts';
import type { MessageType } from '../../../events/networkTypes.ts';
import { FILE_MS } from '../../contract/connector.ts';
import type { AlbumPart, Vote } from '../../contract/contentParts.ts';
import type { MessageKey, NetworkChat } from '../../contract/messageKey.ts';
import type { OutgoingMessage } from '../../contract/outgoing.ts';
import type { NetworkWarning } from '../../contract/standing.ts';
import { rateLimited } from '../link/errors.ts';
import { LostSocketError } from '../link/requests.ts';
import { jidOfChat } from '../people/addresses.ts';
import type { Session } from '../session.ts';
import type { Acknowledgements } from './acknowledgements.ts';
import { toWireId } from './messageIds.ts';
import { keyOf, quotedOf, toBaileysContent } from './outgoingContent.ts';
import type { Pacing } from './pacing.ts';
import type { Recipients } from './recipients.ts';
import { withCaption } from './richContent.ts';
import { editSent, findSent, keepSent, withdrawSent } from './sentMessages.ts';
import { toVote } from './votes.ts';

/** Callers of the host wait half a minute, plus the time for a file. This leaves some of it for the answer. */
const TIMEOUT_MS = 25_000;

/** A message on its way to the server, over one connection or several. */
interface Delivery {
  readonly jid: string;
  readonly makeContent: () => Promise<AnyMessageContent>;
  /** Takes the place of the content that Baileys would make. */
  readonly wire?: Wire | undefined;
  readonly options: MiscMessageGenerationOptions & { readonly messageId: string };
  readonly deadline: number;
  readonly hasFile: boolean;
}

interface Accepted {
  readonly timestamp: number;
  /** The number of a post in its channel. */
  readonly serverId: string | null;
}

/** A message as it goes over the wire. */
interface Wire {
  readonly message: proto.IMessage;
  readonly options: Pick<MessageRelayOptions, 'additionalAttributes' | 'additionalNodes'>;
}

/** The content of a change that has its own form on the wire. */
const NOTHING: AnyMessageContent = { text: '' };

export class Sender {
  readonly #session: Session;
  readonly #acknowledgements: Acknowledgements;
  readonly #pacing: Pacing;
  readonly #recipients: Recipients;
  readonly #changes = new Set<Promise<unknown>>();

  constructor(session: Session, acknowledgements: Acknowledgements, pacing: Pacing, recipients: Recipients) {
    this.#session = session;
    this.#acknowledgements = acknowledgements;
    this.#pacing = pacing;
    this.#recipients = recipients;
  }

  async send(message: OutgoingMessage): Promise<{ timestamp: number }> {
    const { self, host } = this.#session;
    const deadline = host.clock.now() + TIMEOUT_MS;
    await this.#pacing.wait();
    let { chat } = message;
    if (chat.type === 'direct') chat = { ...chat, id: await this.#requireRecipient(chat.id, deadline) };
    const quoted = quotedOf({ ...message, chat }, self.phoneNumber);
    const album = message.content.album && (await this.#beginAlbum(jidOfChat(chat), message.content.album, deadline));
    const { timestamp } = await this.#deliver({
      jid: jidOfChat(chat),
      makeContent: () => toBaileysContent(message.content, album),
      options: {
        messageId: toWireId(message.networkId),
        ...(quoted && { quoted }),
        ...(message.expiresInSeconds && { ephemeralExpiration: message.expiresInSeconds }),
      },
      deadline,
      hasFile: message.content.media !== undefined,
    });
    return { timestamp };
  }

  /** Sends something that is for no chat: a status, or a post in a channel. */
  async post(post: Omit<Delivery, 'deadline'>): Promise<Accepted> {
    const deadline = this.#session.host.clock.now() + TIMEOUT_MS;
    await this.#pacing.wait();
    return this.#deliver({ ...post, deadline });
  }

  async react(message: MessageKey, emoji: string | null): Promise<void> {
    await this.#change(message, { react: { text: emoji ?? '', key: this.#keyOf(message) } });
  }

  async edit(message: MessageKey, text: string, type: MessageType = 'text'): Promise<void> {
    if (type !== 'text') return this.#editCaption(message, text);
    // No preview, as in a new text: the server would fetch an address that anybody may have written.
    const key = this.#keyOf(message);
    const editId = await this.#change(message, { text, linkPreview: null, edit: key });
    await editSent(this.#session, key.id ?? '', text, editId);
  }

  async remove(message: MessageKey): Promise<void> {
    const key = this.#keyOf(message);
    await this.#change(message, { delete: key });
    await withdrawSent(this.#session, key.id ?? '');
  }

  async vote(message: MessageKey, vote: Vote): Promise<void> {
    const sealed = await toVote(this.#session, this.#keyOf(message), vote);
    const options = { additionalNodes: [{ tag: 'meta', attrs: { polltype: 'vote' } }] };
    await this.#change(message, NOTHING, { message: sealed, options });
  }

  /** @throws {AppError} `message_state` if the original is no longer kept */
  async #editCaption(message: MessageKey, text: string): Promise<void> {
    const key = this.#keyOf(message);
    const sent = await findSent(this.#session, key.id ?? '');
    const edited = sent && withCaption(sent, text);
    if (edited === undefined)
      throw new AppError('message_state', 'The caption can no longer be edited: the session has sent too much since');
    const { MESSAGE_EDIT } = this.#session.baileys.proto.Message.ProtocolMessage.Type;
    const timestampMs = this.#session.host.clock.now();
    const wire = { protocolMessage: { key, type: MESSAGE_EDIT, editedMessage: edited, timestampMs } };
    const editId = await this.#change(message, NOTHING, {
      message: wire,
      options: { additionalAttributes: { edit: '1' } },
    });
    await editSent(this.#session, key.id ?? '', text, editId);
  }

  /** Sends the head of an album before the first of its files. Its id is the same for all of them, so it goes out once. */
  async #beginAlbum(
    jid: string,
    { albumId, images = 0, videos = 0 }: AlbumPart,
    deadline: number,
  ): Promise<WAMessageKey> {
    const messageId = toWireId(albumId);
    if ((await findSent(this.#session, messageId)) === undefined) {
      const album = { expectedImageCount: images, expectedVideoCount: videos };
      await this.#deliver({
        jid,
        makeContent: async () => ({ album }),
        options: { messageId },
        deadline,
        hasFile: false,
      });
    }
    return { id: messageId, remoteJid: jid, fromMe: true };
  }

  /** @param seconds null removes the pin */
  async pin(message: MessageKey, seconds: number | null): Promise<void> {
    const { PIN_FOR_ALL, UNPIN_FOR_ALL } = this.#session.baileys.proto.PinInChat.Type;
    const type = seconds === null ? UNPIN_FOR_ALL : PIN_FOR_ALL;
    await this.#change(message, {
      pin: this.#keyOf(message),
      type,
      ...(seconds !== null && { time: seconds as 86_400 }),
    });
  }

  /** Sets the timer of a direct chat. */
  async setDisappearing(chat: NetworkChat, seconds: number | null): Promise<void> {
    await this.#change({ chat }, { disappearingMessagesInChat: seconds ?? 0 });
  }

  /** Resolves once the reactions, edits and deletions in flight are answered, or after `timeoutMs`. */
  async drainChanges(timeoutMs: number): Promise<void> {
    await settledWithin(this.#session.host.clock, timeoutMs, Promise.allSettled(this.#changes));
  }

  #keyOf(message: MessageKey) {
    return keyOf(message, this.#session.self.phoneNumber);
  }

  /** Sends a message that changes another one. Resolves with its id when the server has acknowledged it. */
  #change({ chat }: Pick<MessageKey, 'chat'>, content: AnyMessageContent, wire?: Wire): Promise<string> {
    const work = this.#sendChange(jidOfChat(chat), content, wire);
    this.#changes.add(work);
    const leave = () => this.#changes.delete(work);
    work.then(leave, leave);
    return work;
  }

  async #sendChange(jid: string, content: AnyMessageContent, wire: Wire | undefined): Promise<string> {
    const { baileys, link, host } = this.#session;
    const messageId = baileys.generateMessageIDV2(link.requireSocket().user?.id);
    const deadline = host.clock.now() + TIMEOUT_MS;
    const makeContent = async () => content;
    await this.#deliver({ jid, makeContent, wire, options: { messageId }, deadline, hasFile: false });
    return messageId;
  }

  /** @returns the number that the network knows the recipient by */
  async #requireRecipient(phoneNumber: string, deadline: number): Promise<string> {
    const { link, requests, host } = this.#session;
    for (;;) {
      const socket = await link.whenOpen(Math.max(0, deadline - host.clock.now()));
      try {
        return await requests.run(socket, () => this.#recipients.require(socket, phoneNumber));
      } catch (error) {
        if (!(error instanceof LostSocketError) || host.clock.now() > deadline) throw error;
      }
    }
  }

  /** Repeated on the next connection until the server answers. It stays one message, because the id stays the same. */
  async #deliver({ jid, makeContent, wire, options, deadline, hasFile }: Delivery): Promise<Accepted> {
    const { link, host } = this.#session;
    const { clock, log } = host;
    const { messageId, statusJidList } = options;
    const relayed = { messageId, ...wire?.options, ...(statusJidList && { statusJidList }) };
    let made = await findSent(this.#session, messageId);
    let mayHaveBeenSent = made !== undefined;
    made ??= wire?.message;
    let until = hasFile ? clock.now() + FILE_MS : deadline;
    for (;;) {
      const socket = await link.whenOpen(Math.max(0, until - clock.now())).catch((cause: unknown) => {
        throw mayHaveBeenSent ? new AppError('send_failed', UNCONFIRMED, { cause }) : cause;
      });
      const answer = await this.#acknowledgements.answerTo(messageId, async () => {
        if (made !== undefined) {
          // The same message, with its uploaded file and its secret, instead of a new one with the same text.
          const content = made;
          await this.#dispatch(socket, messageId, () => socket.relayMessage(jid, content, relayed));
          return;
        }
        const make = async () => {
          const content = await makeContent();
          mayHaveBeenSent = true;
          return socket.sendMessage(jid, content, options);
        };
        const limitMs = hasFile ? FILE_MS : TIMEOUT_MS;
        made = (await this.#dispatch(socket, messageId, make, limitMs))?.message ?? undefined;
        until = clock.now() + TIMEOUT_MS; // a file has its own time
      });
      if (answer === 'lost') {
        if (clock.now() >= until) throw new AppError('send_failed', UNCONFIRMED);
        continue;
      }
      if ('failure' in answer) throw sendFailure(answer.failure);
      if ('refusal' in answer) {
        this.#warn(answer.refusal);
        throw refused(answer.refusal);
      }
      // Not awaited: it shares the transaction that stores the answer.
      if (made !== undefined)
        keepSent(this.#session, messageId, made).catch((error) =>
          log.warn({ err: error }, 'failed to store a sent message for retries'),
        );
      return { timestamp: answer.timestamp, serverId: answer.serverId ?? null };
    }
  }

  /** Reports a refusal that comes before a ban. */
  #warn(refusal: string): void {
    const { reporter, host } = this.#session;
    const warning = WARNINGS[refusal];
    if (warning !== undefined) reporter.reportInOrder({ type: 'warned', warning, timestamp: host.clock.now() });
  }

  #dispatch<T>(socket: WASocket, messageId: string, work: () => Promise<T>, limitMs = TIMEOUT_MS): Promise<T> {
    const abandonOnAbort = (signal: AbortSignal) => {
      signal.addEventListener('abort', () => this.#acknowledgements.abandon(messageId));
      return work();
    };
    return this.#session.requests.run(socket, abandonOnAbort, limitMs);
  }
}

const UNCONFIRMED =
  'WhatsApp did not confirm in time: the message may or may not have been sent, and is not sent again automatically; check its status before you send it again';

function sendFailure(error: unknown): AppError {
  if (error instanceof AppError) return error;
  const message = error instanceof Error ? error.message : String(error);
  return new AppError('send_failed', `The message could not be sent: ${message}`, { cause: error });
}

/** Error codes of the server, as far as their meaning is known. */
const REFUSALS: Readonly<Record<string, string>> = {
  '403': 'The session is not allowed to send messages to this chat',
  '404': 'The chat does not exist on WhatsApp',
  '421': 'WhatsApp does not accept this type of message in this chat',
  '463': 'WhatsApp currently does not let this number start new chats',
  '475': 'WhatsApp has restricted the number',
  '479': 'WhatsApp did not accept the message because the encryption with the recipient must be renewed; send it again',
};

const WARNINGS: Readonly<Record<string, NetworkWarning>> = { '463': 'spam_limit', '475': 'restricted' };

function refused(error: string): AppError {
  if (error === '401' || error === '403') return new AppError('network_denied', REFUSALS['403']);
  if (error === '429')
    return rateLimited('WhatsApp limits how much this number sends; wait before the next message', 60_000);
  return new AppError('send_failed', REFUSALS[error] ?? `WhatsApp refused the message (${error})`);
}
