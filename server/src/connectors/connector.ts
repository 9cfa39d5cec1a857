import type { Clock } from '../clock.ts';
import type { GroupChange, MessageType, ReceivedType } from '../events/networkTypes.ts';
import type { AccountSimulation, BusinessActions, LinkedDevice, PersonIds, PrivacyActions } from './account.ts';
import type {
  BusinessEvent,
  BusinessProfileChange,
  BusinessSimulation,
  CallbackDirectory,
  OwnBusinessProfile,
  Pricing,
  TemplateActions,
} from './business.ts';
import type { CallKey } from './calls.ts';
import type { Capability } from './capabilities.ts';
import type { ChannelActions, ChannelEvent, ChannelSimulation } from './channels.ts';
import type { ChatEvent, ChatParts, ChatSimulation } from './chatActions.ts';
import {
  type AlbumPart,
  type Choosing,
  type ContactCard,
  type ContentParts,
  type EventAnswer,
  type EventDetails,
  type EventPlace,
  eventAnswers,
  type LinkPreview,
  type LivePosition,
  type Order,
  type OrderItem,
  type PersonalInvite,
  type Product,
  type Vote,
} from './contentParts.ts';
import type {
  CommunityActions,
  CommunityPlace,
  GroupSimulation,
  InvitePreview,
  JoinRequestActions,
  JoinRequestEvent,
  OptionalGroupSettings,
} from './groupActions.ts';
import type {
  HistoryChatOf,
  HistoryEventOf,
  HistoryMessageOf,
  HistoryRequestOf,
  HistorySimulationOf,
} from './history.ts';
import type { MediaRules } from './media.ts';
import type { MessageKey, NetworkChat } from './messageKey.ts';
import type { NetworkMedia } from './networkMedia.ts';
import type { OwnPresence, SetPresence } from './presence.ts';
import type {
  Forecast,
  NetworkWarning,
  PlannedMessage,
  PlannedTemplate,
  StandingEvent,
  StandingSimulation,
} from './standing.ts';
import type { StatusActions, StatusEvent, StatusSimulation } from './status.ts';

export type * from './account.ts';
export type * from './business.ts';
export type * from './calls.ts';
export type * from './channels.ts';
export type * from './chatActions.ts';
export type * from './groupActions.ts';
export type { HistoryChoice, HistoryContact, RemoteFile } from './history.ts';
export type * from './messageKey.ts';
export type * from './networkMedia.ts';
export type * from './presence.ts';
export type * from './status.ts';

/*
 * The interface between the product and a network. A connector knows only its network: no database, no webhooks, no
 * HTTP server. It gets a host per session, to which it reports events, and returns a connection, through which the
 * product acts.
 *
 * The package `@switchboard/connector-kit` publishes this file, `errors.ts` and the files that they import.
 */

/** How long the file of a message may take to or from its network, in ms. The server waits for `MAX_SEND_MS`. */
export const FILE_MS = 5 * 60_000;

/** The export of a package that `CONNECTORS` names. */
export interface ConnectorModule {
  createConnector(tools: ConnectorTools): Connector | Promise<Connector>;
}

export interface ConnectorTools {
  readonly clock: Clock;
  readonly log: ConnectorLog;
}

/**
 * The log of the server. Takes fields and a message that begins with the event, such as `failed to reconnect`. Secrets
 * and the content of messages do not belong into it.
 */
export interface ConnectorLog {
  readonly level: string;
  readonly trace: LogFunction;
  readonly debug: LogFunction;
  readonly info: LogFunction;
  readonly warn: LogFunction;
  readonly error: LogFunction;
  /** Returns a log that adds these fields to each line. */
  child(fields: Readonly<Record<string, unknown>>, options?: { readonly level?: string }): ConnectorLog;
  isLevelEnabled(level: string): boolean;
}

interface LogFunction {
  /** @param fields `err` takes an error */
  (fields: object, message?: string): void;
  (message: string): void;
}

