import type { BinaryNode, GroupMetadata, WASocket } from 'baileys';
import { LRUCache } from 'lru-cache';
import type { Clock } from '../../../clock.ts';
import type { Log } from '../../../log.ts';
import type { NetworkEvent, NetworkGroup, NetworkMedia } from '../../connector.ts';
import { boomOf } from '../link/link.ts';
import type { Asking } from '../link/requests.ts';
import type { Addresses } from './addresses.ts';
import { changesBetween, toNetworkGroup, withNumbers } from './groupState.ts';

/**
 * The groups of a session, as the host knows them. Whatever says that a group has changed, a notification, an action
 * of our own, or a look at all of them after some time away, the group is read anew, and what is different from before
 * is told: so nothing is told twice, and nothing is missed.
 */
export interface Groups {
  /** The host's groups, read once. */
  start(known: readonly NetworkGroup[]): void;
  /** Reads all groups: some have changed while the session was away. */
  readAll(socket: WASocket): Promise<void>;
  /** Reads one group, and tells what is new. Undefined when the session is not in it. */
  read(socket: WASocket, networkId: string): Promise<NetworkGroup | undefined>;
  /** A stand-in has got its number: who is in a group under the one is the member that is there under the other. */
  identify(standIn: string, phoneNumber: string): void;
  /** Makes sure that the host knows the group. */
  know(socket: WASocket, networkId: string): Promise<void>;
  /** Takes a group that is known to be so now. */
  put(metadata: GroupMetadata): Promise<NetworkGroup>;
  /** The invite is this one now. */
  noteInvite(networkId: string, code: string, isRenewed: boolean): Promise<void>;
  /** The picture is this one now, or there is none. */
  notePicture(networkId: string, picture: NetworkMedia | null): Promise<void>;
  /** The session has left. */
  left(networkId: string): Promise<void>;
  onNotification(socket: WASocket, node: BinaryNode): void;
  /** A group as Baileys wants it for sending, when nothing has been heard of a change since. */
  cached(networkId: string): GroupMetadata | undefined;
}

const METADATA_KEPT = 200;
/** An account may be in very many groups. After a minute Baileys would say that it is in none. */
const ALL_GROUPS_MS = 50_000;

