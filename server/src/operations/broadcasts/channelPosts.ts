import { Type } from 'typebox';
import { isoTime } from '../../clock.ts';
import { MAX_SEND_MS } from '../../cluster/forward.ts';
import type { ChannelPostTable } from '../../db/schema.ts';
import { AppError, noSuch } from '../../errors.ts';
import { messageContent, OptionalContent } from '../../events/fields.ts';
import { ContentHidden } from '../../events/parts.ts';
import {
  boolean,
  IdempotencyKey,
  integer,
  named,
  object,
  oneOf,
  optional,
  orNull,
  record,
  string,
  time,
} from '../../invoke/input/fields.ts';
import { ref } from '../../invoke/input/references.ts';
import { type Context, defineOperation, isContentHidden } from '../../invoke/operation.ts';
import { pageInput, pageOf, pageStart, toPage } from '../../invoke/pages.ts';
import { requireRecipient } from '../../invoke/recipients.ts';
import { postMedia, storePost } from '../../messages/broadcasts/channels.ts';
import { type FileOf, mediaReader, PostedMedia } from '../messages/mediaFields.ts';
import { reactionOf } from '../messages/messageChanges.ts';
import { quotaOf } from '../messages/send.ts';
import { fileErrors } from '../messages/sending.ts';
import { SessionId } from '../shared/sessionFields.ts';
import { ChannelId, channelActions, channelErrors, namedChannel, ofChannel } from './channels.ts';
import { contentInput, fileToPost, requirePostContent } from './postContent.ts';

const PostId = string('Id of the post (`pst_…`).', { ...ref('other'), maxLength: 100 });
const types = ['text', 'image', 'video'] as const;

const ChannelPost = named('ChannelPost', {
  postId: PostId,
  channelId: ChannelId,
  sessionId: SessionId,
  fromMe: boolean('Whether it was posted with this API.'),
  type: oneOf(types, 'Type of the post.'),
  message: string('Text, or caption of the file.', messageContent),
  media: OptionalContent(PostedMedia),
  state: oneOf(
    ['sending', 'sent', 'failed'],
    '`sending`: the network has not confirmed it. If the server stopped meanwhile, it may or may not be visible.',
  ),
  error: orNull(Type.String(), 'Why it could not be posted, as a sentence; null if there was no error.'),
  views: orNull(Type.Integer(), 'How many people have seen it, as last reported; null if it is unknown.'),
  reactions: record(Type.Integer(), 'How many people reacted with each emoji, as last reported.'),
  timestamp: time('When it was posted.'),
  contentHidden: ContentHidden,
});

export const listPosts = defineOperation({
  id: 'channels.messages',
  route: 'GET /channels/{channelId}/messages',
  permission: 'messages:read',
  scope: 'channelId',
  effect: 'read',
  thirdPartyText: true,
  messageContent: 'messages',
  uses: ['media'],
  summary: 'List the posts of a channel',
  description:
    'List the stored posts of a channel, newest first: own ones, those that arrived in a session with the option `channels`, and those that `channels.refresh_messages` fetched. The newest 1000 are kept.',
  input: { ...ofChannel, ...pageInput },
  output: pageOf(ChannelPost),
  errors: ['not_found'],
  async run(ctx, input) {
    const { channel_id } = (await namedChannel(ctx, input)).channel;
    const { after, limit, rows } = pageStart('channel_posts', input);
    let posts = ctx.database.reader.kysely
      .selectFrom('channel_posts')
      .selectAll()
      .where('account_id', '=', ctx.accountId)
      .where('channel_id', '=', channel_id);
    if (after !== undefined) {
      const [timestamp = '', postId = ''] = after.split('|');
      const at = Number(timestamp);
      posts = posts.where((eb) =>
        eb.or([eb('timestamp', '<', at), eb.and([eb('timestamp', '=', at), eb('post_id', '<', postId)])]),
      );
    }
    const found = await posts.orderBy('timestamp', 'desc').orderBy('post_id', 'desc').limit(rows).execute();
    const cursorOf = (row: ChannelPostTable) => `${row.timestamp}|${row.post_id}`;
    return toPage('channel_posts', found, limit, cursorOf, async (page) => {
      const fileOf = await mediaReader(ctx, page.map(storedPost));
      return page.map((row) => toPost(ctx, row, fileOf));
    });
  },
});

