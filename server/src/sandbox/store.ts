import type { Readable } from 'node:stream';
import type { PrivacySettings } from '../connectors/contract/account.ts';
import type { OwnBusinessProfile } from '../connectors/contract/business.ts';
import type { ChannelContent } from '../connectors/contract/channels.ts';
import type { NetworkEvent } from '../connectors/contract/events.ts';
import type { JoinRequest } from '../connectors/contract/groupActions.ts';
import type { NetworkGroup } from '../connectors/contract/groups.ts';
import type { OwnPresence } from '../connectors/contract/presence.ts';
import type { Profile, ProfileChange } from '../connectors/contract/profiles.ts';

/** The address under which a number, a group or an invite is stored: every scope has its own network. */
export const addressOf = (scope: string, id: string): string => (scope === '' ? id : `${scope}/${id}`);

export interface Sender {
  readonly sessionId: string;
  readonly address: string;
}

/** An event on its way to phones. */
export interface SandboxEvent {
  readonly event: NetworkEvent;
  /** When the action happened in a chat, in steady time. */
  readonly sentAt?: number | null;
  /** The number that acted, in a direct chat. A phone that has blocked it never gets the event. */
  readonly directFrom?: string | null;
}

export interface Envelope extends SandboxEvent {
  /** Addresses. Unregistered ones are virtual contacts, who receive everything immediately. */
  readonly to: readonly string[];
  /** Gets a receipt once a message has reached all recipients. Once it has left, the envelope is not retried. */
  readonly sender?: Sender;
}

export interface Mail extends SandboxEvent {
  readonly mailId: number;
  /** Whether other recipients still wait for the message. Another receipt follows after the last of them. */
  readonly isEarly: boolean;
  /** The session that gets a receipt once the mail is removed. */
  readonly receiptTo: string | null;
}

/** A group with what only the network knows. */
export interface SandboxGroup extends NetworkGroup {
  readonly joinRequests?: readonly JoinRequest[];
  /** The groups of a community. */
  readonly linkedGroups?: readonly string[];
}

export interface GroupStep {
  readonly group: SandboxGroup;
  readonly event: NetworkEvent;
  /** The numbers that are notified: by default everybody who is or was a member. */
  readonly to?: readonly string[];
}

/** A channel of a sandbox network. */
export interface SandboxChannel {
  readonly networkId: string;
  readonly name: string;
  readonly description: string | null;
  readonly inviteCode: string;
  /** Digits. */
  readonly owner: string;
  readonly followers: readonly string[];
  /** Those of the followers and the owner who have muted it. */
  readonly mutedBy: readonly string[];
  readonly createdAt: number;
  readonly posts: readonly SandboxPost[];
  /** The number of the next post. */
  readonly nextPost: number;
}

export interface SandboxPost {
  readonly networkId: string;
  readonly serverId: string;
  readonly content: ChannelContent;
  readonly timestamp: number;
  /** Number → emoji. */
  readonly reactions: Readonly<Record<string, string>>;
}

export interface ChannelStep {
  readonly channel: SandboxChannel;
  readonly event?: NetworkEvent;
  /** The numbers that get the event. */
  readonly to?: readonly string[];
}

export interface SandboxProfile extends Profile {
  readonly name: string | null;
  /** Missing if they were never changed. */
  readonly privacy?: PrivacySettings;
  readonly business?: OwnBusinessProfile;
  /** Offline if it was never set. */
  readonly presence?: OwnPresence;
  /** Numbers that follow the presence. */
  readonly followers?: readonly string[];
}

/** Functions that store an event resolve with the ids of the sessions that have new mail. */
export interface SandboxStore {
  /** Registers an address, unless another session has it. Returns the session that has it. */
  claim(address: string, sessionId: string): Promise<string>;
  /** Removes the numbers of a session, their profiles and channels, and its mailbox. */
  release(sessionId: string): Promise<void>;
  /** Returns those of the addresses that are registered. */
  signedUp(addresses: readonly string[]): Promise<ReadonlySet<string>>;

  /** Puts events into the mailboxes of their recipients, all or none, in order. The same message is stored once. */
  put(envelopes: readonly Envelope[]): Promise<readonly string[]>;
  /** The oldest mail of a session. */
  mailOf(sessionId: string, limit: number): Promise<readonly Mail[]>;
  /** Returns the `mailId` of the newest mail of a session; 0 if it has none. */
  newestMail(sessionId: string): Promise<number>;
  /** Returns those of the sessions that have mail. */
  withMail(sessionIds: readonly string[]): Promise<readonly string[]>;
  /** Removes mail. The senders of messages in `delivered` get receipts; those of `dropped` do not. */
  remove(delivered: readonly number[], dropped: readonly number[]): Promise<void>;
  /** Deletes mail that was not read for a month. */
  prune(): Promise<void>;

  group(address: string): Promise<SandboxGroup | undefined>;
  groupByInvite(address: string): Promise<SandboxGroup | undefined>;
  /** Adds the groups that do not exist yet. */
  restoreGroups(scope: string, groups: readonly NetworkGroup[]): Promise<void>;
  /**
   * Changes a group, and notifies everybody who is or was a member. Changes of a group are serialized.
   * @param change receives the group, or undefined if there is none. It may run again, and may throw; undefined changes
   * nothing
   */
  changeGroup(
    scope: string,
    networkId: string,
    change: (group: SandboxGroup | undefined) => GroupStep | undefined,
  ): Promise<{ group: SandboxGroup | undefined; hasMail: readonly string[] }>;

  channel(address: string): Promise<SandboxChannel | undefined>;
  channelByInvite(address: string): Promise<SandboxChannel | undefined>;
  /**
   * Returns the channels that a number owns or follows.
   * @param prefix the address of an empty id
   */
  channelsOf(prefix: string, number: string): Promise<readonly SandboxChannel[]>;
  /** Changes a channel like `changeGroup`. */
  changeChannel(
    prefix: string,
    networkId: string,
    change: (channel: SandboxChannel | undefined) => ChannelStep,
  ): Promise<{ channel: SandboxChannel; hasMail: readonly string[] }>;

  /** Returns those of the addresses whose sessions have a number among their contacts, and have not blocked it. */
  knowing(addresses: readonly string[], number: string): Promise<ReadonlySet<string>>;
  /** Returns null in every field that is not set. */
  profile(address: string): Promise<SandboxProfile>;
  /** Returns the profiles of those of the addresses that are registered. */
  profiles(addresses: readonly string[]): Promise<ReadonlyMap<string, SandboxProfile>>;
  changeProfile(
    address: string,
    change: ProfileChange & {
      readonly privacy?: PrivacySettings;
      readonly presence?: OwnPresence;
      /** A number that follows the presence from now on. */
      readonly follower?: string;
    },
  ): Promise<void>;

  /** Opens a file by the hash of its content. */
  openFile(hash: string): Promise<Readable>;
}
