import { deflateSync } from 'node:zlib';
import { proto } from 'baileys';
import { isGroup } from '../encryption/envelope.ts';
import type { Network } from '../network.ts';
import { type Account, type Companion, type DeviceAddress, findAccount, requireAccount } from '../server/account.ts';
import { keyShare } from '../server/appState.ts';
import { newId, nowS } from '../server/linking.ts';
import { sendToOwn } from '../server/login.ts';
import { uploadEncrypted } from './mediaFile.ts';

const { HistorySyncType } = proto.HistorySync;
/** The age of messages that the phone sends as recent. */
const RECENT_S = 90 * 24 * 3600;

export interface WrittenMessage {
  readonly id?: string;
  /** Whether the owner of the phone wrote it. */
  readonly fromMe?: boolean;
  /** Number of the sender in a group. */
  readonly from?: string;
  readonly atS?: number;
  /** Further fields, such as `reactions` or `status`. */
  readonly info?: Partial<proto.IWebMessageInfo>;
}

/** A part of the history with a fault. */
export interface FaultyPart {
  readonly type?: keyof typeof HistorySyncType;
  /** Replaces the compressed content. */
  readonly content?: Buffer;
  readonly progress?: number;
  /** Changes the reference to the file. */
  readonly file?: object;
}

/** The history of a phone, from before its clients are linked. The first login of a client gets it. */
export interface PhoneHistory {
  /** Addresses of the chats that clients have asked for older messages of. */
  readonly asked: readonly string[];
  /** Writes a message into the history, newer than those before, and returns its id. */
  write(to: string, message: proto.IMessage | string, details?: WrittenMessage): string;
  /** Writes many texts into a chat that has none, the newest first. */
  fill(to: string, texts: readonly { readonly text: string; readonly fromMe: boolean; readonly atS: number }[]): void;
  /** Sets fields of a chat, such as `unreadCount`, `archived`, or the name of a group. */
  setChat(to: string, fields: Partial<proto.IConversation>): void;
  /** Sets the name that somebody chose. */
  setName(number: string, name: string): void;
  /** How many messages one part has. */
  setPartSize(messages: number): void;
  /** Announces a part by hand, to all clients. */
  announce(part: FaultyPart): Promise<void>;
  /** Sends a history to the clients again, as if they were new. */
  sendAgain(): Promise<void>;
}

export function createPhoneHistory(network: Network, account: Account): PhoneHistory {
  const { history } = account;
  const chatOf = (to: string) => {
    const jid = to.includes('@') ? to : requireAccount(network, to).lidJid;
    const known = history.chats.get(jid) ?? { chat: addressed(network, { id: jid }), messages: [] };
    history.chats.set(jid, known);
    return { jid, ...known };
  };
  return {
    asked: account.history.asked,
    write(to, message, { id = newId(), fromMe = false, from, atS = nowS(), info = {} } = {}) {
      const { jid, messages } = chatOf(to);
      const participant = from === undefined ? undefined : requireAccount(network, from).lidJid;
      messages.unshift({
        key: { remoteJid: jid, fromMe, id, ...(participant && { participant }) },
        message: typeof message === 'string' ? { conversation: message } : message,
        messageTimestamp: atS,
        ...info,
      });
      messages.sort((one, other) => Number(other.messageTimestamp) - Number(one.messageTimestamp));
      return id;
    },
    fill(to, texts) {
      const { jid, messages } = chatOf(to);
      for (const { text, fromMe, atS } of texts)
        messages.push({
          key: { remoteJid: jid, fromMe, id: newId() },
          message: { conversation: text },
          messageTimestamp: atS,
        });
    },
    setChat: (to, fields) => void Object.assign(chatOf(to).chat, fields),
    setName: (number, name) => void history.names.set(requireAccount(network, number).lidJid, name),
    setPartSize(messages) {
      history.messagesPerPart = messages;
    },
    async announce(part) {
      const type = HistorySyncType[part.type ?? 'RECENT'];
      const content = part.content ?? compressed({ syncType: type, conversations: [] });
      for (const device of account.companions.keys())
        await announce(network, { account, device }, { type, content, progress: part.progress, file: part.file });
    },
    async sendAgain() {
      for (const companion of account.companions.values()) await sendParts(network, companion);
    },
  };
}

/** Sends the history that a client gets from the phone on its first login. */
export async function sendHistory(network: Network, companion: Companion): Promise<void> {
  if (companion.hasHistory) return;
  companion.hasHistory = true;
  const { account } = companion;
  const device = { account, device: companion.id };
  // The key first, because with the history the client starts to fetch state that needs it.
  if (!network.faults.areStateKeysWithheld) await sendToOwn(network, device, keyShare(account.appState));
  await sendParts(network, companion);
}

