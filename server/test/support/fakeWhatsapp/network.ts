import type { BinaryNode } from 'baileys';
import type { Connection } from './connection.ts';
import type { ServerIdentity } from './encryption/noise.ts';
import type { WritableLog } from './log.ts';
import type { Account, Accounts, Companion, DeviceAddress } from './server/account.ts';
import type { FaultState } from './server/faults.ts';
import type { Group } from './server/groups.ts';
import type { MediaHost } from './server/mediaHost.ts';
import type { Newsletter } from './server/newsletters.ts';

/** The state of the server. Its parts are functions over it. */
export interface Network extends Accounts {
  readonly identity: ServerIdentity;
  /** See `FakeWhatsappOptions`. */
  readonly isMigrated: boolean;
  readonly connections: Set<Connection>;
  readonly groups: Map<string, Group>;
  /** Channels by address. */
  readonly newsletters: Map<string, Newsletter>;
  readonly media: MediaHost;
  /** Paths on the media host, by number or group. */
  readonly pictures: Map<string, string>;
  readonly faults: FaultState;
  readonly counters: Counters;
  /** The sending device of a message, which can send it again. */
  readonly authors: Map<string, DeviceAddress>;
  /** Clients with a code on display that are waiting to be linked. */
  readonly codesShown: WritableLog<Connection>;
  /** Called with every message stanza of a client, before anything happens to it. */
  readonly watchers: Set<MessageWatcher>;
  /** Errors of the server or of a client. A test that ends with any has found a bug. */
  readonly troubles: unknown[];
}

/** @param number the number of the client */
export type MessageWatcher = (number: string, stanza: BinaryNode) => void;

export interface Counters {
  /** The number of handshakes. */
  connections: number;
  links: number;
  logins: number;
  refusedLogins: number;
  /** The number of messages accepted from clients. */
  messagesFromClients: number;
  /** The number of stanzas sent to clients that require an acknowledgement, including retries. */
  deliveries: number;
  receiptsFromClients: number;
  retriesFromClients: number;
  /** Messages that phones could not read, and asked for again. */
  retriesFromPhones: number;
  /** Messages that clients asked their own phone for. */
  resendsFromPhones: number;
  typingFromClients: number;
  uploads: number;
  downloads: number;
  /** Requests for the page that states the current version. */
  pageReads: number;
  /** Queries of clients by namespace. */
  readonly queries: Record<string, number>;
}

export function createCounters(): Counters {
  return {
    connections: 0,
    links: 0,
    logins: 0,
    refusedLogins: 0,
    messagesFromClients: 0,
    deliveries: 0,
    receiptsFromClients: 0,
    retriesFromClients: 0,
    retriesFromPhones: 0,
    resendsFromPhones: 0,
    typingFromClients: 0,
    uploads: 0,
    downloads: 0,
    pageReads: 0,
    queries: {},
  };
}

/** Enough for the retries of any test, few enough for a long run. */
const AUTHORS_KEPT = 10_000;

export function rememberAuthor({ authors }: Network, messageId: string, author: DeviceAddress): void {
  authors.set(messageId, author);
  for (const [oldest] of authors) {
    if (authors.size <= AUTHORS_KEPT) break;
    authors.delete(oldest);
  }
}

/** Delivers a stanza to a device. An offline client gets it when it returns. */
export function deliver(network: Network, { account, device }: DeviceAddress, node: BinaryNode): void {
  if (device === 0) {
    account.receive(node);
    return;
  }
  const companion = account.companions.get(device);
  if (companion === undefined) return;
  companion.pending.set(pendingKey(node.tag, node.attrs['id']), node);
  if (companion.connection?.isActive !== true) return;
  const times = network.faults.takeDuplicate(account) ? 2 : 1;
  for (let time = 0; time < times; time++) {
    network.counters.deliveries++;
    companion.connection.send(node);
  }
}

/** Removes a stanza that the client acknowledged. */
export function confirm(companion: Companion, tag: string, id: string | undefined): void {
  companion.pending.delete(pendingKey(tag, id));
}

export const isConfirmed = ({ pending }: Companion, id: string): boolean =>
  [...pending.values()].every(({ attrs }) => attrs['id'] !== id);

const pendingKey = (tag: string, id: string | undefined) => `${tag}/${id}`;

/** Sends a client a stanza that is dropped if it is offline, such as typing and presence. */
export function tell(account: Account, node: BinaryNode): void {
  for (const { connection } of account.companions.values()) if (connection?.isActive === true) connection.send(node);
}
