import { randomBytes } from 'node:crypto';
import { type BinaryNode, jidNormalizedUser, proto } from 'baileys';
import { encryptTo, encStanza, isGroup, isShared, openEnvelopes } from '../encryption/envelope.ts';
import { keysStanza, readBundle, registrationStanza } from '../encryption/keyBundle.ts';
import type { EncryptionType } from '../encryption/signal.ts';
import { createLog, type Log } from '../log.ts';
import { deliver, type Network } from '../network.ts';
import {
  type Account,
  type DeviceAddress,
  devicesOf,
  findAccount,
  findDevice,
  hostedJidOf,
  lidJidOf,
  requireAccount,
} from '../server/account.ts';
import { memberNames } from '../server/groups.ts';
import { newId, nowS } from '../server/linking.ts';
import { sendToOwn } from '../server/login.ts';
import { routeMessage } from '../server/messages.ts';
import { messageIdsOf, routeReceipt } from '../server/receipts.ts';
import { childOf, firstChild, stanza } from '../stanza.ts';
import { findWritten } from './history.ts';
import { answerHistoryRequest } from './historySync.ts';
import { findFile, reuploadStanza } from './mediaFile.ts';
import { refersRightly } from './references.ts';

/** A message as read by a phone. */
export interface ReceivedMessage {
  readonly id: string;
  /** The chat: the number of a person, or the id of a group (`…@g.us`). */
  readonly chat: string;
  /** The number of the author. */
  readonly from: string;
  /** Whether it is a copy of a message that another device of this account sent. */
  readonly isOwn: boolean;
  readonly message: proto.IMessage;
  readonly encryption: EncryptionType;
  readonly stanza: BinaryNode;
}

export interface ReceivedReceipt {
  readonly id: string;
  /** The reader's address, of the same type as the one that the reader has used for the phone. */
  readonly address: string;
  readonly from: string;
  readonly type: 'delivered' | 'read' | 'played' | 'inactive' | (string & {});
}

export interface ReceivedTyping {
  readonly from: string;
  /** A number, or the id of a group. */
  readonly chat: string;
  readonly state: 'composing' | 'recording' | 'paused';
}

export interface SendOptions {
  readonly id?: string;
  /**
   * How the stanza addresses the chat. The current network uses LIDs, older chats still numbers. Meta may answer the
   * messages of a business (`hosted`). A client treats that as a separate chat, so nobody here writes in both ways.
   */
  readonly addressing?: 'lid' | 'number' | 'hosted';
  /** When the server received it, in seconds since the epoch. Now by default. */
  readonly sentAtS?: number;
  /** The numbers of the people who see a status (`status@broadcast`). */
  readonly audience?: readonly string[];
  /** Corrupts the encryption, as a lost session does. The phone sends it correctly when it is requested again. */
  readonly isCorrupt?: boolean;
  /**
   * How often clients get it corrupt, while phones can read it: a sender that begins no new session answers each
   * request with the same one (WhiskeySockets/Baileys#1769, #2331; #2548: "Bad MAC" for hours). Infinity for always.
   */
  readonly corruptTimes?: number;
  /**
   * Sends clients an empty envelope with this type of `unavailable` instead: first messages after a click on an
   * advertisement (WhiskeySockets/Baileys, `handleMessage` in 7.0.0-rc14), and `UnavailableType` of whatsmeow.
   */
  readonly unavailableAs?: string;
}

/** The messages of a phone in both directions, with its automatic behavior. */
export interface Mailbox {
  readonly messages: Log<ReceivedMessage>;
  /** Messages that arrived and that the app does not show, because they refer to another one by a wrong address. */
  readonly unshown: Log<ReceivedMessage>;
  readonly receipts: Log<ReceivedReceipt>;
  readonly typings: Log<ReceivedTyping>;
  /** Whether it sends delivery receipts. It does by default. */
  confirmsDelivery: boolean;
  /** Whether it passes on messages that clients of its account could not read. It does by default. */
  resendsToClients: boolean;
  /** Returns the secret of a message that the phone sent. */
  secretOf(id: string): Uint8Array;
  /** Sends a message. Resolves with its id once it was passed to the server. */
  send(to: string, message: proto.IMessage, options?: SendOptions): Promise<string>;
  read(chat: string, ...ids: string[]): void;
  /** Sends receipts, replacing the automatic ones or repeating them late. */
  confirmDelivery(chat: string, ...ids: string[]): void;
  /** Reports a message as unreadable, so that its sender sends it again. */
  askAgain(message: ReceivedMessage): Promise<void>;
  /** A phone that is off receives and confirms nothing until it is on. */
  switchOff(): void;
  /** Makes the phone's keys, which take some milliseconds, before anyone asks for them. */
  makeKeys(): void;
  /** Sends its group keys to all members again. */
  forgetSenderKeys(): void;
  switchOn(): void;
}

