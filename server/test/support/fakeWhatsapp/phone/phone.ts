import { type ChatModification, chatModificationToAppPatch, proto } from 'baileys';
import { isGroup } from '../encryption/envelope.ts';
import type { Log } from '../log.ts';
import { isConfirmed, type Network } from '../network.ts';
import { createAccount, type Profile, requireAccount } from '../server/account.ts';
import { changeState, type StateChange } from '../server/appState.ts';
import { endCall, offerCall } from '../server/calls.ts';
import {
  announceDeregistered,
  announceDevice,
  announceIdentity,
  announceNumber,
  type NumberChange,
  unlink,
} from '../server/companions.ts';
import { type Limits, limit, revealNumber } from '../server/limits.ts';
import { newId, scanQr } from '../server/linking.ts';
import { createNewsletter, encodePost, type Newsletter, publish } from '../server/newsletters.ts';
import { enterCode } from '../server/pairingCode.ts';
import { announcePresence, routeTyping } from '../server/presence.ts';
import { setPicture } from '../server/profiles.ts';
import { stanza } from '../stanza.ts';
import { createPhoneHistory, type PhoneHistory } from './historySync.ts';
import { createMailbox, type Mailbox, type ReceivedMessage, type ReceivedTyping, type SendOptions } from './mailbox.ts';
import { type FileKind, findFile, openFile, uploadFile } from './mediaFile.ts';
import { createPhoneGroups, type PhoneGroups } from './phoneGroups.ts';
import { sealChange } from './sealing.ts';

/** A phone controlled by a test. Others are identified by number, groups by id (`…@g.us`). */
export interface Phone extends Mailbox {
  readonly number: string;
  readonly lid: string;
  readonly numberJid: string;
  readonly lidJid: string;
  readonly profile: Profile;
  /** Privacy settings made by a client: `none` hides `profile` (the picture) or `status` (the about text). */
  readonly privacy: Map<string, string>;
  readonly groups: PhoneGroups;
  /** Scans a client's QR code. Resolves once the client is linked. */
  scan(qr: string): Promise<void>;
  /** Types the code that a client shows for this number. Rejects if it is another one. */
  enterCode(code: string): Promise<void>;
  /** Unlinks all clients, like the owner does in the list of linked devices. */
  unlink(): void;
  /** Moves to a new phone, which has new keys. Returns the id of the notification to others. */
  replace(): string;
  /**
   * Registers the number again, with another LID. A message to the old one is acknowledged with `refresh_lid`, and
   * reaches nobody (WhiskeySockets/Baileys#2661: the first one without an error). Returns the new one.
   */
  beginNewAccount(): string;
  /** Notifies others that the owner has the number of another phone from now on. */
  moveTo(number: string, change?: NumberChange): void;
  /** Adds a device that others still see, although the server has no keys of it. */
  addDeregisteredDevice(): void;
  /** The number of one-time keys that its clients have on the server. */
  oneTimeKeys(): number;
  /** The number of linked devices. */
  devices(): number;
  /** Whether its clients have acknowledged all stanzas with the id of a message: the message and its receipts. */
  haveConfirmed(id: string): boolean;
  sendText(to: string, text: string, options?: SendOptions): Promise<string>;
  /**
   * Edits a message that the phone sent. In a migrated account it seals the edit, as phones do since May 2026, and only
   * so (Baileys #2541, #2547, waha #2089).
   */
  edit(to: string, id: string, content: proto.IMessage, options?: SealOptions): Promise<string>;
  /** Reacts to a message with a sealed reaction, as in the announcement group of a community (whatsapp-rust #830). */
  reactSealed(to: string, target: SealedTarget, text: string, options?: SealOptions): Promise<string>;
  /** Uploads and sends a file. `details` are further fields of its message, such as `caption` or `mimetype`. */
  sendFile(to: string, kind: FileKind, content: Buffer, details?: object, options?: SendOptions): Promise<string>;
  /** Uploads a file, and returns the message that would carry it. */
  uploadFile(kind: FileKind, content: Buffer, details?: object): proto.IMessage;
  /** Downloads the file of a message. Fails if it does not match its message. */
  openFile(message: ReceivedMessage): Buffer;
  typing(to: string, state: ReceivedTyping['state']): void;
  /** Sets the person online or offline, and notifies subscribers. */
  setOnline(isOnline: boolean): void;
  /** Sets the picture of this person, or of a group; undefined removes it. */
  setPicture(content: Buffer | undefined, group?: string): void;
  /** Changes that clients of this account made to the shared state. */
  readonly stateChanges: Log<StateChange>;
  /**
   * Changes the shared state like the owner does on the phone, such as an archived chat.
   * @param chat a number, or the id of a group; empty for what concerns no chat
   */
  changeState(change: ChatModification, chat?: string): Promise<void>;
  /** Makes this number another form of its own: queries about it return its own. */
  answerTo(otherNumber: string): void;
  /** Reveals a hidden number to a person without sending a message. */
  showNumberTo(number: string): void;
  /** Sets the limits of this number, and notifies its clients, which may also query them. */
  limit(change: Partial<Limits>): void;
  /** Its history, from before its clients are linked. */
  readonly history: PhoneHistory;
  /** Rings at the devices of a number. @returns the id of the call */
  call(number: string, kind?: 'video' | 'audio'): string;
  /** Ends a call before it is answered. */
  hangUp(number: string, callId: string): void;
  /** Ids of its calls that were rejected. */
  readonly rejections: Log<string>;
  /** Whether it, or a client of it, shows it as online. */
  isOnline(): boolean;
  /** Numbers of the people who follow its presence. */
  followers(): string[];
  /** Forgets them, as the server does when their connection ends. */
  forgetFollowers(): void;
  /** Follows a channel, as on the phone. */
  follow(channel: string): void;
  /** Creates a channel. @returns its address and invite code */
  createChannel(name: string): { readonly jid: string; readonly invite: string };
  /** Posts in a channel. @returns the id of the post */
  post(channel: string, message: proto.IMessage): string;
  /** A channel as the server knows it. */
  channel(jid: string): Newsletter;
  block(number: string): void;
  unblock(number: string): void;
}

