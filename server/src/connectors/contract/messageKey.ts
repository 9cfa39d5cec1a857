/* How networks name chats and messages. A file of its own, because the parts of the interface need it. */

/**
 * A chat in the form of the network: a phone number's digits, the network's id of a person who hides the number, or its
 * id of a group.
 */
export interface NetworkChat {
  readonly type: 'direct' | 'group';
  readonly id: string;
}

/** The key of an existing message, in the form of the network. */
export interface MessageKey {
  readonly networkId: string;
  readonly chat: NetworkChat;
  /** Digits of the sender. */
  readonly from: string;
  /** Send time in ms, if known. */
  readonly timestamp?: number;
}