/** JSON Schema of an object. */
export interface OptionsSchema {
  readonly type: 'object';
  /**
   * One JSON Schema for each option. The dashboard shows its `title` or name, and its `description`. With `writeOnly` it
   * is a secret.
   */
  readonly properties: Readonly<Record<string, object>>;
  readonly required?: readonly string[];
  /** False rejects options that are not in `properties`. */
  readonly additionalProperties?: boolean | object;
}

/** A network for sessions. */
export interface Connector {
  /** Its name in the API, such as `sandbox`: lower-case letters, digits and dashes. */
  readonly name: string;
  /**
   * JSON Schema of a session's `options`. An option with the annotation `writeOnly` is a secret: the API accepts it and
   * never returns it.
   */
  readonly options: OptionsSchema;
  /**
   * Validates rules that the schema of the options cannot express, without any request.
   * @throws {AppError} `validation_failed` naming the option, such as `options.proxy`
   */
  checkOptions?(options: Readonly<Record<string, unknown>>): void;
  /** The message types that it can send. */
  readonly messageTypes: readonly MessageType[];
  /**
   * The features that it supports besides sending. Callers get `not_supported` for all else, even if a connection has the part. Left
   * out, the parts of a connection decide.
   */
  readonly capabilities?: readonly Capability[];
  /** The files that apps of the network show. Left out, files are sent as they are. */
  readonly mediaRules?: MediaRules;
  /** The network's own address of a chat, such as a JID. By default the id of the chat. */
  addressOf?(chat: NetworkChat): string;
  /**
   * The id that a message of the session has on the network, if the connector derives it from the `networkId` with which
   * it was sent. By default unknown, unless `send` has returned another one.
   */
  messageIdOf?(networkId: string): string;
  /**
   * Looks up a person in the data that the connector keeps for a session. By default nothing is known besides the
   * address of the chat. Works without a connection.
   * @param digits a phone number, or a placeholder (see `isPlaceholder`)
   */
  personOf?(digits: string, store: Pick<SessionStore, 'get'>): Promise<NetworkPerson>;
  /** Whether the network calls us: its sessions have a callback URL, and its connections implement `takeCallback`. */
  readonly takesCallbacks?: true;
  /** Whether its numbers may write to strangers within the network's own limits, so that new chats are no risk. */
  readonly isForBusinesses?: true;
  /**
   * Starts a session's connection. Resolves once the attempt has started; its outcome is reported to `host.onEvent`.
   * @throws {AppError} an error that the caller of `connect` can act on, such as `phone_number_in_use`
   */
  open(host: SessionHost): Promise<Connection>;
  /**
   * Answers a call of the network for a session that is not connected, without a change. It must verify the call as
   * `takeCallback` does, and answer 409 to what the session itself needs, so that the network repeats that. Without it,
   * the server answers 409 to every call.
   */
  takeOfflineCallback?(request: CallbackRequest, session: OfflineSession): Promise<CallbackAnswer>;
  /** Releases the number of a session that was logged out or deleted. */
  forget?(session: {
    readonly sessionId: string;
    /** Digits; null if the network never reported the number. */
    readonly phoneNumber: string | null;
    /** See `SessionHost.scope`. */
    readonly scope: string;
  }): Promise<void>;
}

/** A session from the connector's side: its data, and the way to report events. */
export interface SessionHost {
  readonly sessionId: string;
  /**
   * Opaque. On a network inside the server, sessions of the same scope reach one another and sessions of different
   * scopes do not. Other networks ignore it.
   */
  readonly scope: string;
  /** Digits; null until the network has reported the number. */
  readonly phoneNumber: string | null;
  readonly options: Readonly<Record<string, unknown>>;
  readonly clock: Clock;
  readonly log: ConnectorLog;
  /** Data of the connector for the session, such as its credentials: strings by key, deleted with the session. */
  readonly store: SessionStore;
  /** The URL for the network's calls; null if the server does not know its own address (`PUBLIC_URL`). */
  readonly callbackUrl: URL | null;
  /** Reports an event. Resolves once it is stored, and only then may the connector acknowledge it to its network. */
  onEvent(event: NetworkEvent): Promise<void>;
  /** Outgoing messages that the network accepted and has not confirmed as delivered, oldest first. */
  undelivered(): Promise<readonly OutgoingMessage[]>;
  /** `networkId` of the last incoming message of a direct chat; null if there is none. */
  lastIncoming(chatId: string): Promise<string | null>;
  /** The stored groups of the session. */
  groups(): Promise<readonly NetworkGroup[]>;
  /** Digits of the stored contacts that the session has blocked. */
  blocked(): Promise<readonly string[]>;
  /** Left out by hosts that have only one session. */
  readonly callbacks?: CallbackDirectory;
}

