import { Type } from 'typebox';
import { isoTime } from '../../clock.ts';
import type { NetworkChannel } from '../../connectors/contract/channels.ts';
import type { Tx } from '../../db/commit.ts';
import type { Queryable } from '../../db/dialect.ts';
import { Pace } from '../../db/pace.ts';
import { unindexed } from '../../db/query.ts';
import type { ChannelTable } from '../../db/schema.ts';
import { AppError, noSuch } from '../../errors.ts';
import {
  boolean,
  IdempotencyKey,
  integer,
  named,
  notBlank,
  object,
  oneOf,
  optional,
  orNull,
  string,
  time,
} from '../../invoke/input/fields.ts';
import { ref } from '../../invoke/input/references.ts';
import { type Context, defineOperation } from '../../invoke/operation.ts';
import { keysOf, pageInput, pageOf, readPage } from '../../invoke/pages.ts';
import { hasRoomForChannel, MAX_CHANNELS, storeChannel } from '../../messages/broadcasts/channels.ts';
import type { SessionRef } from '../../messages/store.ts';
import {
  isOfSessions,
  ListedSessionId,
  listedSessions,
  OptionalSessionId,
  SessionId,
} from '../shared/sessionFields.ts';
import { resolveSessionOf, SessionOfId } from '../shared/sessionOf.ts';

export const ChannelId = string('Id of the channel (`chn_…`).', { ...ref('channel'), maxLength: 100 });

const description = {
  networkChannelId: string('Address of the channel on the network, such as `…@newsletter`.'),
  name: orNull(Type.String(), 'Name of the channel; null until the network has described it.'),
  description: orNull(Type.String(), 'Text that describes the channel; null if there is none.'),
  inviteLink: orNull(Type.String(), 'Link by which people find the channel; null if it is unknown.'),
  role: orNull(
    oneOf(['follower', 'admin', 'owner']),
    'Role of the session. Admins and the owner can post. null if the session does not follow the channel.',
  ),
  muted: boolean('Whether the session has muted the channel.'),
  verified: boolean('Whether the network has verified who owns it.'),
  followers: orNull(Type.Integer(), 'How many people follow it; null if it is unknown.'),
  createdAt: orNull(time(), 'When the channel was created; null if it is unknown.'),
};

const Channel = named('Channel', { channelId: ChannelId, sessionId: SessionId, ...description });
const ChannelPreview = named('ChannelPreview', description);

const Given = Type.Refine(
  string('Link or invite code of the channel, its address on the network (`…@newsletter`), or its id (`chn_…`).', {
    minLength: 1,
    maxLength: 1000,
  }),
  (channel) => !/chat\.whatsapp\.com\/|sandbox:join\//i.test(channel),
  () => 'is a link to a group; join it with `groups.join`',
);

/** For operations on one channel, which the node of its session runs. */
export const ofChannel = { channelId: ChannelId, sessionId: SessionOfId };

export const channelErrors = [
  'not_found',
  'session_not_connected',
  'not_supported',
  'network_denied',
  'send_failed',
] as const;

const changing = {
  permission: 'groups:write',
  effect: 'write',
  thirdPartyText: true,
} as const;
const throughSession = {
  ...changing,
  owner: { field: 'sessionId' },
  scope: 'sessionId',
  errors: [...channelErrors, 'session_required', 'too_many'],
} as const;
const changingOne = {
  ...changing,
  owner: { field: 'channelId' },
  scope: 'channelId',
  errors: channelErrors,
} as const;

export const listChannels = defineOperation({
  id: 'channels.list',
  route: 'GET /channels',
  permission: 'groups:read',
  scope: 'filtered',
  effect: 'read',
  thirdPartyText: true,
  summary: 'List channels',
  description:
    'List the channels that sessions own or follow, as far as they are known here, newest first. Call `channels.refresh` to learn which channels the account followed on its phone.',
  input: { sessionId: ListedSessionId, ...pageInput },
  output: pageOf(Channel),
  errors: ['not_found'],
  async run(ctx, input) {
    const sessionIds = await listedSessions(ctx, input.sessionId);
    const own = ctx.database.longReader.kysely.selectFrom('channels').where('account_id', '=', ctx.accountId);
    const present = own.selectAll().where(isOfSessions(ctx, sessionIds)).where('role', 'is not', null);
    const show = (rows: readonly ChannelTable[]) => rows.map(toChannel);
    return readPage('channels', present, 'channel_id', input, show, 'desc', keysOf(own, 'channel_id'));
  },
});

