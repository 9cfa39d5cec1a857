import type { Readable } from 'node:stream';
import type { TObject } from 'typebox';
import type { Clock } from '../clock.ts';
import type { GroupChange } from '../events.ts';
import type { Log } from '../log.ts';

/*
 * The line between the product and a network. A connector knows its network and nothing else: no database, no
 * webhooks, no HTTP server. It is given a host per session, to which it tells what happens, and hands out a connection,
 * by which it is told what to do.
 */

/** What a package exports that `CONNECTORS` names. */
export interface ConnectorModule {
  createConnector(tools: ConnectorTools): Connector | Promise<Connector>;
}

export interface ConnectorTools {
  readonly clock: Clock;
  readonly log: Log;
}

/** A network that sessions can live on. */
export interface Connector {
  /** Its name in the API, such as `sandbox`: lower case letters, digits and dashes. */
  readonly name: string;
  /**
   * JSON Schema of a session's `options`. One with the annotation `writeOnly` is a secret: the API takes it and never
   * returns it.
   */
  readonly options: TObject;
  /**
   * Checks what the schema of the options cannot state, without asking anybody.
   * @throws {AppError} `validation_failed` naming the option, such as `options.proxy`
   */
  checkOptions?(options: Readonly<Record<string, unknown>>): void;
  /** The kinds of messages it can send. */
  readonly messageTypes: readonly MessageType[];
  /** Whether the network calls us: its sessions have a callback URL, and its connections `takeCallback`. */
  readonly takesCallbacks?: true;
  /**
   * Starts a session's connection. Resolves when the attempt is under way; how it goes is told to `host.onEvent`.
   * @throws {AppError} what the caller of `connect` can act on, such as `phone_number_in_use`
   */
  open(host: SessionHost): Promise<Connection>;
  /** The session is logged out or deleted: its number is free again. */
  forget?(session: {
    readonly sessionId: string;
    /** Digits; null if the network never said which number it is. */
    readonly phoneNumber: string | null;
    /** As `SessionHost.scope`. */
    readonly scope: string;
  }): Promise<void>;
}

/** What a connector may know and tell of one session. */
export interface SessionHost {
  readonly sessionId: string;
  /**
   * Opaque. On a network that lives inside the server, sessions of the same scope reach one another and sessions of
   * different scopes do not. Other networks ignore it.
   */
  readonly scope: string;
  /** Digits; null until the network has said which number it is. */
  readonly phoneNumber: string | null;
  readonly options: Readonly<Record<string, unknown>>;
  readonly clock: Clock;
  readonly log: Log;
  /** What the connector keeps for the session, such as its credentials: strings by key, gone with the session. */
  readonly store: SessionStore;
  /** Where the network is to call; null when the server does not know its own address (`PUBLIC_URL`). */
  readonly callbackUrl: URL | null;
  /**
   * Tells that something happened. Resolves when it is stored, so a network that wants an acknowledgement gets it
   * then and not before.
   */
  onEvent(event: NetworkEvent): Promise<void>;
  /** Outgoing messages that the network took and has not confirmed as delivered, oldest first. */
  undelivered(): Promise<readonly OutgoingMessage[]>;
  /** `networkId` of the last message that came in a direct chat; null when none did. */
  lastIncoming(chatId: string): Promise<string | null>;
  /** The groups the session is in, as stored. */
  groups(): Promise<readonly NetworkGroup[]>;
  /** Digits of the contacts that the session has blocked, as stored. */
  blocked(): Promise<readonly string[]>;
}

export interface SessionStore {
  get(key: string): Promise<string | undefined>;
  /** Those of the keys that there are. */
  getMany(keys: readonly string[]): Promise<ReadonlyMap<string, string>>;
  /** All whose key begins so. It reads everything of the session: for the start, not for every message. */
  list(prefix: string): Promise<ReadonlyMap<string, string>>;
  set(key: string, value: string): Promise<void>;
  /** Sets what has a value and deletes what is null: all of it, or after a crash none. */
  write(changes: ReadonlyMap<string, string | null>): Promise<void>;
  delete(key: string): Promise<void>;
  clear(): Promise<void>;
}

/**
 * A chat as the network addresses it: a phone number's digits, what it calls somebody who keeps the number secret, or
 * its id of a group.
 */
export interface NetworkChat {
  readonly type: 'direct' | 'group';
  readonly id: string;
}

