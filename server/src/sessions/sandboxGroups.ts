import { sql } from 'kysely';
import type { NetworkGroup } from '../connectors/connector.ts';
import type { Tx } from '../db/commit.ts';
import type { Queryable } from '../db/dialect.ts';
import { batch, query } from '../db/query.ts';
import type { Media } from '../media/media.ts';
import { withPicture } from './sandboxPost.ts';

/* The groups of the sandbox network where sessions live on several nodes: what each member's session keeps is a copy. */

export async function readGroup(on: Queryable, networkId: string, media: Media): Promise<NetworkGroup | undefined> {
  return toGroup(await groupById.first(on, { networkId }), media);
}

export async function readGroupByInvite(
  on: Queryable,
  inviteCode: string,
  media: Media,
): Promise<NetworkGroup | undefined> {
  return toGroup(await groupByInvite.first(on, { inviteCode }), media);
}

/** As `readGroup`; until the transaction ends nobody else changes it. */
export async function lockGroup(tx: Tx, networkId: string, media: Media): Promise<NetworkGroup | undefined> {
  return toGroup(await lockedGroup.first(tx, { networkId }), media);
}

/** Adds groups that are not there. */
export async function insertGroups(tx: Tx, groups: readonly NetworkGroup[]): Promise<void> {
  await insertMissing.run(tx, groups.map(toRow));
}

export async function updateGroup(tx: Tx, group: NetworkGroup): Promise<void> {
  await replaceGroup.run(tx, toRow(group));
}

function toRow(group: NetworkGroup) {
  return { network_id: group.networkId, invite_code: group.inviteCode, state: JSON.stringify(group) };
}

function toGroup(row: { state: string } | undefined, media: Media): NetworkGroup | undefined {
  // Written by `toRow`.
  return row && withPicture(JSON.parse(row.state), media);
}

const groupById = query((db, p: { networkId: string }) =>
  db.selectFrom('sandbox_groups').select('state').where('network_id', '=', p.networkId),
);

const lockedGroup = query((db, p: { networkId: string }) =>
  db.selectFrom('sandbox_groups').select('state').where('network_id', '=', p.networkId).forUpdate(),
);

const groupByInvite = query((db, p: { inviteCode: string }) =>
  db.selectFrom('sandbox_groups').select('state').where('invite_code', '=', p.inviteCode),
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
