import { randomBytes } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ContactBook } from './contactBook.ts';
import { readFields } from './fields.ts';
import {
  type AttachmentRecord,
  type ContactRecord,
  type ConversationRecord,
  fileTypeOf,
  found,
  type InboxRecord,
  type MessageRecord,
  permitted,
  Refusal,
} from './records.ts';
import { conversationData, conversationView, inboxView, messageData, messageView } from './views.ts';
import { deliver, type SentWebhook } from './webhooks.ts';

export const TOKEN = 'chatwoot-access-token';
const PAGE = 20;

export interface FakeOptions {
  /** Versions before 4.13 do not sign. */
  readonly signs?: boolean;
  /** Public address of the installation in `data_url`, which may differ from the one that the bridge uses. */
  readonly frontendUrl?: string;
}

type Fields = Record<string, unknown>;

/** Chatwoot's API, as far as the bridge uses it, and its webhooks. */
export class FakeChatwoot {
  readonly #book = new ContactBook(() => this.#newId());
  readonly contacts = this.#book.records;
  readonly conversations = new Map<number, ConversationRecord>();
  readonly messages = new Map<number, MessageRecord>();
  readonly inboxes = new Map<number, InboxRecord>();
  readonly webhooks: SentWebhook[] = [];
  /** Reports of typing through the public API. */
  readonly typing: { readonly conversationId: number; readonly status: string }[] = [];
  readonly requests: string[] = [];
  /** Called after a request has taken effect. Returning false breaks the connection without an answer. */
  afterEffect: (method: string, path: string) => boolean | Promise<boolean> = () => true;
  /** Called before a request. A number is the status of a refusal. */
  beforeRequest: (method: string, path: string) => number | undefined = () => undefined;
  readonly #server: Server;
  readonly #options: FakeOptions;
  readonly #changes = new EventEmitter().setMaxListeners(0);
  /** Sidekiq: webhooks leave one after the other, so that tests know their order. */
  #sending: Promise<void> = Promise.resolve();
  #lastId = 100;
  url = '';

