import type { Generated, Selectable } from 'kysely';
import type { EventKind } from '../events.ts';

/**
 * The tables. Times are integer milliseconds since the Unix epoch, booleans 0 or 1, lists and objects JSON text:
 * the same on SQLite and PostgreSQL.
 *
 * Glossary
 * - account: who signs up; owns everything below. Every query on its data filters by `account_id` first.
 * - session: one phone number on one network, reached through a connector.
 * - chat: a conversation of a session, with a number or a group. `chat_id` is the number's digits or the group's id.
 * - message: one message of a chat. `network_id` is what its network calls it.
 * - event: something that happened, one of the eight kinds. Its body is stored exactly as it will be sent.
 * - webhook: a URL that wants events of some kinds.
 * - delivery: one event for one webhook; an attempt is one HTTP request of a delivery.
 * - conversation: what keeps its order in deliveries: a chat of a session, or the session itself.
 */
export interface Schema {
  accounts: AccountTable;
  api_keys: ApiKeyTable;
  sessions: SessionTable;
  session_history: SessionHistoryTable;
  session_store: SessionStoreTable;
  chats: ChatTable;
  messages: MessageTable;
  message_words: MessageWordsTable;
  reactions: ReactionTable;
  poll_votes: PollVoteTable;
  contacts: ContactTable;
  groups: GroupTable;
  group_participants: GroupParticipantTable;
  media: MediaTable;
  webhooks: WebhookTable;
  webhook_minutes: WebhookMinuteTable;
  events: EventTable;
  deliveries: DeliveryTable;
  attempts: AttemptTable;
  nodes: NodeTable;
  sandbox_numbers: SandboxNumberTable;
  sandbox_mailbox: SandboxMailTable;
  sandbox_groups: SandboxGroupTable;
  idempotency_keys: IdempotencyKeyTable;
  login_buckets: LoginBucketTable;
  secrets: SecretTable;
  steady_time: SteadyTimeTable;
}

/** One row; see `steadyTime.ts`. */
export interface SteadyTimeTable {
  ms: number;
  /** When it was written, by the clock of a database that several nodes share; 0 elsewhere. */
  at: number;
}

export interface LoginBucketTable {
  /** A digest of who guesses at what, or of which network logged in to which account. */
  bucket: string;
  /** When all guesses are allowed again, or the network is forgotten. */
  full_at: number;
}

export interface AccountTable {
  account_id: string;
  email: string;
  name: string | null;
  /** Argon2id in PHC format. */
  password_hash: string;
  /** Login tokens carry it; raising it ends them all. */
  token_version: number;
  created_at: number;
}

export interface ApiKeyTable {
  account_id: string;
  key_id: string;
  name: string;
  /** JSON list of permissions. */
  permissions: string;
  /** SHA-256 of the whole key, hexadecimal. The key itself is nowhere. */
  key_hash: string;
  created_at: number;
  last_used_at: number | null;
  expires_at: number | null;
}

export type SessionStatus =
  | 'created'
  | 'connecting'
  | 'awaiting_pairing'
  | 'connected'
  | 'disconnected'
  | 'logged_out'
  | 'failed';

export interface SessionTable {
  account_id: string;
  session_id: string;
  name: string | null;
  connector: string;
  phone_number: string | null;
  status: SessionStatus;
  /** 1 when the account wants it connected: it comes back by itself after a restart or an outage. */
  wanted: number;
  connected_at: number | null;
  /** The start of the outage that `session.disconnected` was emitted for; null while there is none. */
  disconnected_at: number | null;
  /** 1 while the account has been told that it comes back by itself. */
  will_reconnect: number;
  last_event_at: number | null;
  error: string | null;
  options: string;
  metadata: string;
  created_at: number;
  /** `node_id` of who works on it; null while nobody does. */
  lease_owner: string | null;
  /** Raised whenever a node takes it: shows how often it has moved. */
  lease_generation: number;
}

export interface SessionHistoryTable {
  account_id: string;
  session_id: string;
  entry_id: string;
  status: SessionStatus;
  reason: string | null;
  at: number;
}

