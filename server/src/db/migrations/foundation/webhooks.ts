import type { Dialect } from '../../dialect.ts';

/** Webhooks, the event log and deliveries. */
export const webhookTables = ({ clustered, counted, fillfactor, numbered, positions }: Dialect): readonly string[] => {
  // Most rows are of these types, so they have no entry in the indexes of types.
  const usual = `('message.incoming', 'message.sent', 'message.delivered', 'message.read')`;
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

    // A number for each webhook and each subscription, which the log keeps after they are removed.
    `create table receivers (seq ${counted}, webhook_id text not null unique)`,

    // Only the end of the log is written to, and nothing in it changes.
    `create table events (
      position ${numbered}, account integer not null, event_id text not null, kind text not null,
      conversation text not null, message_id text, message_hash integer, body text not null, trace text,
      is_test integer not null, created_at bigint not null)`,
    // With the hash, the index alone answers which events are about a message.
    `create index events_account on events (account, position, message_hash)`,
    `create index events_kind on events (account, kind, position) where kind not in ${usual}`,
    `create table log_epochs (
      epoch text not null, starts_after text not null, server text, written_by text, created_at bigint not null,
      primary key (epoch)) ${clustered}`,
    `insert into log_epochs (epoch, starts_after, created_at) values ('', '0.evt_00000000000000000000000000', 0)`,

    // No index has a column that a successful delivery changes, so PostgreSQL updates the row in its page.
    `create table deliveries (
      event bigint not null, webhook integer not null, account integer not null, delivery_id text not null, kind text,
      state text not null, undelivered text, attempts integer not null, steps integer not null, last_class text,
      last_message text, last_status integer, last_duration_ms integer, last_response text, last_started_at bigint,
      reason text, settled_at bigint,
      primary key (event, webhook)) ${clustered || fillfactor(80)}`,
    `create unique index deliveries_account on deliveries (account, delivery_id)`,
    `create index deliveries_webhook on deliveries (webhook, delivery_id)`,
    `create index deliveries_undelivered on deliveries (account, delivery_id) where undelivered is not null`,
    `create index deliveries_state on deliveries (account, undelivered, delivery_id) where undelivered is not null`,
    `create index deliveries_kind on deliveries (account, kind, delivery_id) where kind is not null`,

    // The pending deliveries: those that are due now, and those that are due later or wait for an earlier one.
    `create table queue (
      webhook integer not null, event bigint not null, conversation text, primary key (webhook, event)) ${clustered}`,
    `create table waiting (
      webhook integer not null, event bigint not null, due_at bigint not null, conversation text not null,
      held_behind bigint, primary key (webhook, event)) ${clustered}`,
    `create index waiting_due on waiting (webhook, due_at, event)`,
    `create index waiting_conversation on waiting (webhook, conversation, event)`,
    `create index waiting_held on waiting (webhook, conversation, event) where held_behind is not null`,

    `create table attempts (
      event bigint not null, webhook integer not null, number integer not null, class text not null, status integer,
      duration_ms integer not null, message text not null, response text, started_at bigint not null,
      primary key (event, webhook, number)) ${clustered}`,
    ...positions,
  ];
};
