import type { NetworkEvent } from '../connectors/connector.ts';
import type { Tx } from '../db/commit.ts';
import type { Queryable } from '../db/dialect.ts';
import { isNewPost, noteFigures, storeChannel, storeReceivedPost } from './channels.ts';
import type { StoredMedia } from './content.ts';
import type { InboxOptions } from './inboxOptions.ts';
import { deleteStatus, isNewStatus, noteView, storeStatus } from './statuses.ts';
import type { SessionRef } from './store.ts';

type Broadcast = Extract<NetworkEvent, { type: `status${string}` | `channel${string}` }>;

/** Stores a report about statuses and channels, which belong to no chat. */
export async function storeBroadcast(
  options: InboxOptions,
  tx: Tx,
  session: SessionRef,
  event: Broadcast,
  file: StoredMedia | undefined,
): Promise<void> {
  switch (event.type) {
    case 'status':
      return storeStatus(options, tx, session, event, file);
    case 'status_deleted':
      return deleteStatus(options, tx, session, event);
    case 'status_viewed':
    case 'status_reaction':
      return noteView(options, tx, session, event);
    case 'channel':
      await storeChannel(options, tx, session, event.channel);
      return;
    case 'channel_post':
      return storeReceivedPost(options, tx, session, event, file);
    case 'channel_figures':
      return noteFigures(tx, session, event);
  }
}

/** Whether the file of a report is worth fetching. Other people decide how often they repeat a status or a post. */
export async function isFileWanted(
  on: Queryable,
  session: SessionRef,
  event: NetworkEvent,
  now: number,
): Promise<boolean> {
  if (event.type === 'status') return isNewStatus(on, session, event, now);
  if (event.type === 'channel_post') return isNewPost(on, session, event);
  return true;
}
