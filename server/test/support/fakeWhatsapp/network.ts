import type { BinaryNode } from 'baileys';
import type { Account, Accounts, Companion, DeviceAddress } from './account.ts';
import type { Connection } from './connection.ts';
import type { FaultState } from './faults.ts';
import type { Group } from './groups.ts';
import type { WritableLog } from './log.ts';
import type { MediaHost } from './mediaHost.ts';
import type { ServerIdentity } from './noise.ts';

/** All that the server knows. Its parts are functions over this. */
export interface Network extends Accounts {
  readonly identity: ServerIdentity;
  readonly connections: Set<Connection>;
  readonly groups: Map<string, Group>;
  readonly media: MediaHost;
  /** Paths at the media host, by number or by group. */
  readonly pictures: Map<string, string>;
  readonly faults: FaultState;
  readonly counters: Counters;
  /** Which device sent a message: the one that can send it again. */
  readonly authors: Map<string, DeviceAddress>;
  /** Clients that have shown a code to be linked by. */
  readonly codesShown: WritableLog<Connection>;
  /** What went wrong in the server or was wrong with a client; a test that ends with some has found a bug. */
  readonly troubles: unknown[];
}

export interface Counters {
  /** Handshakes done. */
  connections: number;
  links: number;
  logins: number;
  refusedLogins: number;
  /** Messages from clients that were accepted. */
  messagesFromClients: number;
  /** Stanzas sent to clients that need their word, repetitions counted. */
  deliveries: number;
  receiptsFromClients: number;
  retriesFromClients: number;
  typingFromClients: number;
  uploads: number;
  downloads: number;
  /** Queries of clients by their namespace. */
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
    typingFromClients: 0,
    uploads: 0,
    downloads: 0,
    queries: {},
  };
}

/** Enough for any test's retries, few enough for a long run. */
const AUTHORS_KEPT = 10_000;

export function rememberAuthor({ authors }: Network, messageId: string, author: DeviceAddress): void {
  authors.set(messageId, author);
  for (const [oldest] of authors) {
    if (authors.size <= AUTHORS_KEPT) break;
    authors.delete(oldest);
  }
}

/** Hands a device what has come for it. A client that is away gets it when it is back. */
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

/** The client has what it was sent. */
export function confirm(companion: Companion, tag: string, id: string | undefined): void {
  companion.pending.delete(pendingKey(tag, id));
}

export const isConfirmed = ({ pending }: Companion, id: string): boolean =>
  [...pending.values()].every(({ attrs }) => attrs['id'] !== id);

const pendingKey = (tag: string, id: string | undefined) => `${tag}/${id}`;

/** Tells a client what is lost if it is not there: who types, who is online. */
export function tell(account: Account, node: BinaryNode): void {
  for (const { connection } of account.companions.values()) if (connection?.isActive === true) connection.send(node);
}
