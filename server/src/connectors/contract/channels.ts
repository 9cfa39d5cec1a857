import type { NetworkMedia } from './networkMedia.ts';

/* Channels: one side posts, and anybody can follow. Types only. */

/** The role of the session in a channel; null if it does not follow it. */
export type ChannelRole = 'follower' | 'admin' | 'owner' | null;

export interface NetworkChannel {
  readonly networkId: string;
  readonly name: string;
  readonly description: string | null;
  /** Code of the link by which people find the channel; null if the network does not tell it. */
  readonly inviteCode: string | null;
  readonly inviteLink: string | null;
  readonly role: ChannelRole;
  readonly muted: boolean;
  /** Whether the network has verified who owns it. */
  readonly verified: boolean;
  /** Null if the network does not tell it. */
  readonly followers: number | null;
  readonly createdAt: number | null;
}

export type ChannelContentType = 'text' | 'image' | 'video';

export interface ChannelContent {
  readonly type: ChannelContentType;
  /** The text, or the caption of the file. */
  readonly text: string;
  readonly media?: NetworkMedia;
}

export interface ChannelFigures {
  /** How many people have seen the post, if the network counts them. */
  readonly views?: number;
  /** How many people have reacted with each emoji. */
  readonly reactions?: Readonly<Record<string, number>>;
}

export interface ChannelPost extends ChannelFigures {
  readonly networkId: string;
  /** The number of the post in its channel, by which reactions and figures name it; null if the network has none. */
  readonly serverId: string | null;
  /** Left out if the network tells only the figures. */
  readonly content?: ChannelContent;
  readonly timestamp: number;
}

export interface OutgoingPost {
  /** See `OutgoingMessage.networkId`. */
  readonly networkId: string;
  /** The network's id of the channel. */
  readonly channel: string;
  readonly content: ChannelContent;
}

export interface ChannelActions {
  /** Returns the channels that the session owns or follows. */
  list(): Promise<readonly NetworkChannel[]>;
  /**
   * Looks up a channel by the network's id, or by the code or link of its invite.
   * @throws {AppError} `not_found`
   */
  find(channel: string): Promise<NetworkChannel>;
  follow(networkId: string): Promise<NetworkChannel>;
  unfollow(networkId: string): Promise<void>;
  setMuted(networkId: string, muted: boolean): Promise<void>;
  create(name: string, description: string | null): Promise<NetworkChannel>;
  /**
   * Posts to a channel of the session. Resolves once the network has accepted the post.
   * @throws {AppError} `network_denied` if the session may not post to it
   */
  post(post: OutgoingPost): Promise<{ readonly timestamp: number; readonly serverId: string | null }>;
  /** Returns the newest posts, in any order. */
  posts(networkId: string, limit: number): Promise<readonly ChannelPost[]>;
  /** @param emoji null removes the reaction */
  react(networkId: string, serverId: string, emoji: string | null): Promise<void>;
}

export type ChannelEvent =
  /** The channel is new to the session, or has changed. */
  | { readonly type: 'channel'; readonly channel: NetworkChannel }
  | (ChannelPost & { readonly type: 'channel_post'; readonly channel: string; readonly content: ChannelContent })
  /** The figures of a post have changed. */
  | (ChannelFigures & { readonly type: 'channel_figures'; readonly channel: string; readonly serverId: string });