/** A session that is not connected. Its store cannot be written. */
export type OfflineSession = Pick<SessionHost, 'options' | 'store' | 'log'> & Required<Pick<SessionHost, 'callbacks'>>;

export interface SessionStore {
  get(key: string): Promise<string | undefined>;
  /** Returns the values of the keys that exist. */
  getMany(keys: readonly string[]): Promise<ReadonlyMap<string, string>>;
  /**
   * Returns all entries whose key starts with the prefix. For the start only, because it reads all data of the session.
   */
  list(prefix: string): Promise<ReadonlyMap<string, string>>;
  set(key: string, value: string): Promise<void>;
  /** Sets the keys that have a value and deletes those that are null, atomically. */
  write(changes: ReadonlyMap<string, string | null>): Promise<void>;
  delete(key: string): Promise<void>;
  clear(): Promise<void>;
}

export interface NetworkPerson {
  /** Digits of the phone number; those of a placeholder until the number is known. */
  readonly phoneNumber: string;
  /** The network's ids of the person, as far as they are known. */
  readonly networkIds: readonly string[];
}

export interface OutgoingMessage {
  /**
   * The message id for the network, or our own id, which the network stores in addition to its own (see `send`).
   * Sending a message twice with the same id sends it once.
   */
  readonly networkId: string;
  readonly chat: NetworkChat;
  readonly content: MessageContent;
  /** `networkId` of the message that it replies to. */
  readonly replyTo: string | null;
  /** After how many seconds it disappears; left out if it stays. */
  readonly expiresInSeconds?: number;
  /** The content of that message, for networks that show it above the reply. */
  readonly quoted?: { readonly from: string; readonly text: string };
  /** When the network accepted it: only for messages of `SessionHost.undelivered`. */
  readonly sentAt?: number;
}

export const mediaTypes = ['image', 'video', 'audio', 'voice', 'document', 'sticker'] as const;
export const messageTypes = [
  'text',
  ...mediaTypes,
  'location',
  'contact',
  'poll',
  'template',
  'interactive',
  'event',
] as const satisfies readonly MessageType[];
/** Types of messages that a session can receive, and not send. */
const receivedTypes = ['product', 'order', 'group_invite', 'unsupported'] as const satisfies readonly ReceivedType[];
export const allMessageTypes = [...messageTypes, ...receivedTypes] as const;
export type {
  AlbumPart,
  Choosing,
  ContactCard,
  ContentParts,
  EventAnswer,
  EventDetails,
  EventPlace,
  LinkPreview,
  LivePosition,
  MessageType,
  Order,
  OrderItem,
  PersonalInvite,
  Product,
  Vote,
};
export { eventAnswers };

/** The content of a message: its text, and the parts that its type adds. */
export interface MessageContent extends ContentParts {
  readonly type: MessageType;
  /** The text, the caption of the media, the question of the poll, or the name of the event or product. */
  readonly text: string;
  readonly media?: NetworkMedia;
  readonly location?: Location;
  readonly contact?: ContactCard;
  readonly poll?: Poll;
  readonly template?: Template;
  readonly interactive?: Interactive;
  /** Digits of the mentioned people. */
  readonly mentions?: readonly string[];
  readonly isForwarded?: boolean;
  /** The payload of the chosen button or list entry, if the message is such a choice. */
  readonly payload?: string;
}

