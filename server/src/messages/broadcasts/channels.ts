import { sql } from 'kysely';
import { isoTime } from '../../clock.ts';
import type { ChannelFigures, ChannelPost, NetworkChannel } from '../../connectors/contract/channels.ts';
import type { NetworkEvent } from '../../connectors/contract/events.ts';
import type { Tx } from '../../db/commit.ts';
import type { Queryable } from '../../db/dialect.ts';
import { query, unindexed } from '../../db/query.ts';
import type { ChannelPostTable, ChannelTable } from '../../db/schema.ts';
import { cut } from '../../events/contentParts/limits.ts';
import { mediaPart, type StoredMedia } from '../content.ts';
import type { InboxOptions } from '../inboxOptions.ts';
import { findSession, type SessionRef } from '../store.ts';

/* Channels and their posts: what networks report about them. They are no chats, and their posts are no messages. */

type EventOf<T extends NetworkEvent['type']> = Extract<NetworkEvent, { type: T }>;

/** The newest posts of a channel that are kept. */
const MAX_POSTS = 1000;
/** Channels of a session. Those that it no longer follows make room for new ones. */
export const MAX_CHANNELS = 1000;
const NAME_CHARACTERS = 200;
const DESCRIPTION_CHARACTERS = 4096;
const LINK_CHARACTERS = 500;
const TEXT_CHARACTERS = 65_536;
const EMOJIS = 50;
const EMOJI_CHARACTERS = 32;

export const postMedia = ({ content }: Pick<ChannelPostTable, 'content'>): StoredMedia | undefined =>
  content === null ? undefined : JSON.parse(content).media;

/** Stores a channel as its network describes it. Returns undefined if the session has too many, or is gone. */
export async function storeChannel(
  { newId }: Pick<InboxOptions, 'newId'>,
  tx: Tx,
  session: SessionRef,
  channel: NetworkChannel,
): Promise<ChannelTable | undefined> {
  const present = await requireChannel({ newId }, tx, session, channel.networkId);
  if (present === undefined) return undefined;
  const { name, description, inviteLink, role, muted, verified, followers, createdAt } = channel;
  return tx.kysely
    .updateTable('channels')
    .set({
      name: cut(name, NAME_CHARACTERS),
      description: description && cut(description, DESCRIPTION_CHARACTERS),
      invite_link: inviteLink && cut(inviteLink, LINK_CHARACTERS),
      role,
      muted: Number(muted),
      verified: Number(verified),
      followers: figure(followers),
      created_at: createdAt ?? present.created_at,
    })
    .where('account_id', '=', session.accountId)
    .where('channel_id', '=', present.channel_id)
    .returningAll()
    .executeTakeFirst();
}

/** Finds a channel by the network's id, or stores one that the network has not described yet. */
async function requireChannel(
  { newId }: Pick<InboxOptions, 'newId'>,
  tx: Tx,
  session: SessionRef,
  networkId: string,
): Promise<ChannelTable | undefined> {
  const { accountId, sessionId } = session;
  const found = await tx.kysely
    .selectFrom('channels')
    .selectAll()
    .where('account_id', '=', accountId)
    .where('session_id', '=', sessionId)
    .where('network_id', '=', networkId)
    .executeTakeFirst();
  if (found !== undefined) return found;
  if ((await findSession(tx, session)) === undefined) return undefined;
  if (!(await makeRoomForChannel(tx, session))) return undefined;
  const row: ChannelTable = {
    account_id: accountId,
    session_id: sessionId,
    channel_id: newId('chn'),
    network_id: networkId,
    name: null,
    description: null,
    invite_link: null,
    role: 'follower',
    muted: 0,
    verified: 0,
    followers: null,
    created_at: null,
  };
  await tx.kysely.insertInto('channels').values(row).execute();
  return row;
}

/** Whether a session may follow a channel that it does not follow yet. */
export async function hasRoomForChannel({ kysely }: Queryable, { accountId, sessionId }: SessionRef): Promise<boolean> {
  const { count } = await kysely
    .selectFrom('channels')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where(unindexed('account_id'), '=', accountId) // SQLite would read all channels of the account
    .where('session_id', '=', sessionId)
    .where('role', 'is not', null)
    .executeTakeFirstOrThrow();
  return Number(count) < MAX_CHANNELS;
}