/** What a connector keeps for a session: credentials, pairing state, keys of its protocol. */
export interface SessionStoreTable {
  session_id: string;
  key: string;
  value: string;
}

export interface ChatTable {
  account_id: string;
  session_id: string;
  chat_id: string;
  type: 'direct' | 'group';
  last_message_id: string | null;
  last_message_at: number | null;
  unread_count: number;
  archived: number;
  pinned: number;
  muted_until: number | null;
}

export type MessageStatus = 'scheduled' | 'queued' | 'sent' | 'delivered' | 'read' | 'failed';

export interface MessageTable {
  /** Counted up by the database: the search index speaks of messages by it. */
  seq: Generated<number>;
  account_id: string;
  message_id: string;
  session_id: string;
  chat_id: string;
  network_id: string;
  direction: 'incoming' | 'outgoing';
  type: string;
  from_number: string;
  /** Phone number digits, or the group's id. */
  to_id: string;
  body: string;
  /** JSON of what it has beside its text: media, location, contact, poll, mentions. */
  content: string | null;
  reply_to: string | null;
  status: MessageStatus;
  error: string | null;
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
  /** 1 when the session's own number has sent it from another device; null for all others. */
  sent_elsewhere: number | null;
}

export type MessageRow = Selectable<MessageTable>;
export type DeliveryRow = Selectable<DeliveryTable>;

export interface ReactionTable {
  account_id: string;
  message_id: string;
  from_number: string;
  emoji: string;
  at: number;
}

/** The words of a message that search finds it by, and its account as one of them. */
export interface MessageWordsTable {
  /** `seq` of the message. */
  rowid: number;
  words: string;
}

export interface PollVoteTable {
  account_id: string;
  message_id: string;
  from_number: string;
  /** JSON list of the options that were chosen. */
  options: string;
  at: number;
}

export interface ContactTable {
  account_id: string;
  session_id: string;
  phone_number: string;
  name: string | null;
  blocked: number;
  /** 1, 0, or null when it was never checked. */
  on_network: number | null;
  checked_at: number | null;
}

export interface GroupTable {
  account_id: string;
  session_id: string;
  group_id: string;
  /** What the network calls the group; sessions of one deployment may share it. */
  network_id: string;
  subject: string;
  description: string | null;
  created_by: string;
  announce: number;
  locked: number;
  join_approval: number;
  invite_code: string | null;
  picture_media_id: string | null;
  created_at: number;
  left_at: number | null;
}

export interface GroupParticipantTable {
  account_id: string;
  group_id: string;
  phone_number: string;
  role: 'member' | 'admin' | 'owner';
  joined_at: number;
}

export interface MediaTable {
  account_id: string;
  media_id: string;
  /** SHA-256 of the content, hexadecimal: where the store has it. Accounts may share a content, never a row. */
  hash: string;
  mime_type: string;
  size: number;
  file_name: string | null;
  created_at: number;
}

export interface WebhookTable {
  account_id: string;
  webhook_id: string;
  /** 1 for the one that `POST /webhooks/set` manages. */
  is_default: number;
  url: string;
  /** JSON list of event kinds. */
  events: string;
  secret: string | null;
  previous_secret: string | null;
  previous_secret_until: number | null;
  enabled: number;
  max_in_flight: number;
  breaker_state: 'closed' | 'open' | 'half_open';
  /** Raised by every change of state. A result that began under an older one changes nothing. */
  breaker_generation: number;
  /** JSON of the whole breaker; `webhooks/breaker.ts` owns its shape. */
  breaker: string;
  created_at: number;
  updated_at: number;
  /** `node_id` of who works on it; null while nobody does. */
  lease_owner: string | null;
  /** Raised whenever a node takes it: shows how often it has moved. */
  lease_generation: number;
}

/** What happened at a webhook within one minute: statistics read these rows, never the log. */
export interface WebhookMinuteTable {
  webhook_id: string;
  /** Start of the minute. */
  minute: number;
  /** JSON: counts by outcome class and by final state, and a histogram of latencies. */
  figures: string;
}