export function createGroups({
  addresses,
  asking,
  ownNumber,
  onEvent,
  clock,
  log,
}: {
  addresses: Addresses;
  asking: Asking;
  ownNumber: () => string;
  onEvent: (event: NetworkEvent) => Promise<void>;
  clock: Clock;
  log: Log;
}): Groups {
  const known = new Map<string, NetworkGroup>();
  const metadata = new LRUCache<string, GroupMetadata>({ max: METADATA_KEPT });
  const turns = new Map<string, Promise<unknown>>();
  /** Stand-ins that have got their numbers. */
  const numbers = new Map<string, string>();
  /** Counts the questions to the server, and of each group the one that its present state answered. */
  let questions = 0;
  const answered = new Map<string, number>();

  /** What concerns one group happens one after the other: two reads at a time would tell a change twice. */
  function inTurn<T>(networkId: string, work: () => Promise<T>): Promise<T> {
    const mine = (turns.get(networkId) ?? Promise.resolve()).then(work, work);
    turns.set(networkId, mine);
    const leave = () => {
      if (turns.get(networkId) === mine) turns.delete(networkId);
    };
    mine.then(leave, leave);
    return mine;
  }

  async function take(read: GroupMetadata, question: number): Promise<NetworkGroup> {
    metadata.set(read.id, read);
    answered.set(read.id, question);
    const group = await toNetworkGroup(read, known.get(read.id), addresses);
    // Asked for only now: by the description somebody may just have been identified.
    return tell(known.get(read.id), group);
  }

  async function tell(before: NetworkGroup | undefined, now: NetworkGroup): Promise<NetworkGroup> {
    const group = withNumbers(now, numbers);
    if (before === undefined) await onEvent({ type: 'group_created', group });
    else {
      const timestamp = clock.now();
      for (const change of changesBetween(before, group)) {
        await onEvent({ type: 'group_updated', change, timestamp, group });
      }
    }
    keep(group);
    return group;
  }

  function keep(group: NetworkGroup): void {
    known.set(group.networkId, withNumbers(group, numbers));
  }

  async function read(socket: WASocket, networkId: string): Promise<NetworkGroup | undefined> {
    const question = ++questions;
    try {
      return await take(await asking.inTime(socket, () => socket.groupMetadata(networkId)), question);
    } catch (error) {
      const { statusCode } = boomOf(error);
      if (statusCode !== FORBIDDEN && statusCode !== NOT_FOUND) throw error;
      await gone(networkId, question);
      return undefined;
    }
  }

  async function gone(networkId: string, question: number): Promise<void> {
    metadata.delete(networkId);
    answered.set(networkId, question);
    const before = known.get(networkId);
    if (before === undefined) return;
    const participants = before.participants.filter(({ phoneNumber }) => phoneNumber !== ownNumber());
    await tell(before, { ...before, participants });
    known.delete(networkId);
  }

  async function readAll(socket: WASocket): Promise<void> {
    const question = ++questions;
    const all = await asking.inTime(socket, () => socket.groupFetchAllParticipating(), ALL_GROUPS_MS);
    /** What has been heard of a group since the question is newer than the answer. */
    const ifOlder = (networkId: string, work: () => Promise<unknown>) =>
      inTurn(networkId, async () => {
        if ((answered.get(networkId) ?? 0) < question) await work();
      });
    for (const one of Object.values(all)) await ifOlder(one.id, () => take(one, question));
    // An answer that was lost looks like an account without groups: each that is missing has to say so itself.
    for (const networkId of [...known.keys()]) {
      if (all[networkId] === undefined) await ifOlder(networkId, () => read(socket, networkId));
    }
  }

  return {
    start(groups) {
      for (const group of groups) known.set(group.networkId, group);
    },
    readAll,
    read: (socket, networkId) => inTurn(networkId, () => read(socket, networkId)),
    identify(standIn, phoneNumber) {
      numbers.set(standIn, phoneNumber);
      for (const group of known.values()) keep(group);
    },
    async know(socket, networkId) {
      if (known.has(networkId)) return;
      await inTurn(networkId, async () => {
        if (!known.has(networkId)) await read(socket, networkId);
      });
    },
    put: (read) => inTurn(read.id, () => take(read, ++questions)),
    noteInvite: (networkId, code, isRenewed) =>
      inTurn(networkId, async () => {
        const before = known.get(networkId);
        if (before === undefined || before.inviteCode === code) return;
        const group = { ...before, inviteCode: code };
        if (isRenewed) {
          const change = { type: 'invite_link' as const };
          await onEvent({ type: 'group_updated', change, timestamp: clock.now(), group });
        } else await onEvent({ type: 'group_invite', group });
        keep(group);
      }),
    notePicture: (networkId, picture) =>
      inTurn(networkId, async () => {
        const before = known.get(networkId);
        if (before === undefined) return;
        const group = { ...before, picture };
        await onEvent({ type: 'group_updated', change: { type: 'picture' }, timestamp: clock.now(), group });
        keep(group);
      }),
    left: (networkId) => inTurn(networkId, () => gone(networkId, ++questions)),
    onNotification(socket, { attrs }) {
      const { from } = attrs;
      if (from === undefined) return;
      metadata.delete(from);
      inTurn(from, () => read(socket, from)).catch((error) =>
        // It is read again with the next change, and with the next connection.
        log.warn({ err: error, group: from }, 'failed to read a changed group'),
      );
    },
    cached: (networkId) => metadata.get(networkId),
  };
}

const FORBIDDEN = 403;
const NOT_FOUND = 404;
