import type { Dialect } from '../../dialect.ts';

/** Nodes, unfinished deletions, secrets and the clock: data of the deployment rather than of an account. */
export const deploymentTables = ({ nodeFence }: Dialect): readonly string[] => [
  `create table nodes (
    node_id text primary key, epoch bigint not null, instance text not null unique, url text, version text not null,
    carries integer not null, jwt_fingerprint text, file_store text, joined_at bigint not null,
    expires_at bigint not null)`,
  ...nodeFence,
  `create table deletions (
    resource_id text primary key, account_id text not null, kind text not null, details text not null,
    created_at bigint not null, worked_until bigint not null)`,
  `create table secrets (name text primary key, value text not null)`,
  `create table steady_time (ms bigint not null, at bigint not null)`,
  `insert into steady_time values (0, 0)`,
];
