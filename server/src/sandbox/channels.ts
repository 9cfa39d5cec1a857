import { randomBytes, randomUUID } from 'node:crypto';
import type { ChannelActions, ChannelPost, NetworkChannel, OutgoingPost } from '../connectors/contract/channels.ts';
import { inviteCodeOf } from '../connectors/inviteLinks.ts';
import { AppError } from '../errors.ts';
import type { SandboxNetwork } from './network.ts';
import type { SandboxChannel, SandboxPost } from './store.ts';

const LINK = 'sandbox:channel/';
/** Newest posts that the network keeps of a channel. */
const POSTS_KEPT = 50;

/** Somebody on the network: a session, or a person whom a simulation plays. */
interface Member {
  readonly number: string;
  /** @throws {AppError} `session_not_connected` */
  requireOnline(): void;
}

export class SandboxChannels implements ChannelActions {
  readonly #network: SandboxNetwork;
  readonly #self: Member;

  constructor(network: SandboxNetwork, self: Member) {
    this.#network = network;
    this.#self = self;
  }

  async list(): Promise<readonly NetworkChannel[]> {
    this.#self.requireOnline();
    const channels = await this.#network.store.channelsOf(this.#network.addressOf(''), this.#self.number);
    return channels.map((channel) => shownTo(this.#self.number, channel));
  }

  async find(channel: string): Promise<NetworkChannel> {
    this.#self.requireOnline();
    const { store } = this.#network;
    const code = inviteCodeOf(channel, /\bsandbox:channel\//);
    const found =
      (await store.channel(this.#network.addressOf(channel))) ??
      (await store.channelByInvite(this.#network.addressOf(code)));
    return shownTo(this.#self.number, required(found));
  }

  async follow(networkId: string): Promise<NetworkChannel> {
    const { number } = this.#self;
    const isMember = ({ owner, followers }: SandboxChannel) => owner === number || followers.includes(number);
    return this.#change(networkId, (channel) =>
      isMember(channel) ? channel : { ...channel, followers: [...channel.followers, number] },
    );
  }

  async unfollow(networkId: string): Promise<void> {
    const { number } = this.#self;
    await this.#change(networkId, (channel) => {
      if (channel.owner === number)
        throw new AppError('network_denied', 'The owner of a channel cannot stop following it');
      return { ...channel, followers: channel.followers.filter((one) => one !== number) };
    });
  }

  async setMuted(networkId: string, muted: boolean): Promise<void> {
    const { number } = this.#self;
    await this.#change(networkId, (channel) => {
      const others = channel.mutedBy.filter((one) => one !== number);
      return { ...channel, mutedBy: muted ? [...others, number] : others };
    });
  }

  async create(name: string, description: string | null): Promise<NetworkChannel> {
    this.#self.requireOnline();
    const channel: SandboxChannel = {
      networkId: `${randomUUID()}@newsletter`,
      name,
      description,
      inviteCode: randomBytes(12).toString('base64url'),
      owner: this.#self.number,
      followers: [],
      mutedBy: [],
      createdAt: this.#network.clock.now(),
      posts: [],
      nextPost: 1,
    };
    await this.#network.store.changeChannel(this.#network.addressOf(''), channel.networkId, () => ({ channel }));
    return shownTo(this.#self.number, channel);
  }

  async post({ networkId, channel: address, content }: OutgoingPost) {
    this.#self.requireOnline();
    const timestamp = this.#network.clock.now();
    const { store, mailboxes } = this.#network;
    const { channel, hasMail } = await store.changeChannel(this.#network.addressOf(''), address, (before) => {
      const present = required(before);
      if (present.owner !== this.#self.number)
        throw new AppError('network_denied', 'Only the owner and the admins of a channel can post to it');
      // Posting the same post twice posts it once.
      if (present.posts.some((post) => post.networkId === networkId)) return { channel: present };
      const post = { networkId, serverId: String(present.nextPost), content, timestamp, reactions: {} };
      const posts = [...present.posts, post].slice(-POSTS_KEPT);
      return {
        channel: { ...present, posts, nextPost: present.nextPost + 1 },
        event: { type: 'channel_post', channel: address, ...post, reactions: {} },
        to: present.followers,
      };
    });
    await mailboxes.announce(hasMail);
    const posted = channel.posts.find((post) => post.networkId === networkId);
    return { timestamp: posted?.timestamp ?? timestamp, serverId: posted?.serverId ?? null };
  }

  async posts(networkId: string, limit: number): Promise<readonly ChannelPost[]> {
    this.#self.requireOnline();
    const { posts } = required(await this.#network.store.channel(this.#network.addressOf(networkId)));
    return posts.slice(-limit).map((post) => ({ ...post, reactions: counted(post) }));
  }

  async react(networkId: string, serverId: string, emoji: string | null): Promise<void> {
    this.#self.requireOnline();
    const { number } = this.#self;
    const { store, mailboxes } = this.#network;
    const { hasMail } = await store.changeChannel(this.#network.addressOf(''), networkId, (before) => {
      const channel = required(before);
      const post = channel.posts.find((one) => one.serverId === serverId);
      if (post === undefined) throw new AppError('not_found', 'The channel no longer has this post');
      const { [number]: _, ...others } = post.reactions;
      const changed = { ...post, reactions: emoji === null ? others : { ...others, [number]: emoji } };
      return {
        channel: { ...channel, posts: channel.posts.map((one) => (one === post ? changed : one)) },
        event: { type: 'channel_figures', channel: networkId, serverId, reactions: counted(changed) },
        to: [channel.owner, ...channel.followers],
      };
    });
    await mailboxes.announce(hasMail);
  }

  async #change(networkId: string, change: (channel: SandboxChannel) => SandboxChannel): Promise<NetworkChannel> {
    this.#self.requireOnline();
    const { channel } = await this.#network.store.changeChannel(this.#network.addressOf(''), networkId, (before) => ({
      channel: change(required(before)),
    }));
    return shownTo(this.#self.number, channel);
  }
}

/** A channel as a number sees it. */
export function shownTo(number: string, channel: SandboxChannel): NetworkChannel {
  const { networkId, name, description, inviteCode, owner, followers, mutedBy, createdAt } = channel;
  return {
    networkId,
    name,
    description,
    inviteCode,
    inviteLink: LINK + inviteCode,
    role: owner === number ? 'owner' : followers.includes(number) ? 'follower' : null,
    muted: mutedBy.includes(number),
    verified: false,
    followers: followers.length,
    createdAt,
  };
}

function counted({ reactions }: SandboxPost): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const emoji of Object.values(reactions)) counts[emoji] = (counts[emoji] ?? 0) + 1;
  return counts;
}

/** @throws {AppError} `not_found` */
function required(channel: SandboxChannel | undefined): SandboxChannel {
  if (channel === undefined) throw new AppError('not_found', 'The channel does not exist on the network');
  return channel;
}
