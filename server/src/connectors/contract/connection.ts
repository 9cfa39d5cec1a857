import type { MessageType } from '../../events/networkTypes.ts';
import type { BusinessActions, LinkedDevice, PersonIds, PrivacyActions } from './account.ts';
import type { TemplateActions } from './business.ts';
import type { CallbackAnswer, CallbackRequest } from './callbacks.ts';
import type { CallKey } from './calls.ts';
import type { ChannelActions } from './channels.ts';
import type { ChatParts } from './chatActions.ts';
import type { Vote } from './contentParts.ts';
import type { CommunityActions, InvitePreview, JoinRequestActions } from './groupActions.ts';
import type { GroupActions } from './groups.ts';
import type { HistoryRequest } from './history.ts';
import type { ArrivedMessage, MessageKey, NetworkChat } from './messageKey.ts';
import type { NetworkMedia } from './networkMedia.ts';
import type { OutgoingMessage } from './outgoing.ts';
import type { OwnPresence, SetPresence, TypingState } from './presence.ts';
import type { ProfileActions } from './profiles.ts';
import type { Forecast, PlannedMessage, PlannedTemplate } from './standing.ts';
import type { StatusActions } from './status.ts';

/** The network's answer to a message. */
interface SentMessage extends ArrivedMessage {
  readonly timestamp: number;
  readonly networkId?: string;
}

/**
 * The actions of a connection. If the network does not support an optional part, it is missing and callers get
 * `not_supported`.
 */
export interface Connection extends ChatParts {
  /**
   * Sends a message. Resolves once the network has accepted it; callers wait for up to 30 s, or 5.5 minutes for a file.
   * @returns `networkId` if the network assigned another id. Receipts may use either. `address` if a later reference to
   * the message needs an address of the chat that the connector cannot derive (see `ArrivedMessage`)
   * @throws {AppError} if the network refuses it for a reason that the caller can act on
   */
  send(message: OutgoingMessage): Promise<SentMessage>;
  /**
   * Answers a request to the session's callback URL. The request is unauthenticated: the connection must verify its
   * sender.
   */
  takeCallback?(request: CallbackRequest): Promise<CallbackAnswer>;
  /** Sends read receipts to the senders of messages, of which there are at most 500. */
  markRead?(chat: NetworkChat, messages: readonly Omit<MessageKey, 'chat'>[]): Promise<void>;
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
  /**
   * Called when the account asks to connect, including right after `open`: makes the next attempt now if the connection
   * waits for it.
   */
  retry?(): void;
  /**
   * Returns the number under which the network knows somebody, if it differs, so that messages are stored under it from
   * the start. Returns undefined or the same number if nothing else is known.
   */
  numberOf?(phoneNumber: string): string | undefined;
  /** Returns those of the numbers that are on the network. */
  checkNumbers?(phoneNumbers: readonly string[]): Promise<ReadonlySet<string>>;
  setBlocked?(phoneNumber: string, blocked: boolean): Promise<void>;
  /** Saves a contact with a known number in the account's address book; null removes it. */
  saveContact?(phoneNumber: string, name: string | null): Promise<void>;
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
  /** Plays the other side. Only test networks have it, and define its actions. */
  simulate?(action: { readonly action: string }): Promise<void>;
  /** Ends the connection and keeps the credentials. */
  close(): Promise<void>;
  /**
   * Unlinks the device, which must be linked again before the next connection. Also called for a session that is
   * deleted, which waits 5 seconds for it and then closes.
   */
  logout(): Promise<void>;
}
