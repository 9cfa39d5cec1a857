import type { Settings } from '../config.ts';

/** Chatwoot refused a request. */
export class ChatwootError extends Error {
  override readonly name = 'ChatwootError';
  readonly status: number;
  readonly retryAfterMs: number | undefined;

  constructor(status: number, message: string, retryAfterMs?: number) {
    super(message);
    this.status = status;
    this.retryAfterMs = retryAfterMs;
  }

  /**
   * Whether the same request can succeed later. 422 with "Too many messages" is a limit per minute
   * (app/models/message.rb).
   */
  get isTransient(): boolean {
    return (
      this.status >= 500 ||
      [401, 403, 408, 425, 429].includes(this.status) ||
      (this.status === 422 && this.message.includes('Too many messages'))
    );
  }
}

/** Chatwoot was not reached, or the connection broke. The request may have been processed. */
export class ChatwootUnreachable extends Error {
  override readonly name = 'ChatwootUnreachable';
}

export interface Contact {
  readonly id: number;
  readonly name: string | null;
  readonly phone_number: string | null;
  readonly identifier: string | null;
  readonly contact_inboxes?: readonly { readonly source_id: string; readonly inbox: { readonly id: number } }[];
}

export interface Conversation {
  readonly id: number;
  readonly inbox_id: number;
  readonly status: string;
}

export interface Message {
  readonly id: number;
  readonly source_id: string | null;
}

export interface Inbox {
  readonly id: number;
  readonly name: string;
  readonly channel_type: string;
  readonly webhook_url?: string | null;
  readonly inbox_identifier?: string;
  /** Signs webhooks. Returned to administrators since 4.13. */
  readonly secret?: string | null;
}

export interface NewMessage {
  readonly content: string;
  readonly messageType: 'incoming' | 'outgoing';
  readonly sourceId: string;
  readonly isPrivate?: boolean;
  readonly inReplyTo?: number | undefined;
  readonly file?: { readonly blob: Blob; readonly name: string } | undefined;
}

const TIMEOUT_MS = 30_000;
const FILE_TIMEOUT_MS = 300_000;
const MAX_ANSWER_BYTES = 8 * 1024 * 1024;
/** Number of pages to search for the message of an earlier attempt. A page has 20 messages (message_finder.rb). */
const SEARCHED_PAGES = 10;

/** Calls the account API of Chatwoot with an access token, and the public API of an inbox. */
export class Chatwoot {
  readonly #base: string;
  readonly #account: string;
  readonly #token: string;

  constructor({
    chatwootUrl,
    chatwootToken,
    accountId,
  }: Pick<Settings, 'chatwootUrl' | 'chatwootToken' | 'accountId'>) {
    this.#base = chatwootUrl;
    this.#account = `${chatwootUrl}/api/v1/accounts/${accountId}`;
    this.#token = chatwootToken;
  }

  async listInboxes(): Promise<readonly Inbox[]> {
    return (await this.#call<{ payload: Inbox[] }>('GET', '/inboxes')).payload;
  }

  createInbox(name: string, webhookUrl: string): Promise<Inbox> {
    return this.#call('POST', '/inboxes', { name, channel: { type: 'api', webhook_url: webhookUrl } });
  }

  updateInbox(inboxId: number, webhookUrl: string): Promise<Inbox> {
    return this.#call('PATCH', `/inboxes/${inboxId}`, { channel: { webhook_url: webhookUrl } });
  }

  /** Contacts whose name, email address, number or identifier contains the text. */
  async searchContacts(text: string): Promise<readonly Contact[]> {
    const query = new URLSearchParams({ q: text, include_contact_inboxes: 'true' });
    return (await this.#call<{ payload: Contact[] }>('GET', `/contacts/search?${query}`)).payload;
  }

  async getContact(contactId: number): Promise<Contact> {
    return (await this.#call<{ payload: Contact }>('GET', `/contacts/${contactId}`)).payload;
  }

  async createContact(fields: ContactFields): Promise<Contact> {
    return (await this.#call<{ payload: { contact: Contact } }>('POST', '/contacts', storable(fields))).payload.contact;
  }

  async updateContact(contactId: number, fields: ContactFields): Promise<void> {
    await this.#call('PUT', `/contacts/${contactId}`, storable(fields));
  }

  async setAvatar(contactId: number, blob: Blob): Promise<void> {
    const form = new FormData();
    form.append('avatar', blob, 'avatar.jpg');
    await this.#call('PUT', `/contacts/${contactId}`, form);
  }

  /** Moves everything of the second contact to the first one, and deletes the second one. */
  async mergeContacts(baseId: number, mergeeId: number): Promise<void> {
    await this.#call('POST', '/actions/contact_merge', { base_contact_id: baseId, mergee_contact_id: mergeeId });
  }

  async deleteContact(contactId: number): Promise<void> {
    await this.#call('DELETE', `/contacts/${contactId}`);
  }

  async listConversations(contactId: number): Promise<readonly Conversation[]> {
    return (await this.#call<{ payload: Conversation[] }>('GET', `/contacts/${contactId}/conversations`)).payload;
  }

  getConversation(conversationId: number): Promise<Conversation> {
    return this.#call('GET', `/conversations/${conversationId}`);
  }

  createConversation(fields: {
    readonly source_id: string;
    readonly inbox_id: number;
    readonly contact_id: number;
    readonly custom_attributes: Readonly<Record<string, string>>;
  }): Promise<Conversation> {
    return this.#call('POST', '/conversations', fields);
  }

  createMessage(conversationId: number, message: NewMessage): Promise<Message> {
    const { messageType, sourceId, isPrivate = false, inReplyTo, file } = message;
    const content = storableText(message.content);
    const attributes = inReplyTo === undefined ? undefined : { in_reply_to: inReplyTo };
    const path = `/conversations/${conversationId}/messages`;
    if (file === undefined)
      return this.#call('POST', path, {
        content,
        message_type: messageType,
        private: isPrivate,
        source_id: sourceId,
        ...(attributes && { content_attributes: attributes }),
      });
    const form = new FormData();
    form.append('content', content);
    form.append('message_type', messageType);
    form.append('source_id', sourceId);
    // Parsed as JSON if it is a text (app/builders/messages/message_builder.rb, content_attributes).
    if (attributes) form.append('content_attributes', JSON.stringify(attributes));
    form.append('attachments[]', file.blob, file.name);
    return this.#call('POST', path, form);
  }

  /** Searches the newest messages of a conversation for one that an earlier attempt created. */
  async findMessage(conversationId: number, sourceId: string): Promise<Message | undefined> {
    let before: number | undefined;
    for (let page = 0; page < SEARCHED_PAGES; page++) {
      const query = before === undefined ? '' : `?before=${before}`;
      const { payload } = await this.#call<{ payload: Message[] }>(
        'GET',
        `/conversations/${conversationId}/messages${query}`,
      );
      const found = payload.find(({ source_id }) => source_id === sourceId);
      if (found !== undefined || payload.length === 0) return found;
      before = Math.min(...payload.map(({ id }) => id));
    }
    return undefined;
  }

  /** Only API inboxes allow this (messages_controller.rb, ensure_api_inbox). */
  async setStatus(conversationId: number, messageId: number, status: string, error?: string): Promise<void> {
    await this.#call('PATCH', `/conversations/${conversationId}/messages/${messageId}`, {
      status,
      ...(error !== undefined && { external_error: error }),
    });
  }

