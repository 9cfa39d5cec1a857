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
  events: {
    account_id: string;
    event_id: string;
    kind: EventKind;
    conversation: string;
    message_id: string | null;
    /** The body exactly as it is sent: `{"event":…,"data":…}`. */
    body: string;
    /** `traceparent` of the span that emitted the event, if tracing is on: its deliveries join that trace. */
    trace: string | null;
    is_test: number;
    created_at: number;
    /**
     * Position in the log that readers follow. PostgreSQL draws it. Events that an earlier version stored in SQLite
     * have 0.
     */
    position: Generated<number>;
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
    account_id: string;
    delivery_id: string;
    webhook_id: string;
    event_id: string;
    kind: EventKind;
    conversation: string;
    state: DeliveryState;
    /** When the next attempt is due, in steady time; 0 means at once. */
    due_at: number;
    /** The order among deliveries that are due at once; it precedes that of ids. */
    position: Generated<number>;
    /** The delivery of its conversation for which it waits; null unless the webhook keeps the order. */
    held_behind: Generated<string | null>;
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
    is_test: number;
    created_at: number;
    settled_at: number | null;
  };
  attempts: {
    account_id: string;
    delivery_id: string;
    number: number;
    webhook_id: string;
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
