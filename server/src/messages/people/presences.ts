import type { NetworkEvent } from '../../connectors/contract/events.ts';
import type { Tx } from '../../db/commit.ts';
import type { SessionRef } from '../store.ts';

/** Stores the presence of a contact that the session follows. That of others is only an event. */
export async function notePresence(
  { kysely }: Tx,
  { accountId, sessionId }: SessionRef,
  { chat, from, presence, lastSeen, timestamp }: Extract<NetworkEvent, { type: 'presence' }>,
): Promise<void> {
  if (chat.type !== 'direct') return;
  await kysely
    .updateTable('followed_presences')
    .set({ presence, updated_at: timestamp, ...(lastSeen !== undefined && { last_seen: lastSeen }) })
    .where('account_id', '=', accountId)
    .where('session_id', '=', sessionId)
    .where('phone_number', '=', from)
    .execute();
}
