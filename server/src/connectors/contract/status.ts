import type { NetworkMedia } from './networkMedia.ts';

/* Statuses, which some networks call stories: posts that disappear after a day. Types only. */

export type StatusType = 'text' | 'image' | 'video' | 'voice';

export interface StatusContent {
  readonly type: StatusType;
  /** The text, or the caption of the file. */
  readonly text: string;
  readonly media?: NetworkMedia;
  /** `#RRGGBB`, behind a text or a voice message. */
  readonly backgroundColor?: string;
  /** The network's number of the font of a text. */
  readonly font?: number;
}

export interface OutgoingStatus {
  /** See `OutgoingMessage.networkId`. */
  readonly networkId: string;
  readonly content: StatusContent;
  /** Digits of the people who see it. */
  readonly audience: readonly string[];
}

export interface StatusActions {
  /**
   * Posts a status. Resolves once the network has accepted it.
   * @returns `networkId` if the network assigned another id, and the people of the audience who cannot see the status
   */
  post(status: OutgoingStatus): Promise<{
    readonly timestamp: number;
    readonly networkId?: string;
    /** Digits. */
    readonly leftOut?: readonly string[];
  }>;
  /** Deletes one of the session's own statuses for those who could see it. */
  remove(networkId: string, audience: readonly string[]): Promise<void>;
  /** Tells the authors that the session has seen their statuses. */
  markViewed(statuses: readonly { readonly networkId: string; readonly from: string }[]): Promise<void>;
}

interface StatusReport {
  readonly networkId: string;
  /** Digits. */
  readonly from: string;
  readonly timestamp: number;
}

export type StatusEvent =
  | (StatusReport & {
      readonly type: 'status';
      /** The session's own number posted it from another device. */
      readonly isOwn?: boolean;
      readonly senderName?: string;
      readonly content: StatusContent;
    })
  /** The author has deleted a status. */
  | (StatusReport & { readonly type: 'status_deleted' })
  /** Somebody has seen one of the session's own statuses. */
  | (StatusReport & { readonly type: 'status_viewed' })
  /** Somebody has reacted to one of the session's own statuses; null removes the reaction. */
  | (StatusReport & { readonly type: 'status_reaction'; readonly emoji: string | null });
