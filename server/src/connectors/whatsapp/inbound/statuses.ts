import type { proto } from 'baileys';
import type { NetworkEvent } from '../../contract/events.ts';
import type { NetworkMedia } from '../../contract/networkMedia.ts';
import type { StatusContent } from '../../contract/status.ts';
import type { Parsed } from '../content/incomingContent.ts';
import type { Baileys } from '../link/load.ts';
import { toOwnId } from '../outbound/messageIds.ts';

interface Received {
  readonly id: string;
  readonly from: string;
  readonly isOwn: boolean;
  readonly senderName: string | undefined;
  readonly timestamp: number;
  /** The message without its wrappers. */
  readonly whole: proto.IMessage;
  readonly parsed: Parsed | undefined;
  readonly media: NetworkMedia | undefined;
}

/** Returns undefined if it is neither a status nor its deletion. */
export function statusOf(baileys: Baileys, received: Received): NetworkEvent | undefined {
  const { id, from, isOwn, senderName, timestamp, whole, parsed, media } = received;
  const known = (wireId: string) => (isOwn ? toOwnId(wireId) : wireId);
  const { protocolMessage } = whole;
  if (protocolMessage) {
    if (protocolMessage.type !== baileys.proto.Message.ProtocolMessage.Type.REVOKE) return undefined;
    return { type: 'status_deleted', networkId: known(protocolMessage.key?.id ?? ''), from, timestamp };
  }
  if (parsed === undefined) return undefined;
  return {
    type: 'status',
    networkId: known(id),
    from,
    ...(isOwn ? { isOwn } : senderName !== undefined && { senderName }),
    content: contentOf(parsed, media, whole),
    timestamp,
  };
}

/** Other kinds, such as a location, become texts. */
function contentOf(
  { content: { type, text } }: Parsed,
  media: NetworkMedia | undefined,
  { extendedTextMessage, audioMessage }: proto.IMessage,
): StatusContent {
  const argb = extendedTextMessage?.backgroundArgb ?? audioMessage?.backgroundArgb;
  const font = extendedTextMessage?.font;
  const style = {
    ...(typeof argb === 'number' && {
      backgroundColor: `#${(argb & 0xff_ff_ff).toString(16).padStart(6, '0').toUpperCase()}`,
    }),
    ...(typeof font === 'number' && { font }),
  };
  if (type === 'image' || type === 'video') return { type, text, ...(media && { media }) };
  if (type === 'voice' || type === 'audio') return { type: 'voice', text, ...(media && { media }), ...style };
  return { type: 'text', text, ...style };
}
