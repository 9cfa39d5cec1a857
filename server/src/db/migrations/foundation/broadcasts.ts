/** Statuses and channels. */
export const broadcastTables: readonly string[] = [
  `create table statuses (
    account_id text not null, session_id text not null, status_id text primary key, network_id text not null,
    from_number text not null, is_own integer not null, type text not null, body text not null, content text,
    audience text, state text not null, error text, timestamp bigint not null, expires_at bigint not null,
    viewed_at bigint, media_id text)`,
  `create unique index statuses_network on statuses (session_id, network_id, from_number)`,
  `create index statuses_account on statuses (account_id, status_id)`,
  `create index statuses_person on statuses (session_id, from_number)`,
  `create index statuses_media on statuses (account_id, media_id) where media_id is not null`,
  `create index statuses_expiry on statuses (expires_at)`,
  `create table status_views (
    account_id text not null, session_id text not null, status_id text not null, phone_number text not null,
    viewed_at bigint not null, emoji text, primary key (status_id, phone_number))`,
  `create index status_views_person on status_views (session_id, phone_number)`,

  `create table channels (
    account_id text not null, session_id text not null, channel_id text primary key, network_id text not null,
    name text, description text, invite_link text, role text, muted integer not null, verified integer not null,
    followers bigint, created_at bigint)`,
  `create unique index channels_network on channels (session_id, network_id)`,
  `create index channels_account on channels (account_id, channel_id)`,
  `create table channel_posts (
    account_id text not null, session_id text not null, channel_id text not null, post_id text primary key,
    network_id text not null, server_id text, is_own integer not null, type text not null, body text not null,
    content text, state text not null, error text, views bigint, reactions text, timestamp bigint not null,
    media_id text)`,
  `create unique index channel_posts_network on channel_posts (channel_id, network_id)`,
  `create unique index channel_posts_server on channel_posts (channel_id, server_id) where server_id is not null`,
  `create index channel_posts_order on channel_posts (channel_id, timestamp, post_id)`,
  `create index channel_posts_media on channel_posts (account_id, media_id) where media_id is not null`,
  `create index channel_posts_session on channel_posts (session_id)`,
];
