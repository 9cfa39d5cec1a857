import { type BinaryNode, jidDecode } from 'baileys';
import { createAppState } from './appState.ts';
import type { Connection } from './connection.ts';
import type { KeyBundle, PreKey, SignedPreKey } from './keyBundle.ts';
import type { Limits } from './limits.ts';
import { createSignal, type Signal } from './signal.ts';
import { PEOPLE } from './stanza.ts';

/** A person on the network: a phone, which is played here, and the clients linked to it, which are real. */
export interface Account {
  /** The phone number, digits only. */
  readonly number: string;
  /** The number by which the network addresses people without showing their phone number. */
  readonly lid: string;
  readonly numberJid: string;
  readonly lidJid: string;
  readonly profile: Profile;
  readonly privacy: Map<string, string>;
  readonly blocked: Set<Account>;
  /** The phone's keys and its sessions with other devices. */
  readonly signal: Signal;
  readonly companions: Map<number, Companion>;
  /** Takes what the network has for the phone. */
  receive(stanza: BinaryNode): void;
  /** Those who have asked for this account's devices, and so are told when they change. */
  readonly watchers: Set<Account>;
  nextDeviceId: number;
  readonly presence: Presence;
  /** What its devices share. */
  readonly appState: ReturnType<typeof createAppState>;
  readonly limits: Limits;
}

/** Whether somebody looks at WhatsApp, and who is told. */
interface Presence {
  isOnline: boolean;
  lastSeenS: number;
  readonly followers: Set<Account>;
}

/** What a person shows to others. A test may change it at any time. */
export interface Profile {
  name: string;
  /** The line about oneself. */
  about: string;
  /** Whether others learn the LID alone, not the number. */
  hidesNumber: boolean;
  /** Whether others may not add this person to groups. */
  refusesGroups: boolean;
  /** Lines of a business profile, such as `description`; undefined for a person who is none. */
  business: Readonly<Record<string, string>> | undefined;
}

/** A client that is linked to an account, as WhatsApp Web is. */
export interface Companion {
  readonly account: Account;
  readonly id: number;
  readonly clientKey: Uint8Array;
  readonly registrationId: number;
  readonly identity: Uint8Array;
  signedPreKey: SignedPreKey;
  readonly preKeys: PreKey[];
  /** What it has not confirmed yet, in order: kept while it is away, and sent again when it comes back. */
  readonly pending: Map<string, BinaryNode>;
  connection: Connection | undefined;
  hasHistory: boolean;
}

/** A device of an account; the phone is device 0. */
export interface DeviceAddress {
  readonly account: Account;
  readonly device: number;
}

export function createAccount(number: string, name: string): Account {
  const lid = lidOf(number);
  let signal: Signal | undefined;
  return {
    number,
    lid,
    numberJid: `${number}@${PEOPLE}`,
    lidJid: `${lid}@lid`,
    profile: { name, about: 'Available', hidesNumber: false, refusesGroups: false, business: undefined },
    privacy: new Map(),
    blocked: new Set(),
    // Ten key pairs, which many a test's people never need.
    get signal() {
      signal ??= createSignal();
      return signal;
    },
    companions: new Map(),
    receive() {},
    watchers: new Set(),
    nextDeviceId: 1,
    appState: createAppState(),
    limits: { noNewChatsUntilS: undefined, newChats: undefined },
    presence: { isOnline: false, lastSeenS: 0, followers: new Set() },
  };
}

/** A LID tells nothing of the number; here it is derived from it, so that a test that fails can be read. */
function lidOf(number: string): string {
  return (100_000_000_000_000n + ((BigInt(number) * 7919n) % 89_999_999_999_999n)).toString();
}

export function lidJidOf({ account, device }: DeviceAddress): string {
  return device === 0 ? account.lidJid : `${account.lid}:${device}@lid`;
}

export function numberJidOf({ account, device }: DeviceAddress): string {
  return device === 0 ? account.numberJid : `${account.number}:${device}@${PEOPLE}`;
}

/** Of a business whose messages are answered at Meta: beside its other address, a LID of another kind. */
export const hostedJidOf = (lid: string): string => `${lid}@hosted.lid`;

export function devicesOf(account: Account): DeviceAddress[] {
  return [0, ...account.companions.keys()].map((device) => ({ account, device }));
}

/** What others need to begin an encrypted session with a device. Takes one of its one-time keys. */
export async function takeBundle({ account, device }: DeviceAddress): Promise<KeyBundle | undefined> {
  if (device === 0) return account.signal.takeBundle();
  const companion = account.companions.get(device);
  if (companion === undefined) return undefined;
  const { registrationId, identity, signedPreKey, preKeys } = companion;
  return { registrationId, identity, signedPreKey, preKey: preKeys.shift() };
}

export interface Accounts {
  readonly byNumber: Map<string, Account>;
  /** By other ways to write a number, as they stand in address books. Nothing can be sent to them. */
  readonly byOtherNumber: Map<string, Account>;
  readonly byLid: Map<string, Account>;
}

/** Whose address this is, of either kind. */
export function findAccount({ byNumber, byLid }: Accounts, jid: string | undefined): Account | undefined {
  const parts = jid === undefined ? undefined : jidDecode(jid);
  if (parts === undefined) return undefined;
  if (parts.server === 'lid' || parts.server === 'hosted.lid') return byLid.get(parts.user);
  return parts.server === PEOPLE ? byNumber.get(parts.user) : undefined;
}

export function findDevice(accounts: Accounts, jid: string | undefined): DeviceAddress | undefined {
  const account = findAccount(accounts, jid);
  const device = jid === undefined ? 0 : (jidDecode(jid)?.device ?? 0);
  if (account === undefined || (device !== 0 && !account.companions.has(device))) return undefined;
  return { account, device };
}

/** A person whom the test has introduced. */
export function requireAccount({ byNumber }: Accounts, number: string): Account {
  const account = byNumber.get(number);
  if (account === undefined) throw new Error(`nobody has the number ${number}: begin with phone('${number}')`);
  return account;
}