/** Deletes the oldest channels that the session no longer follows, with their posts, until one more has room. */
async function makeRoomForChannel(tx: Tx, { accountId, sessionId }: SessionRef): Promise<boolean> {
  if ((await hasMostChannels.first(tx, { sessionId })) === undefined) return true;
  const { kysely } = tx;
  const present = await kysely
    .selectFrom('channels')
    .select(['channel_id', 'role'])
    .where(unindexed('account_id'), '=', accountId)
    .where('session_id', '=', sessionId)
    .orderBy('channel_id')
    .execute();
  const excess = present.length - (MAX_CHANNELS - 1);
  if (excess <= 0) return true;
  const evicted = present.filter(({ role }) => role === null).slice(0, excess);
  if (evicted.length < excess) return false;
  for (const table of ['channel_posts', 'channels'] as const)
    await kysely
      .deleteFrom(table)
      .where('account_id', '=', accountId)
      .where(
        'channel_id',
        'in',
        evicted.map(({ channel_id }) => channel_id),
      )
      .execute();
  return true;
}

/** Returns a row if the session has all the channels that it may have. Reads only an index. */
const hasMostChannels = query((db, p: { sessionId: string }) =>
  db
    .selectFrom('channels')
    .select('session_id')
    .where('session_id', '=', p.sessionId)
    .limit(sql.lit(1))
    .offset(sql.lit(MAX_CHANNELS - 1)),
);

/** Whether a post is not stored yet and can be, so that its file is worth fetching. */
export async function isNewPost(
  on: Queryable,
  { accountId, sessionId }: SessionRef,
  { channel, networkId, serverId }: EventOf<'channel_post'>,
): Promise<boolean> {
  const present = await on.kysely
    .selectFrom('channels')
    .select('channel_id')
    .where('account_id', '=', accountId)
    .where('session_id', '=', sessionId)
    .where('network_id', '=', channel)
    .executeTakeFirst();
  if (present === undefined) return hasRoomForChannel(on, { accountId, sessionId });
  return (await findKnownPost(on, accountId, present.channel_id, { networkId, serverId })) === undefined;
}

function findKnownPost(
  { kysely }: Queryable,
  accountId: string,
  channelId: string,
  { networkId, serverId }: Pick<ChannelPost, 'networkId' | 'serverId'>,
) {
  return kysely
    .selectFrom('channel_posts')
    .select('post_id')
    .where('account_id', '=', accountId)
    .where('channel_id', '=', channelId)
    .where((eb) =>
      eb.or([eb('network_id', '=', networkId), ...(serverId === null ? [] : [eb('server_id', '=', serverId)])]),
    )
    .executeTakeFirst();
}

/** Stores a post that the network has reported, with its event. */
export async function storeReceivedPost(
  options: InboxOptions,
  tx: Tx,
  session: SessionRef,
  event: EventOf<'channel_post'>,
  file: StoredMedia | undefined,
): Promise<void> {
  const channel = await requireChannel(options, tx, session, event.channel);
  if (channel === undefined) return;
  const row = await storePost(options, tx, channel, event, file);
  if (row === undefined) return;
  const { accountId, sessionId } = session;
  const { channel_id: channelId, name: channelName } = channel;
  const data = {
    postId: row.post_id,
    channelId,
    sessionId,
    channelName,
    type: row.type,
    message: row.body,
    ...(file && { media: mediaPart(file, options.media) }),
    timestamp: isoTime(row.timestamp),
  };
  options.emit(tx, { accountId, kind: 'channel.message', data, conversation: `${sessionId}/${channelId}` });
}

