import { jidNormalizedUser, type proto } from 'baileys';
import { isGroup } from '../encryption/envelope.ts';
import type { Network } from '../network.ts';
import { type DeviceAddress, findAccount } from '../server/account.ts';
import { STATUS } from '../stanza.ts';

interface Referring {
  readonly author: DeviceAddress;
  readonly chat: string;
  readonly message: proto.IMessage;
}

/** Returns the author's address in a known group message, or the chat address of a direct message. */
type AddressOf = (id: string, chat: string) => string | undefined;

/**
 * Whether a phone finds the message that another one refers to, if it has it. The server cannot see the reference, and
 * accepts any. A phone compares the address with the message's: the same person's other one does not match, and
 * the reaction, deletion or edit is not shown (openclaw #36303, #128219), a quote names the wrong author
 * (verygoodplugins/whatsapp-mcp #212).
 */
export function refersRightly(network: Network, { author, chat, message }: Referring, addressOf: AddressOf): boolean {
  if (chat === STATUS) return true;
  const key = keyIn(message);
  if (key?.id) {
    const address = addressOf(key.id, chat);
    if (address === undefined) return true;
    if (!isGroup(chat)) return isLid(key.remoteJid) === isLid(address);
    if (key.fromMe === true) return findAccount(network, address) === author.account;
    return normalized(key.participant) === normalized(address);
  }
  const { stanzaId, participant } = quoteIn(message) ?? {};
  const address = stanzaId ? addressOf(stanzaId, chat) : undefined;
  if (address === undefined) return true;
  return isGroup(chat) ? normalized(participant) === normalized(address) : isLid(participant) === isLid(address);
}

function keyIn(message: proto.IMessage): proto.IMessageKey | null | undefined {
  const inner = message.editedMessage?.message ?? message;
  return (
    inner.reactionMessage?.key ??
    inner.protocolMessage?.key ??
    inner.pinInChatMessage?.key ??
    inner.pollUpdateMessage?.pollCreationMessageKey
  );
}

function quoteIn(message: proto.IMessage): proto.IContextInfo | undefined {
  const parts = Object.values(message) as ({ readonly contextInfo?: proto.IContextInfo | null } | null)[];
  return parts.find((part) => part?.contextInfo?.stanzaId)?.contextInfo ?? undefined;
}

const isLid = (jid: string | null | undefined): boolean => /@(hosted\.)?lid$/.test(jid ?? '');
const normalized = (jid: string | null | undefined): string => jidNormalizedUser(jid ?? undefined);