export interface OutgoingMessage {
  /**
   * Id that the network shall know the message by, or our own that it keeps beside its own (see `send`). Sending it
   * twice with the same id sends it once.
   */
  readonly networkId: string;
  readonly chat: NetworkChat;
  readonly content: MessageContent;
  /** `networkId` of the message it answers. */
  readonly replyTo: string | null;
  /** What that message said, for networks that show it above the answer. */
  readonly quoted?: { readonly from: string; readonly text: string };
  /** When the network took it: only of those that `SessionHost.undelivered` returns. */
  readonly sentAt?: number;
}

export const mediaTypes = ['image', 'video', 'audio', 'voice', 'document', 'sticker'] as const;
export const messageTypes = ['text', ...mediaTypes, 'location', 'contact', 'poll', 'template', 'interactive'] as const;
export type MessageType = (typeof messageTypes)[number];

/** What a message says: its text, and what its type has beside that. */
export interface MessageContent {
  readonly type: MessageType;
  /** The text, the caption of the media, or the question of the poll. */
  readonly text: string;
  readonly media?: NetworkMedia;
  readonly location?: Location;
  readonly contact?: ContactCard;
  readonly poll?: Poll;
  readonly template?: Template;
  readonly interactive?: Interactive;
  /** Digits of the people it mentions. */
  readonly mentions?: readonly string[];
  readonly isForwarded?: boolean;
  /** What a button or an entry of a list carries, when the message says that it was chosen. */
  readonly payload?: string;
}

export interface NetworkMedia {
  readonly mimeType: string;
  /** Bytes. */
  readonly size: number;
  readonly fileName: string | null;
  /** SHA-256 of the content, where the deployment has it already: every node of it can open it by that. */
  readonly hash?: string;
  /** Opens the content. Whoever asks must read or destroy it. */
  open(): Promise<Readable>;
}

export interface Location {
  /** Degrees, WGS 84. */
  readonly latitude: number;
  readonly longitude: number;
  readonly name?: string;
  readonly address?: string;
}

export interface ContactCard {
  readonly name: string;
  /** Digits. */
  readonly phoneNumbers: readonly string[];
}

export interface Poll {
  readonly options: readonly string[];
  /** How many of them one person may choose. */
  readonly maxSelections: number;
}

/** A text that the network has approved before, with what is to be filled in. */
export interface Template {
  readonly name: string;
  /** Such as `en_US`. */
  readonly language: string;
  /** What is filled in, in the network's own form. */
  readonly components?: readonly Readonly<Record<string, unknown>>[];
}

/** What there is to choose from below a text: buttons, the rows of a list, or a link. */
export interface Interactive {
  readonly header?: string;
  readonly footer?: string;
  readonly buttons?: readonly Choice[];
  readonly list?: {
    /** What opens the list. */
    readonly title: string;
    readonly rows: readonly (Choice & { readonly description?: string; readonly section?: string })[];
  };
  readonly link?: { readonly title: string; readonly url: string };
}

/** Who chooses it answers with its title, and with its id as the `payload`. */
export interface Choice {
  readonly id: string;
  readonly title: string;
}

/**
 * Whether these digits stand for somebody whose number the network hides: three zeros, which no number begins with, and
 * digits made of what the network knows the person by. Who has written can be written to by it as by a number.
 */
export const isStandIn = (digits: string): boolean => /^000\d{5,25}$/.test(digits);

/** A message that was sent before, as the network addresses it. */
export interface MessageKey {
  readonly networkId: string;
  readonly chat: NetworkChat;
  /** Digits of who sent it. */
  readonly from: string;
}