  async deleteMessage(conversationId: number, messageId: number): Promise<void> {
    await this.#call('DELETE', `/conversations/${conversationId}/messages/${messageId}`);
  }

  /** Shows the contact as typing. The account API would show the owner of the token. */
  async setContactTyping(
    identifier: string,
    sourceId: string,
    conversationId: number,
    isTyping: boolean,
  ): Promise<void> {
    const path = ['inboxes', identifier, 'contacts', sourceId, 'conversations', String(conversationId), 'toggle_typing']
      .map(encodeURIComponent)
      .join('/');
    await this.#send('POST', `${this.#base}/public/api/v1/${path}`, { typing_status: isTyping ? 'on' : 'off' });
  }

  async #call<T>(method: string, path: string, body?: object): Promise<T> {
    const answer = await this.#send(method, this.#account + path, body);
    try {
      // Chatwoot's views define the shapes; each caller reads few fields.
      return (answer === '' ? {} : JSON.parse(answer)) as T;
    } catch (cause) {
      // A proxy or a maintenance page answered in place of Chatwoot.
      throw new ChatwootUnreachable(`The response to ${method} ${path.split('?')[0]} is not from Chatwoot`, { cause });
    }
  }

  async #send(method: string, url: string, body?: object): Promise<string> {
    // A form is encoded in memory: as a stream, an answer that comes before its end can fail outside of this request.
    const form = body instanceof FormData ? new Response(body) : undefined;
    let response: Response;
    let answer: string;
    try {
      response = await fetch(url, {
        method,
        headers: {
          api_access_token: this.#token,
          accept: 'application/json',
          ...(body !== undefined && { 'content-type': form?.headers.get('content-type') ?? 'application/json' }),
        },
        ...(body !== undefined && { body: form === undefined ? JSON.stringify(body) : await form.arrayBuffer() }),
        redirect: 'error',
        signal: AbortSignal.timeout(form ? FILE_TIMEOUT_MS : TIMEOUT_MS),
      });
      answer = await readText(response);
    } catch (cause) {
      throw new ChatwootUnreachable(`No response from Chatwoot to ${method} ${new URL(url).pathname}`, { cause });
    }
    if (response.ok) return answer;
    throw new ChatwootError(response.status, complaintOf(response.status, answer), retryAfterOf(response));
  }
}

export interface ContactFields {
  readonly name?: string;
  readonly phone_number?: string;
  readonly identifier?: string;
  readonly inbox_id?: number;
  readonly source_id?: string;
}

/** Length limit of text columns such as names (app/models/application_record.rb, validates_column_content_length). */
const MAX_NAME_LENGTH = 255;

const storable = (fields: ContactFields): ContactFields =>
  fields.name === undefined ? fields : { ...fields, name: storableText(fields.name.slice(0, MAX_NAME_LENGTH)) };

/** PostgreSQL stores no U+0000, and JSON no half of a surrogate pair. Contacts write these texts. */
const storableText = (text: string) => text.replaceAll('\0', '').toWellFormed();

async function readText(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.byteLength;
    if (size > MAX_ANSWER_BYTES) throw new Error(`The response is larger than ${MAX_ANSWER_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** Reads `error` or `message` of an error body (app/controllers/concerns/request_exception_handler.rb). */
function complaintOf(status: number, answer: string): string {
  try {
    const { error, message } = JSON.parse(answer) as { error?: unknown; message?: unknown };
    const text = [error, message].find((value) => typeof value === 'string');
    if (typeof text === 'string') return text.slice(0, 500);
  } catch {
    // A proxy answered in place of Chatwoot.
  }
  return `Chatwoot responded with ${status}`;
}

function retryAfterOf(response: Response): number | undefined {
  const seconds = Number(response.headers.get('retry-after') ?? Number.NaN);
  return Number.isFinite(seconds) && seconds >= 0 ? Math.min(seconds, 3600) * 1000 : undefined;
}