  constructor(options: FakeOptions = {}) {
    this.#options = options;
    this.#server = createServer((request, response) => {
      this.#answer(request).then(
        ({ status, body, type }) => {
          if (status === 0) response.destroy();
          else response.writeHead(status, { 'content-type': type ?? 'application/json' }).end(body);
        },
        () => response.writeHead(500).end(),
      );
    });
  }

  async start(): Promise<this> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    this.url = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
    return this;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await this.#sending;
  }

  /** Resolves once the condition holds, which is checked after each change. */
  async until<T>(found: () => T | undefined | false, what: string, ms = 30_000): Promise<T> {
    const deadline = AbortSignal.timeout(ms);
    for (;;) {
      const value = found();
      if (value !== undefined && value !== false) return value;
      try {
        await once(this.#changes, 'change', { signal: deadline });
      } catch {
        const all = [...this.messages.values()].map(({ content, status, private: isPrivate }) => ({
          content,
          status,
          isPrivate,
        }));
        throw new Error(`${what}; messages: ${JSON.stringify(all)}`);
      }
    }
  }

  /** An agent writes a message in the dashboard. */
  async write(
    conversationId: number,
    content: string,
    more: Partial<
      Pick<MessageRecord, 'content_attributes' | 'private' | 'attachments' | 'additional_attributes' | 'message_type'>
    > = {},
  ) {
    return this.#createMessage(conversationId, { content, message_type: 'outgoing', ...more });
  }

  attachment(name: string, contentType: string, bytes: Uint8Array): AttachmentRecord {
    return { id: this.#newId(), name, contentType, bytes, file_type: fileTypeOf(contentType) };
  }

  /** An agent deletes a message (messages_controller.rb, destroy). */
  remove(message: MessageRecord): void {
    message.content = 'This message was deleted';
    message.content_attributes = { deleted: true };
    message.attachments = [];
    this.#updated(message);
  }

  /** Forks and newer versions let agents edit. */
  edit(message: MessageRecord, content: string): void {
    message.content = content;
    this.#updated(message);
  }

  /** The retry button (messages_controller.rb, claim_message_retry): `sent` again, without the error. */
  retry(message: MessageRecord): void {
    if (message.status !== 'failed') return;
    message.status = 'sent';
    const { external_error: _, ...rest } = message.content_attributes;
    message.content_attributes = rest;
    this.#updated(message);
  }

  resolve(conversationId: number): void {
    const conversation = this.#conversation(conversationId);
    conversation.status = 'resolved';
    this.#send(conversation.inbox_id, { event: 'conversation_status_changed', ...this.#dataOf(conversation) });
  }

  /** An agent types (Conversations::TypingStatusManager, and handle_typing_status of webhook_listener.rb). */
  type(conversationId: number, isOn: boolean, isPrivate = false): void {
    const conversation = this.#conversation(conversationId);
    this.#send(conversation.inbox_id, {
      event: isOn ? 'conversation_typing_on' : 'conversation_typing_off',
      user: { id: 7, name: 'Alice Agent', type: 'user' },
      conversation: this.#dataOf(conversation),
      is_private: isPrivate,
    });
  }

  addContact(fields: Partial<ContactRecord>): ContactRecord {
    return this.#book.create(fields);
  }

  deleteContact(id: number): void {
    this.#deleteContact(id);
  }

  /** An agent opens a conversation with a contact. */
  open(inboxId: number, fields: Partial<ContactRecord>): ConversationRecord {
    const contact = this.#book.create(fields);
    return this.#createConversation({ inbox_id: inboxId, contact_id: contact.id });
  }

  async #answer(request: IncomingMessage): Promise<{ status: number; body: string | Uint8Array; type?: string }> {
    const url = new URL(request.url ?? '', this.url);
    const { method = '' } = request;
    this.requests.push(`${method} ${url.pathname}`);
    const file = /^\/rails\/active_storage\/blobs\/redirect\/(\d+)\//.exec(url.pathname)?.[1];
    try {
      const early = this.beforeRequest(method, url.pathname);
      if (early !== undefined) throw new Refusal(early, `refused with ${early}`);
      if (file !== undefined) return this.#file(Number(file));
      const fields = await readFields(request);
      // PostgreSQL: "string contains null byte" (ArgumentError)
      if (JSON.stringify(fields).includes('\\u0000')) throw new Refusal(500, 'We could not process the request');
      const body = await this.#route(method, url, fields, request.headers['api_access_token']);
      if (!(await this.afterEffect(method, url.pathname))) return { status: 0, body: '' };
      return { status: 200, body: JSON.stringify(body) };
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      return { status: error.status, body: JSON.stringify(error.body) };
    }
  }

  #file(id: number): { status: number; body: string | Uint8Array; type?: string } {
    const { bytes: body, contentType: type } = found(
      [...this.messages.values()].flatMap(({ attachments }) => attachments).find((each) => each.id === id),
    );
    return { status: 200, body, type };
  }

  async #route(method: string, { pathname, searchParams }: URL, fields: Fields, token: unknown): Promise<object> {
    const typing = /^\/public\/api\/v1\/inboxes\/(\w+)\/contacts\/([^/]+)\/conversations\/(\d+)\/toggle_typing$/.exec(
      pathname,
    );
    if (typing !== null) return this.#setTyping(typing, fields);
    if (token !== TOKEN) throw new Refusal(401, 'Invalid Access Token');
    const path = pathname.replace(/^\/api\/v1\/accounts\/1/, '');
    const [, resource = '', id = '', child = '', childId = ''] = path.split('/');
    const key = `${method} ${resource}${id && (/^\d+$/.test(id) ? '/:id' : `/${id}`)}${child && `/${child}`}${childId && '/:child'}`;
    const handlers: Readonly<Record<string, () => object>> = {
      'GET inboxes': () => ({ payload: [...this.inboxes.values()].map(inboxView) }),
      'POST inboxes': () => inboxView(this.#createInbox(fields)),
      'PATCH inboxes/:id': () => this.#updateInbox(Number(id), fields),
      'GET contacts/search': () => this.#book.search(searchParams.get('q') ?? ''),
      'GET contacts/:id': () => ({ payload: this.#book.view(this.#book.get(Number(id))) }),
      'POST contacts': () => ({ payload: { contact: this.#book.view(this.#book.create(fields)) } }),
      'PUT contacts/:id': () => {
        const updated = this.#book.update(Number(id), fields);
        this.#changed();
        return updated;
      },
      'DELETE contacts/:id': () => this.#deleteContact(Number(id)),
      'GET contacts/:id/conversations': () => this.#conversationsOf(Number(id)),
      'POST actions/contact_merge': () => this.#merge(fields),
      'POST conversations': () => conversationView(this.#createConversation(fields)),
      'GET conversations/:id': () => conversationView(this.#conversation(Number(id))),
      'GET conversations/:id/messages': () => this.#page(Number(id), searchParams.get('before')),
      'POST conversations/:id/messages': () => messageView(this.#createMessage(Number(id), fields), this.#frontend),
      'PATCH conversations/:id/messages/:child': () => this.#setStatus(Number(childId), fields),
      'DELETE conversations/:id/messages/:child': () => this.#destroy(Number(childId)),
    };
    const handler = handlers[key];
    if (handler === undefined) throw new Refusal(404, 'Resource could not be found');
    return handler();
  }

  get #frontend(): string {
    return this.#options.frontendUrl ?? this.url;
  }

  /** `permitted_params` of inboxes_controller.rb. */
  #createInbox(fields: Fields): InboxRecord {
    const channel = permitted((fields['channel'] ?? {}) as object, ['type', 'webhook_url']);
    if (channel['type'] !== 'api') throw new Refusal(422, 'Channel must exist');
    const inbox: InboxRecord = {
      id: this.#newId(),
      name: String(fields['name']),
      identifier: randomBytes(12).toString('hex'),
      secret: this.#options.signs === false ? null : randomBytes(16).toString('hex'),
      webhook_url: String(channel['webhook_url']),
      channel_type: 'Channel::Api',
    };
    this.inboxes.set(inbox.id, inbox);
    return inbox;
  }

  #updateInbox(id: number, fields: Fields): object {
    const inbox = this.#inbox(id);
    const channel = permitted((fields['channel'] ?? {}) as object, ['webhook_url']);
    if (channel['webhook_url'] !== undefined) inbox.webhook_url = String(channel['webhook_url']);
    return inboxView(inbox);
  }

  #deleteContact(id: number): object {
    this.#book.get(id);
    this.contacts.delete(id);
    for (const conversation of this.conversations.values())
      if (conversation.contactId === id) this.#deleteConversation(conversation.id);
    return {};
  }

  #deleteConversation(id: number): void {
    this.conversations.delete(id);
    for (const message of this.messages.values()) if (message.conversationId === id) this.messages.delete(message.id);
  }

  /** ContactMergeAction: everything of the mergee moves to the base, and the mergee is deleted. */
  #merge(fields: Fields): object {
    const base = this.#book.get(Number(fields['base_contact_id']));
    const mergee = this.#book.get(Number(fields['mergee_contact_id']));
    for (const conversation of this.conversations.values())
      if (conversation.contactId === mergee.id) conversation.contactId = base.id;
    this.contacts.delete(mergee.id);
    this.#changed();
    return this.#book.view(base);
  }

  #conversationsOf(contactId: number): object {
    this.#book.get(contactId);
    const own = [...this.conversations.values()].filter((conversation) => conversation.contactId === contactId);
    return {
      payload: own
        .toSorted((a, b) => b.id - a.id)
        .slice(0, 20)
        .map(conversationView),
    };
  }

  /** `create` of conversations_controller.rb with ContactInboxBuilder: unique per inbox and source_id. */
  #createConversation(fields: Fields): ConversationRecord {
    const inbox = this.#inbox(Number(fields['inbox_id']));
    const contact = this.#book.get(Number(fields['contact_id']));
    const source_id = String(fields['source_id'] ?? randomBytes(16).toString('hex'));
    const taken = this.#book.inboxes.find((each) => each.inboxId === inbox.id && each.source_id === source_id);
    if (taken !== undefined && taken.contactId !== contact.id) throw new Refusal(422, 'source_id should be unique');
    if (taken === undefined) this.#book.inboxes.push({ contactId: contact.id, inboxId: inbox.id, source_id });
    const conversation: ConversationRecord = {
      id: this.#newId(),
      inbox_id: inbox.id,
      contactId: contact.id,
      sourceId: source_id,
      status: 'open',
      custom_attributes: (fields['custom_attributes'] ?? {}) as Fields,
    };
    this.conversations.set(conversation.id, conversation);
    this.#send(inbox.id, { event: 'conversation_created', ...this.#dataOf(conversation) });
    return conversation;
  }

  /** app/finders/message_finder.rb: the newest 20, or those before one. Nothing keeps `source_id` unique. */
  #page(conversationId: number, before: string | null): object {
    this.#conversation(conversationId);
    const own = [...this.messages.values()].filter((message) => message.conversationId === conversationId);
    const page = own.filter(({ id }) => before === null || id < Number(before)).slice(-PAGE);
    return { payload: page.map((message) => messageView(message, this.#frontend)) };
  }

  /** app/builders/messages/message_builder.rb */
  #createMessage(conversationId: number, fields: Fields): MessageRecord {
    const conversation = this.#conversation(conversationId);
    const given = fields['content_attributes'];
    const attributes = (typeof given === 'string' ? JSON.parse(given) : (given ?? {})) as Fields;
    const files = (fields['attachments[]'] ?? fields['attachments'] ?? []) as AttachmentRecord[];
    const message: MessageRecord = {
      id: this.#newId(),
      conversationId,
      content: String(fields['content'] ?? ''),
      message_type: (fields['message_type'] ?? 'outgoing') as MessageRecord['message_type'],
      private: fields['private'] === true || fields['private'] === 'true',
      source_id: (fields['source_id'] ?? null) as string | null,
      status: 'sent',
      content_attributes: this.#withReply(conversationId, attributes),
      additional_attributes: (fields['additional_attributes'] ??
        (fields['template_params'] ? { template_params: fields['template_params'] } : {})) as Fields,
      attachments: files,
      created_at: new Date(),
    };
    this.messages.set(message.id, message);
    // reopen_resolved_conversation of app/models/message.rb
    if (message.message_type === 'incoming' && conversation.status === 'resolved') conversation.status = 'open';
    this.#sendMessage('message_created', message);
    this.#changed();
    return message;
  }

  /** `ensure_in_reply_to` of app/models/message.rb: both ids of a message of the same conversation. */
  #withReply(conversationId: number, attributes: Fields): Fields {
    const replied = this.messages.get(Number(attributes['in_reply_to']));
    if (replied === undefined || replied.conversationId !== conversationId) return attributes;
    return { ...attributes, in_reply_to: replied.id, in_reply_to_external_id: replied.source_id };
  }

  /** Messages::StatusUpdateService: `read` does not become `delivered`, and only `failed` has an error. */
  #setStatus(id: number, fields: Fields): object {
    const message = this.#message(id);
    const { status, external_error } = permitted(fields, ['status', 'external_error']);
    const isKnown = ['sent', 'delivered', 'read', 'failed'].includes(String(status));
    if (!isKnown || (message.status === 'read' && status === 'delivered')) return messageView(message, this.#frontend);
    message.status = status as MessageRecord['status'];
    const { external_error: _, ...rest } = message.content_attributes;
    message.content_attributes = status === 'failed' ? { ...rest, external_error } : rest;
    this.#updated(message);
    return messageView(message, this.#frontend);
  }

  #destroy(id: number): object {
    this.remove(this.#message(id));
    return {};
  }

  #setTyping([, identifier, sourceId, id]: RegExpExecArray, fields: Fields): object {
    const inbox = [...this.inboxes.values()].find((each) => each.identifier === identifier);
    const conversation = this.#conversation(Number(id));
    // set_contact_inbox and set_conversation of the public controllers
    if (inbox === undefined || conversation.sourceId !== decodeURIComponent(sourceId ?? ''))
      throw new Refusal(404, 'Resource could not be found');
    this.typing.push({ conversationId: conversation.id, status: String(fields['typing_status']) });
    this.#changed();
    return {};
  }

  #updated(message: MessageRecord): void {
    this.#sendMessage('message_updated', message);
    this.#changed();
  }

  #sendMessage(event: 'message_created' | 'message_updated', message: MessageRecord): void {
    const conversation = this.#conversation(message.conversationId);
    const inbox = this.#inbox(conversation.inbox_id);
    this.#send(
      inbox.id,
      { event, ...messageData(message, this.#dataOf(conversation), inbox, this.#frontend) },
      message,
    );
  }

  #dataOf(conversation: ConversationRecord): object {
    return conversationData(conversation, this.#book.get(conversation.contactId));
  }

  /** The payload is made before the queue, as `perform_later` does. */
  #send(inboxId: number, payload: Fields & { event: string }, message?: MessageRecord): void {
    this.#sending = this.#sending.then(async () => {
      const inbox = this.inboxes.get(inboxId);
      if (inbox === undefined || inbox.webhook_url === '') return;
      const { sent, failure } = await deliver(inbox, payload);
      this.webhooks.push(sent);
      if (failure !== undefined && message !== undefined && message.status !== 'failed')
        this.#setStatus(message.id, { status: 'failed', external_error: failure });
      this.#changed();
    });
  }

  #conversation(id: number): ConversationRecord {
    return found(this.conversations.get(id));
  }

  #message(id: number): MessageRecord {
    return found(this.messages.get(id));
  }

  #inbox(id: number): InboxRecord {
    return found(this.inboxes.get(id));
  }

  #newId(): number {
    return ++this.#lastId;
  }

  #changed(): void {
    this.#changes.emit('change');
  }
}
