import type { MessageContent } from './content.ts';
import type { ArrivedMessage, NetworkChat } from './messageKey.ts';

/* The history of a phone, from before its session was linked: chats, contacts and messages. */

/** How much history a session imports after it was linked. */
export const historyChoices = ['none', 'recent', 'full'] as const;
export type HistoryChoice = (typeof historyChoices)[number];

/** Fields that are left out are unknown, and change nothing. */
export interface HistoryChat {
  readonly chat: NetworkChat;
  /** Subject of a group. */
  readonly name?: string;
  /** Incoming messages that are not read yet. The newest ones in the history are marked `isUnread`. */
  readonly unreadCount?: number;
  readonly archived?: boolean;
  readonly pinned?: boolean;
  readonly mutedUntil?: number | null;
}

export interface HistoryContact {
  /** Digits. */
  readonly phoneNumber: string;
  /** The name that the person chose. */
  readonly pushName?: string;
  /** The name in the address book of the account. */
  readonly savedName?: string;
}

/** A file that is still at the network. `Connection.openRemoteFile` fetches it. */
export interface RemoteFile {
  readonly mimeType: string;
  /** Bytes, as the sender said. */
  readonly size: number;
  readonly fileName: string | null;
  /** Opaque. It may contain the key of the file, so the host stores it encrypted. */
  readonly reference: string;
}

export interface HistoryMessage extends ArrivedMessage {
  readonly networkId: string;
  readonly chat: NetworkChat;
  /** Digits of the sender, or a placeholder. */
  readonly from: string;
  readonly isOwn?: boolean;
  readonly senderName?: string;
  /** Without its file. */
  readonly content: Omit<MessageContent, 'media'>;
  readonly file?: RemoteFile;
  /** The network's id of the file, if it was sent as a message after this one. */
  readonly fileId?: string;
  readonly timestamp: number;
  /** Of an own message; `sent` if unknown. */
  readonly status?: 'sent' | 'delivered' | 'read' | 'failed';
  /** Of an incoming message. */
  readonly isUnread?: boolean;
  readonly replyTo: string | null;
  readonly reactions?: readonly { readonly from: string; readonly emoji: string; readonly timestamp: number }[];
  readonly votes?: readonly {
    readonly from: string;
    readonly options: readonly string[];
    readonly timestamp: number;
  }[];
  readonly editedAt?: number;
  readonly deletedAt?: number;
}

export type HistoryEvent =
  /**
   * Some hundreds of entries, which are stored together. Stored entries do not change. They become no events
   * of the API, unless the session asks for them.
   */
  | {
      readonly type: 'history';
      readonly chats: readonly HistoryChat[];
      readonly contacts: readonly HistoryContact[];
      readonly messages: readonly HistoryMessage[];
      /** Set by the host: the session wants an event for each message. */
      readonly isReported?: boolean;
    }
  | {
      readonly type: 'history_progress';
      readonly state: 'waiting' | 'importing' | 'complete' | 'failed';
      /** Percent. */
      readonly progress: number;
      /** Why a part is missing, as a sentence. */
      readonly error?: string;
    }
  /** The name that the account gave to a contact in its address book; null if it removed the name. */
  | { readonly type: 'contact_saved'; readonly phoneNumber: string; readonly name: string | null };

/** The oldest known message of a chat, before which the network is asked for more. */
export interface HistoryRequest extends ArrivedMessage {
  readonly chat: NetworkChat;
  readonly networkId: string;
  /** Digits. */
  readonly from: string;
  readonly timestamp: number;
  /** How many messages. */
  readonly count: number;
}
