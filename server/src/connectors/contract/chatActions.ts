import type { MessageKey, NetworkChat } from './messageKey.ts';

/* Chats and messages as the owner of an account arranges them. Types only: `connector.ts` imports this file. */

/** The last message of a chat, up to which a change of the chat applies. */
export interface LastMessage extends MessageKey {
  readonly timestamp: number;
}

/** The new settings of a chat. Those that are left out do not change. */
export interface ChatChange {
  readonly archived?: boolean;
  readonly pinned?: boolean;
  /** Null unmutes the chat. */
  readonly mutedUntil?: number | null;
  readonly markedUnread?: boolean;
}

/**
 * Changes that all devices of the account share, and that nobody else sees.
 * @throws {AppError} `session_state` if the network does not accept such changes yet
 */
export interface ChatActions {
  /** @param last null if the chat has no message */
  update(chat: NetworkChat, change: ChatChange, last: LastMessage | null): Promise<void>;
  /** Deletes the messages of a chat, up to `last`, for the session only. */
  clear(chat: NetworkChat, last: LastMessage | null): Promise<void>;
  /** Deletes a chat with its messages, up to `last`, for the session only. */
  remove(chat: NetworkChat, last: LastMessage | null): Promise<void>;
}

export interface NetworkLabel {
  /** The network's id of the label. */
  readonly networkId: string;
  readonly name: string;
  /** Index into the palette of the network. */
  readonly color: number;
}

/**
 * Labels that all devices of the account share.
 * @throws {AppError} `session_state` if the network does not accept such changes yet
 */
export interface LabelActions {
  /** Creates a label, or replaces its name and color. The id is chosen by the caller. */
  put(label: NetworkLabel): Promise<void>;
  remove(label: NetworkLabel): Promise<void>;
  setOnChat(networkId: string, chat: NetworkChat, isSet: boolean): Promise<void>;
  setOnMessage(networkId: string, message: MessageKey, isSet: boolean): Promise<void>;
}

/** The parts of a connection that arrange chats. */
export interface ChatParts {
  readonly chats?: ChatActions;
  readonly labels?: LabelActions;
  star?(message: MessageKey, isStarred: boolean): Promise<void>;
  /** Deletes a message for the session only. */
  removeForMe?(message: LastMessage): Promise<void>;
  /** Pins a message for everyone in the chat. @param seconds null removes the pin */
  pin?(message: MessageKey, seconds: number | null): Promise<void>;
  /** Lets new messages of a direct chat disappear after some time, for both sides. @param seconds null turns it off */
  setDisappearing?(chat: NetworkChat, seconds: number | null): Promise<void>;
}

/** Reports about chats, from other devices of the account or from people in the chat. */
export type ChatEvent =
  /** The messages of a chat up to a time were deleted on another device, and with `isWhole` the chat itself. */
  | {
      readonly type: 'chat_removed';
      readonly chat: NetworkChat;
      readonly isWhole: boolean;
      /** Messages that were sent later stay. */
      readonly upTo: number;
      readonly keepsStarred?: boolean;
    }
  /**
   * A message was deleted on another device, for the account only. With `onlyAwaited`, it turned out to be none, and is
   * removed if its content is still missing.
   */
  | {
      readonly type: 'message_removed';
      readonly networkId: string;
      readonly chat: NetworkChat;
      readonly onlyAwaited?: true;
    }
  | {
      readonly type: 'message_starred';
      readonly networkId: string;
      readonly chat: NetworkChat;
      readonly isStarred: boolean;
    }
  /** Somebody in the chat pinned a message; `until` is null if the pin was removed. */
  | {
      readonly type: 'message_pinned';
      readonly networkId: string;
      /** Digits of the sender of the message: see `TargetAuthor`. */
      readonly author?: string;
      readonly chat: NetworkChat;
      readonly from: string;
      readonly until: number | null;
      readonly timestamp: number;
    }
  /**
   * Somebody changed after how many seconds new messages of a direct chat disappear; null turns it off. The timer of a
   * group is one of its settings. `timestamp` is left out if the network reports changes in their order.
   */
  | {
      readonly type: 'disappearing';
      readonly chat: NetworkChat;
      readonly seconds: number | null;
      readonly timestamp?: number;
    }
  | { readonly type: 'label_updated'; readonly label: NetworkLabel }
  | { readonly type: 'label_removed'; readonly networkId: string }
  /** A label was put on a chat or one of its messages, or taken off. */
  | {
      readonly type: 'label_assigned';
      /** The network's id of the label. */
      readonly labelId: string;
      readonly chat: NetworkChat;
      /** The network's id of the message; left out if the label is on the chat. */
      readonly message?: string;
      readonly isSet: boolean;
    };
