import type { CommunityPlace, OptionalGroupSettings } from './groupActions.ts';
import type { NetworkMedia } from './networkMedia.ts';

export interface GroupActions {
  /** @param wishes what can be set while the group is created; the caller sets the rest afterwards */
  create(subject: string, phoneNumbers: readonly string[], wishes?: NewGroup): Promise<NetworkGroup>;
  setSubject(networkId: string, subject: string): Promise<void>;
  setDescription(networkId: string, description: string | null): Promise<void>;
  setSettings(networkId: string, settings: Partial<GroupSettings>): Promise<void>;
  /** @param picture null removes it */
  setPicture(networkId: string, picture: NetworkMedia | null): Promise<void>;
  updateParticipants(
    networkId: string,
    action: ParticipantAction,
    phoneNumbers: readonly string[],
  ): Promise<readonly ParticipantResult[]>;
  /** Returns the current invite; creates one if there is none. */
  invite(networkId: string): Promise<GroupInvite>;
  /** Replaces the current invite, which stops working. */
  renewInvite(networkId: string): Promise<GroupInvite>;
  /**
   * Joins by an invite's code or link.
   * @returns the group, or null if an admin must approve first
   * @throws {AppError} `not_found` if there is no such invite
   */
  join(invite: string): Promise<NetworkGroup | null>;
  leave(networkId: string): Promise<void>;
  /** Deletes a group for everyone. */
  remove?(networkId: string): Promise<void>;
}

/** A group that is about to be created, apart from its subject and members. */
export interface NewGroup {
  readonly description?: string | null;
  readonly joinApproval?: boolean;
}

export interface GroupInvite {
  readonly code: string;
  /** Link to send to people. */
  readonly link: string;
}

export interface GroupSettings extends OptionalGroupSettings {
  /** Only admins can send messages. */
  readonly announce: boolean;
  /** Only admins can change subject, description and picture. */
  readonly locked: boolean;
  /** An admin must approve people who join by the invite. */
  readonly joinApproval: boolean;
}

export type ParticipantAction = 'add' | 'remove' | 'promote' | 'demote';

export interface ParticipantResult {
  readonly phoneNumber: string;
  readonly ok: boolean;
  /** The reason if it failed, as text. */
  readonly reason?: string;
}

export interface NetworkGroup extends CommunityPlace {
  readonly networkId: string;
  readonly subject: string;
  readonly description: string | null;
  readonly createdBy: string;
  readonly createdAt: number;
  readonly participants: readonly { readonly phoneNumber: string; readonly role: 'member' | 'admin' | 'owner' }[];
  readonly settings: GroupSettings;
  readonly inviteCode: string | null;
  readonly picture: NetworkMedia | null;
  /**
   * Present if the network does not return the group, so that only its id is known. Changes no group that is stored.
   */
  readonly isPlaceholder?: true;
}
