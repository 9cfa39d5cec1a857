import type { Selectable } from 'kysely';
import type { AccountTables } from './tables/accounts.ts';
import type { BroadcastTables } from './tables/broadcasts.ts';
import type { ChatTables } from './tables/chats.ts';
import type { DeploymentTables } from './tables/deployment.ts';
import type { FileTables } from './tables/files.ts';
import type { MessageTables } from './tables/messages.ts';
import type { SandboxTables } from './tables/sandbox.ts';
import type { SessionTables } from './tables/sessions.ts';
import type { WebhookTables } from './tables/webhooks.ts';

/**
 * The tables. Times are integer milliseconds since the Unix epoch, booleans 0 or 1, lists and objects JSON text: the
 * same on SQLite and PostgreSQL.
 *
 * Glossary
 * - account: a registered user, who owns everything below. Every query on its data filters by `account_id` first.
 * - session: one phone number on one network, reached through a connector.
 * - chat: a conversation of a session, with a number or a group. `chat_id` is the number's digits or the group's id.
 * - message: one message of a chat. `network_id` is the network's id of it.
 * - event: something that happened, of one of the event types. Its body is stored exactly as it is sent.
 * - webhook: a URL, or a place at a message broker, that subscribes to event types.
 * - delivery: one event for one webhook; an attempt sends it once, over HTTP or to a broker.
 * - conversation: the unit of order in deliveries: a chat of a session, or the session itself.
 */
export interface Schema
  extends AccountTables,
    SessionTables,
    MessageTables,
    ChatTables,
    BroadcastTables,
    FileTables,
    WebhookTables,
    SandboxTables,
    DeploymentTables {}

export type AccountTable = Omit<Selectable<Schema['accounts']>, 'seq'>;
export type ApiKeyTable = Schema['api_keys'];
export type ToolCallTable = Schema['tool_calls'];
export type SessionTable = Schema['sessions'];
export type ChatTable = Selectable<Schema['chats']>;
export type ContactTable = Schema['contacts'];
export type LabelTable = Schema['labels'];
export type GroupTable = Schema['groups'];
export type GroupParticipantTable = Schema['group_participants'];
export type BatchTable = Schema['batches'];
export type StatusTable = Schema['statuses'];
export type ChannelTable = Schema['channels'];
export type ChannelPostTable = Schema['channel_posts'];
export type EarlyChangeTable = Schema['early_changes'];
export type MediaTable = Schema['media'];
export type WebhookTable = Schema['webhooks'];
export type IdempotencyKeyTable = Schema['idempotency_keys'];
export type SandboxMailTable = Schema['sandbox_mailbox'];
export type MessageRow = Selectable<Schema['messages']>;
export type EventRow = Selectable<Schema['events']>;
export type DeliveryRow = Selectable<Schema['deliveries']>;
