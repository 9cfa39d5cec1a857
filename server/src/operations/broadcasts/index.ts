import type { Operation } from '../../invoke/operation.ts';
import * as channelPosts from './channelPosts.ts';
import * as channels from './channels.ts';
import * as statuses from './statuses.ts';

/** Operations on statuses and channels. */
export const broadcastOperations: readonly Operation[] = [
  statuses.postStatus,
  statuses.listStatuses,
  statuses.deleteStatus,
  statuses.listViews,
  statuses.markViewed,
  channels.listChannels,
  channels.previewChannel,
  channels.refreshChannels,
  channels.createChannel,
  channels.followChannel,
  channels.getChannel,
  channels.updateChannel,
  channels.unfollowChannel,
  channelPosts.listPosts,
  channelPosts.postToChannel,
  channelPosts.refreshPosts,
  channelPosts.reactToPost,
];