/** The message that a sealed change is about. */
export interface SealedTarget {
  readonly id: string;
  readonly secret: Uint8Array;
  /** Address of its author. */
  readonly author: string;
}

export interface SealOptions extends SendOptions {
  /** Addresses that the key is derived from: reports have both (Baileys #2547, #2690). */
  readonly sealedFor?: { readonly author?: 'lid' | 'number'; readonly editor?: 'lid' | 'number' };
}

export function createPhone(network: Network, number: string, name: string): Phone {
  const account = createAccount(number, name);
  network.byNumber.set(number, account);
  network.byLid.set(account.lid, account);
  const mailbox = createMailbox(network, account);
  const jidOf = (to: string) => (isGroup(to) ? to : requireAccount(network, to).lidJid);
  const ownJid = (address: 'lid' | 'number') => (address === 'lid' ? account.lidJid : account.numberJid);

  return Object.assign(mailbox, {
    number,
    lid: account.lid,
    numberJid: account.numberJid,
    lidJid: account.lidJid,
    profile: account.profile,
    privacy: account.privacy,
    groups: createPhoneGroups(network, account),
    async scan(qr: string) {
      announceDevice(network, await scanQr(network.connections, account, qr));
    },
    async enterCode(code: string) {
      announceDevice(network, await enterCode(network, account, code));
    },
    unlink() {
      for (const companion of account.companions.values()) unlink(network, companion);
    },
    replace() {
      account.renewKeys();
      mailbox.forgetSenderKeys();
      return announceIdentity(network, account);
    },
    beginNewAccount() {
      network.faults.markedLids.add(account.lid);
      network.byLid.delete(account.lid);
      account.renewLid();
      account.renewKeys();
      network.byLid.set(account.lid, account);
      return account.lidJid;
    },
    addDeregisteredDevice: () => announceDeregistered(network, account),
    oneTimeKeys: () => [...account.companions.values()].reduce((sum, { preKeys }) => sum + preKeys.length, 0),
    moveTo: (other: string, change: NumberChange = {}) =>
      announceNumber(network, account, requireAccount(network, other), change),
    devices: () => account.companions.size,
    haveConfirmed: (id: string) => [...account.companions.values()].every((client) => isConfirmed(client, id)),
    sendText: (to: string, text: string, options?: SendOptions) => mailbox.send(to, { conversation: text }, options),
    edit(to: string, id: string, content: proto.IMessage, options: SealOptions = {}) {
      const key = { remoteJid: jidOf(to), fromMe: true, id };
      const plain = { protocolMessage: { type: 14, key, editedMessage: content } };
      if (!network.isMigrated) return mailbox.send(to, plain, options);
      const { author = 'lid', editor = 'lid' } = options.sealedFor ?? {};
      const isEvent = content.eventMessage != null;
      const sealed = sealChange(proto.Message.encode(isEvent ? content : plain).finish(), {
        use: isEvent ? 'Event Edit' : 'Message Edit',
        secret: mailbox.secretOf(id),
        messageId: id,
        author: ownJid(author),
        editor: ownJid(editor),
      });
      const { EVENT_EDIT, MESSAGE_EDIT } = proto.Message.SecretEncryptedMessage.SecretEncType;
      const secretEncType = isEvent ? EVENT_EDIT : MESSAGE_EDIT;
      const secretEncryptedMessage = { ...sealed, targetMessageKey: key, secretEncType };
      return mailbox.send(to, { secretEncryptedMessage }, options);
    },
    reactSealed(to: string, { id, secret, author }: SealedTarget, text: string, options: SealOptions = {}) {
      const plain = proto.Message.ReactionMessage.encode({ text, senderTimestampMs: Date.now() }).finish();
      const editor = ownJid(options.sealedFor?.editor ?? 'lid');
      const sealed = sealChange(plain, { use: 'Enc Reaction', secret, messageId: id, author, editor });
      const targetMessageKey = { remoteJid: jidOf(to), fromMe: false, id, participant: author };
      return mailbox.send(to, { encReactionMessage: { ...sealed, targetMessageKey } }, options);
    },
    sendFile: (to: string, kind: FileKind, content: Buffer, details = {}, options?: SendOptions) =>
      mailbox.send(to, uploadFile(network.media, kind, content, details), options),
    uploadFile: (kind: FileKind, content: Buffer, details = {}) => uploadFile(network.media, kind, content, details),
    openFile({ message }: ReceivedMessage) {
      const reference = findFile(message);
      const file = network.media.files.get(reference?.directPath ?? '');
      if (reference === undefined || file === undefined) throw new Error('there is no file');
      return openFile(file, reference);
    },
    typing(to: string, state: ReceivedTyping['state']) {
      const said = state === 'recording' ? stanza('composing', { media: 'audio' }) : stanza(state);
      routeTyping(network, { account, device: 0 }, stanza('chatstate', { to: jidOf(to) }, [said]));
    },
    setOnline: (isOnline: boolean) => announcePresence(account, isOnline),
    setPicture: (content: Buffer | undefined, group?: string) => setPicture(network, account, group ?? number, content),
    stateChanges: account.appState.changes,
    changeState(change: ChatModification, chat = '') {
      const jid = chat === '' || isGroup(chat) ? chat : requireAccount(network, chat).numberJid;
      return changeState(network, account, chatModificationToAppPatch(change, jid));
    },
    answerTo: (otherNumber: string) => void network.byOtherNumber.set(otherNumber, account),
    showNumberTo(other: string) {
      account.profile.hidesNumber = false;
      revealNumber(network, account, requireAccount(network, other));
    },
    limit: (change: Partial<Limits>) => limit(network, account, change),
    history: createPhoneHistory(network, account),
    call: (other: string, kind: 'video' | 'audio' = 'audio') =>
      offerCall(network, account, requireAccount(network, other), kind === 'video'),
    hangUp: (other: string, callId: string) => endCall(network, account, requireAccount(network, other), callId),
    rejections: account.rejections,
    isOnline: () => account.presence.isOnline,
    followers: () => [...account.presence.followers].map((follower) => follower.number),
    forgetFollowers: () => account.presence.followers.clear(),
    follow(channel: string) {
      this.channel(channel).followers.add(account);
    },
    createChannel: (name: string) => createNewsletter(network, account, name),
    post(channel: string, message: proto.IMessage) {
      const type = message.imageMessage || message.videoMessage ? 'media' : 'text';
      return publish(network, this.channel(channel), { id: newId(), type, content: encodePost(message) }).id;
    },
    channel(jid: string) {
      const found = network.newsletters.get(jid);
      if (found === undefined) throw new Error(`there is no channel ${jid}`);
      return found;
    },
    block: (other: string) => void account.blocked.add(requireAccount(network, other)),
    unblock: (other: string) => void account.blocked.delete(requireAccount(network, other)),
  });
}