/** The newest message of each chat within the first message, all others in files on the media host. */
async function sendParts(network: Network, companion: Companion): Promise<void> {
  const { account, wantsFullHistory } = companion;
  const { chats, names, messagesPerPart } = account.history;
  const device = { account, device: companion.id };
  const known = [...network.byNumber.values()].filter(({ profile }) => !profile.hidesNumber);
  const newest = [...chats.values()].map(({ chat, messages }) => withMessages(chat, messages.slice(0, 1)));
  const first = HistorySyncType.INITIAL_BOOTSTRAP;
  const content = compressed({
    syncType: first,
    conversations: newest,
    phoneNumberToLidMappings: known.map(({ numberJid, lidJid }) => ({ pnJid: numberJid, lidJid })),
  });
  await notify(network, device, { type: first, progress: 100, inline: content });
  if (chats.size === 0 && names.size === 0) return;
  const pushnames = [...names].map(([id, pushname]) => ({ id, pushname }));
  const named = { syncType: HistorySyncType.PUSH_NAME, conversations: [], pushnames };
  await announce(network, device, { type: HistorySyncType.PUSH_NAME, content: compressed(named) });
  const older = [...chats.values()].map(({ chat, messages }) => ({ chat, messages: messages.slice(1) }));
  const limitS = nowS() - RECENT_S;
  const isRecent = ({ messageTimestamp }: proto.IWebMessageInfo) => Number(messageTimestamp) >= limitS;
  const parts = { RECENT: partsOf(older, isRecent, messagesPerPart), FULL: [] as proto.IConversation[][] };
  if (wantsFullHistory) parts.FULL = partsOf(older, (info) => !isRecent(info), messagesPerPart);
  for (const name of ['RECENT', 'FULL'] as const) {
    const type = HistorySyncType[name];
    for (const [n, conversations] of parts[name].entries()) {
      const progress = Math.floor((100 * (n + 1)) / parts[name].length);
      await announce(network, device, { type, progress, content: compressed({ syncType: type, conversations }) });
    }
  }
}

/** Divides the messages that match into parts. There is at least one part. */
function partsOf(
  chats: readonly { readonly chat: proto.IConversation; readonly messages: readonly proto.IWebMessageInfo[] }[],
  matches: (info: proto.IWebMessageInfo) => boolean,
  perPart: number,
): proto.IConversation[][] {
  const parts: proto.IConversation[][] = [[]];
  let left = perPart;
  for (const { chat, messages } of chats) {
    const wanted = messages.filter(matches);
    for (let at = 0; at < wanted.length; ) {
      if (left === 0) {
        parts.push([]);
        left = perPart;
      }
      const some = wanted.slice(at, at + left);
      parts.at(-1)?.push(withMessages(chat, some));
      at += some.length;
      left -= some.length;
    }
  }
  return parts;
}

/** Answers the request of a client for older messages of a chat. */
export async function answerHistoryRequest(
  network: Network,
  { account, device }: DeviceAddress,
  message: proto.IMessage,
): Promise<void> {
  const { protocolMessage } = message.deviceSentMessage?.message ?? message;
  const asked = protocolMessage?.peerDataOperationRequestMessage?.historySyncOnDemandRequest;
  if (!asked?.chatJid) return;
  account.history.asked.push(asked.chatJid);
  const jid = isGroup(asked.chatJid) ? asked.chatJid : findAccount(network, asked.chatJid)?.lidJid;
  const known = account.history.chats.get(jid ?? '');
  const all = known?.messages ?? [];
  const at = all.findIndex(({ key }) => key?.id === asked.oldestMsgId);
  const before = Number(asked.oldestMsgTimestampMs) / 1000;
  const older = at === -1 ? all.filter(({ messageTimestamp: t }) => Number(t) < before) : all.slice(at + 1);
  const type = HistorySyncType.ON_DEMAND;
  const some = older.slice(0, asked.onDemandMsgCount ?? 50);
  const conversations = known === undefined ? [] : [withMessages(known.chat, some)];
  await announce(network, { account, device }, { type, content: compressed({ syncType: type, conversations }) });
}

interface Part {
  readonly type: proto.HistorySync.HistorySyncType;
  readonly progress?: number | undefined;
}

async function announce(
  network: Network,
  to: DeviceAddress,
  { content, file, ...part }: Part & { readonly content: Buffer; readonly file?: object | undefined },
): Promise<void> {
  const {
    url: _,
    mediaKeyTimestamp: __,
    ...reference
  } = uploadEncrypted(network.media, content, 'WhatsApp History Keys');
  await notify(network, to, { ...part, file: { ...reference, ...file } });
}

async function notify(
  network: Network,
  to: DeviceAddress,
  { type, progress, inline, file }: Part & { readonly inline?: Buffer; readonly file?: object },
): Promise<void> {
  const notification = {
    syncType: type,
    chunkOrder: 1,
    ...(progress !== undefined && { progress }),
    ...(inline && { initialHistBootstrapInlinePayload: inline }),
    ...file,
  };
  // The enums of the two messages are different types with the same values.
  const historySyncNotification = notification as proto.Message.IHistorySyncNotification;
  const kind = proto.Message.ProtocolMessage.Type.HISTORY_SYNC_NOTIFICATION;
  await sendToOwn(network, to, { protocolMessage: { type: kind, historySyncNotification } });
}

const compressed = (sync: proto.IHistorySync): Buffer => deflateSync(proto.HistorySync.encode(sync).finish());

const withMessages = (chat: proto.IConversation, messages: readonly proto.IWebMessageInfo[]): proto.IConversation => ({
  ...chat,
  messages: messages.map((message) => ({ message })),
});

/** Both addresses of the person in a direct chat, unless the number is hidden. */
function addressed(network: Network, chat: { id: string }): proto.IConversation {
  const person = findAccount(network, chat.id);
  return person === undefined || person.profile.hidesNumber ? { ...chat } : { ...chat, pnJid: person.numberJid };
}
