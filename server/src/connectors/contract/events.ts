import type { ErrorCode } from '../../errors.ts';
import type { GroupChange, UnreadableReason } from '../../events/networkTypes.ts';
import type { BusinessEvent, CustomerEvent, Pricing } from './business.ts';
import type { CallOutcome, NetworkCall } from './calls.ts';
import type { ChannelEvent } from './channels.ts';
import type { ChatEvent } from './chatActions.ts';
import type { MessageContent } from './content.ts';
import type { EventAnswer, EventDetails } from './contentParts.ts';
import type { JoinRequestEvent } from './groupActions.ts';
import type { NetworkGroup } from './groups.ts';
import type { HistoryEvent } from './history.ts';
import type { ArrivedMessage, NetworkChat } from './messageKey.ts';
import type { NetworkMedia } from './networkMedia.ts';
import type { Presence } from './presence.ts';
import type { NetworkWarning, StandingEvent } from './standing.ts';
import type { StatusEvent } from './status.ts';

/**
 * Somebody's change of an existing message. If the network reports the chat of a reaction or a vote, it must be that of
 * the message.
 */
interface MessageChange {
  readonly networkId: string;
  readonly from: string;
  readonly timestamp: number;
}

/** The author of a message that somebody refers to. */
export interface TargetAuthor {
  /**
   * Digits of the sender of the message, in a group. Without them, the host does not look for the message by the id of
   * a file, because another member may have used that id.
   */
  readonly author?: string;
}

/** A change of the number or the id under which a network knows a person. */
export interface IdentityChange {
  /** The person has another phone number than before. Left out if only the known form of the number has changed. */
  readonly numberChanged?: true;
  /** The network's id of the person from now on, and the one until now. */
  readonly userId?: string;
  readonly previousUserId?: string;
}

/** A network's report about a session. */
export type NetworkEvent =
  | JoinRequestEvent
  /** The session has learned more about a group that did not change. Stored without an event. */
  | { readonly type: 'group_noted'; readonly group: NetworkGroup }
  | BusinessEvent
  | CustomerEvent
  | StandingEvent
  | StatusEvent
  | ChannelEvent
  /** A QR code to scan; a new one replaces it when it expires. */
  | { readonly type: 'pairing'; readonly qr: string; readonly expiresAt: number }
  | { readonly type: 'connected'; readonly phoneNumber: string }
  | { readonly type: 'disconnected'; readonly reason: string; readonly willReconnect: boolean }
  | { readonly type: 'logged_out'; readonly reason: string }
  | (ArrivedMessage & {
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
      /** Ids of the sender, if the network has them besides the number. */
      readonly userId?: string;
      readonly username?: string;
      /** It waited on the network while the session was not connected. */
      readonly isReplayed?: boolean;
      readonly content: MessageContent;
      readonly timestamp: number;
      readonly replyTo: string | null;
      /** Reason for which the message could not be decrypted, after everything was tried. Its content `isAwaited`. */
      readonly unreadable?: UnreadableReason;
      /** After how many seconds it disappears. */
      readonly expiresInSeconds?: number;
    })
  | ChatEvent
  /**
   * The number of a person has become known. Everything stored under the placeholder `standIn` belongs to that number.
   * The placeholder can also be a number that the network knows by another one, or the former number of a person who
   * has changed it. If the new number is hidden, `phoneNumber` is a placeholder.
   */
  | {
      readonly type: 'identified';
      readonly standIn: string;
      readonly phoneNumber: string;
      /** The person has changed the number or the id. */
      readonly change?: IdentityChange;
    }
  /** The sender has edited a message. `text` is the name of an edited event, and empty if a caption was removed. */
  | (MessageChange & {
      readonly type: 'edited';
      readonly text: string;
      /** Digits of the people whom the new text mentions. If omitted, the present ones that the text still has. */
      readonly mentions?: readonly string[];
      readonly event?: EventDetails;
    })
  /**
   * The sender's app has uploaded the image or video of a message again, in a better quality. It replaces the first
   * file. The host ignores the report of anyone but the sender, and a file that is older than the present one. `fileId`
   * is the network's id of the file, if it is sent as a message: changes and replies that use it concern the whole
   * message.
   */
  | (MessageChange & {
      readonly type: 'better_media';
      readonly chat: NetworkChat;
      readonly kind: 'image' | 'video';
      readonly media: NetworkMedia;
      readonly fileId?: string;
    })
  /** The video of an image that is a live photo. The host ignores the report of anyone but the sender. */
  | (MessageChange & {
      readonly type: 'live_photo';
      readonly chat: NetworkChat;
      readonly media: NetworkMedia;
      readonly fileId?: string;
    })
  /** The sender, or an admin of the group, has deleted a message for everyone. Deletions by others are ignored. */
  | (MessageChange & TargetAuthor & { readonly type: 'deleted' })
  /** `emoji` is null if the reaction was removed. */
  | (MessageChange &
      TargetAuthor & { readonly type: 'reaction'; readonly chat?: NetworkChat; readonly emoji: string | null })
  /** `options` are the chosen ones of the poll; none if the vote was withdrawn. */
  | (MessageChange & { readonly type: 'vote'; readonly chat?: NetworkChat; readonly options: readonly string[] })
  /** Somebody answers an event: whether they come. */
  | (MessageChange & { readonly type: 'event_answer'; readonly chat?: NetworkChat; readonly answer: EventAnswer })
  | {
      readonly type: 'receipt';
      readonly networkIds: readonly string[];
      readonly status: 'sent' | 'delivered' | 'read' | 'failed';
      readonly timestamp: number;
      /**
       * Chat that it arrived from. If given, the host ignores it for messages of other chats. If one of both chats is a
       * placeholder, the receipt waits for the number.
       */
      readonly chat?: NetworkChat;
      /** Digits of the person who received or read the messages. Only needed in groups. */
      readonly by?: string;
      /** The reason if it failed, as text. */
      readonly error?: string;
      /** Code of the error, such as `template_required`; by default unknown. */
      readonly errorCode?: ErrorCode;
      readonly pricing?: Pricing;
      /**
       * It failed for a reason that comes before a restriction of the number. Counted once, however often it is
       * reported.
       */
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
  /**
   * The network's ids of a person have become known, or have changed. Stored for contacts, and for people with a
   * placeholder. `name` is the one that the person chose, if the network reports it together with the ids.
   */
  | {
      readonly type: 'contact_ids';
      readonly phoneNumber: string;
      readonly userId: string;
      readonly username?: string;
      readonly name?: string;
    }
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
  /** A person mentions the chat in a status. `status` is the network's id of the status; null if unknown. */
  | {
      readonly type: 'status_mentioned';
      readonly chat: NetworkChat;
      readonly from: string;
      readonly status: string | null;
      readonly timestamp: number;
    }
  /** A person who does not see the session's phone number asks for it. */
  | {
      readonly type: 'number_requested';
      readonly chat: NetworkChat;
      readonly from: string;
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
      /**
       * Identifies the change if the network may report it twice. A change with the id of the group's last one is
       * ignored.
       */
      readonly changeId?: string;
      readonly timestamp: number;
      /** The group after the change. */
      readonly group: NetworkGroup;
    }
  | HistoryEvent;
