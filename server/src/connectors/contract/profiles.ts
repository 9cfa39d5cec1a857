import type { BusinessProfileChange, OwnBusinessProfile } from './business.ts';
import type { NetworkMedia } from './networkMedia.ts';

/** The profiles of other people and of the session. */
export interface ProfileActions {
  /**
   * Reads the profile that somebody shows to the session.
   * @throws {AppError} `not_supported` if the network does not show profiles of others
   */
  read(phoneNumber: string): Promise<Profile>;
  /**
   * Changes the profile of the session's number. Refuses all changes if one of them is not supported, before any of
   * them is made.
   * @throws {AppError} `not_supported`, with the reason; `session_state` if it cannot be changed yet
   */
  update(change: ProfileChange): Promise<void>;
  /** Reads the profile of the session's own number. */
  readOwn?(): Promise<OwnProfile>;
}

/** Null means missing, or hidden from the session. */
export interface Profile {
  readonly about: string | null;
  readonly picture: NetworkMedia | null;
}

/** The profile that the session's own number shows. */
export interface OwnProfile extends Profile {
  /** Null if there is none. */
  readonly name: string | null;
  /** Null for a number that is not a business; left out if the network has no such profiles. */
  readonly business?: OwnBusinessProfile | null;
}

export interface ProfileChange {
  readonly name?: string;
  /** Empty removes it. */
  readonly about?: string;
  /** Null removes it. */
  readonly picture?: NetworkMedia | null;
  readonly business?: BusinessProfileChange;
}
