import type { NetworkEvent, NetworkGroup, Profile, ProfileChange } from '../connector.ts';

/*
 * What the sandbox networks keep: who has which number, the mailboxes, the groups and the profiles. Numbers, groups and
 * invites are kept under addresses, because every scope has a network of its own.
 */

/** Names a number, a group or an invite of the network of a scope. The network without a scope has bare ones. */
export const addressOf = (scope: string, id: string): string => (scope === '' ? id : `${scope}/${id}`);

/** A session, and the address of its number. */
export interface Sender {
  readonly sessionId: string;
  readonly address: string;
}

/** An event on its way. */
export interface Envelope {
  /** Addresses. Those that nobody has signed up are virtual contacts, who have whatever is sent to them. */
  readonly to: readonly string[];
  readonly event: NetworkEvent;
  /** When it was done in a chat, in steady time. */
  readonly sentAt?: number;
  /** The number that did it, in a direct chat. A phone that has blocked it never gets the event. */
  readonly directFrom?: string;
  /** Gets a receipt once a message has reached everybody. Once it has left, the envelope is not retried. */
  readonly sender?: Sender;
}

/** An event in the mailbox of a session. */
export interface Mail {
  readonly mailId: number;
  readonly event: NetworkEvent;
  readonly sentAt: number | null;
  readonly directFrom: string | null;
  /** The receipt of a message that still waits for others. Another receipt follows when the last of them has it. */
  readonly isEarly: boolean;
}

/** A group after a change, and what its members hear of it. */
export interface GroupStep {
  readonly group: NetworkGroup;
  readonly event: NetworkEvent;
}

/** What a number shows of itself. */
export interface SandboxProfile extends Profile {
  readonly name: string | null;
}

/** Functions that store an event resolve with the ids of the sessions that have new mail. */
export interface SandboxStore {
  /** Signs an address up for a session, unless another one has it. @returns the session that has it */
  claim(address: string, sessionId: string): Promise<string>;
  /** Drops the numbers of a session, their profiles, and its mailbox. */
  release(sessionId: string): Promise<void>;
  /** Which of these addresses are signed up. */
  signedUp(addresses: readonly string[]): Promise<ReadonlySet<string>>;

  /** Puts an event into the mailboxes of its recipients, in the order of the calls. A message is put there once. */
  put(envelope: Envelope): Promise<readonly string[]>;
  /** The oldest mail of a session. */
  mailOf(sessionId: string, limit: number): Promise<readonly Mail[]>;
  /** `mailId` of the newest mail of a session; 0 if it has none. */
  newestMail(sessionId: string): Promise<number>;
  /** Which of these sessions have mail. */
  withMail(sessionIds: readonly string[]): Promise<readonly string[]>;
  /** Removes mail. The senders of messages among `delivered` get receipts; nobody hears of what is `dropped`. */
  remove(delivered: readonly number[], dropped: readonly number[]): Promise<readonly string[]>;
  /** Drops mail that nobody has read for a month. */
  prune(): Promise<void>;

  group(address: string): Promise<NetworkGroup | undefined>;
  groupByInvite(address: string): Promise<NetworkGroup | undefined>;
  /** Adds the groups that are not there. */
  restoreGroups(scope: string, groups: readonly NetworkGroup[]): Promise<void>;
  /**
   * Changes a group, and tells everybody who is or was a member; no other change comes in between.
   * @param change gets the group, or undefined if there is none. It may run again. It may throw; undefined changes nothing
   */
  changeGroup(
    scope: string,
    networkId: string,
    change: (group: NetworkGroup | undefined) => GroupStep | undefined,
  ): Promise<{ group: NetworkGroup | undefined; hasMail: readonly string[] }>;

  /** A number that shows nothing has null everywhere. */
  profile(address: string): Promise<SandboxProfile>;
  changeProfile(address: string, change: ProfileChange): Promise<void>;
}
