import type { BinaryNode, WASocket } from 'baileys';
import { AppError } from '../../../errors.ts';
import type { ChannelActions, ChannelRole, NetworkChannel } from '../../contract/channels.ts';
import { inviteCodeOf } from '../../inviteLinks.ts';
import { postOf } from '../inbound/posts.ts';
import type { Baileys } from '../link/load.ts';
import { toOwnId, toWireId } from '../outbound/messageIds.ts';
import { toBaileysContent } from '../outbound/outgoingContent.ts';
import type { Sender } from '../outbound/sender.ts';
import type { Session } from '../session.ts';

const LINK = 'https://whatsapp.com/channel/';
const ANY_LINK = /\bwhatsapp\.com\/channel\/|\bwa\.me\/channel\/|\bwhatsapp:\/\/channel\/?\?(?:code|invite)=/;
const CODE = /^[\w-]{10,100}$/;
/** The query of WhatsApp Web for the channels of the account, which Baileys lacks. */
const SUBSCRIBED = { id: '6388546374527196', path: 'xwa2_newsletter_subscribed' };
const MAX_LISTED = 1000;
const MESSAGES = {
  missing: 'The channel does not exist on WhatsApp',
  forbidden: 'WhatsApp does not let the session do this in the channel',
};

export function createChannelActions({ baileys, requests }: Session, sender: Sender): ChannelActions {
  const ask = <T>(request: (socket: WASocket) => Promise<T>) => requests.ask(request, MESSAGES);

  async function find(channel: string): Promise<NetworkChannel> {
    const isAddress = baileys.isJidNewsletter(channel) === true;
    const code = isAddress ? channel : inviteCodeOf(channel, ANY_LINK);
    if (!isAddress && !CODE.test(code)) throw new AppError('not_found', 'This is not a link to a channel of WhatsApp');
    const described = await ask((socket) => socket.newsletterMetadata(isAddress ? 'jid' : 'invite', code));
    const found = channelOf(described);
    if (found === undefined) throw new AppError('not_found', MESSAGES.missing);
    return found;
  }

  return {
    find,
    async list() {
      const found = await ask((socket) => queryChannels(baileys, socket));
      return found.slice(0, MAX_LISTED).flatMap((described) => channelOf(described) ?? []);
    },
    async follow(networkId) {
      await ask((socket) => socket.newsletterFollow(networkId));
      const channel = await find(networkId);
      return { ...channel, role: channel.role ?? 'follower' };
    },
    async unfollow(networkId) {
      await ask((socket) => socket.newsletterUnfollow(networkId));
    },
    async setMuted(networkId, muted) {
      await ask((socket) => (muted ? socket.newsletterMute(networkId) : socket.newsletterUnmute(networkId)));
    },
    async create(name, description) {
      const created = channelOf(await ask((socket) => socket.newsletterCreate(name, description ?? undefined)));
      if (created === undefined) throw new AppError('send_failed', 'WhatsApp did not describe the new channel');
      return { ...created, role: 'owner' };
    },
    async post({ networkId, channel, content }) {
      const { timestamp, serverId } = await sender.post({
        jid: channel,
        makeContent: () => toBaileysContent(content),
        options: { messageId: toWireId(networkId) },
        hasFile: content.media !== undefined,
      });
      return { timestamp, serverId };
    },
    async posts(networkId, limit) {
      const answer = await ask((socket) => socket.newsletterFetchMessages(networkId, limit, 0, 0));
      return messagesIn(answer).flatMap((node) => {
        const post = postOf(baileys, node);
        if (post === undefined) return [];
        const { file: _, content, ...about } = post;
        return { ...about, networkId: toOwnId(post.networkId), ...(content && { content }) };
      });
    },
    async react(networkId, serverId, emoji) {
      await ask((socket) => socket.newsletterReactMessage(networkId, serverId, emoji ?? undefined));
    },
  };
}

async function queryChannels(baileys: Baileys, socket: WASocket): Promise<readonly unknown[]> {
  const { id, path } = SUBSCRIBED;
  const answer: BinaryNode = await socket.query({
    tag: 'iq',
    attrs: { id: socket.generateMessageTag(), type: 'get', to: 's.whatsapp.net', xmlns: 'w:mex' },
    content: [{ tag: 'query', attrs: { query_id: id }, content: Buffer.from(JSON.stringify({ variables: {} })) }],
  });
  const result = baileys.getBinaryNodeChildBuffer(answer, 'result');
  const { data } = result === undefined ? {} : JSON.parse(Buffer.from(result).toString());
  const channels: unknown = data?.[path];
  if (!Array.isArray(channels)) throw new Error('the answer has no list of channels');
  return channels;
}

/** The stanzas of posts in the answer to a query, at whatever depth. */
function messagesIn({ tag, content }: BinaryNode): BinaryNode[] {
  if (!Array.isArray(content)) return [];
  return content.flatMap((node) => (node.tag === 'message' && tag !== 'message' ? [node] : messagesIn(node)));
}

interface Described {
  readonly id?: unknown;
  readonly name?: unknown;
  readonly description?: unknown;
  readonly invite?: unknown;
  readonly subscribers?: unknown;
  readonly creation_time?: unknown;
  readonly verification?: unknown;
  readonly mute_state?: unknown;
  readonly thread_metadata?: Readonly<Record<string, unknown>> | null;
  readonly viewer_metadata?: Readonly<Record<string, unknown>> | null;
}

const ROLES: Readonly<Record<string, ChannelRole>> = { OWNER: 'owner', ADMIN: 'admin', SUBSCRIBER: 'follower' };

/** Reads a channel from an answer of the server, or in the form that Baileys makes of it. */
export function channelOf(described: unknown): NetworkChannel | undefined {
  if (typeof described !== 'object' || described === null) return undefined;
  const given: Described = described;
  const { id, thread_metadata: thread, viewer_metadata: viewer } = given;
  if (typeof id !== 'string' || !id.endsWith('@newsletter')) return undefined;
  const inviteCode = text(thread?.['invite'] ?? given.invite);
  const createdS = count(thread?.['creation_time'] ?? given.creation_time);
  const role = text(viewer?.['role']);
  return {
    networkId: id,
    name: text(thread?.['name'] ?? given.name) ?? '',
    description: text(thread?.['description'] ?? given.description) || null,
    inviteCode,
    inviteLink: inviteCode === null ? null : LINK + inviteCode,
    role: role === null ? null : (ROLES[role] ?? null),
    muted: (viewer?.['mute'] ?? given.mute_state) === 'ON',
    verified: (thread?.['verification'] ?? given.verification) === 'VERIFIED',
    followers: count(thread?.['subscribers_count'] ?? given.subscribers),
    createdAt: createdS === null ? null : createdS * 1000,
  };
}

/** A text, or an object that has one. */
function text(value: unknown): string | null {
  if (typeof value === 'string') return value;
  if (typeof value !== 'object' || value === null || !('text' in value)) return null;
  return typeof value.text === 'string' ? value.text : null;
}

function count(value: unknown): number | null {
  const number = typeof value === 'string' || typeof value === 'number' ? Number(value) : Number.NaN;
  return Number.isSafeInteger(number) && number >= 0 ? number : null;
}
