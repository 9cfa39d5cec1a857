import type {
  AttachmentRecord,
  ContactInboxRecord,
  ContactRecord,
  ConversationRecord,
  InboxRecord,
  MessageRecord,
} from './records.ts';

/* The JSON of the records: views for the API, and `webhook_data` for webhooks. */

const MESSAGE_TYPES = ['incoming', 'outgoing', 'activity', 'template'];

/** app/views/api/v1/models/_contact.json.jbuilder */
export function contactView(contact: ContactRecord, contactInboxes: readonly ContactInboxRecord[]): object {
  const { id, name, phone_number, identifier } = contact;
  return {
    id,
    name,
    phone_number,
    identifier,
    contact_inboxes: contactInboxes.map(({ source_id, inboxId }) => ({ source_id, inbox: { id: inboxId } })),
  };
}

/** app/views/api/v1/models/_inbox.json.jbuilder: `secret` only for administrators. */
export function inboxView({ id, name, channel_type, webhook_url, identifier, secret }: InboxRecord): object {
  return { id, name, channel_type, webhook_url, inbox_identifier: identifier, ...(secret !== null && { secret }) };
}

/** app/views/api/v1/models/_conversation.json.jbuilder */
export function conversationView({ id, inbox_id, status, custom_attributes }: ConversationRecord): object {
  return { id, inbox_id, status, custom_attributes };
}

/** app/views/api/v1/models/_message.json.jbuilder: the number of the enum, and Unix seconds. */
export function messageView(message: MessageRecord, url: string): object {
  const { id, content, conversationId, status, content_attributes, source_id, created_at } = message;
  return {
    id,
    content,
    conversation_id: conversationId,
    message_type: MESSAGE_TYPES.indexOf(message.message_type),
    status,
    content_attributes,
    source_id,
    private: message.private,
    created_at: Math.floor(created_at.getTime() / 1000),
    ...(message.attachments.length > 0 && {
      attachments: message.attachments.map((each) => attachmentView(each, url)),
    }),
  };
}

/** `push_event_data` of app/models/attachment.rb. `data_url` has the public address of the installation. */
function attachmentView({ id, file_type, name }: AttachmentRecord, url: string): object {
  return {
    id,
    file_type,
    extension: null,
    data_url: `${url}/rails/active_storage/blobs/redirect/${id}/${encodeURIComponent(name)}`,
  };
}

/** `push_data` of app/presenters/conversations/event_data_presenter.rb. */
export function conversationData(
  { id, inbox_id, status, sourceId, contactId, custom_attributes }: ConversationRecord,
  { name, phone_number, identifier }: ContactRecord,
): object {
  return {
    additional_attributes: {},
    can_reply: true,
    channel: 'Channel::Api',
    contact_inbox: { contact_id: contactId, inbox_id, source_id: sourceId },
    id,
    inbox_id,
    status,
    custom_attributes,
    meta: { sender: { id: contactId, name, phone_number, identifier, type: 'contact' }, assignee: null },
  };
}

/**
 * `webhook_data` of app/models/message.rb, with the line breaks of `Messages::WebhookContentNormalizer`. It has no
 * status.
 */
export function messageData(message: MessageRecord, conversation: object, inbox: InboxRecord, url: string): object {
  return {
    account: { id: 1, name: 'Acme' },
    additional_attributes: message.additional_attributes,
    content_attributes: message.content_attributes,
    content_type: 'text',
    content: message.content.replace(/\\\r?\n/g, '\n').replace(/(\r?\n)+$/, ''),
    conversation,
    created_at: message.created_at.toISOString(),
    id: message.id,
    inbox: { id: inbox.id, name: inbox.name },
    message_type: message.message_type,
    private: message.private,
    sender: { id: 7, name: 'Alice Agent', email: 'alice@example.com', type: 'user' },
    source_id: message.source_id,
    ...(message.attachments.length > 0 && {
      attachments: message.attachments.map((each) => attachmentView(each, url)),
    }),
  };
}
