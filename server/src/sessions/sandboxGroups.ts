import { sql } from 'kysely';
import type { NetworkGroup } from '../connectors/connector.ts';
import type { Tx } from '../db/commit.ts';
import type { Queryable } from '../db/dialect.ts';
import { batch, query } from '../db/query.ts';
import type { Media } from '../media/media.ts';
import { addressOf, withPicture } from './sandboxPost.ts';

/*
 * The groups of the sandbox networks where sessions live on several nodes: what each member's session keeps is a copy.
 * Ids and invite codes are stored as addresses: a scope has its own copy of a group that two scopes had in common.
 */

export async function readGroup(on: Queryable, id: string, media: Media): Promise<NetworkGroup | undefined> {
  return toGroup(await groupById.first(on, { id }), media);
}

export async function readGroupByInvite(
  on: Queryable,
  invite: string,
  media: Media,
): Promise<NetworkGroup | undefined> {
  return toGroup(await groupByInvite.first(on, { invite }), media);
}

/** As `readGroup`; until the transaction ends nobody else changes it. */
export async function lockGroup(tx: Tx, id: string, media: Media): Promise<NetworkGroup | undefined> {
  return toGroup(await lockedGroup.first(tx, { id }), media);
}

/** Adds groups that are not there. */
export async function insertGroups(tx: Tx, scope: string, groups: readonly NetworkGroup[]): Promise<void> {
  const rows = groups.map((group) => toRow(scope, group));
  await insertMissing.run(tx, rows);
}

export async function updateGroup(tx: Tx, scope: string, group: NetworkGroup): Promise<void> {
  await replaceGroup.run(tx, toRow(scope, group));
}

function toRow(scope: string, group: NetworkGroup) {
  const { networkId, inviteCode } = group;
  return {
    network_id: addressOf(scope, networkId),
    invite_code: inviteCode === null ? null : addressOf(scope, inviteCode),
    state: JSON.stringify(group),
  };
}

function toGroup(row: { state: string } | undefined, media: Media): NetworkGroup | undefined {
  // Written by `toRow`.
  return row && withPicture(JSON.parse(row.state), media);
}

const groupById = query((db, p: { id: string }) =>
  db.selectFrom('sandbox_groups').select('state').where('network_id', '=', p.id),
);

const lockedGroup = query((db, p: { id: string }) =>
  db.selectFrom('sandbox_groups').select('state').where('network_id', '=', p.id).forUpdate(),
);

const groupByInvite = query((db, p: { invite: string }) =>
  db.selectFrom('sandbox_groups').select('state').where('invite_code', '=', p.invite),
);

const insertMissing = batch(
  { network_id: 'text', invite_code: 'text', state: 'text' },
  (rows) => sql`
    insert into sandbox_groups (network_id, invite_code, state)
    select network_id, invite_code, state from ${rows} as r on conflict do nothing`,
);

const replaceGroup = query((db, p: ReturnType<typeof toRow>) =>
  db
    .updateTable('sandbox_groups')
    .set({ invite_code: p.invite_code, state: p.state })
    .where('network_id', '=', p.network_id),
);