export const previewChannel = defineOperation({
  id: 'channels.preview',
  route: 'GET /channels/preview',
  owner: { field: 'sessionId' },
  permission: 'groups:read',
  scope: 'sessionId',
  effect: 'read',
  thirdPartyText: true,
  summary: 'Preview a channel',
  description: 'Ask the network about a channel by its link, invite code or address, for example before following it.',
  input: { sessionId: OptionalSessionId, channel: Given },
  output: ChannelPreview,
  errors: [...channelErrors, 'session_required'],
  async run(ctx, input) {
    const { session } = ctx;
    const { find } = await channelActions(ctx, session);
    return describe(await find(await networkChannel(ctx, session, input.channel)));
  },
});

export const refreshChannels = defineOperation({
  ...throughSession,
  id: 'channels.refresh',
  route: 'POST /channels/refresh',
  approval: 'free',
  isRepeatable: true,
  thirdPartyText: false,
  summary: 'Refresh the list of channels',
  description: 'Ask the network which channels the session owns and follows, and store them.',
  input: { sessionId: OptionalSessionId },
  output: object({ sessionId: SessionId, channels: integer('How many channels the session owns or follows.') }),
  async run(ctx) {
    const { session } = ctx;
    const { list } = await channelActions(ctx, session);
    const channels = await list();
    const { commit } = ctx.database;
    const key = session.sessionId;
    await commit((tx) => endFollowing(tx, session, new Set(channels.map(({ networkId }) => networkId))), key);
    const store = async (tx: Tx, slice: readonly NetworkChannel[]) => {
      for (const channel of slice) await storeChannel(ctx, tx, session, channel);
      return slice.length;
    };
    await new Pace().inSlices(commit, channels, store, { key });
    return { sessionId: session.sessionId, channels: channels.length };
  },
});

export const createChannel = defineOperation({
  ...throughSession,
  id: 'channels.create',
  route: 'POST /channels',
  status: 201,
  summary: 'Create a channel',
  description: 'Create a channel with the session as its owner. Anybody who has its link can follow it.',
  input: {
    sessionId: OptionalSessionId,
    name: notBlank(string('Name of the channel.', { minLength: 1, maxLength: 100 })),
    description: optional(string('Text that describes the channel.', { minLength: 1, maxLength: 2048 })),
    idempotencyKey: IdempotencyKey,
  },
  idempotent: true,
  output: Channel,
  example: { name: 'News from the shop' },
  async run(ctx, input) {
    const { session } = ctx;
    const { create } = await channelActions(ctx, session);
    if (!(await hasRoomForChannel(ctx.database.reader, session))) throw tooManyChannels();
    return keep(ctx, session, await create(input.name, input.description ?? null));
  },
});

export const followChannel = defineOperation({
  ...throughSession,
  id: 'channels.follow',
  route: 'POST /channels/follow',
  isRepeatable: true,
  summary: 'Follow a channel',
  description: 'Follow a channel by its link, invite code or address.',
  input: { sessionId: OptionalSessionId, channel: Given },
  output: Channel,
  example: { channel: 'https://whatsapp.com/channel/0029Va0000000000000000' },
  async run(ctx, input) {
    const { session } = ctx;
    const { find, follow } = await channelActions(ctx, session);
    const { networkId } = await find(await networkChannel(ctx, session, input.channel));
    await requireRoomFor(ctx, session, networkId);
    return keep(ctx, session, await follow(networkId));
  },
});

export const getChannel = defineOperation({
  id: 'channels.get',
  route: 'GET /channels/{channelId}',
  permission: 'groups:read',
  scope: 'channelId',
  effect: 'read',
  thirdPartyText: true,
  summary: 'Get a channel',
  description: 'Get one channel that the session owns, follows or has followed.',
  input: ofChannel,
  output: Channel,
  errors: ['not_found'],
  run: async (ctx, input) => toChannel((await namedChannel(ctx, input)).channel),
});

export const updateChannel = defineOperation({
  ...changingOne,
  id: 'channels.update',
  route: 'PATCH /channels/{channelId}',
  approval: 'free',
  isRepeatable: true,
  summary: 'Mute or unmute a channel',
  description: 'Mute or unmute a channel for the account. A muted channel still reports its posts.',
  input: { ...ofChannel, muted: boolean('Whether the channel is muted.') },
  output: Channel,
  example: { channelId: 'chn_01JZ0000000000000000000000', muted: true },
  async run(ctx, input) {
    const { session, channel } = await namedChannel(ctx, input);
    const { setMuted } = await channelActions(ctx, session);
    await setMuted(channel.network_id, input.muted);
    return change(ctx, channel, { muted: Number(input.muted) });
  },
});

export const unfollowChannel = defineOperation({
  ...changingOne,
  id: 'channels.unfollow',
  route: 'POST /channels/{channelId}/unfollow',
  approval: 'free',
  effect: 'destructive',
  summary: 'Unfollow a channel',
  description: 'Stop following a channel. The posts that the session has received stay.',
  input: ofChannel,
  output: Channel,
  async run(ctx, input) {
    const { session, channel } = await namedChannel(ctx, input);
    const { unfollow } = await channelActions(ctx, session);
    await unfollow(channel.network_id);
    return change(ctx, channel, { role: null });
  },
});

