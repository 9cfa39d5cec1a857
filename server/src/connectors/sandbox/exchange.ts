import type { NetworkEvent, NetworkGroup } from '../connector.ts';

/*
 * The wires of the sandbox network of one scope. `network.ts` and `groups.ts` have its rules: who may write to whom, and who learns
 * of what. An exchange knows where the phones are, keeps what nobody can take now, and holds the groups. Where one
 * process has all the phones that is memory (`alone.ts`); where sessions live on several nodes it is the database.
 */

/** A phone that is online: it takes events, and answers when they are stored. */
export interface Phone {
  readonly sessionId: string;
  readonly number: string;
  /** Whether it takes nothing that this number sent to it alone at that moment of steady time. */
  refuses(from: string, sentAt: number): boolean;
  /**
   * @param sentAt the moment of steady time at which a message was sent
   * @param postId as of `SessionHost.onEvent`
   */
  receive(event: NetworkEvent, sentAt?: number, postId?: string): Promise<void>;
}

/** An event on its way. */
export interface Parcel {
  readonly to: readonly string[];
  readonly event: NetworkEvent;
  /** The moment of steady time at which somebody did it in a chat. */
  readonly sentAt?: number;
  /** Who did it, in a direct chat. A phone that refuses them never gets it, and nobody is told. */
  readonly directFrom?: string;
  /** Who gets a receipt once the message is with all that it is for. */
  readonly receiptTo?: string;
}

/** A group after a change, and what its members learn of it. */
export interface GroupStep {
  readonly group: NetworkGroup;
  readonly event: NetworkEvent;
}

export interface Exchange {
  /** Sessions that were linked before, told once at start. */
  remember(linked: readonly { readonly sessionId: string; readonly phoneNumber: string }[]): void;
  /** Which of these numbers have signed up. All others are virtual contacts, who have whatever is sent to them. */
  signedUp(numbers: readonly string[]): Promise<ReadonlySet<string>>;
  /**
   * Signs the phone's number up, and keeps what comes for it from now on.
   * @throws {AppError} `phone_number_in_use` when it is another session's
   */
  join(phone: Phone): Promise<void>;
  /** Begins to hand the phone what has been kept for it, oldest first, and behind that everything as it comes. */
  catchUp(phone: Phone): void;
  /** The phone is offline: what comes for it is kept. */
  leave(phone: Phone): void;
  /** The session gives its number up, and with it what is kept for it. */
  forget(number: string, sessionId: string): Promise<void>;

  /**
   * Brings an event to its numbers, in the order of the calls: to those that are offline once they are back. Resolves
   * when the phones that are online here have taken it, and the exchange keeps it for the others.
   * @throws {AppError} `storage_unavailable` when the server stops, or its sessions are others' now, before it is kept
   */
  deliver(parcel: Parcel): Promise<void>;

  group(networkId: string): Promise<NetworkGroup | undefined>;
  groupByInvite(code: string): Promise<NetworkGroup | undefined>;
  /** Groups that a session knows from before: those that the network has forgotten are there again. */
  restoreGroups(groups: readonly NetworkGroup[]): Promise<void>;
  /** Adds a group, and tells its members. */
  addGroup(step: GroupStep): Promise<void>;
  /**
   * Changes a group, and tells all who were or are members; no other change of it comes in between.
   * @param change gets the group as it is. It may run again, and may refuse by an error; undefined changes nothing
   * @returns the group as it is then
   * @throws {AppError} `not_found`
   */
  changeGroup(networkId: string, change: (group: NetworkGroup) => GroupStep | undefined): Promise<NetworkGroup>;
}