/** How often a phone requests an unreadable message again. */
const MAX_RETRIES = 5;

export function createMailbox(network: Network, account: Account): Mailbox {
  const me: DeviceAddress = { account, device: 0 };
  const messages = createLog<ReceivedMessage>(`messages of ${account.number}`, describeMessage);
  const unshown = createLog<ReceivedMessage>(`messages that ${account.number} does not see`, describeMessage);
  const receipts = createLog<ReceivedReceipt>(`receipts of ${account.number}`, (receipt) => JSON.stringify(receipt));
  const typings = createLog<ReceivedTyping>(`typing seen by ${account.number}`, (typing) => JSON.stringify(typing));
  /** With the address that the account had in a group message then. */
  const sent = new Map<
    string,
    { to: string; message: proto.IMessage; options: SendOptions; participant?: string | undefined }
  >();
  const retries = new Map<string, number>();
  const hasSenderKey = new Set<string>();
  /** Files by message. A phone downloads them on arrival. */
  const files = new Map<string, Buffer>();
  const waiting: BinaryNode[] = [];
  let isOn = true;
  // The state of the cipher advances with each message, so they are handled one by one in order.
  let turn = Promise.resolve();
  const inTurn = <T>(action: () => Promise<T>): Promise<T> => {
    const result = turn.then(action);
    turn = result.then(
      () => {},
      () => {},
    );
    return result;
  };
  account.receive = (node) => {
    if (!isOn) return void waiting.push(node);
    inTurn(() => take(node)).catch((error: unknown) => network.troubles.push(error));
  };

  async function take(node: BinaryNode): Promise<void> {
    if (node.tag === 'message') await receiveMessage(node);
    else if (node.tag === 'receipt') await receiveReceipt(node);
    else if (node.tag === 'chatstate') receiveTyping(node);
  }

  async function receiveMessage(node: BinaryNode): Promise<void> {
    const { from = '', participant, id = '', recipient, category } = node.attrs;
    const author = findDevice(network, participant ?? from);
    // Its author has been unlinked since.
    if (author === undefined) return;
    let read: Awaited<ReturnType<typeof openEnvelopes>>;
    try {
      read = await openEnvelopes(account, author, node);
    } catch {
      return askFor(node, author);
    }
    if (category === 'peer') {
      await resendTo(author, read.message);
      return answerHistoryRequest(network, author, read.message);
    }
    keepFile(id, read.message.deviceSentMessage?.message ?? read.message);
    const isOwn = author.account === account;
    const chat = chatOf(isOwn && recipient !== undefined ? recipient : from);
    const { deviceSentMessage } = read.message;
    const message = deviceSentMessage?.message ?? read.message;
    const isFound = !network.isMigrated || refersRightly(network, { author, chat, message }, addressOf);
    (isFound ? messages : unshown).add({
      id,
      chat,
      from: author.account.number,
      isOwn,
      message,
      encryption: read.encryption,
      stanza: node,
    });
    if (!isOwn && mailbox.confirmsDelivery) sendReceipt(node, undefined);
  }

  /**
   * Passes on messages that a client of the account could not read (`PLACEHOLDER_MESSAGE_RESEND`, as in whatsmeow's
   * `BuildUnavailableMessageRequest`).
   */
  async function resendTo(client: DeviceAddress, request: proto.IMessage): Promise<void> {
    const { protocolMessage } = request.deviceSentMessage?.message ?? request;
    const asked = protocolMessage?.peerDataOperationRequestMessage?.placeholderMessageResendRequest ?? [];
    for (const { messageKey } of asked) {
      network.counters.resendsFromPhones++;
      const found = messages.all.find(({ id }) => id === messageKey?.id);
      if (found === undefined || !mailbox.resendsToClients) continue;
      const { message, stanza: node } = found;
      const info = { key: messageKey, message, messageTimestamp: Number(node.attrs['t'] ?? 0) };
      const webMessageInfoBytes = proto.WebMessageInfo.encode(info).finish();
      const result = { placeholderMessageResendResponse: { webMessageInfoBytes } };
      const { PEER_DATA_OPERATION_REQUEST_RESPONSE_MESSAGE: type } = proto.Message.ProtocolMessage.Type;
      const peerDataOperationRequestResponseMessage = { stanzaId: newId(), peerDataOperationResult: [result] };
      await sendToOwn(network, client, { protocolMessage: { type, peerDataOperationRequestResponseMessage } });
    }
  }

  /** The address that the author of a message has in it, and its chat in a direct message. */
  function addressOf(id: string, chat: string): string | undefined {
    const received = messages.all.find((entry) => entry.id === id && entry.chat === chat);
    if (received !== undefined) {
      const { from, participant, recipient } = received.stanza.attrs;
      return jidNormalizedUser(participant ?? (received.isOwn ? recipient : from));
    }
    const { to, participant } = sent.get(id) ?? {};
    return participant ?? to;
  }

  function sendReceipt(message: BinaryNode, type: string | undefined, content?: BinaryNode[]): void {
    const { from, participant, id } = message.attrs;
    routeReceipt(network, me, stanza('receipt', { to: from, participant, id, type }, content));
  }

  function confirm(type: string | undefined, chat: string, ids: readonly string[]): void {
    for (const { stanza: message } of messages.all.filter((entry) => entry.chat === chat && ids.includes(entry.id)))
      sendReceipt(message, type);
  }

  async function askFor(message: BinaryNode, author: DeviceAddress): Promise<void> {
    const { id = '', t } = message.attrs;
    const count = (retries.get(id) ?? 0) + 1;
    retries.set(id, count);
    network.counters.retriesFromPhones++;
    if (count > MAX_RETRIES) throw new Error(`${account.number} cannot read ${id}, sent ${MAX_RETRIES} times`);
    await account.signal.endSession(lidJidOf(author));
    const bundle = await account.signal.takeBundle();
    sendReceipt(message, 'retry', [
      stanza('retry', { count: String(count), id, t, v: '1' }),
      registrationStanza(account.signal.registrationId),
      keysStanza(bundle),
    ]);
  }

  async function receiveReceipt(node: BinaryNode): Promise<void> {
    const { from = '', participant, type = 'delivered' } = node.attrs;
    const reader = findDevice(network, participant ?? from);
    if (reader === undefined) return;
    if (type === 'retry') return sendAgain(node, reader);
    if (type === 'server-error') return uploadAgain(node, reader);
    for (const id of messageIdsOf(node))
      receipts.add({ id, from: reader.account.number, address: participant ?? from, type });
  }

  function keepFile(id: string, message: proto.IMessage): void {
    const file = network.media.files.get(findFile(message)?.directPath ?? '');
    if (file !== undefined) files.set(id, file);
  }

  /** Handles a failed download of a client: the phone uploads the file again, if it has it. */
  function uploadAgain(request: BinaryNode, client: DeviceAddress): void {
    const { id = '' } = request.attrs;
    const message = messages.all.find((entry) => entry.id === id)?.message ?? findWritten(account.history, id);
    const reference = message && findFile(message);
    if (reference === undefined) return;
    const file = files.get(id);
    const answer = reuploadStanza(request, reference, file && network.media.put(file));
    const attributes = { from: account.numberJid, type: 'mediaretry', id, t: String(nowS()) };
    const asked = childOf(request, 'rmr');
    deliver(network, client, stanza('notification', attributes, [...(asked ? [asked] : []), ...answer]));
  }

  /** Handles a message that was unreadable: starts a new session, and sends it again to that device only. */
  async function sendAgain(receipt: BinaryNode, reader: DeviceAddress): Promise<void> {
    const { id = '', from = '' } = receipt.attrs;
    const original = sent.get(id);
    if (original === undefined) return;
    const device = lidJidOf(reader);
    await account.signal.endSession(device);
    const bundle = readBundle(receipt);
    if (bundle !== undefined) await account.signal.beginSession(device, bundle);
    const count = childOf(receipt, 'retry')?.attrs['count'] ?? '1';
    const type = typeOf(original.message);
    if (!isShared(from)) {
      const part = await encryptTo(account, reader, forDevice(reader, original), {
        count,
        ...failMode(original.message),
      });
      if (isCorruptFor(reader, original.options, Number(count))) corrupt(part);
      route(stanza('message', { ...sentAt(original.options), to: from, id, type, recipient: original.to }, [part]));
      return;
    }
    const { senderKey } = await account.signal.encryptToGroup(from, account.lidJid, original.message);
    const part = await encryptTo(
      account,
      reader,
      { ...original.message, senderKeyDistributionMessage: senderKey },
      { count, ...failMode(original.message) },
    );
    if (isCorruptFor(reader, original.options, Number(count))) corrupt(part);
    route(stanza('message', { ...sentAt(original.options), to: from, id, type, participant: device }, [part]));
  }

  function receiveTyping(node: BinaryNode): void {
    const { from = '', participant } = node.attrs;
    const author = findAccount(network, participant ?? from);
    const said = firstChild(node);
    if (author === undefined || said === undefined) return;
    const state = said.attrs['media'] === 'audio' ? 'recording' : (said.tag as ReceivedTyping['state']);
    typings.add({ from: author.number, chat: chatOf(from), state });
  }

  function chatOf(jid: string): string {
    return isGroup(jid) ? jid : (findAccount(network, jid)?.number ?? jid);
  }

  /** Copies for the author's other devices name the recipient. */
  function forDevice(
    to: DeviceAddress,
    { to: chat, message }: { to: string; message: proto.IMessage },
  ): proto.IMessage {
    return to.account === account ? { deviceSentMessage: { destinationJid: chat, message } } : message;
  }

  async function sendToPerson(id: string, to: string, message: proto.IMessage, options: SendOptions): Promise<void> {
    const person = requireAccount(network, to);
    const chat = addressIn(person, options.addressing ?? 'lid');
    sent.set(id, { to: chat, message, options });
    const targets = new Set([person, account]);
    const parts: BinaryNode[] = [];
    for (const target of [...targets].flatMap(devicesOf)) {
      if (target.account === account && target.device === 0) continue;
      const part = await encryptTo(account, target, forDevice(target, { to: chat, message }), failMode(message));
      if (options.isCorrupt || isCorruptFor(target, options, 0)) corrupt(part);
      const isAvailable = options.unavailableAs === undefined || target.device === 0;
      const content = isAvailable ? part : stanza('unavailable', { type: options.unavailableAs || undefined });
      parts.push(stanza('to', { jid: lidJidOf(target) }, [content]));
    }
    route(
      stanza('message', { ...sentAt(options), to: chat, id, type: typeOf(message) }, [
        stanza('participants', {}, parts),
      ]),
    );
  }

  async function sendToGroup(id: string, group: string, message: proto.IMessage, options: SendOptions): Promise<void> {
    const joined = network.groups.get(group);
    sent.set(id, { to: group, message, options, participant: joined && memberNames(joined, me).jid });
    const audience = options.audience?.map((number) => requireAccount(network, number)) ?? [];
    const members = joined?.members.keys() ?? audience;
    const { senderKey, ...encrypted } = await account.signal.encryptToGroup(group, account.lidJid, message);
    const parts: BinaryNode[] = [];
    for (const target of [...members].flatMap(devicesOf)) {
      const key = `${group} ${lidJidOf(target)}`;
      if ((target.account === account && target.device === 0) || (isGroup(group) && hasSenderKey.has(key))) continue;
      hasSenderKey.add(key);
      const part = await encryptTo(account, target, { senderKeyDistributionMessage: senderKey });
      if (isCorruptFor(target, options, 0)) corrupt(part);
      parts.push(stanza('to', { jid: lidJidOf(target) }, [part]));
    }
    const forAll = encStanza(encrypted, failMode(message));
    if (options.isCorrupt) corrupt(forAll);
    route(
      stanza('message', { ...sentAt(options), to: group, id, type: typeOf(message) }, [
        stanza('participants', {}, parts),
        forAll,
      ]),
    );
  }

  function route(node: BinaryNode): void {
    const error = routeMessage(network, me, node);
    if (error !== undefined) throw new Error(`${account.number} may not send this: ${error}`);
  }

  const mailbox: Mailbox = {
    messages,
    unshown,
    receipts,
    typings,
    confirmsDelivery: true,
    resendsToClients: true,
    send(to, message, options = {}) {
      const id = options.id ?? newId();
      const way = isShared(to) ? sendToGroup : sendToPerson;
      const whole = network.isMigrated ? withSecret(message) : message;
      return inTurn(() => way(id, to, whole, options)).then(() => id);
    },
    secretOf(id) {
      const secret = sent.get(id)?.message.messageContextInfo?.messageSecret;
      if (!secret) throw new Error(`${account.number} sent no message ${id} with a secret`);
      return secret;
    },
    read: (chat, ...ids) => confirm('read', chat, ids),
    confirmDelivery: (chat, ...ids) => confirm(undefined, chat, ids),
    async askAgain({ stanza: message }) {
      const author = findDevice(network, message.attrs['participant'] ?? message.attrs['from']);
      if (author !== undefined) await inTurn(() => askFor(message, author));
    },
    forgetSenderKeys: () => hasSenderKey.clear(),
    makeKeys: () => void account.signal,
    switchOff() {
      isOn = false;
    },
    switchOn() {
      isOn = true;
      for (const node of waiting.splice(0)) account.receive(node);
    },
  };
  return mailbox;
}

