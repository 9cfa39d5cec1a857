import type { Generated } from 'kysely';
import type { BatchStatus, PREPARING } from '../../events/batchEvents.ts';
import type { MessageType } from '../../events/networkTypes.ts';

/** Messages and what belongs to each. */
export interface MessageTables {
  messages: {
    /** Assigned by the database; the search index refers to messages by it. */
    seq: Generated<number>;
    account_id: string;
    message_id: string;
    session_id: string;
    chat_id: string;
    network_id: string;
    direction: 'incoming' | 'outgoing';
    type: MessageType;
    from_number: string;
    /** Phone number digits, or the group's id. */
    to_id: string;
    body: string;
    /** JSON of everything besides the text: media, location, contact, poll, mentions. */
    content: string | null;
    reply_to: string | null;
    status: MessageStatus;
    error: string | null;
    /** Code of that error in the table `errors`; null if it has none. */
    error_code: string | null;
    /** The network's id of the ad in its referral; empty if the network gave none, null without a referral. */
    ad_id: string | null;
    /** When the sender sent it. */
    timestamp: number;
    created_at: number;
    scheduled_at: number | null;
    sent_at: number | null;
    delivered_at: number | null;
    read_at: number | null;
    failed_at: number | null;
    edited_at: number | null;
    deleted_at: number | null;
    /** 1 if the session's own number sent it from another device; null for all others. */
    sent_elsewhere: number | null;
    /** JSON of its `Approval`; null for a message that needed none. */
    approval: string | null;
    /** `history` if it is from before the session was linked; null for all others. */
    origin: 'history' | null;
    /** The network's id of the message that a message from the history replies to. */
    reply_network_id: string | null;
    /** The connector's reference to the file that is still at the network, sealed. */
    file_reference: string | null;
    /** After how many seconds since `timestamp` it disappears on phones; null if it stays. */
    expires_in: number | null;
    starred_at: number | null;
    /** Until when it is pinned in its chat; null if it is not. */
    pinned_until: number | null;
    /** Time of the last change of the pin that the network reported. */
    pin_changed_at: number | null;
    /** JSON of its `Pricing`; null if the network has not reported one. */
    pricing: string | null;
    /**
     * Place among the messages of its chat that wait to be sent, if it was queued later than stored: after its time,
     * or once approved. Null for all others, whose place follows from `seq` (see `messages/sendOrder.ts`).
     */
    turn: Generated<number | null>;
    /** API key that sent or scheduled it; null for a login, and for messages that came from the network. */
    key_id: string | null;
    /** Time of sending, if that was long after it was created; see `messages/status.ts`. */
    late_at: Generated<number | null>;
  };
  /** Messages that wait, or were sent and not confirmed yet, by status. Triggers of `messages` maintain it. */
  outbox: {
    account_id: string;
    status: OutboxStatus;
    message_id: string;
    /** Null for a message that was sent, as all that follow. */
    session_id: string | null;
    chat_id: string | null;
    /** Place among the queued messages of its chat (see `messages/sendOrder.ts`); null for all others. */
    place: number | null;
    /** Time of a scheduled message, and creation time of one that waits for approval; null for all others. */
    due_at: number | null;
  };
  /** Incoming messages that nobody has read. Triggers of `messages` maintain it. */
  unread_messages: {
    session_id: string;
    chat_id: string;
    message_id: string;
    account_id: string;
  };
  /** The search words of a message, and its account as one more. On SQLite, each begins with its bucket. */
  message_words: {
    /** `seq` of the message. */
    rowid: number;
    words: string;
  };
  /** One row: messages up to this `seq` are in the search index, and later ones not yet. */
  search_cursor: { seq: number };
  reactions: {
    account_id: string;
    message_id: string;
    from_number: string;
    emoji: string;
    at: number;
  };
  poll_votes: {
    account_id: string;
    message_id: string;
    from_number: string;
    /** JSON list of the options that were chosen. */
    options: string;
    at: number;
  };
  message_labels: {
    account_id: string;
    message_id: string;
    label_id: string;
  };
  /** Group members who received what the session sent. */
  message_receipts: {
    message_id: string;
    /** Digits of the member. */
    phone_number: string;
    account_id: string;
    session_id: string;
    /** Id of the group. */
    chat_id: string;
    delivered_at: number;
    read_at: number | null;
  };
  /** The network's ids of files that were added to a message, such as its HD file. */
  added_files: {
    session_id: string;
    network_id: string;
    message_id: string;
    account_id: string;
    /** Time in ms at which the sender replaced the message's file by this one; null if it did not replace it. */
    replaced_at: number | null;
  };
  /** Receipts of messages that are not stored yet. */
  early_receipts: {
    session_id: string;
    network_id: string;
    status: string;
    account_id: string;
    /** JSON of the receipt. */
    receipt: string;
    created_at: number;
  };
  /** Changes of messages that are not stored yet. */
  early_changes: {
    session_id: string;
    /** The network's id of the message. */
    network_id: string;
    kind:
      | 'edited'
      | 'deleted'
      | 'reaction'
      | 'vote'
      | 'event_answer'
      | 'message_pinned'
      | 'better_media'
      | 'live_photo';
    /** Digits of the person who changed the message. */
    from_number: string;
    account_id: string;
    /** JSON of the report, without the columns. */
    report: string;
    /** Time of the change in ms. */
    at: number;
    created_at: number;
  };
  /** Placeholders that were deleted for the session. Their messages do not arrive as new ones. */
  removed_placeholders: {
    session_id: string;
    network_id: string;
    /** Digits of the sender. */
    from_number: string;
    account_id: string;
    created_at: number;
  };
  /** Bulk sends; see `operations/bulk/batches.ts`. */
  batches: {
    account_id: string;
    batch_id: string;
    session_id: string;
    status: BatchStatus | typeof PREPARING;
    /** Type of its messages. */
    type: MessageType;
    /** Number of messages. */
    accepted: number;
    /** Number of recipients that cannot be sent to. */
    refused: number;
    /** Number of recipients that were named twice. */
    duplicates: number;
    interval_ms: number;
    /** Time of its last message. */
    ends_at: number;
    /** When `BatchWatch` looks at it next, and the end of a pause; null once it has ended. */
    check_at: number | null;
    /** API key that made it; null for a login. */
    key_id: string | null;
    created_at: number;
    updated_at: number;
  };
}

export const messageStatuses = [
  'pending_approval',
  'queued',
  'scheduled',
  'sent',
  'delivered',
  'read',
  'failed',
] as const;
export type MessageStatus = (typeof messageStatuses)[number];
export type OutboxStatus = Extract<MessageStatus, 'pending_approval' | 'scheduled' | 'queued' | 'sent'>;