export const postToChannel = defineOperation({
  id: 'channels.post',
  route: 'POST /channels/{channelId}/messages',
  owner: { field: 'channelId' },
  permission: 'messages:send',
  scope: 'channelId',
  reachesStrangers: true,
  effect: 'write',
  messageContent: 'messages',
  status: 201,
  idempotent: true,
  deadlineMs: MAX_SEND_MS + 65_000,
  uses: ['posts', 'media', 'preparation'],
  summary: 'Post to a channel',
  description:
    'Post a text, or with `type` a file from `mediaId`, `url` or `content`, to a channel that the session owns or administers. A key with `allowedRecipients` cannot post.',
  input: {
    ...ofChannel,
    ...contentInput(types, 'post', 65_536),
    idempotencyKey: IdempotencyKey,
  },
  output: ChannelPost,
  errors: [...channelErrors, ...fileErrors, 'quota_exceeded'],
  example: { channelId: 'chn_01JZ0000000000000000000000', message: 'New opening hours' },
  async run(ctx, input) {
    const { session, channel } = await namedChannel(ctx, input);
    requireRecipient(ctx, channel.channel_id);
    const { type = 'text', message } = input;
    requirePostContent(input, types);
    if (channel.role !== 'owner' && channel.role !== 'admin')
      throw new AppError('network_denied', 'Only the owner and the admins of a channel can post to it');
    const quota = quotaOf(ctx);
    await ctx.posts.requirePostable(session, 'channels', quota);
    const file = await fileToPost(ctx, session, input);
    const id = ctx.resourceId ?? ctx.newId('pst').slice('pst_'.length);
    const row = await ctx.posts.postToChannel(
      session,
      channel,
      {
        account_id: session.accountId,
        session_id: session.sessionId,
        channel_id: channel.channel_id,
        post_id: `pst_${id}`,
        network_id: `msg_${id}`,
        server_id: null,
        is_own: 1,
        type,
        body: message ?? '',
        content: file ? JSON.stringify({ media: file }) : null,
        state: 'sending',
        error: null,
        views: null,
        reactions: null,
        timestamp: ctx.clock.now(),
        media_id: file?.mediaId ?? null,
      },
      quota,
    );
    return toPost(ctx, row, await mediaReader(ctx, [storedPost(row)]));
  },
  async readStored(ctx) {
    const row = await ctx.database.reader.kysely
      .selectFrom('channel_posts')
      .selectAll()
      .where('account_id', '=', ctx.accountId)
      .where('post_id', '=', `pst_${ctx.resourceId}`)
      .executeTakeFirst();
    return row && toPost(ctx, row, await mediaReader(ctx, [storedPost(row)]));
  },
});

export const refreshPosts = defineOperation({
  id: 'channels.refresh_messages',
  route: 'POST /channels/{channelId}/messages/refresh',
  approval: 'free',
  owner: { field: 'channelId' },
  permission: 'messages:read',
  scope: 'channelId',
  effect: 'write',
  isRepeatable: true,
  summary: 'Refresh the posts of a channel',
  description:
    'Ask the network for the newest posts of a channel, and for how many people have seen them and reacted. New posts are stored without an event and without their files.',
  input: {
    ...ofChannel,
    limit: optional(integer('How many posts to ask for.', { minimum: 1, maximum: 100, default: 50 })),
  },
  output: object({ channelId: ChannelId, posts: integer('How many posts the network returned.') }),
  errors: [...channelErrors],
  async run(ctx, input) {
    const { session, channel } = await namedChannel(ctx, input);
    const { posts } = await channelActions(ctx, session);
    const found = (await posts(channel.network_id, input.limit ?? 50)).slice(0, 100);
    await ctx.database.commit(async (tx) => {
      for (const post of found) await storePost(ctx, tx, channel, post, undefined);
    }, session.sessionId);
    return { channelId: channel.channel_id, posts: found.length };
  },
});

export const reactToPost = defineOperation({
  id: 'channels.react',
  route: 'POST /channels/{channelId}/messages/{postId}/reaction',
  owner: { field: 'channelId' },
  permission: 'messages:send',
  scope: 'channelId',
  effect: 'write',
  isRepeatable: true,
  summary: 'React to a post of a channel',
  description: 'React to a post of a channel with an emoji, or remove the reaction with an empty one.',
  input: {
    ...ofChannel,
    postId: PostId,
    emoji: string('A single emoji; empty removes the reaction.', { maxLength: 32 }),
  },
  output: object({ postId: PostId, emoji: orNull(Type.String(), 'The reaction; null if it was removed.') }),
  errors: [...channelErrors, 'message_state'],
  example: { channelId: 'chn_01JZ0000000000000000000000', postId: 'pst_01JZ0000000000000000000000', emoji: '👍' },
  async run(ctx, input) {
    const emoji = reactionOf(input.emoji);
    const { session, channel } = await namedChannel(ctx, input);
    requireRecipient(ctx, channel.channel_id);
    const post = await ctx.database.reader.kysely
      .selectFrom('channel_posts')
      .selectAll()
      .where('account_id', '=', ctx.accountId)
      .where('channel_id', '=', channel.channel_id)
      .where('post_id', '=', input.postId)
      .executeTakeFirst();
    if (post === undefined) throw noSuch('post', input.postId);
    if (post.server_id === null)
      throw new AppError('message_state', 'The network has not confirmed this post; refresh the posts of the channel');
    const { react } = await channelActions(ctx, session);
    await react(channel.network_id, post.server_id, emoji);
    return { postId: post.post_id, emoji };
  },
});

function storedPost(row: ChannelPostTable) {
  const media = postMedia(row);
  return media === undefined ? {} : { media };
}

function toPost(ctx: Context, row: ChannelPostTable, fileOf: FileOf) {
  const isHidden = isContentHidden(ctx, 'messages');
  const { media } = isHidden ? {} : fileOf(storedPost(row));
  return {
    postId: row.post_id,
    channelId: row.channel_id,
    sessionId: row.session_id,
    fromMe: row.is_own === 1,
    type: row.type,
    message: isHidden ? '' : row.body,
    ...(media && { media }),
    state: row.state,
    error: row.error,
    views: row.views,
    reactions: row.reactions === null ? {} : (JSON.parse(row.reactions) as Record<string, number>),
    timestamp: isoTime(row.timestamp),
    ...(isHidden && { contentHidden: true as const }),
  };
}