export interface Location {
  /** Degrees, WGS 84. */
  readonly latitude: number;
  readonly longitude: number;
  readonly name?: string;
  readonly address?: string;
  /** If the sender shares a position that moves. */
  readonly live?: LivePosition;
}

export interface Poll {
  readonly options: readonly string[];
  /** How many of them one person can choose. */
  readonly maxSelections: number;
}

/** A text that the network has approved in advance, with values to fill in. */
export interface Template {
  readonly name: string;
  /** Such as `en_US`. */
  readonly language: string;
  /** The values, in the network's own format. */
  readonly components?: readonly Readonly<Record<string, unknown>>[];
}

/** The choices below a text: buttons, the rows of a list, or a link. */
export interface Interactive {
  readonly header?: string;
  readonly footer?: string;
  readonly buttons?: readonly Choice[];
  readonly list?: {
    /** Text of the button that opens the list. */
    readonly title: string;
    readonly rows: readonly (Choice & { readonly description?: string; readonly section?: string })[];
  };
  readonly link?: { readonly title: string; readonly url: string };
}

/** Choosing it sends a message with its title as text and its id as `payload`. */
export interface Choice {
  readonly id: string;
  readonly title: string;
}

/**
 * Whether these digits are a placeholder for somebody whose number the network hides: three zeros, with which no number
 * starts, and digits derived from the network's id of the person. Messages can be sent to a placeholder like to a
 * number.
 */
export const isPlaceholder = (digits: string): boolean => /^000\d{5,25}$/.test(digits);

/** The timers of disappearing messages that phones offer, in seconds. A caller can set only these. */
export const DISAPPEARING_SECONDS: readonly number[] = [86_400, 604_800, 7_776_000];
/** People that a message can mention. The host leaves out the others. */
export const MAX_MENTIONS = 1024;

/**
 * The actions of a connection. If the network does not support an optional part, it is missing and callers get
 * `not_supported`.
 */
