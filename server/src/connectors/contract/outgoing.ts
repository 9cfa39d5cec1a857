import type { MessageType } from '../../events/networkTypes.ts';
import type { MessageContent } from './content.ts';
import type { NetworkChat } from './messageKey.ts';

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
  readonly quoted?: {
    readonly from: string;
    readonly type: MessageType;
    readonly text: string;
    /** Send time in ms. */
    readonly timestamp?: number;
    /** Address that the connector reported with it. */
    readonly address?: string;
  };
  /** When the network accepted it: only for messages of `SessionHost.undelivered`. */
  readonly sentAt?: number;
}
