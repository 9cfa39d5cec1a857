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
  /** Address that the connector reported with the message (see `ArrivedMessage`). */
  readonly address?: string;
}

/** A message that the network delivered or accepted. */
export interface ArrivedMessage {
  /**
   * The network's address of the sender in a group message, or of the chat in a direct one, for networks where a person
   * has several and a reference to the message needs the same one. Only reported if the connector cannot derive it
   * later.
   */
  readonly address?: string;
}
