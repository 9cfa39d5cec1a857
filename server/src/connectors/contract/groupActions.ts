/* Groups beyond their participants: requests to join, previews of invites, and communities. */

/** Somebody who asked to join a group. */
export interface JoinRequest {
  /** Digits. */
  readonly phoneNumber: string;
  /** Undefined if the network does not report it. */
  readonly requestedAt?: number;
  /** How the person asked. */
  readonly method?: JoinMethod;
}

/** `member`: a member proposed the person. `community`: the person found the group in its community. */
export type JoinMethod = 'invite_link' | 'member' | 'community';

/** The outcome for one person. */
export interface JoinDecision {
  /** Digits. */
  readonly phoneNumber: string;
  readonly ok: boolean;
  /** The reason if it failed, as text. */
  readonly reason?: string;
}

export interface JoinRequestActions {
  /** @throws {AppError} `network_denied` if the session is not an admin */
  list(networkId: string): Promise<readonly JoinRequest[]>;
  /** @throws {AppError} `network_denied` if the session is not an admin */
  decide(
    networkId: string,
    decision: 'approve' | 'reject',
    phoneNumbers: readonly string[],
  ): Promise<readonly JoinDecision[]>;
}

/** A group as somebody sees it who has an invite and is not a member. */
export interface InvitePreview {
  readonly networkId: string;
  readonly subject: string;
  readonly description: string | null;
  /** The number of its members; null if the network does not report it. */
  readonly size: number | null;
  /** Digits of the person who created it; null if the network does not report it. */
  readonly createdBy: string | null;
  readonly createdAt: number | null;
  readonly joinApproval: boolean;
  readonly isCommunity: boolean;
}

export interface CommunityActions {
  /** Creates a community with its announcement group. The community is a group itself. */
  create(subject: string, description: string | null): Promise<{ readonly networkId: string }>;
  /** Lists the groups of a community, also those that the session has not joined. */
  groups(networkId: string): Promise<readonly LinkedGroup[]>;
  link(networkId: string, groupNetworkId: string): Promise<void>;
  unlink(networkId: string, groupNetworkId: string): Promise<void>;
}

/** A group of a community. */
export interface LinkedGroup {
  readonly networkId: string;
  readonly subject: string;
  /** The number of its members; null if the network does not report it. */
  readonly size: number | null;
}

/** Settings of a group that not every network has. Undefined if unknown. */
export interface OptionalGroupSettings {
  /** People who can add members. */
  readonly memberAdd?: 'admins' | 'all';
  /** How long messages stay; 0 keeps them. */
  readonly disappearingSeconds?: number;
}

/** The place of a group in a community. A field that is left out is unknown. */
export interface CommunityPlace {
  /** It is a community: its members are those of its groups, and nobody writes to it. */
  readonly isCommunity?: boolean;
  /** `networkId` of its community; null if it belongs to none. */
  readonly community?: string | null;
  /** It is the group of its community in which only admins write. */
  readonly isAnnouncementGroup?: boolean;
}

/** `rejected`: by an admin. Approvals are reported as new participants. */
export type JoinRequestChange = 'created' | 'withdrawn' | 'rejected';

/** A request that is created or ended twice is reported once. */
export interface JoinRequestEvent {
  readonly type: 'join_request';
  /** `networkId` of the group. */
  readonly group: string;
  /** Digits. */
  readonly phoneNumber: string;
  readonly change: JoinRequestChange;
  readonly method?: JoinMethod;
  readonly timestamp: number;
}