export interface Connection extends ChatParts {
  /**
   * Sends a message. Resolves once the network has accepted it; callers wait for up to 30 s, or 5.5 minutes for a file.
   * @returns `networkId` if the network assigned another id. Receipts may use either.
   * @throws {AppError} if the network refuses it for a reason that the caller can act on
   */
  send(message: OutgoingMessage): Promise<{ readonly timestamp: number; readonly networkId?: string }>;
  /**
   * Answers a request to the session's callback URL. The request is unauthenticated: the connection must verify its
   * sender.
   */
  takeCallback?(request: CallbackRequest): Promise<CallbackAnswer>;
  /** Sends read receipts to the senders of messages. */
  markRead?(
    chat: NetworkChat,
    messages: readonly { readonly networkId: string; readonly from: string }[],
  ): Promise<void>;
  /** Shows the other side whether somebody is typing or recording. */
  setTyping?(chat: NetworkChat, state: TypingState): Promise<void>;
  /** @param emoji null removes the reaction */
  react?(message: MessageKey, emoji: string | null): Promise<void>;
  /** @param type that of the message; other than `text`, the text is its caption */
  edit?(message: MessageKey, text: string, type?: MessageType): Promise<void>;
  /** Votes in a poll, or withdraws the vote. */
  vote?(message: MessageKey, vote: Vote): Promise<void>;
  /** Deletes one of the session's own messages for everyone. */
  remove?(message: MessageKey): Promise<void>;
  /**
   * Resolves within seconds, once the outcome of the attempt to connect is known. Only the caller of `connect` waits
   * for it. Left out if a person must complete the attempt.
   */
  readonly attempt?: Promise<void>;
  /** Makes the next attempt now if the connection waits for it, because the account asked to connect. */
  retry?(): void;
  /**
   * Returns the number under which the network knows somebody, if it differs, so that messages are stored under it from
   * the start. Returns undefined or the same number if nothing else is known.
   */
  numberOf?(phoneNumber: string): string | undefined;
  /** Returns those of the numbers that are on the network. */
  checkNumbers?(phoneNumbers: readonly string[]): Promise<ReadonlySet<string>>;
  setBlocked?(phoneNumber: string, blocked: boolean): Promise<void>;
  /**
   * Requests older messages of a chat, which arrive as `history` later, if the network still has some.
   * @throws {AppError} `rate_limited`
   */
  requestHistory?(request: HistoryRequest): Promise<void>;
  /**
   * Fetches the file of a message from the history.
   * @throws {AppError} `not_found` if the network no longer has it, `send_failed` for another reason
   */
  openRemoteFile?(reference: string): Promise<NetworkMedia>;
  /**
   * Says what would happen to one message for each of these chats, in this order, without sending anything.
   * @param template that of messages of the type `template`
   */
  preflight?(
    messages: readonly PlannedMessage[],
    type: MessageType,
    template?: PlannedTemplate,
  ): Promise<readonly Forecast[]>;
  readonly groups?: GroupActions;
  readonly profiles?: ProfileActions;
  readonly joinRequests?: JoinRequestActions;
  /**
   * Shows a group before the session joins it.
   * @param invite code or link
   * @throws {AppError} `not_found` if there is no such invite
   */
  previewInvite?(invite: string): Promise<InvitePreview>;
  readonly communities?: CommunityActions;
  /**
   * Deletes a message of somebody else in a group for everyone.
   * @throws {AppError} `network_denied` if the session is not an admin
   */
  removeAsAdmin?(message: MessageKey): Promise<void>;
  readonly privacy?: PrivacyActions;
  readonly business?: BusinessActions;
  /** Lists the devices of the session's account, as far as the network shows them. */
  linkedDevices?(): Promise<readonly LinkedDevice[]>;
  /** Asks for the ids of people. Returns one entry for each number, then one for each LID, in order. */
  lookUpPeople?(people: {
    readonly phoneNumbers: readonly string[];
    readonly lids: readonly string[];
  }): Promise<readonly PersonIds[]>;
  readonly templates?: TemplateActions;
  readonly status?: StatusActions;
  readonly channels?: ChannelActions;
  /** Shows the session as online or offline, also after a reconnect. */
  setPresence?(presence: OwnPresence): Promise<SetPresence>;
  /** Asks the network to report the presence of somebody, for as long as the connection lasts. */
  followPresence?(phoneNumber: string): Promise<void>;
  /** @throws {AppError} `not_found` if no such call rings */
  rejectCall?(call: CallKey): Promise<void>;
  /** Requests a code to type into the phone instead of scanning a QR code. */
  requestPairingCode?(phoneNumber: string): Promise<{ readonly code: string; readonly expiresAt: number }>;
  /** Plays the other side. Only test networks have it. */
  simulate?(action: Simulation): Promise<void>;
  /** Ends the connection and keeps the credentials. */
  close(): Promise<void>;
  /**
   * Unlinks the device, which must be linked again before the next connection. Also called for a session that is
   * deleted, which waits 5 seconds for it and then closes.
   */
  logout(): Promise<void>;
}

/** A request to a callback URL, unmodified. */
export interface CallbackRequest {
  readonly method: string;
  readonly query: URLSearchParams;
  /** By lower-case name; repeated headers are joined by commas. */
  readonly headers: Readonly<Record<string, string>>;
  /** The exact bytes, which signatures cover. */
  readonly body: Buffer;
  /** Another session received it and passed it on, so it goes no further. */
  readonly isPassedOn?: true;
}