function addressIn({ lid, lidJid, numberJid }: Account, addressing: 'lid' | 'number' | 'hosted'): string {
  return { lid: lidJid, number: numberJid, hosted: hostedJidOf(lid) }[addressing];
}

const CHANGES = ['protocolMessage', 'reactionMessage', 'encReactionMessage', 'pollUpdateMessage'] as const;

/** Phones show nothing of a change that they cannot decrypt (whatsmeow, `prepareMessageNode`). */
const failMode = (message: proto.IMessage): Record<string, string> =>
  message.secretEncryptedMessage || message.pinInChatMessage || CHANGES.some((kind) => message[kind])
    ? { 'decrypt-fail': 'hide' }
    : {};

/** Phones give each message a secret, and seal its edits with it later (omni #1106, fazer-ai/baileys-api #392). */
function withSecret(message: proto.IMessage): proto.IMessage {
  const { messageContextInfo } = message;
  if (messageContextInfo?.messageSecret || CHANGES.some((kind) => message[kind])) return message;
  return { ...message, messageContextInfo: { ...messageContextInfo, messageSecret: randomBytes(32) } };
}

/** The type of a message, which the server sees. */
function typeOf(message: proto.IMessage): string {
  if (message.reactionMessage || message.encReactionMessage) return 'reaction';
  if (message.pollCreationMessage || message.pollUpdateMessage) return 'poll';
  const isMedia =
    message.imageMessage ??
    message.videoMessage ??
    message.audioMessage ??
    message.documentMessage ??
    message.stickerMessage;
  return isMedia ? 'media' : 'text';
}

const sentAt = ({ sentAtS }: SendOptions) => (sentAtS === undefined ? {} : { t: String(sentAtS) });

/** @param count the number of times that the device has asked for it */
const isCorruptFor = ({ device }: DeviceAddress, { corruptTimes = 0 }: SendOptions, count: number): boolean =>
  device !== 0 && count < corruptTimes;

/** Changes the ciphertext near its end, so that its MAC or signature is wrong. */
function corrupt(part: BinaryNode): void {
  const { content } = part;
  if (content instanceof Uint8Array)
    part.content = Buffer.from(content).fill(7, content.length - 40, content.length - 24);
}

function describeMessage({ id, chat, from, message }: ReceivedMessage): string {
  const kinds = Object.entries(message).filter(([, value]) => value != null);
  return `${id} from ${from} in ${chat}: ${kinds.map(([kind]) => kind).join(', ')}`;
}