/** The actions of the session's network, bound. */
export async function channelActions(ctx: Context, session: SessionRef) {
  const actions = await ctx.liveSessions.part(session, 'channels');
  return {
    list: () => actions.list(),
    find: (channel: string) => actions.find(channel),
    follow: (networkId: string) => actions.follow(networkId),
    unfollow: (networkId: string) => actions.unfollow(networkId),
    setMuted: (networkId: string, muted: boolean) => actions.setMuted(networkId, muted),
    create: (name: string, about: string | null) => actions.create(name, about),
    posts: (networkId: string, limit: number) => actions.posts(networkId, limit),
    react: (networkId: string, serverId: string, emoji: string | null) => actions.react(networkId, serverId, emoji),
  };
}

/**
 * The channel that an input names, and its session.
 * @throws {AppError} `not_found`
 */
export async function namedChannel(ctx: Context, { channelId, sessionId }: { channelId: string; sessionId?: string }) {
  const session = await resolveSessionOf(ctx, 'channel', channelId, sessionId);
  return { session, channel: await findChannel(ctx, session, channelId) };
}

/** @throws {AppError} `not_found` */
export async function findChannel(
  ctx: Context,
  { accountId, sessionId }: SessionRef,
  channelId: string,
): Promise<ChannelTable> {
  const row = await ctx.database.reader.kysely
    .selectFrom('channels')
    .selectAll()
    .where('account_id', '=', accountId)
    .where('session_id', '=', sessionId)
    .where('channel_id', '=', channelId)
    .executeTakeFirst();
  if (row === undefined) throw noSuch('channel', channelId);
  return row;
}

async function networkChannel(ctx: Context, session: SessionRef, given: string): Promise<string> {
  return given.startsWith('chn_') ? (await findChannel(ctx, session, given)).network_id : given;
}

/** @throws {AppError} `too_many` before the network is asked to follow one that could not be stored */
async function requireRoomFor(ctx: Context, session: SessionRef, networkId: string): Promise<void> {
  const { reader } = ctx.database;
  if (await hasRoomForChannel(reader, session)) return;
  const followed = await followedChannels(reader, session);
  if (!followed.some(({ network_id }) => network_id === networkId)) throw tooManyChannels();
}

const tooManyChannels = () =>
  new AppError('too_many', `The session has ${MAX_CHANNELS} channels, which is the limit; unfollow some`);

function followedChannels({ kysely }: Queryable, { accountId, sessionId }: SessionRef) {
  return kysely
    .selectFrom('channels')
    .select(['channel_id', 'network_id'])
    .where(unindexed('account_id'), '=', accountId) // SQLite would read all channels of the account
    .where('session_id', '=', sessionId)
    .where('role', 'is not', null)
    .execute();
}

/** Marks all channels but these as no longer followed. */
async function endFollowing(tx: Tx, session: SessionRef, present: ReadonlySet<string>): Promise<void> {
  const ended = (await followedChannels(tx, session)).filter(({ network_id }) => !present.has(network_id));
  if (ended.length === 0) return;
  await tx.kysely
    .updateTable('channels')
    .set({ role: null })
    .where('account_id', '=', session.accountId)
    .where(
      'channel_id',
      'in',
      ended.map(({ channel_id }) => channel_id),
    )
    .execute();
}

async function keep(ctx: Context, session: SessionRef, channel: NetworkChannel) {
  const row = await ctx.database.commit((tx) => storeChannel(ctx, tx, session, channel), session.sessionId);
  if (row === undefined) throw tooManyChannels();
  return toChannel(row);
}

async function change(ctx: Context, { channel_id, session_id }: ChannelTable, set: Partial<ChannelTable>) {
  const row = await ctx.database.commit(
    ({ kysely }) =>
      kysely
        .updateTable('channels')
        .set(set)
        .where('account_id', '=', ctx.accountId)
        .where('channel_id', '=', channel_id)
        .returningAll()
        .executeTakeFirst(),
    session_id,
  );
  if (row === undefined) throw noSuch('channel', channel_id);
  return toChannel(row);
}

function toChannel(row: ChannelTable) {
  return {
    channelId: row.channel_id,
    sessionId: row.session_id,
    networkChannelId: row.network_id,
    name: row.name,
    description: row.description,
    inviteLink: row.invite_link,
    role: row.role,
    muted: row.muted === 1,
    verified: row.verified === 1,
    followers: row.followers,
    createdAt: isoTime(row.created_at),
  };
}

function describe({ networkId, inviteCode: _, createdAt, ...channel }: NetworkChannel) {
  return { networkChannelId: networkId, ...channel, createdAt: isoTime(createdAt) };
}