/** Stores a post without an event. Returns undefined if it was stored before, and then takes over its figures. */
export async function storePost(
  { newId, clock }: Pick<InboxOptions, 'newId' | 'clock'>,
  tx: Tx,
  channel: ChannelTable,
  post: ChannelPost,
  file: StoredMedia | undefined,
): Promise<ChannelPostTable | undefined> {
  const { channel_id, account_id, session_id } = channel;
  const known = await findKnownPost(tx, account_id, channel_id, post);
  if (known !== undefined) {
    const change = { ...(post.serverId !== null && { server_id: post.serverId }), ...figureColumns(post) };
    if (Object.keys(change).length > 0)
      await tx.kysely
        .updateTable('channel_posts')
        .set(change)
        .where('account_id', '=', account_id)
        .where('post_id', '=', known.post_id)
        .execute();
    return undefined;
  }
  if (post.content === undefined) return undefined;
  const row: ChannelPostTable = {
    account_id,
    session_id,
    channel_id,
    post_id: newId('pst'),
    network_id: post.networkId,
    server_id: post.serverId,
    is_own: 0,
    type: post.content.type,
    body: cut(post.content.text, TEXT_CHARACTERS),
    content: file ? JSON.stringify({ media: file }) : null,
    state: 'sent',
    error: null,
    views: null,
    reactions: null,
    ...figureColumns(post),
    timestamp: Math.min(post.timestamp, clock.now()),
    media_id: file?.mediaId ?? null,
  };
  await tx.kysely.insertInto('channel_posts').values(row).execute();
  await makeRoom(tx, channel_id);
  return row;
}

/** Stores that the network has accepted a post, and merges the row that a refresh stored of it meanwhile. */
export async function confirmPost(
  { kysely }: Tx,
  { account_id, channel_id, post_id }: Pick<ChannelPostTable, 'account_id' | 'channel_id' | 'post_id'>,
  { timestamp, serverId }: { readonly timestamp: number; readonly serverId: string | null },
): Promise<Partial<ChannelPostTable>> {
  const twin =
    serverId === null
      ? undefined
      : await kysely
          .deleteFrom('channel_posts')
          .where('account_id', '=', account_id)
          .where('channel_id', '=', channel_id)
          .where('server_id', '=', serverId)
          .where('post_id', '!=', post_id)
          .returning(['views', 'reactions'])
          .executeTakeFirst();
  const sent = { state: 'sent', error: null, timestamp, server_id: serverId, ...twin } as const;
  await kysely
    .updateTable('channel_posts')
    .set(sent)
    .where('account_id', '=', account_id)
    .where('post_id', '=', post_id)
    .execute();
  return sent;
}

async function makeRoom({ kysely }: Tx, channelId: string): Promise<void> {
  const last = await kysely
    .selectFrom('channel_posts')
    .select('timestamp')
    .where('channel_id', '=', channelId)
    .orderBy('timestamp', 'desc')
    .offset(MAX_POSTS)
    .limit(1)
    .executeTakeFirst();
  if (last === undefined) return;
  await kysely
    .deleteFrom('channel_posts')
    .where('channel_id', '=', channelId)
    .where('timestamp', '<=', last.timestamp)
    .execute();
}

/** Stores how many people have seen a post or reacted to it. */
export async function noteFigures(
  { kysely }: Tx,
  { accountId, sessionId }: SessionRef,
  { channel, serverId, ...figures }: EventOf<'channel_figures'>,
): Promise<void> {
  const change = figureColumns(figures);
  if (Object.keys(change).length === 0) return;
  await kysely
    .updateTable('channel_posts')
    .set(change)
    .where('account_id', '=', accountId)
    .where('server_id', '=', serverId)
    .where('channel_id', 'in', (eb) =>
      eb
        .selectFrom('channels')
        .select('channels.channel_id')
        .where('channels.session_id', '=', sessionId)
        .where('channels.network_id', '=', channel),
    )
    .execute();
}

function figureColumns({ views, reactions }: ChannelFigures) {
  return {
    ...(views !== undefined && { views: figure(views) }),
    ...(reactions !== undefined && { reactions: JSON.stringify(reactionsWithinLimits(reactions)) }),
  };
}

function reactionsWithinLimits(reactions: Readonly<Record<string, number>>): Record<string, number> {
  const kept = Object.entries(reactions)
    .filter(([emoji, count]) => emoji.length <= EMOJI_CHARACTERS && count > 0)
    .sort(([, one], [, other]) => other - one)
    .slice(0, EMOJIS);
  return Object.fromEntries(kept.map(([emoji, count]) => [emoji, figure(count) ?? 0]));
}

const figure = (value: number | null): number | null =>
  value === null || !Number.isSafeInteger(value) || value < 0 ? null : value;
