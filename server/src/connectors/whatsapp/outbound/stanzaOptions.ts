import type { MessageRelayOptions, proto } from 'baileys';
import type { Session } from '../session.ts';

type StanzaOptions = Pick<MessageRelayOptions, 'additionalAttributes' | 'additionalNodes'>;

/**
 * Returns the attributes and parts of a message's stanza that follow from its content. Baileys adds them when it makes
 * the message, but not to one that goes out again as it was made. Like whatsmeow (`getEditAttribute`,
 * `getMessageContent`) and whatsapp-rust (`infer_stanza_metadata`).
 */
export function stanzaOptionsOf({ baileys }: Session, content: proto.IMessage): StanzaOptions {
  const message = baileys.normalizeMessageContent(content) ?? content;
  const edit = editOf(baileys.proto.Message.ProtocolMessage.Type, message);
  const meta = metaOf(message);
  return {
    ...(edit !== undefined && { additionalAttributes: { edit } }),
    ...(meta && { additionalNodes: [{ tag: 'meta', attrs: meta }] }),
  };
}

function editOf(
  { REVOKE, MESSAGE_EDIT }: typeof proto.Message.ProtocolMessage.Type,
  { protocolMessage, pinInChatMessage, secretEncryptedMessage }: proto.IMessage,
): string | undefined {
  if (pinInChatMessage) return '2';
  if (secretEncryptedMessage) return '1';
  // A missing type is the first one, which is the deletion.
  const type = protocolMessage?.key ? (protocolMessage.type ?? REVOKE) : undefined;
  if (type === MESSAGE_EDIT) return '1';
  if (type !== REVOKE) return undefined;
  return protocolMessage?.key?.fromMe ? '7' : '8';
}

function metaOf(message: proto.IMessage): Record<string, string> | undefined {
  if (message.pollUpdateMessage) return { polltype: 'vote' };
  if (message.pollCreationMessage ?? message.pollCreationMessageV3) return { polltype: 'creation' };
  return message.eventMessage ? { event_type: 'creation' } : undefined;
}