export interface CallbackAnswer {
  readonly status: number;
  /** Sent as plain text. */
  readonly text?: string;
  /** Ids of other sessions that the call concerns as well: it is passed on to them. */
  readonly passOnTo?: readonly string[];
  /** Ids of other sessions that need the call only if they are connected, such as those of the same business. */
  readonly offerTo?: readonly string[];
  /** How many parts of the call concern numbers that this server does not know. */
  readonly unmatched?: number;
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
  /** Returns the current invite; creates one if there is none. */
  invite(networkId: string): Promise<GroupInvite>;
  /** Replaces the current invite, which stops working. */
  renewInvite(networkId: string): Promise<GroupInvite>;
  /**
   * Joins by an invite's code or link.
   * @returns the group, or null if an admin must approve first
   * @throws {AppError} `not_found` if there is no such invite
   */
  join(invite: string): Promise<NetworkGroup | null>;
  leave(networkId: string): Promise<void>;
}

/** The profiles of other people and of the session. */
export interface ProfileActions {
  /**
   * Reads the profile that somebody shows to the session.
   * @throws {AppError} `not_supported` if the network does not show profiles of others
   */
  read(phoneNumber: string): Promise<Profile>;
  /**
   * Changes the profile of the session's number. Refuses all changes if one of them is not supported, before any of
   * them is made.
   * @throws {AppError} `not_supported`, with the reason; `session_state` if it cannot be changed yet
   */
  update(change: ProfileChange): Promise<void>;
  /** Reads the profile of the session's own number. */
  readOwn?(): Promise<OwnProfile>;
}

/** Null means missing, or hidden from the session. */
export interface Profile {
  readonly about: string | null;
  readonly picture: NetworkMedia | null;
}

/** The profile that the session's own number shows. */
export interface OwnProfile extends Profile {
  /** Null if there is none. */
  readonly name: string | null;
  /** Null for a number that is not a business; left out if the network has no such profiles. */
  readonly business?: OwnBusinessProfile | null;
}

export interface ProfileChange {
  readonly name?: string;
  /** Empty removes it. */
  readonly about?: string;
  /** Null removes it. */
  readonly picture?: NetworkMedia | null;
  readonly business?: BusinessProfileChange;
}

export interface GroupInvite {
  readonly code: string;
  /** Link to send to people. */
  readonly link: string;
}

export interface GroupSettings extends OptionalGroupSettings {
  /** Only admins can send messages. */
  readonly announce: boolean;
  /** Only admins can change subject, description and picture. */
  readonly locked: boolean;
  /** An admin must approve people who join by the invite. */
  readonly joinApproval: boolean;
}

export type TypingState = 'typing' | 'recording' | 'paused';

export type ParticipantAction = 'add' | 'remove' | 'promote' | 'demote';

export interface ParticipantResult {
  readonly phoneNumber: string;
  readonly ok: boolean;
  /** The reason if it failed, as text. */
  readonly reason?: string;
}

