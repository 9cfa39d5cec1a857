import type { NetworkChat } from './messageKey.ts';

/* Calls to a session. */

/** A call that still rings. */
export interface CallKey {
  /** The network's id of the call. */
  readonly callId: string;
}

/** `answered` and `rejected`: on another device of the account. `ended`: the network does not report why. */
export const callOutcomes = ['answered', 'rejected', 'missed', 'ended'] as const;

export type CallOutcome = (typeof callOutcomes)[number];

export interface NetworkCall {
  /** The network's id of the call. */
  readonly callId: string;
  readonly chat: NetworkChat;
  /** Digits of the caller. */
  readonly from: string;
  readonly isVideo: boolean;
  readonly timestamp: number;
}
