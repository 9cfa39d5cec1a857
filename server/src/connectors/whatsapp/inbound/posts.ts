import type { BinaryNode } from 'baileys';
import type { ChannelContent, ChannelFigures } from '../../contract/channels.ts';
import { isDirectPath, parseContent } from '../content/incomingContent.ts';
import type { Baileys } from '../link/load.ts';
import type { PlainFile } from './incomingFile.ts';

/** A post of a channel, as the server describes it. Posts are not encrypted. */
export interface ReadPost extends ChannelFigures {
  /** The id on the wire. */
  readonly networkId: string;
  readonly serverId: string | null;
  /** Undefined if the server tells only the figures. */
  readonly content: ChannelContent | undefined;
  readonly file: PlainFile | undefined;
  readonly timestamp: number;
}

/** Returns undefined for a stanza without a post: a reaction, or one that cannot be read. */
export function postOf(baileys: Baileys, node: BinaryNode): ReadPost | undefined {
  const { id, server_id: serverId = null, t } = node.attrs;
  const networkId = id ?? serverId ?? undefined;
  if (networkId === undefined || !Number.isFinite(Number(t))) return undefined;
  const plaintext = baileys.getBinaryNodeChildBuffer(node, 'plaintext');
  const read = plaintext === undefined ? undefined : readContent(baileys, plaintext);
  const figures = figuresOf(baileys, node);
  if (read === undefined && Object.keys(figures).length === 0) return undefined;
  return { networkId, serverId, content: read?.content, file: read?.file, timestamp: Number(t) * 1000, ...figures };
}

function readContent(baileys: Baileys, bytes: Uint8Array | Buffer) {
  const { Message } = baileys.proto;
  let whole: ReturnType<typeof Message.decode>;
  let parsed: ReturnType<typeof parseContent>;
  try {
    whole = Message.decode(bytes);
    parsed = parseContent(baileys, whole);
  } catch {
    return undefined; // anybody may own a channel
  }
  if (parsed === undefined) return undefined;
  const { type, text } = parsed.content;
  if (type !== 'image' && type !== 'video') return { content: { type: 'text', text } as const, file: undefined };
  const { directPath, fileSha256 } = (type === 'image' ? whole.imageMessage : whole.videoMessage) ?? {};
  const { mimeType = '', size = 0 } = parsed.media ?? {};
  const hasFile = isDirectPath(directPath) && fileSha256?.length === 32;
  return { content: { type, text }, file: hasFile ? { directPath, hash: fileSha256, mimeType, size } : undefined };
}

function figuresOf(baileys: Baileys, node: BinaryNode): ChannelFigures {
  const views = Number(baileys.getBinaryNodeChild(node, 'views_count')?.attrs['count'] ?? Number.NaN);
  const list = baileys.getBinaryNodeChild(node, 'reactions');
  const reactions = baileys
    .getBinaryNodeChildren(list, 'reaction')
    .map(({ attrs }): [string, number] => [attrs['code'] ?? '', Number(attrs['count'] ?? 0)])
    .filter(([code]) => code !== '');
  return {
    ...(Number.isSafeInteger(views) && { views }),
    ...(list !== undefined && { reactions: Object.fromEntries(reactions) }),
  };
}
