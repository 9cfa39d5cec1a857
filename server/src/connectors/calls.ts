/* Calls to a session. Types only. */

/** A call that still rings. */
export interface CallKey {
  /** The network's id of the call. */
  readonly callId: string;
}
