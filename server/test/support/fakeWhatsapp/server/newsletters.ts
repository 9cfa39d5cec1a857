import { randomBytes } from 'node:crypto';
import { type BinaryNode, proto } from 'baileys';
import { deliver, type Network } from '../network.ts';
import { bytesOf, childOf, stanza } from '../stanza.ts';
import { type Account, type DeviceAddress, devicesOf } from './account.ts';
import { nowS } from './linking.ts';
import type { MessageError } from './messages.ts';
import { type Answer, type Query, QueryError } from './queries.ts';

/** A channel. */
export interface Newsletter {
  readonly jid: string;
  readonly name: string;
  readonly description: string;
  readonly invite: string;
  readonly owner: Account;
  readonly createdS: number;
  readonly followers: Set<Account>;
  readonly mutedBy: Set<Account>;
  readonly posts: Post[];
}

interface Post {
  readonly id: string;
  readonly serverId: string;
  readonly t: string;
  readonly type: string;
  /** An encoded `proto.Message`. */
  readonly content: Buffer;
  readonly reactions: Map<Account, string>;
  views: number;
}

/** The queries of clients about channels, by their ids. */
const QUERIES: Readonly<Record<string, (query: Query, variables: Variables) => object>> = {
  '8823471724422422': ({ network, account }, { input }) => {
    const newsletter = createNewsletter(network, account, input?.name ?? '', input?.description ?? '');
    return { xwa2_newsletter_create: describe(newsletter, account) };
  },
  '6563316087068696': ({ network, account }, { input }) => {
    const found = [...network.newsletters.values()].find(({ jid, invite }) => [jid, invite].includes(input?.key ?? ''));
    return { xwa2_newsletter: describe(required(found), account) };
  },
  '6388546374527196': ({ network, account }) => {
    const own = [...network.newsletters.values()].filter((one) => roleOf(one, account) !== 'GUEST');
    return { xwa2_newsletter_subscribed: own.map((one) => describe(one, account)) };
  },
  '24404358912487870': (query, variables) => {
    const newsletter = find(query, variables);
    newsletter.followers.add(query.account);
    return { xwa2_newsletter_join_v2: { id: newsletter.jid } };
  },
  '9767147403369991': (query, variables) => {
    const newsletter = find(query, variables);
    if (newsletter.owner === query.account) return refuse(403, 'Forbidden');
    newsletter.followers.delete(query.account);
    return { xwa2_newsletter_leave_v2: { id: newsletter.jid } };
  },
  '29766401636284406': (query, variables) => {
    find(query, variables).mutedBy.add(query.account);
    return { xwa2_newsletter_mute_v2: {} };
  },
  '9864994326891137': (query, variables) => {
    find(query, variables).mutedBy.delete(query.account);
    return { xwa2_newsletter_unmute_v2: {} };
  },
};

interface Variables {
  readonly newsletter_id?: string;
  readonly input?: { readonly name?: string; readonly description?: string | null; readonly key?: string };
}

/** A query that fails with an answer: the server reports errors of these queries in the result. */
class GraphError extends Error {
  readonly code: number;
  constructor(code: number, text: string) {
    super(text);
    this.code = code;
  }
}

function refuse(code: number, text: string): never {
  throw new GraphError(code, text);
}

/** Returns undefined for a query that is about something else. */
export function answerChannelQuery(query: Query): Answer {
  const handler = QUERIES[query.ask?.attrs['query_id'] ?? ''];
  if (handler === undefined || query.ask === undefined) return undefined;
  const { variables } = JSON.parse(bytesOfContent(query.ask).toString());
  let answer: object;
  try {
    answer = { data: handler(query, variables) };
  } catch (error) {
    if (!(error instanceof GraphError)) throw error;
    answer = { errors: [{ message: error.message, extensions: { error_code: error.code } }] };
  }
  return [stanza('result', {}, Buffer.from(JSON.stringify(answer)))];
}

/** Answers a query for the newest posts of a channel. */
export function answerPostsQuery({ network, iq, ask }: Query): Answer {
  const newsletter = network.newsletters.get(iq.attrs['to'] ?? '');
  if (newsletter === undefined) throw new QueryError(404, 'item-not-found');
  const posts = newsletter.posts.slice(-Number(ask?.attrs['count'] ?? 50));
  const nodes = posts.map(({ id, serverId, t, type, content, reactions, views }) =>
    stanza('message', { id, server_id: serverId, t, type }, [
      stanza('plaintext', {}, content),
      stanza('views_count', { count: String(views) }),
      stanza(
        'reactions',
        {},
        [...Map.groupBy(reactions.values(), (code) => code)].map(([code, all]) =>
          stanza('reaction', { code, count: String(all.length) }),
        ),
      ),
    ]),
  );
  return [stanza('message_updates', {}, [stanza('messages', { jid: newsletter.jid }, nodes)])];
}

