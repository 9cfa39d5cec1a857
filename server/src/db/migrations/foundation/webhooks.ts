import type { Dialect } from '../../dialect.ts';

/** Webhooks, the event log and deliveries. */
export const webhookTables = ({ clustered, positions, log }: Dialect): readonly string[] => {
  // Most rows are of these types, so they have no entry in the indexes of types.
  const usual = `('message.incoming', 'message.sent', 'message.delivered', 'message.read')`;
  const order = log.order.join(', ');
  const eventOrder = order.includes('event_id') ? order : `${order}, event_id`;
  return [
    `create table webhooks (
      account_id text not null, webhook_id text not null unique, is_default integer not null, url text not null,
      events text not null, session_ids text, description text, metadata text not null default '{}', filters text,
      headers text, destination text, credentials text, timeout_ms integer,
      accept_redirects integer not null default 0, retry_seconds text, paused integer not null default 0,
      paused_reason text, in_flight_by text, deaths integer not null default 0,
      ordering text not null default 'best_effort', include text, secret text, previous_secret text,
      previous_secret_until bigint, enabled integer not null, max_in_flight integer not null,
      breaker_state text not null, breaker_generation integer not null, breaker text not null, subscription_id text,
      key_id text, arguments text, expires_at bigint, created_at bigint not null, updated_at bigint not null,
      lease_owner text, lease_generation integer not null, set_by_key text,
      inline_media_bytes bigint not null default 0, remove_at bigint,
      primary key (account_id, webhook_id))`,
    `create unique index webhooks_default on webhooks (account_id) where is_default = 1`,
    `create unique index webhooks_subscription on webhooks (account_id, subscription_id)
      where subscription_id is not null`,
    `create index webhooks_free on webhooks (webhook_id) where lease_owner is null`,
    `create index webhooks_held on webhooks (lease_owner, webhook_id) where lease_owner is not null`,
    `create index webhooks_in_flight on webhooks (in_flight_by) where in_flight_by is not null`,
    `create index webhooks_set_by_key on webhooks (set_by_key) where set_by_key is not null`,
    `create index webhooks_expiry on webhooks (expires_at) where expires_at is not null`,
    `create index webhooks_remove_at on webhooks (remove_at) where remove_at is not null`,
    `create table webhook_minutes (
      webhook_id text not null, minute bigint not null, figures text not null,
      primary key (webhook_id, minute)) ${clustered}`,

    `create table events (
      account_id text not null, event_id text not null, kind text not null, conversation text not null,
      message_id text, body text not null, trace text, is_test integer not null, created_at bigint not null,
      position bigint not null default 0,
      primary key (account_id, event_id))`,
    ...(log.order.includes('position')
      ? ['create index events_position on events (account_id, position, event_id)']
      : []),
    `create index events_message on events (account_id, message_id) where message_id is not null`,
    `create index events_kind on events (account_id, kind, ${eventOrder}) where kind not in ${usual}`,
    `create table log_epochs (
      epoch text not null, starts_after text not null, server text, written_by text, created_at bigint not null,
      primary key (epoch)) ${clustered}`,
    `insert into log_epochs (epoch, starts_after, created_at) values ('', '0.evt_00000000000000000000000000', 0)`,

    `create table deliveries (
      account_id text not null, delivery_id text not null, webhook_id text not null, event_id text not null,
      kind text not null, conversation text not null, state text not null, due_at bigint not null,
      position bigint not null default 0, held_behind text, attempts integer not null,
      steps integer not null, last_class text, last_message text, last_status integer, last_duration_ms integer,
      last_response text, last_started_at bigint, reason text, is_test integer not null, created_at bigint not null,
      settled_at bigint,
      primary key (account_id, delivery_id)) ${clustered}`,
    // The queue: a lane reads it in this order. A row leaves it when it is settled.
    `create index deliveries_due on deliveries (webhook_id, due_at, position, delivery_id) where state = 'pending'`,
    // Waiting deliveries by conversation: whether a later one has to wait behind them. For `due_at > 0`, SQLite would
    // prefer the index of the queue.
    `create index deliveries_waiting on deliveries (webhook_id, conversation, position, delivery_id)
      where state = 'pending' and due_at <> 0`,
    // Deliveries that an earlier one releases once it is settled.
    `create index deliveries_held on deliveries (webhook_id, conversation, position, delivery_id)
      where held_behind is not null`,
    `create index deliveries_event on deliveries (account_id, event_id)`,
    `create index deliveries_undelivered on deliveries (account_id, delivery_id)
      where state in ('failed', 'expired', 'cancelled')`,
    `create index deliveries_state on deliveries (account_id, state, delivery_id)
      where state in ('failed', 'expired', 'cancelled')`,
    // SQLite uses it only for queries with its expression: otherwise it would prefer it to the queue.
    `create index deliveries_webhook on deliveries (substr(webhook_id, 1), delivery_id)`,
    `create index deliveries_kind on deliveries (account_id, kind, delivery_id) where kind not in ${usual}`,
    `create table attempts (
      account_id text not null, delivery_id text not null, number integer not null, webhook_id text not null,
      class text not null, status integer, duration_ms integer not null, message text not null, response text,
      started_at bigint not null,
      primary key (account_id, delivery_id, number)) ${clustered}`,
    ...positions,
  ];
};