export interface EventTable {
  account_id: string;
  event_id: string;
  kind: EventKind;
  conversation: string;
  message_id: string | null;
  /** The body exactly as it is sent: `{"event":…,"data":…}`. */
  body: string;
  /** `traceparent` of the span that emitted it, where there are traces: its deliveries belong to that trace. */
  trace: string | null;
  is_test: number;
  created_at: number;
  /** Where it stands in the log that readers follow; the database sets it. */
  position: Generated<number>;
}

export type DeliveryState = 'pending' | 'delivered' | 'failed' | 'expired' | 'cancelled';

export interface DeliveryTable {
  account_id: string;
  delivery_id: string;
  webhook_id: string;
  event_id: string;
  kind: EventKind;
  conversation: string;
  state: DeliveryState;
  /** When the next attempt is due, in steady time; 0 when it is due at once, in its order. */
  due_at: number;
  /** The order among those that are due at once, before that of ids. */
  position: Generated<number>;
  /** Attempts made so far. */
  attempts: number;
  /** Steps of the retry schedule used up; an attempt that only probes a dead receiver uses none. */
  steps: number;
  /** Outcome class of the last attempt. */
  last_class: string | null;
  /** Why it ended without being delivered, or what the last attempt ran into. */
  last_message: string | null;
  is_test: number;
  created_at: number;
  settled_at: number | null;
}

export interface AttemptTable {
  account_id: string;
  delivery_id: string;
  /** 1, 2, … */
  number: number;
  webhook_id: string;
  class: string;
  /** HTTP status, when there was an answer. */
  status: number | null;
  duration_ms: number;
  message: string;
  /** Up to 1 KiB of the answer. */
  response: string | null;
  started_at: number;
}

/**
 * A process of the deployment. What it holds names it in `lease_owner`, and is its own for as long as this row is: a
 * transaction of a node whose row is gone changes nothing.
 */
export interface NodeTable {
  node_id: string;
  /** Raised when it joins anew, after the others have given it up. */
  epoch: number;
  /** The data folder it runs on. That can have one process at a time, so a second row of it tells of a dead one. */
  instance: string;
  /** Where the others reach it; null until it listens. */
  url: string | null;
  version: string;
  /** 1 when it takes sessions and webhooks, 0 when it only answers requests. */
  carries: number;
  /** Of the secret that it signs login tokens with; null when its version does not say. */
  jwt_fingerprint: string | null;
  /** What tells the place where it keeps files from others; null when it cannot tell, or its version does not say. */
  file_store: string | null;
  joined_at: number;
  /** By the clock of the database; it is renewed every few seconds. */
  expires_at: number;
}

/** A number that is signed up with a sandbox network. */
export interface SandboxNumberTable {
  /** An address: see `addressOf` in `connectors/sandbox/store.ts`. So are the ids and codes of groups. */
  number: string;
  session_id: string;
  /** JSON of name, about and picture; the picture by the hash of its content. */
  profile: string | null;
}

/** An event that waits for a session of a sandbox network, until the node that owns the session has dispatched it. */
export interface SandboxMailTable {
  mail_id: Generated<number>;
  session_id: string;
  /** JSON of the event; media by the hash of their content. */
  event: string;
  /** The number that sent it in a direct chat, and when, in steady time. */
  direct_from: string | null;
  sent_at: number | null;
  /** The network's id of the message, if it is one. */
  message_id: string | null;
  /** The session that gets a receipt once the message is in nobody's mailbox. */
  receipt_to: string | null;
  /** The message that this receipt confirms. It counts unless somebody else still has the message in the mailbox. */
  confirms: string | null;
  created_at: number;
}

export interface SandboxGroupTable {
  network_id: string;
  invite_code: string | null;
  /** JSON of the group as it is now. */
  state: string;
}

export interface IdempotencyKeyTable {
  account_id: string;
  idempotency_key: string;
  /** SHA-256 of operation and input. */
  request_hash: string;
  /** The process that works on it; another one may take it over once it is gone. */
  owner: string;
  /** The output as JSON, once it is done. */
  answer: string | null;
  /** Id that the first run gave to what it makes, so that a run after a crash makes the same. */
  resource_id: string;
  created_at: number;
}

export interface SecretTable {
  name: string;
  value: string;
}
