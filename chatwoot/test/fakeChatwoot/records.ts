/*
 * The records of the fake Chatwoot, and their checks. Read from the sources of chatwoot/chatwoot, develop, 2025 and
 * 2026 (4.x). Each check cites its file.
 */

export interface ContactRecord {
  id: number;
  name: string;
  phone_number: string | null;
  identifier: string | null;
  avatar: number;
}

export interface ContactInboxRecord {
  readonly contactId: number;
  readonly inboxId: number;
  source_id: string;
}

export interface ConversationRecord {
  /** `display_id`. */
  readonly id: number;
  readonly inbox_id: number;
  contactId: number;
  readonly sourceId: string;
  status: 'open' | 'resolved' | 'pending' | 'snoozed';
  readonly custom_attributes: Readonly<Record<string, unknown>>;
}

export interface AttachmentRecord {
  readonly id: number;
  readonly file_type: string;
  readonly name: string;
  readonly contentType: string;
  readonly bytes: Uint8Array;
}

export interface MessageRecord {
  readonly id: number;
  readonly conversationId: number;
  content: string;
  readonly message_type: 'incoming' | 'outgoing' | 'template';
  readonly private: boolean;
  source_id: string | null;
  status: 'sent' | 'delivered' | 'read' | 'failed';
  content_attributes: Record<string, unknown>;
  readonly additional_attributes: Record<string, unknown>;
  attachments: AttachmentRecord[];
  readonly created_at: Date;
}

export interface InboxRecord {
  readonly id: number;
  readonly name: string;
  readonly identifier: string;
  /** Null before 4.13, which added `WebhookSecretable` (PR 13892). */
  readonly secret: string | null;
  webhook_url: string;
  readonly channel_type: 'Channel::Api';
}

/** An answer other than 2xx. */
export class Refusal extends Error {
  readonly status: number;
  readonly body: object;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
    // `render_could_not_create_error` and `render_not_found_error` have `error`; `render_record_invalid` has `message`
    // and `attributes` (app/controllers/concerns/request_exception_handler.rb).
    this.body = status === 422 && /taken|e164/.test(message) ? { message, attributes: [] } : { error: message };
  }
}

/** `render_not_found_error` for a record that does not exist. */
export function found<T>(record: T | undefined): T {
  if (record === undefined) throw new Refusal(404, 'Resource could not be found');
  return record;
}

const TAKEN = {
  phone_number: 'Phone number has already been taken',
  identifier: 'Identifier has already been taken',
} as const;

/** The validations of app/models/contact.rb: unique per account, and a number in E.164. */
export function validateContact(
  contacts: Iterable<ContactRecord>,
  fields: {
    readonly id?: number;
    readonly name?: unknown;
    readonly phone_number?: unknown;
    readonly identifier?: unknown;
  },
): void {
  const { id, name, phone_number, identifier } = fields;
  // validates_column_content_length of app/models/application_record.rb
  if (typeof name === 'string' && name.length > 255)
    throw new Refusal(422, 'Name is too long (maximum is 255 characters)');
  if (phone_number !== undefined && !/\+[1-9]\d{1,14}$/.test(String(phone_number)))
    throw new Refusal(422, 'Phone number should be in e164 format');
  for (const contact of contacts) {
    if (contact.id === id) continue;
    if (phone_number && contact.phone_number === phone_number) throw new Refusal(422, TAKEN.phone_number);
    if (identifier && contact.identifier === identifier) throw new Refusal(422, TAKEN.identifier);
  }
}

/** `file_type` of app/helpers/file_type_helper.rb. */
export function fileTypeOf(contentType: string): string {
  const kind = contentType.split('/')[0] ?? '';
  return ['image', 'audio', 'video'].includes(kind) ? kind : 'file';
}

/** Only the parameters of the controllers' `permit` reach a record; Rails drops the others silently. */
export function permitted(given: object, names: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(Object.entries(given).filter(([name]) => names.includes(name)));
}
