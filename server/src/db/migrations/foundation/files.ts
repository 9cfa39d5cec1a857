/** Files of accounts, and contents in the store. */
export const fileTables: readonly string[] = [
  `create table media (
    account_id text not null, media_id text not null, hash text not null, mime_type text not null,
    size bigint not null, file_name text, created_at bigint not null, facts text, thumbnail text, used_at bigint,
    transient_since bigint,
    primary key (account_id, media_id))`,
  `create unique index media_hash on media (hash, account_id)`,
  `create index media_used on media (coalesce(used_at, created_at))`,
  `create index media_transient on media (media_id) where transient_since is not null`,
  `create table media_conversions (
    account_id text not null, hash text not null, target text not null, media_id text not null,
    created_at bigint not null, primary key (account_id, hash, target))`,
  `create index media_conversions_media on media_conversions (account_id, media_id)`,
  `create table unused_contents (hash text primary key, unused_at bigint not null, removing_until bigint)`,
];