export interface NetworkGroup extends CommunityPlace {
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

/**
 * Somebody's change of an existing message. If the network reports the chat of a reaction or a vote, it must be that of
 * the message.
 */
interface MessageChange {
  readonly networkId: string;
  readonly from: string;
  readonly timestamp: number;
}

/** `paused` means that the person stopped typing or recording. */
export const presences = ['online', 'offline', 'typing', 'recording', 'paused'] as const;
export type Presence = (typeof presences)[number];

/** `answered` and `rejected`: on another device of the account. `ended`: the network does not report why. */
export const callOutcomes = ['answered', 'rejected', 'missed', 'ended'] as const;
export type CallOutcome = (typeof callOutcomes)[number];

interface NetworkCall {
  /** The network's id of the call. */
  readonly callId: string;
  readonly chat: NetworkChat;
  /** Digits of the caller. */
  readonly from: string;
  readonly isVideo: boolean;
  readonly timestamp: number;
}

export type HistoryChat = HistoryChatOf<NetworkChat>;
/** Its content has no file. */
export type HistoryMessage = HistoryMessageOf<NetworkChat, Omit<MessageContent, 'media'>>;
export type HistoryEvent = HistoryEventOf<NetworkChat, Omit<MessageContent, 'media'>>;
export type HistoryRequest = HistoryRequestOf<NetworkChat>;
export type HistorySimulation = HistorySimulationOf<NetworkChat, Omit<MessageContent, 'media'>>;

/** A network's report about a session. */
export type NetworkEvent =
  | JoinRequestEvent
  /** The session has learned more about a group that did not change. Stored without an event. */
  | { readonly type: 'group_noted'; readonly group: NetworkGroup }
  | BusinessEvent
  | StandingEvent
  | StatusEvent
  | ChannelEvent
  /** A QR code to scan; a new one replaces it when it expires. */
  | { readonly type: 'pairing'; readonly qr: string; readonly expiresAt: number }
  | { readonly type: 'connected'; readonly phoneNumber: string }
  | { readonly type: 'disconnected'; readonly reason: string; readonly willReconnect: boolean }
  | { readonly type: 'logged_out'; readonly reason: string }
  | {
      readonly type: 'message';
      /** A live location that is reported again with a higher `sequence` has moved. */
      readonly networkId: string;
      readonly chat: NetworkChat;
      /** Digits of the sender, or a placeholder (see `isPlaceholder`). */
      readonly from: string;
      /** The session's own number sent it from another device, such as the phone. */
      readonly isOwn?: boolean;
      /** The name that the sender chose. */
      readonly senderName?: string;
      /** It waited on the network while the session was not connected. */
      readonly isReplayed?: boolean;
      readonly content: MessageContent;
      readonly timestamp: number;
      readonly replyTo: string | null;
      /** After how many seconds it disappears. */
      readonly expiresInSeconds?: number;
    }
  | ChatEvent
  /**
   * The number of a person has become known. Everything stored under the placeholder `standIn` belongs to that number.
   * The placeholder can also be a number that the network knows by another one.
   */
  | { readonly type: 'identified'; readonly standIn: string; readonly phoneNumber: string }
  /** The sender has changed the text of a message. */
  | (MessageChange & { readonly type: 'edited'; readonly text: string })
  /** The sender, or an admin of the group, has deleted a message for everyone. Deletions by others are ignored. */
  | (MessageChange & { readonly type: 'deleted' })
  /** `emoji` is null if the reaction was removed. */
  | (MessageChange & { readonly type: 'reaction'; readonly chat?: NetworkChat; readonly emoji: string | null })
  /** `options` are the chosen ones of the poll; none if the vote was withdrawn. */
  | (MessageChange & { readonly type: 'vote'; readonly chat?: NetworkChat; readonly options: readonly string[] })
  /** Somebody answers an event: whether they come. */
  | (MessageChange & { readonly type: 'event_answer'; readonly chat?: NetworkChat; readonly answer: EventAnswer })
  | {
      readonly type: 'receipt';
      readonly networkIds: readonly string[];
      readonly status: 'sent' | 'delivered' | 'read' | 'failed';
      readonly timestamp: number;
      /** The reason if it failed, as text. */
      readonly error?: string;
      readonly pricing?: Pricing;
      /** It failed for a reason that comes before a restriction of the number. Counted once, however often it is reported. */
      readonly warning?: NetworkWarning;
      /** It failed because the network cannot reach the recipient. */
      readonly isUnreachable?: true;
      /** Its message may arrive later: the receipt waits for it. */
      readonly isEarly?: true;
    }
  /** Another device of the account has changed or read a chat. Fields that are left out did not change. */
  | {
      readonly type: 'chat_updated';
      readonly chat: NetworkChat;
      readonly archived?: boolean;
      readonly pinned?: boolean;
      /** Null if the chat is no longer muted. */
      readonly mutedUntil?: number | null;
      readonly markedUnread?: boolean;
      /** Messages were read: all of them, or those up to the one with the network id `readUpTo`. */
      readonly isRead?: true;
      readonly readUpTo?: string;
    }
  /** The name that a person chose, apart from a message. */
  | { readonly type: 'contact_named'; readonly phoneNumber: string; readonly name: string }
  /** Of one person in one chat. Reports beyond one per second on average are dropped. */
  | {
      readonly type: 'presence';
      readonly chat: NetworkChat;
      readonly from: string;
      readonly presence: Presence;
      /** When the person was last online, if the network shows it. */
      readonly lastSeen?: number;
      readonly timestamp: number;
    }
  | (NetworkCall & { readonly type: 'call' })
  /** The call stopped ringing. */
  | (NetworkCall & { readonly type: 'call_ended'; readonly outcome: CallOutcome })
  /** The session is in this group. If it had left the group, this emits that it was added. */
  | { readonly type: 'group_created'; readonly group: NetworkGroup }
  /** The group has a new invite, which is stored without an event. */
  | { readonly type: 'group_invite'; readonly group: NetworkGroup }
  | {
      readonly type: 'group_updated';
      readonly change: GroupChange;
      /** Identifies the change if the network may report it twice. A change with the id of the group's last one is ignored. */
      readonly changeId?: string;
      readonly timestamp: number;
      /** The group after the change. */
      readonly group: NetworkGroup;
    }
  | HistoryEvent;

/** An action of the other side on a test network. */
export type Simulation =
  | GroupSimulation
  | AccountSimulation
  | {
      readonly action: 'group_picture';
      readonly group: string;
      readonly from: string;
      readonly picture: NetworkMedia | null;
    }
  | {
      readonly action: 'group_settings';
      readonly group: string;
      readonly from: string;
      readonly settings: Partial<GroupSettings>;
    }
  | BusinessSimulation
  | StandingSimulation
  | StatusSimulation
  | ChannelSimulation
  /** Scans the QR code, or types the pairing code. */
  | { readonly action: 'pair' }
  | {
      readonly action: 'incoming';
      readonly from: string;
      readonly senderName: string | null;
      readonly content: MessageContent;
      readonly group: string | null;
      readonly replyTo: string | null;
      readonly expiresInSeconds?: number;
    }
  | (MessageKey & { readonly action: 'edit'; readonly message: string })
  | (MessageKey & { readonly action: 'delete' })
  | (MessageKey & { readonly action: 'react'; readonly emoji: string | null })
  | (MessageKey & { readonly action: 'vote'; readonly options: readonly string[] })
  | (MessageKey & { readonly action: 'event_answer'; readonly answer: EventAnswer })
  /** Moves a live location. */
  | (MessageKey & { readonly action: 'move'; readonly location: Location })
  | { readonly action: 'receipt'; readonly networkId: string; readonly status: 'delivered' | 'read' | 'failed' }
  /** Cuts the connection. The session reconnects after `reconnectAfterMs`, or not at all if that is null. */
  | { readonly action: 'disconnect'; readonly reason: string; readonly reconnectAfterMs: number | null }
  | { readonly action: 'logout' }
  | {
      readonly action: 'presence';
      readonly chat: NetworkChat;
      readonly from: string;
      readonly presence: Presence;
    }
  | { readonly action: 'call'; readonly callId: string; readonly from: string; readonly isVideo: boolean }
  | {
      readonly action: 'call_end';
      readonly callId: string;
      readonly from: string;
      readonly isVideo: boolean;
      readonly outcome: CallOutcome;
    }
  /** On another device of the account. */
  | {
      readonly action: 'chat_update';
      readonly chat: NetworkChat;
      readonly archived?: boolean;
      readonly pinned?: boolean;
      readonly mutedUntil?: number | null;
      readonly markedUnread?: boolean;
      readonly isRead?: true;
    }
  | ChatSimulation
  | { readonly action: 'rename'; readonly from: string; readonly name: string }
  /** The number of a person becomes known who had hidden it. */
  | { readonly action: 'identify'; readonly placeholder: string; readonly phoneNumber: string }
  | {
      readonly action: 'group_create';
      readonly subject: string;
      readonly from: string;
      readonly phoneNumbers: readonly string[];
    }
  | { readonly action: 'group_subject'; readonly group: string; readonly subject: string }
  | { readonly action: 'group_leave'; readonly group: string; readonly from: string }
  | HistorySimulation;
