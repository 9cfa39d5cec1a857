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

/** A network that sessions can live on. */
export interface Connector {
  /** Its name in the API, such as `sandbox`. */
  readonly name: string;
  /** Schema of a session's `options`. */
  readonly options: TObject;
  /** The kinds of messages it can send. */
  readonly messageTypes: readonly MessageType[];
  /** Sessions that were linked before, told once at start: a network knows who has signed up. */
  remember?(linked: readonly { readonly sessionId: string; readonly phoneNumber: string }[]): void;
  /**
   * Starts a session's connection. Resolves when the attempt is under way; how it goes is told to `host.onEvent`.
   * @throws {AppError} what the caller of `connect` can act on, such as `phone_number_in_use`
   */
  open(host: SessionHost): Promise<Connection>;
  /** The session is logged out or deleted: its number is free again. */
  forget?(linked: { readonly sessionId: string; readonly phoneNumber: string | null }): Promise<void>;
}

/** What a connector may know and tell of one session. */
export interface SessionHost {
  readonly sessionId: string;
  /** Digits; null until the network has said which number it is. */
  readonly phoneNumber: string | null;
  readonly options: Readonly<Record<string, unknown>>;
  readonly clock: Clock;
  readonly log: Log;
  /** What the connector keeps for the session, such as its credentials: strings by key, gone with the session. */
  readonly store: SessionStore;
  /**
   * Tells that something happened. Resolves when it is stored, so a network that wants an acknowledgement gets it
   * then and not before.
   */
  onEvent(event: NetworkEvent): Promise<void>;
  /** Outgoing messages that the network took and has not confirmed as delivered, oldest first. */
  undelivered(): Promise<readonly OutgoingMessage[]>;
  /** The groups the session is in, as stored. */
  groups(): Promise<readonly NetworkGroup[]>;
  /** Digits of the contacts that the session has blocked, as stored. */
  blocked(): Promise<readonly string[]>;
}

export interface SessionStore {
  get(key: string): Promise<string | undefined>;
  set(key: string, value: string): Promise<void>;
  delete(key: string): Promise<void>;
  clear(): Promise<void>;
}

/** A chat as the network addresses it: a phone number's digits, or the network's id of a group. */
export interface NetworkChat {
  readonly type: 'direct' | 'group';
  readonly id: string;
}

export interface OutgoingMessage {
  /** Id that the network shall know the message by. Sending it twice with the same id sends it once. */
  readonly networkId: string;
  readonly chat: NetworkChat;
  readonly content: MessageContent;
  /** `networkId` of the message it answers. */
  readonly replyTo: string | null;
}

export const mediaTypes = ['image', 'video', 'audio', 'voice', 'document', 'sticker'] as const;
export const messageTypes = ['text', ...mediaTypes, 'location', 'contact', 'poll'] as const;
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
  /** Digits of the people it mentions. */
  readonly mentions?: readonly string[];
  readonly isForwarded?: boolean;
}

export interface NetworkMedia {
  readonly mimeType: string;
  /** Bytes. */
  readonly size: number;
  readonly fileName: string | null;
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
   * Sends a message. Resolves when the network has taken it.
   * @throws {AppError} when the network refuses it for a reason the caller can act on
   */
  send(message: OutgoingMessage): Promise<{ readonly timestamp: number }>;
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
  /** Which of these numbers the network knows. */
  checkNumbers?(phoneNumbers: readonly string[]): Promise<ReadonlySet<string>>;
  setBlocked?(phoneNumber: string, blocked: boolean): Promise<void>;
  readonly groups?: GroupActions;
  /** A code to type into the phone instead of scanning a QR. */
  requestPairingCode?(phoneNumber: string): Promise<{ readonly code: string; readonly expiresAt: number }>;
  /** Plays the other side. Only a network that is made for trying things out has it. */
  simulate?(action: Simulation): Promise<void>;
  /** Ends the connection and keeps the credentials. */
  close(): Promise<void>;
  /** Unlinks the device: to connect again it must be linked anew. */
  logout(): Promise<void>;
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
      /** Digits of the sender. */
      readonly from: string;
      /** What the sender calls itself. */
      readonly senderName?: string;
      readonly content: MessageContent;
      readonly timestamp: number;
      readonly replyTo: string | null;
    }
  /** Its sender has changed the text of a message. */
  | {
      readonly type: 'edited';
      readonly networkId: string;
      readonly from: string;
      readonly text: string;
      readonly timestamp: number;
    }
  /** Its sender has deleted a message for everyone. */
  | { readonly type: 'deleted'; readonly networkId: string; readonly from: string; readonly timestamp: number }
  | {
      readonly type: 'reaction';
      readonly networkId: string;
      readonly from: string;
      /** Null when it was taken back. */
      readonly emoji: string | null;
      readonly timestamp: number;
    }
  | {
      readonly type: 'vote';
      readonly networkId: string;
      readonly from: string;
      /** The options of the poll that are chosen now; empty when the vote was taken back. */
      readonly options: readonly string[];
      readonly timestamp: number;
    }
  | {
      readonly type: 'receipt';
      readonly networkIds: readonly string[];
      readonly status: 'delivered' | 'read' | 'failed';
      readonly timestamp: number;
      /** Why it failed, in words. */
      readonly error?: string;
    }
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
  | { readonly action: 'edit'; readonly networkId: string; readonly from: string; readonly message: string }
  | { readonly action: 'delete'; readonly networkId: string; readonly from: string }
  | { readonly action: 'react'; readonly networkId: string; readonly from: string; readonly emoji: string | null }
  | { readonly action: 'vote'; readonly networkId: string; readonly from: string; readonly options: readonly string[] }
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
