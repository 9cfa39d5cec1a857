/** A request to a callback URL, unmodified. */
export interface CallbackRequest {
  readonly method: string;
  readonly query: URLSearchParams;
  /** By lower-case name; repeated headers are joined by commas. */
  readonly headers: Readonly<Record<string, string>>;
  /** The exact bytes, which signatures cover. */
  readonly body: Buffer;
  /** Another session received it and passed it on, so it goes no further. */
  readonly isPassedOn?: true;
}

export interface CallbackAnswer {
  readonly status: number;
  /** Sent as plain text. */
  readonly text?: string;
  /** Ids of other sessions that the call concerns as well: it is passed on to them. */
  readonly passOnTo?: readonly string[];
  /** Ids of other sessions that need the call only if they are connected, such as those of the same business. */
  readonly offerTo?: readonly string[];
  /** How many parts of the call concern numbers that this server does not know. */
  readonly unmatched?: number;
}
