import type { NetworkEvent } from '../../connectors/contract/events.ts';
import type { Tx } from '../../db/commit.ts';
import { contentColumn, contentOf, withinLimits } from '../content.ts';
import type { SessionRef } from '../store.ts';
import { authorOf, changeOf, type Events, emitChange, findByNetworkId } from './changes.ts';

/**
 * Replaces the position of a live location whose message was reported again. An older position, or a second report of
 * the same one, changes nothing.
 */
export async function moveLocation(
  events: Events,
  tx: Tx,
  session: SessionRef,
  event: Extract<NetworkEvent, { type: 'message' }>,
): Promise<void> {
  const { location } = withinLimits(event.content);
  const sequence = location?.live?.sequence;
  if (location === undefined || sequence === undefined) return;
  const { networkId, from } = event;
  const row = await findByNetworkId(tx, session, networkId, ({ from_number }) => from_number === from);
  if (row === undefined || row.deleted_at !== null) return;
  const content = contentOf(row);
  const known = content.location?.live;
  if (known === undefined || (known.sequence ?? 0) >= sequence) return;
  const { name, address } = content.location ?? {};
  const moved = { ...(name !== undefined && { name }), ...(address !== undefined && { address }), ...location };
  await tx.kysely
    .updateTable('messages')
    .set({ content: contentColumn({ ...content, location: moved }) })
    .where('account_id', '=', row.account_id)
    .where('message_id', '=', row.message_id)
    .execute();
  const author = await authorOf(tx, session, event);
  emitChange(events, tx, row, 'message.location', { ...changeOf(row, author), location: moved });
}