/** What a connection can do. A part that is missing is what its network cannot do: callers get `not_supported`. */
export interface Connection {
  /**
   * Sends a message. Resolves when the network has taken it; who waits for that does so for 30 seconds.
   * @returns `networkId` where the network knows it by another id than it was given. Receipts may come under either.
   * @throws {AppError} when the network refuses it for a reason the caller can act on
   */
  send(message: OutgoingMessage): Promise<{ readonly timestamp: number; readonly networkId?: string }>;
  /** Answers a request that came to the session's callback URL, from whomever: it has to see who it is. */
  takeCallback?(request: CallbackRequest): Promise<CallbackAnswer>;
  /** Tells the senders that their messages were read. */
  markRead?(
    chat: NetworkChat,
    messages: readonly { readonly networkId: string; readonly from: string }[],
  ): Promise<void>;
  /** Shows the other side that somebody writes or records, or no longer does. */
  setTyping?(chat: NetworkChat, state: TypingState): Promise<void>;
  /** @param emoji null takes the reaction back */
  react?(message: MessageKey, emoji: string | null): Promise<void>;
  edit?(message: MessageKey, text: string): Promise<void>;
  /** Deletes an own message for everyone. */
  remove?(message: MessageKey): Promise<void>;
  /**
   * Resolves, within seconds, when it is known how the attempt to connect goes: whoever asked for it waits so long for
   * the answer, and nothing else does. Left out where the attempt is a person's to finish.
   */
  readonly attempt?: Promise<void>;
  /** The account asks to connect what is there already: where it waits before its next attempt, it makes that now. */
  retry?(): void;
  /**
   * The number that the network knows somebody by where that has turned out to be another one: messages are stored
   * under it from the start then. Undefined, or the number itself, where nothing is known.
   */
  numberOf?(phoneNumber: string): string | undefined;
  /** Which of these numbers the network knows. */
  checkNumbers?(phoneNumbers: readonly string[]): Promise<ReadonlySet<string>>;
  setBlocked?(phoneNumber: string, blocked: boolean): Promise<void>;
  readonly groups?: GroupActions;
  readonly profiles?: ProfileActions;
  /** A code to type into the phone instead of scanning a QR. */
  requestPairingCode?(phoneNumber: string): Promise<{ readonly code: string; readonly expiresAt: number }>;
  /** Plays the other side. Only a network that is made for trying things out has it. */
  simulate?(action: Simulation): Promise<void>;
  /** Ends the connection and keeps the credentials. */
  close(): Promise<void>;
  /**
   * Unlinks the device: to connect again it must be linked anew. Also asked of a session that is deleted, which waits 5
   * seconds for it and then closes.
   */
  logout(): Promise<void>;
}

/** A request as it came. */
export interface CallbackRequest {
  readonly method: string;
  readonly query: URLSearchParams;
  /** By name in lower case; of one that came several times, all, joined by commas. */
  readonly headers: Readonly<Record<string, string>>;
  /** The exact bytes, which is what signatures are made over. */
  readonly body: Buffer;
}

export interface CallbackAnswer {
  readonly status: number;
  /** Sent as plain text. */
  readonly text?: string;
}

export interface GroupActions {
  create(subject: string, phoneNumbers: readonly string[]): Promise<NetworkGroup>;
  setSubject(networkId: string, subject: string): Promise<void>;
  setDescription(networkId: string, description: string | null): Promise<void>;
  setSettings(networkId: string, settings: Partial<GroupSettings>): Promise<void>;
  /** @param picture null removes it */
  setPicture(networkId: string, picture: NetworkMedia | null): Promise<void>;
  updateParticipants(
    networkId: string,
    action: ParticipantAction,
    phoneNumbers: readonly string[],
  ): Promise<readonly ParticipantResult[]>;
  /** The invite as it is; makes one where there is none. */
  invite(networkId: string): Promise<GroupInvite>;
  /** Makes the present invite worthless and a new one in its place. */
  renewInvite(networkId: string): Promise<GroupInvite>;
  /**
   * Joins by an invite's code or link.
   * @returns the group, or null when an admin has to let the session in first
   * @throws {AppError} `not_found` when there is no such invite
   */
  join(invite: string): Promise<NetworkGroup | null>;
  leave(networkId: string): Promise<void>;
}

/** What people show of themselves, and what the session shows of itself. */
export interface ProfileActions {
  /**
   * What somebody shows to the session.
   * @throws {AppError} `not_supported` where the network shows no profiles of others
   */
  read(phoneNumber: string): Promise<Profile>;
  /**
   * Changes what others see of the session's number. All of it that the network cannot change is refused before any
   * of it is changed.
   * @throws {AppError} `not_supported`, saying why; `session_state` when it cannot be changed yet
   */
  update(change: ProfileChange): Promise<void>;
}

/** Null is what there is not, or what is hidden from the session. */
export interface Profile {
  readonly about: string | null;
  readonly picture: NetworkMedia | null;
}

export interface ProfileChange {
  readonly name?: string;
  /** Empty for none. */
  readonly about?: string;
  /** Null removes it. */
  readonly picture?: NetworkMedia | null;
}

export interface GroupInvite {
  readonly code: string;
  /** What to give to people. */
  readonly link: string;
}

export interface GroupSettings {
  /** Only admins may write. */
  readonly announce: boolean;
  /** Only admins may change subject, description and picture. */
  readonly locked: boolean;
  /** Who joins by the invite has to be let in by an admin. */
  readonly joinApproval: boolean;
}

export type TypingState = 'typing' | 'recording' | 'paused';

export type ParticipantAction = 'add' | 'remove' | 'promote' | 'demote';

export interface ParticipantResult {
  readonly phoneNumber: string;
  readonly ok: boolean;
  /** Why not, in words. */
  readonly reason?: string;
}

