import type { NetworkEvent } from '../../connectors/contract/events.ts';
import type { Queryable } from '../../db/dialect.ts';
import { isAddedFileWanted } from '../messages/earlyChanges.ts';
import type { ReportHandlers, ReportType } from '../reports.ts';
import type { SessionRef } from '../store.ts';
import { isNewPost, noteFigures, storeChannel, storeReceivedPost } from './channels.ts';
import { deleteStatus, emitStatusMention, isNewStatus, noteView, storeStatus } from './statuses.ts';

/** Reports about statuses and channels, which belong to no chat. */
export const broadcastReports: ReportHandlers<Extract<ReportType, `status${string}` | `channel${string}`>> = {
  status: storeStatus,
  status_deleted: deleteStatus,
  status_viewed: noteView,
  status_reaction: noteView,
  status_mentioned: emitStatusMention,
  channel: async (options, tx, session, { channel }) => {
    await storeChannel(options, tx, session, channel);
  },
  channel_post: storeReceivedPost,
  channel_figures: (_, tx, session, event) => noteFigures(tx, session, event),
};

/** Whether the file of a report is worth fetching. Other people decide how often they send or repeat one. */
export async function isFileWanted(
  on: Queryable,
  session: SessionRef,
  event: NetworkEvent,
  now: number,
): Promise<boolean> {
  if (event.type === 'status') return isNewStatus(on, session, event, now);
  if (event.type === 'channel_post') return isNewPost(on, session, event);
  if (event.type === 'better_media' || event.type === 'live_photo') return isAddedFileWanted(on, session, event);
  return true;
}
