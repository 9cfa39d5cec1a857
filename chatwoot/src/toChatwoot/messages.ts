import type { EventData, Operations } from '@switchboard/sdk/api';
import { ApiError, NotFoundError } from '@switchboard/sdk/errors';
import { ChatwootError, type NewMessage } from '../chatwoot/client.ts';
import { laneOf, SOURCE_PREFIX } from '../parts.ts';
import { isPassing } from '../passing.ts';
import { done, type Outcome } from '../queue/worker.ts';
import { FileTooLargeError, withFile } from '../temporaryFile.ts';
import { withoutLinks } from '../text/markdown.ts';
import { isPhoneNumber } from '../text/phoneForms.ts';
import { type Content, contentOf, type MessageData } from './content.ts';
import { ensureConversation, type OpenChat } from './conversations.ts';
import type { Attempt } from './handler.ts';

type Direction = NewMessage['messageType'];

interface ChatData {
  readonly chatId?: string;
  readonly groupId?: string;
  readonly networkChatId?: string;
  readonly networkGroupId?: string;
}

/** Creates messages in Chatwoot. */
export class MessageMirror {
  readonly #attempt: Attempt;

  constructor(attempt: Attempt) {
    this.#attempt = attempt;
  }

  /** Creates a message of WhatsApp in Chatwoot, once. */
  async mirror(data: MessageData, direction: Direction): Promise<Outcome> {
    const { parts, inbox } = this.#attempt;
    const { state } = parts;
    const { messageId, chatId } = data;
    if (chatId === undefined || data.history || data.test) return done();
    if (data.groupId !== undefined && !parts.inboxes.get(inbox.sessionId)?.groups) return done();
    const known = await state.link(messageId);
    if (known !== undefined && !data.wasAwaited) return done();
    const content = await this.#complete(contentOf(data), messageId);
    const text =
      data.groupId !== undefined && direction === 'incoming' ? `${senderOf(data)}\n${content.text}` : content.text;
    const chat = await this.openChat(data, direction === 'incoming' ? data.senderName : undefined);
    // The real message replaces one whose content was missing.
    const suffix = data.wasAwaited && known !== undefined ? ':content' : '';
    const chatwootId = await this.create(chat, { ...content, text }, direction, {
      sourceId: `${SOURCE_PREFIX}${messageId}${suffix}`,
      inReplyTo: known?.chatwootId ?? (await this.#replyTarget(data.replyTo, chat)),
    });
    return done([
      state.linkStatement({
        messageId,
        sessionId: inbox.sessionId,
        chatId,
        conversationId: chat.conversationId,
        chatwootId,
        direction: 'in',
        part: '0',
        digest: undefined,
        status: direction === 'incoming' ? 'received' : 'sent',
      }),
    ]);
  }

  /** A message that was sent through the API: by an agent, or by another program, whose text the event lacks. */
  async mirrorApiMessage(data: EventData['message.sent']): Promise<Outcome> {
    const { parts, inbox, job } = this.#attempt;
    if (data.test || (await parts.state.link(data.messageId)) !== undefined || !parts.settings.otherMessages)
      return done();
    // The link of an agent's message is stored once its request has ended. Other events of the chat do not wait for it.
    if (await parts.toWhatsapp.isWorkingOn(laneOf(inbox.sessionId, data.chatId ?? '')))
      return { kind: 'retry', cause: 'order', reason: 'undecided sender', lane: `undecided:${job.seq}` };
    if ((await parts.state.link(data.messageId)) !== undefined) return done();
    const message = await parts.switchboard.messages.get({ messageId: data.messageId }).catch((error) => {
      if (!(error instanceof NotFoundError)) throw error;
    });
    // Deleted in Switchboard since: there is nothing left to show.
    return message === undefined ? done() : this.mirror(dataOf(message, data), 'outgoing');
  }

  /**
   * Creates a message with a text and a file, or finds the one of an earlier attempt.
   * @returns its number in Chatwoot
   */
  async create(
    chat: OpenChat,
    content: Content,
    messageType: Direction,
    { sourceId, inReplyTo }: Pick<NewMessage, 'sourceId' | 'inReplyTo'>,
  ): Promise<number> {
    const { parts, job } = this.#attempt;
    const { chatwoot, switchboard, settings } = parts;
    try {
      if (job.attempt > 1) {
        const existing = await chatwoot.findMessage(chat.conversationId, sourceId);
        if (existing !== undefined) return existing.id;
      }
      const message = { content: withoutLinks(content.text), messageType, sourceId, inReplyTo };
      const { media, card } = content;
      if (media === undefined)
        return (await chatwoot.createMessage(chat.conversationId, { ...message, file: card })).id;
      const response = await switchboard.media.content({ mediaId: media.mediaId });
      const limits = { maxBytes: settings.maxFileBytes, type: media.mimeType };
      return await withFile(response, limits, async (blob) => {
        const file = { blob, name: media.name };
        return (await chatwoot.createMessage(chat.conversationId, { ...message, file })).id;
      });
    } catch (error) {
      const reason = reasonAgainstFile(content, error);
      if (reason !== undefined)
        return this.create(chat, withoutFile(content, reason), messageType, { sourceId, inReplyTo });
      if (error instanceof ChatwootError && error.status === 404) {
        // The conversation was deleted in Chatwoot. The next attempt opens another one.
        await parts.state.dropConversation(chat, chat.conversationId);
      }
      throw error;
    }
  }

  /** Opens the conversation of a chat. The name is the one of the contact; groups and unknown names are read. */
  async openChat(data: ChatData, senderName: string | null | undefined): Promise<OpenChat> {
    const { parts, inbox } = this.#attempt;
    const { chatId = '', groupId } = data;
    const chat = await parts.state.chat(inbox.sessionId, chatId);
    const given = groupId === undefined ? (senderName ?? undefined) : undefined;
    const name = chat?.name ?? given ?? (await nameOfChat(this.#attempt, chatId, groupId));
    const networkId = data.networkGroupId ?? data.networkChatId;
    return ensureConversation(parts, inbox, { sessionId: inbox.sessionId, chatId, networkId, name });
  }

  /** The message that a reply refers to, if it is in the same conversation. */
  async #replyTarget(replyTo: string | undefined, chat: OpenChat): Promise<number | undefined> {
    const link = replyTo === undefined ? undefined : await this.#attempt.parts.state.link(replyTo);
    return link?.conversationId === chat.conversationId ? link.chatwootId : undefined;
  }

  /** Fetches a file that is still on the network. */
  async #complete(content: Content, messageId: string): Promise<Content> {
    const { maxFileBytes } = this.#attempt.parts.settings;
    if (content.media !== undefined && content.media.size > maxFileBytes)
      return withoutFile(content, 'is too large for Chatwoot');
    if (!content.isRemote) return content;
    try {
      const message = await this.#attempt.parts.switchboard.messages.fetchMedia({ messageId });
      const { media } = await this.#attempt.parts.switchboard.messages.get({ messageId: message.messageId });
      if (media === undefined) return withoutFile(content, 'cannot be fetched');
      return { ...content, media: { ...media, name: media.fileName ?? 'file' } };
    } catch (error) {
      if (error instanceof ApiError && !isPassing(error)) return withoutFile(content, 'cannot be fetched');
      throw error;
    }
  }
}

/** Returns why a message goes over without its file, or undefined for another error. */
function reasonAgainstFile({ media, card }: Content, error: unknown): string | undefined {
  if (error instanceof FileTooLargeError) return 'is too large for Chatwoot';
  // A proxy in front of Chatwoot can have a lower limit than Chatwoot.
  if ((media ?? card) !== undefined && error instanceof ChatwootError && error.status === 413)
    return 'is too large for Chatwoot';
  return media !== undefined && error instanceof NotFoundError ? 'is no longer in Switchboard' : undefined;
}

function withoutFile({ text }: Content, reason: string): Content {
  return { text: `${text}\n\n⚠️ _A file ${reason}. Open WhatsApp on the phone to see it._`.trim() };
}

/** Line above a message in a group. Members choose their names, so these are text without formatting or line breaks. */
function senderOf({ senderName, from, unidentified }: MessageData): string {
  const number = unidentified || !isPhoneNumber(from) ? '' : ` (+${from})`;
  const name = (senderName ?? 'Unknown').replace(/\s+/g, ' ').replace(/[\\`*_~[\]()<>!#|]/g, '\\$&');
  return `**${name}**${number}:`;
}

/** Reads the chat name, or returns undefined if it is unknown. */
async function nameOfChat({ parts, inbox }: Attempt, chatId: string, groupId: string | undefined) {
  try {
    const { name } = await parts.switchboard.chats.get({ chatId, sessionId: inbox.sessionId });
    return groupId === undefined ? (name ?? undefined) : `${name ?? 'Group'} 👥`;
  } catch (error) {
    if (error instanceof ApiError && !isPassing(error)) return undefined;
    throw error;
  }
}

type StoredMessage = Operations['messages.get']['output'];

function dataOf(message: StoredMessage, sent: EventData['message.sent']): MessageData {
  const { location, contact, poll, media, replyTo } = message;
  return {
    messageId: message.messageId,
    from: message.from,
    message: message.message,
    timestamp: message.timestamp,
    chatId: message.chatId,
    type: message.type,
    ...(message.groupId !== undefined && { groupId: message.groupId }),
    ...(replyTo !== undefined && { replyTo }),
    ...(media !== undefined && media.available === undefined && { media }),
    ...(location !== undefined && { location }),
    ...(contact !== undefined && { contact }),
    ...(poll !== undefined && { poll }),
    ...(sent.networkChatId !== undefined && { networkChatId: sent.networkChatId }),
    ...(sent.networkGroupId !== undefined && { networkGroupId: sent.networkGroupId }),
  };
}