export function createNewsletter(network: Network, owner: Account, name: string, description = ''): Newsletter {
  const newsletter: Newsletter = {
    jid: `1203630${randomBytes(5).readUIntBE(0, 5)}@newsletter`,
    name,
    description,
    invite: randomBytes(12).toString('hex'),
    owner,
    createdS: nowS(),
    followers: new Set(),
    mutedBy: new Set(),
    posts: [],
  };
  network.newsletters.set(newsletter.jid, newsletter);
  return newsletter;
}

/** Accepts a post, or a reaction to one. */
export function routePost(network: Network, author: DeviceAddress, node: BinaryNode): MessageError {
  const { to = '', id = '', type = 'text', server_id: serverId } = node.attrs;
  const newsletter = network.newsletters.get(to);
  if (newsletter === undefined) return 404;
  if (type === 'reaction') {
    const post = newsletter.posts.find((one) => one.serverId === serverId);
    if (post === undefined) return 404;
    const code = childOf(node, 'reaction')?.attrs['code'];
    if (code === undefined) post.reactions.delete(author.account);
    else post.reactions.set(author.account, code);
    return undefined;
  }
  if (newsletter.owner !== author.account) return 403;
  publish(network, newsletter, { id, type, content: bytesOf(node, 'plaintext') }, author);
  return undefined;
}

/** The number that a post got, for its acknowledgement. */
export function serverIdOf({ newsletters }: Network, { attrs: { to = '', id } }: BinaryNode): string | undefined {
  return newsletters.get(to)?.posts.find((post) => post.id === id)?.serverId;
}

export function publish(
  network: Network,
  newsletter: Newsletter,
  { id, type, content }: { readonly id: string; readonly type: string; readonly content: Buffer },
  author?: DeviceAddress,
): Post {
  const known = newsletter.posts.find((post) => post.id === id);
  if (known !== undefined) return known;
  const serverId = String(100 + newsletter.posts.length);
  const post: Post = { id, serverId, t: String(nowS()), type, content, reactions: new Map(), views: 0 };
  newsletter.posts.push(post);
  const attributes = { from: newsletter.jid, id, server_id: serverId, t: post.t, type };
  const message = stanza('message', attributes, [stanza('plaintext', {}, content)]);
  for (const device of [newsletter.owner, ...newsletter.followers].flatMap(devicesOf)) {
    const isAuthor = device.account === author?.account && device.device === author.device;
    if (device.device !== 0 && !isAuthor) deliver(network, device, message);
  }
  return post;
}

export const encodePost = (message: proto.IMessage): Buffer => Buffer.from(proto.Message.encode(message).finish());

function find({ network }: Query, { newsletter_id: jid = '' }: Variables): Newsletter {
  return required(network.newsletters.get(jid));
}

function required(newsletter: Newsletter | undefined): Newsletter {
  return newsletter ?? refuse(404, 'Not Found');
}

function roleOf({ owner, followers }: Newsletter, account: Account): 'OWNER' | 'SUBSCRIBER' | 'GUEST' {
  if (owner === account) return 'OWNER';
  return followers.has(account) ? 'SUBSCRIBER' : 'GUEST';
}

function describe(newsletter: Newsletter, account: Account): object {
  const { jid, name, description, invite, createdS, followers, mutedBy } = newsletter;
  return {
    id: jid,
    state: { type: 'ACTIVE' },
    thread_metadata: {
      name: { id: '1', text: name, update_time: String(createdS) },
      description: { id: '1', text: description, update_time: String(createdS) },
      invite,
      creation_time: String(createdS),
      subscribers_count: String(followers.size),
      verification: 'UNVERIFIED',
      picture: { id: '1', type: 'IMAGE', direct_path: '' },
    },
    viewer_metadata: { mute: mutedBy.has(account) ? 'ON' : 'OFF', role: roleOf(newsletter, account) },
  };
}

function bytesOfContent({ content }: BinaryNode): Buffer {
  if (!(content instanceof Uint8Array)) throw new Error('a query without variables');
  return Buffer.from(content);
}
