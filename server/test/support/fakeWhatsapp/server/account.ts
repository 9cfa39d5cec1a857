import { type BinaryNode, jidDecode } from 'baileys';
import type { Connection } from '../connection.ts';
import type { KeyBundle, PreKey, SignedPreKey } from '../encryption/keyBundle.ts';
import { createSignal, type Signal } from '../encryption/signal.ts';
import { createLog, type WritableLog } from '../log.ts';
import { createHistory, type History } from '../phone/history.ts';
import { PEOPLE } from '../stanza.ts';
import { createAppState } from './appState.ts';
import type { FakeProduct } from './businesses.ts';
import type { Limits } from './limits.ts';

/** A person on the network: a phone, which the fake plays, and its linked clients, which are real. */
export interface Account {
  /** The phone number, digits only. */
  readonly number: string;
  /** The id by which the network addresses people without revealing their phone number. */
  readonly lid: string;
  readonly numberJid: string;
  readonly lidJid: string;
  readonly profile: Profile;
  readonly privacy: Map<string, string>;
  readonly blocked: Set<Account>;
  /** The keys of the phone and its sessions with other devices. */
  readonly signal: Signal;
  /** Replaces the keys, as registering the number on another phone does. */
  renewKeys(): void;
  /** Gives the number another LID, as a new WhatsApp account of the number has. */
  renewLid(): void;
  readonly companions: Map<number, Companion>;
  /** Ids of devices that the server still lists, although it no longer has their keys. */
  readonly deregistered: Set<number>;
  /** Delivers a stanza to the phone. */
  receive(stanza: BinaryNode): void;
  /** Accounts that asked for the devices of this one, and are notified of changes. */
  readonly watchers: Set<Account>;
  nextDeviceId: number;
  readonly presence: Presence;
  /** The state that its devices share. */
  readonly appState: ReturnType<typeof createAppState>;
  readonly limits: Limits;
  /** The history of the phone, from before its clients were linked. */
  readonly history: History;
  /** Ids of its calls that were rejected. */
  readonly rejections: WritableLog<string>;
}

/** Whether the person is online, and who is notified. */
interface Presence {
  isOnline: boolean;
  lastSeenS: number;
  readonly followers: Set<Account>;
}

/** The profile of a person. A test may change it at any time. */
export interface Profile {
  name: string;
  /** The about text. */
  about: string;
  /** Whether others see only the LID, not the number. */
  hidesNumber: boolean;
  /** Whether others are forbidden to add this person to groups. */
  refusesGroups: boolean;
  /** The fields of a business profile, such as `description`; undefined for a private person. */
  business: Readonly<Record<string, string>> | undefined;
  catalog: readonly FakeProduct[] | undefined;
}

/** A client that is linked to an account, like WhatsApp Web. */
export interface Companion {
  readonly account: Account;
  readonly id: number;
  readonly clientKey: Uint8Array;
  readonly registrationId: number;
  readonly identity: Uint8Array;
  signedPreKey: SignedPreKey;
  readonly preKeys: PreKey[];
  /** Unacknowledged stanzas in order, kept while the client is away and sent again when it returns. */
  readonly pending: Map<string, BinaryNode>;
  connection: Connection | undefined;
  hasHistory: boolean;
  /** Whether it asked for the whole history when it was linked. */
  readonly wantsFullHistory: boolean;
}

/** A device of an account. The phone is device 0. */
export interface DeviceAddress {
  readonly account: Account;
  readonly device: number;
}

export function createAccount(number: string, name: string): Account {
  let lid = lidOf(number);
  let signal: Signal | undefined;
  return {
    number,
    get lid() {
      return lid;
    },
    numberJid: `${number}@${PEOPLE}`,
    get lidJid() {
      return `${lid}@lid`;
    },
    profile: {
      name,
      about: 'Available',
      hidesNumber: false,
      refusesGroups: false,
      business: undefined,
      catalog: undefined,
    },
    privacy: new Map(),
    blocked: new Set(),
    // Ten key pairs, which many people of tests never need.
    get signal() {
      signal ??= createSignal();
      return signal;
    },
    renewKeys() {
      signal = createSignal();
    },
    renewLid() {
      lid = lidOf(lid.slice(-12));
    },
    companions: new Map(),
    deregistered: new Set(),
    receive() {},
    watchers: new Set(),
    nextDeviceId: 1,
    appState: createAppState(),
    limits: { noNewChatsUntilS: undefined, newChats: undefined },
    history: createHistory(),
    rejections: createLog(`rejected calls of ${number}`, (callId) => callId),
    presence: { isOnline: false, lastSeenS: 0, followers: new Set() },
  };
}

/** A real LID is unrelated to the number. This one is derived from it, so that test failures are readable. */
function lidOf(number: string): string {
  return (100_000_000_000_000n + ((BigInt(number) * 7919n) % 89_999_999_999_999n)).toString();
}

export function lidJidOf({ account, device }: DeviceAddress): string {
  return device === 0 ? account.lidJid : `${account.lid}:${device}@lid`;
}

export function numberJidOf({ account, device }: DeviceAddress): string {
  return device === 0 ? account.numberJid : `${account.number}:${device}@${PEOPLE}`;
}

/** The address of a business whose messages Meta answers: another type of LID besides its regular one. */
export const hostedJidOf = (lid: string): string => `${lid}@hosted.lid`;

export function devicesOf(account: Account): DeviceAddress[] {
  return [0, ...account.companions.keys()].map((device) => ({ account, device }));
}

/** The keys with which others start an encrypted session with a device. Uses up one of its one-time keys. */
export async function takeBundle({ account, device }: DeviceAddress): Promise<KeyBundle | undefined> {
  if (device === 0) return account.signal.takeBundle();
  const companion = account.companions.get(device);
  if (companion === undefined) return undefined;
  const { registrationId, identity, signedPreKey, preKeys } = companion;
  return { registrationId, identity, signedPreKey, preKey: preKeys.shift() };
}

export interface Accounts {
  readonly byNumber: Map<string, Account>;
  /** Accounts by alternative forms of their number, as in address books. Messages cannot be sent to these. */
  readonly byOtherNumber: Map<string, Account>;
  readonly byLid: Map<string, Account>;
}

/** The owner of an address of either type. */
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

/** A person that the test has created. */
export function requireAccount({ byNumber }: Accounts, number: string): Account {
  const account = byNumber.get(number);
  if (account === undefined) throw new Error(`nobody has the number ${number}: begin with phone('${number}')`);
  return account;
}
