import { type Fields, isObject } from '../fields.ts';

/** A message of Chatwoot, with the parts of its webhook that the bridge needs. */
export interface ChatwootMessage {
  readonly event: 'message_created' | 'message_updated';
  readonly id: number;
  readonly content: string;
  readonly type: 'incoming' | 'outgoing' | 'template' | 'other';
  readonly isPrivate: boolean;
  readonly sourceId: string | undefined;
  readonly isDeleted: boolean;
  /** Reason of a failed message, until an agent tries it again. */
  readonly externalError: string | undefined;
  /** Chatwoot's number of the message that this one replies to. */
  readonly inReplyTo: number | undefined;
  readonly inReplyToSourceId: string | undefined;
  readonly template: unknown;
  readonly attachments: readonly ChatwootAttachment[];
  readonly senderName: string | undefined;
  /** Unix time in milliseconds; 0 if it is unknown. */
  readonly createdAt: number;
  readonly conversation: ChatwootConversation;
}

export interface ChatwootAttachment {
  readonly fileType: string;
  readonly url: string | undefined;
  readonly extension: string | undefined;
  readonly latitude: number | undefined;
  readonly longitude: number | undefined;
  readonly title: string | undefined;
}

export interface ChatwootConversation {
  /** Number of the conversation in the account (`display_id`). */
  readonly id: number;
  readonly inboxId: number;
  readonly sourceId: string | undefined;
  readonly contact: {
    readonly id: number;
    readonly phoneNumber: string | undefined;
    readonly identifier: string | undefined;
  };
}

export interface ChatwootTyping {
  readonly event: 'conversation_typing_on' | 'conversation_typing_off';
  readonly conversation: ChatwootConversation;
}

export type ChatwootEvent = ChatwootMessage | ChatwootTyping;

/** The text and files are bounded by Chatwoot: 150,000 characters, and 15 attachments (app/models/message.rb). */
const MAX_TEXT = 150_000;
const MAX_ATTACHMENTS = 15;

/** Reads the body of a webhook. @returns undefined for an event that the bridge does not need, or that has no sense */
export function parseEvent(body: unknown): ChatwootEvent | undefined {
  if (!isObject(body)) return undefined;
  const { event } = body;
  if (event === 'conversation_typing_on' || event === 'conversation_typing_off') {
    const conversation = conversationOf(body['conversation']);
    // `user` is the contact when our own report of typing returns (webhook_listener.rb, handle_typing_status).
    const isAgent = isObject(body['user']) && body['user']['type'] === 'user';
    return conversation && isAgent && body['is_private'] !== true ? { event, conversation } : undefined;
  }
  if (event !== 'message_created' && event !== 'message_updated') return undefined;
  return messageOf(event, body);
}

/** `webhook_data` of app/models/message.rb, which `webhook_listener.rb` merges with the event name. */
function messageOf(event: ChatwootMessage['event'], body: Fields): ChatwootMessage | undefined {
  const id = integer(body['id']);
  const conversation = conversationOf(body['conversation']);
  if (id === undefined || conversation === undefined) return undefined;
  const attributes = isObject(body['content_attributes']) ? body['content_attributes'] : {};
  const additional = isObject(body['additional_attributes']) ? body['additional_attributes'] : {};
  const sender = isObject(body['sender']) ? body['sender'] : {};
  return {
    event,
    id,
    content: (text(body['content']) ?? '').slice(0, MAX_TEXT),
    type: typeOf(body['message_type']),
    isPrivate: body['private'] === true,
    sourceId: text(body['source_id']),
    isDeleted: attributes['deleted'] === true,
    externalError: text(attributes['external_error']),
    inReplyTo: integer(attributes['in_reply_to']),
    inReplyToSourceId: text(attributes['in_reply_to_external_id']),
    template: additional['template_params'],
    attachments: (Array.isArray(body['attachments']) ? body['attachments'] : [])
      .filter(isObject)
      .slice(0, MAX_ATTACHMENTS)
      .map(attachmentOf),
    senderName: text(sender['available_name']) ?? text(sender['name']),
    createdAt: timeOf(body['created_at']),
    conversation,
  };
}

/** `push_data` of app/presenters/conversations/event_data_presenter.rb. */
function conversationOf(value: unknown): ChatwootConversation | undefined {
  if (!isObject(value)) return undefined;
  const id = integer(value['id']);
  const inboxId = integer(value['inbox_id']);
  const contactInbox = isObject(value['contact_inbox']) ? value['contact_inbox'] : {};
  const meta = isObject(value['meta']) ? value['meta'] : {};
  const sender = isObject(meta['sender']) ? meta['sender'] : {};
  const contactId = integer(sender['id']) ?? integer(contactInbox['contact_id']);
  if (id === undefined || inboxId === undefined || contactId === undefined) return undefined;
  return {
    id,
    inboxId,
    sourceId: text(contactInbox['source_id']),
    contact: { id: contactId, phoneNumber: text(sender['phone_number']), identifier: text(sender['identifier']) },
  };
}

/** `push_event_data` of app/models/attachment.rb. */
function attachmentOf(value: Fields): ChatwootAttachment {
  return {
    fileType: text(value['file_type']) ?? 'file',
    url: text(value['data_url']),
    extension: text(value['extension']),
    latitude: number(value['coordinates_lat']),
    longitude: number(value['coordinates_long']),
    title: text(value['fallback_title']),
  };
}

/** The name in webhooks, or the number of the enum in other payloads (app/models/message.rb). */
function typeOf(value: unknown): ChatwootMessage['type'] {
  if (value === 'incoming' || value === 0) return 'incoming';
  if (value === 'outgoing' || value === 1) return 'outgoing';
  return value === 'template' || value === 3 ? 'template' : 'other';
}

/** A time in ISO 8601 in webhooks, or Unix seconds. */
function timeOf(value: unknown): number {
  const time = typeof value === 'string' ? Date.parse(value) : Number(value) * 1000;
  return Number.isFinite(time) ? time : 0;
}

const text = (value: unknown) => (typeof value === 'string' && value !== '' ? value : undefined);
const number = (value: unknown) => (typeof value === 'number' && Number.isFinite(value) ? value : undefined);
const integer = (value: unknown) => (Number.isSafeInteger(value) ? (value as number) : undefined);