export interface NetworkGroup {
  readonly networkId: string;
  readonly subject: string;
  readonly description: string | null;
  readonly createdBy: string;
  readonly createdAt: number;
  readonly participants: readonly { readonly phoneNumber: string; readonly role: 'member' | 'admin' | 'owner' }[];
  readonly settings: GroupSettings;
  readonly inviteCode: string | null;
  readonly picture: NetworkMedia | null;
}

/** What a network tells of a session. */
export type NetworkEvent =
  /** A code to scan; a new one replaces it when it expires. */
  | { readonly type: 'pairing'; readonly qr: string; readonly expiresAt: number }
  | { readonly type: 'connected'; readonly phoneNumber: string }
  | { readonly type: 'disconnected'; readonly reason: string; readonly willReconnect: boolean }
  | { readonly type: 'logged_out'; readonly reason: string }
  | {
      readonly type: 'message';
      readonly networkId: string;
      readonly chat: NetworkChat;
      /** Digits of the sender, or a stand-in (see `isStandIn`). */
      readonly from: string;
      /** The session's own number has sent it from another device, such as the phone itself. */
      readonly isOwn?: boolean;
      /** What the sender calls itself. */
      readonly senderName?: string;
      /** It waited at the network while the session was away. */
      readonly isReplayed?: boolean;
      readonly content: MessageContent;
      readonly timestamp: number;
      readonly replyTo: string | null;
    }
  /**
   * Whose number it is that was not known until now. What was stored under the stand-in is theirs. So is what was
   * stored under a number that the network knows by another one: it is the stand-in then.
   */
  | { readonly type: 'identified'; readonly standIn: string; readonly phoneNumber: string }
  /** Its sender has changed the text of a message. */
  | {
      readonly type: 'edited';
      readonly networkId: string;
      readonly from: string;
      readonly text: string;
      readonly timestamp: number;
    }
  /** Its sender, or an admin of the group it is in, has deleted a message for everyone. Of others it is not believed. */
  | { readonly type: 'deleted'; readonly networkId: string; readonly from: string; readonly timestamp: number }
  | {
      readonly type: 'reaction';
      readonly networkId: string;
      readonly from: string;
      /** The chat that it came in, where the network says so: it must be the message's. */
      readonly chat?: NetworkChat;
      /** Null when it was taken back. */
      readonly emoji: string | null;
      readonly timestamp: number;
    }
  | {
      readonly type: 'vote';
      readonly networkId: string;
      readonly from: string;
      /** As of a reaction. */
      readonly chat?: NetworkChat;
      /** The options of the poll that are chosen now; empty when the vote was taken back. */
      readonly options: readonly string[];
      readonly timestamp: number;
    }
  | {
      readonly type: 'receipt';
      readonly networkIds: readonly string[];
      readonly status: 'sent' | 'delivered' | 'read' | 'failed';
      readonly timestamp: number;
      /** Why it failed, in words. */
      readonly error?: string;
    }
  /** The session is in this group. One that it had left is told as a group that it was added to. */
  | { readonly type: 'group_created'; readonly group: NetworkGroup }
  /** The group has an invite now: worth storing, and no event. */
  | { readonly type: 'group_invite'; readonly group: NetworkGroup }
  | {
      readonly type: 'group_updated';
      readonly change: GroupChange;
      readonly timestamp: number;
      /** The group as it is after the change. */
      readonly group: NetworkGroup;
    };

/** What the other side can be made to do on a network for trying things out. */
export type Simulation =
  /** Scans the QR, or types the pairing code. */
  | { readonly action: 'pair' }
  | {
      readonly action: 'incoming';
      readonly from: string;
      readonly senderName: string | null;
      readonly content: MessageContent;
      readonly group: string | null;
      readonly replyTo: string | null;
    }
  | (MessageKey & { readonly action: 'edit'; readonly message: string })
  | (MessageKey & { readonly action: 'delete' })
  | (MessageKey & { readonly action: 'react'; readonly emoji: string | null })
  | (MessageKey & { readonly action: 'vote'; readonly options: readonly string[] })
  | { readonly action: 'receipt'; readonly networkId: string; readonly status: 'delivered' | 'read' | 'failed' }
  /** Cuts the connection; it comes back by itself after `reconnectAfterMs`, or not at all when that is null. */
  | { readonly action: 'disconnect'; readonly reason: string; readonly reconnectAfterMs: number | null }
  | { readonly action: 'logout' }
  | {
      readonly action: 'group_create';
      readonly subject: string;
      readonly from: string;
      readonly phoneNumbers: readonly string[];
    }
  | { readonly action: 'group_subject'; readonly group: string; readonly subject: string }
  | { readonly action: 'group_leave'; readonly group: string; readonly from: string };
