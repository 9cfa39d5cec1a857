import type { Generated } from 'kysely';
import type { EventKind } from '../../events/events.ts';

/** Webhooks, the event log and deliveries. */
export interface WebhookTables {
  webhooks: {
    account_id: string;
    webhook_id: string;
    /** 1 for the webhook that `POST /webhooks/set` manages. */
    is_default: number;
    url: string;
    /** JSON list of event types. */
    events: string;
    /** JSON list of the sessions whose events it receives; null for all. */
    session_ids: string | null;
    description: string | null;
    /** JSON of the account's own data. */
    metadata: string;
    /** JSON of its `WebhookFilters`; null for none. */
    filters: string | null;
    /** JSON of the additional headers, sealed; null for none. */
    headers: string | null;
    /** JSON of its `BrokerDestination`; null for HTTP. */
    destination: string | null;
    /** JSON of its credentials at the broker, sealed; null for none. */
    credentials: string | null;
    timeout_ms: number | null;
    /** 1 if a redirect to the result of the request counts as delivered. */
    accept_redirects: number;
    /** JSON list of its own retry schedule. */
    retry_seconds: string | null;
    /** 1 while its deliveries are held. */
    paused: number;
    /** Why the server paused it; null if a caller did, or nobody. */
    paused_reason: string | null;
    /** The process that sends to its broker; see `webhooks/delivery/flights.ts`. */
    in_flight_by: string | null;
    /** How often in a row a process died while it sent to the broker. */
    deaths: number;
    ordering: 'best_effort' | 'strict';
    /** JSON list of the `Include` groups; null for those that its event types imply. */
    include: string | null;
    secret: string | null;
    previous_secret: string | null;
    previous_secret_until: number | null;
    enabled: number;
    max_in_flight: number;
    breaker_state: 'closed' | 'open' | 'half_open';
    /** Incremented with every change of state. A result that belongs to an older generation changes nothing. */
    breaker_generation: number;
    /** JSON of the breaker's state; `webhooks/queue/breaker.ts` owns its shape. */
    breaker: string;
    /** Derived from the key, the URL, the event type and the arguments; null unless an MCP client subscribed. */
    subscription_id: string | null;
    /** The API key that subscribed. */
    key_id: string | null;
    /** JSON of the arguments, as the client sent them. */
    arguments: string | null;
    /** When the subscription ends unless it is refreshed. 0 while it is being removed. */
    expires_at: number | null;
    created_at: number;
    updated_at: number;
    lease_owner: string | null;
    lease_generation: number;
    /** API key that created it, or the last one that changed its receiver; null for a login. */
    set_by_key: string | null;
    /** Maximum size of files in deliveries, in bytes; 0 for none. */
    inline_media_bytes: number;
    /** Removal time; null for never, and for a subscription. */
    remove_at: number | null;
  };
  /** Counters of a webhook for one minute: statistics read these rows, never the log. */
  webhook_minutes: {
    webhook_id: string;
    /** Start of the minute. */
    minute: number;
    /** JSON: counts by outcome class and by final state, and a histogram of latencies. */
    figures: string;
  };
  /** The number of each webhook, which stays after it is removed, as long as the log has deliveries of it. */
  receivers: {
    seq: Generated<number>;
    webhook_id: string;
  };
  events: {
    /**
     * Position in the log that readers follow. PostgreSQL draws it. On SQLite, it is the microsecond of steady time, or
     * a later one, in the order of the transactions.
     */
    position: Generated<number>;
    /** `accounts.seq`. */
    account: number;
    event_id: string;
    kind: EventKind;
    conversation: string;
    message_id: string | null;
    /** Some bits of the message id, for an index. */
    message_hash: number | null;
    /** The body exactly as it is sent: `{"event":…,"data":…}`. */
    body: string;
    /** `traceparent` of the span that emitted the event, if tracing is on: its deliveries join that trace. */
    trace: string | null;
    is_test: number;
    created_at: number;
  };
  /** Stretches of the event log. Each restore or failover begins another one; cursors say which one they are of. */
  log_epochs: {
    /** Empty for the first one, so its cursors have none. */
    epoch: string;
    /** Cursor of the newest event at its beginning, without an epoch. Later events of earlier epochs are gone. */
    starts_after: string;
    /** Identifies the PostgreSQL server and its timeline; null on SQLite, and before the first start. */
    server: string | null;
    /** The transaction that wrote this row. A restore writes it with another one. */
    written_by: string | null;
    created_at: number;
  };
  deliveries: {
    /** Position of the event. */
    event: number;
    /** `receivers.seq`. */
    webhook: number;
    /** `accounts.seq`. */
    account: number;
    delivery_id: string;
    /** Event type, unless it is one of the usual ones, which no index has. */
    kind: EventKind | null;
    /** A pending delivery has a row in `queue` or in `waiting`. A change of either locks this row before. */
    state: DeliveryState;
    /** The state if it is final and not `delivered`, for the indexes. */
    undelivered: 'failed' | 'expired' | 'cancelled' | null;
    /** Attempts so far. */
    attempts: number;
    /** Used steps of the retry schedule; an attempt that only probes a dead receiver uses none. */
    steps: number;
    /** The last attempt, with the columns of `attempts`, which contains the earlier ones. */
    last_class: OutcomeClass | null;
    last_message: string | null;
    last_status: number | null;
    last_duration_ms: number | null;
    last_response: string | null;
    /** Null if there was none, or if it is in `attempts`, as it was in earlier versions. */
    last_started_at: number | null;
    /** Why it was cancelled or has expired. */
    reason: string | null;
    settled_at: number | null;
  };
  /** The pending deliveries that are due now, in the order of their events. */
  queue: {
    webhook: number;
    event: number;
    /** Conversation of the delivery if it has waited; null for the conversation of its event. */
    conversation: string | null;
  };
  /** The pending deliveries that are due later, or that wait for an earlier one. */
  waiting: {
    webhook: number;
    event: number;
    /** When the next attempt is due, in steady time. */
    due_at: number;
    conversation: string;
    /** Event of the delivery of its conversation for which it waits; null unless the webhook keeps the order. */
    held_behind: number | null;
  };
  attempts: {
    event: number;
    webhook: number;
    number: number;
    class: OutcomeClass;
    /** HTTP status; null without a response. */
    status: number | null;
    duration_ms: number;
    message: string;
    /** Up to 1 KiB of the response. */
    response: string | null;
    started_at: number;
  };
}

/** How an attempt ended; `webhooks/queue/outcome.ts` says what each class means. */
export type OutcomeClass =
  | 'ok'
  | 'redirect'
  | 'client_error'
  | 'gone'
  | 'throttled'
  | 'server_error'
  | 'timeout'
  | 'dns'
  | 'connect'
  | 'tls'
  | 'reset'
  | 'protocol'
  | 'blocked_address'
  | 'no_socket'
  | 'unknown_outcome';
export const deliveryStates = ['pending', 'delivered', 'failed', 'expired', 'cancelled'] as const;
export type DeliveryState = (typeof deliveryStates)[number];
