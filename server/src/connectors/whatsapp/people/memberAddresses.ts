import { createHash } from 'node:crypto';
import type { BinaryNode, GroupMetadata, SignalDataSet, WASocket } from 'baileys';
import { nameOf } from '../link/credentials.ts';
import type { Session } from '../session.ts';
import { type Addresses, isLidAddress, jidOf, lidOf, MAPPING, placeholderOf } from './addresses.ts';

/** Address type of group members: LIDs today, numbers in groups that have not been migrated. */
type Mode = 'lid' | 'number';

interface Addressing {
  readonly mode: Mode;
  /** Time in ms between which messages were addressed by number, if they are known to have been. */
  readonly numberSince?: number;
  readonly numberUntil?: number;
  /** Time in ms when the server first listed the group with LIDs. */
  readonly listedAt?: number;
}

/** A LID and the phone number of the same person, as addresses. */
interface Pair {
  readonly lid: string;
  readonly pn: string;
}

/** A group whose addressing is unknown: new groups and nearly all others use LIDs. */
const USUAL: Addressing = { mode: 'lid' };
const MODES_KEPT = 1000;
/** Members in one notice; a group has no more. */
const MAX_MEMBERS = 2000;
/** Pairs that are read and written together. */
const AT_ONCE = 200;

/**
 * The addresses of group members. A key, quote or mention must have the address that the message had: WhatsApp accepts
 * any other one, and no phone shows it (openclaw #36303, #128219, whatsapp-mcp #212). Groups differ from each other,
 * and each can be migrated from numbers to LIDs, so this keeps how a group is addressed and since when.
 */
export class MemberAddresses {
  readonly #session: Session;
  readonly #addresses: Addresses;
  readonly #modes = new Map<string, Addressing>();

  constructor(session: Session, addresses: Addresses) {
    const { link, host } = session;
    this.#session = session;
    this.#addresses = addresses;
    link.on('socket', (socket) => {
      socket.ws.on('CB:notification,type:w:gp2', (node: BinaryNode) => {
        this.#learn(socket, pairsIn(node)).catch((error) =>
          host.log.warn({ err: error, group: node.attrs['from'] }, 'failed to store the LIDs of group members'),
        );
      });
    });
  }

  /** Returns a person's address in a group message. `timestamp` is in ms, and defaults to now. */
  async addressOf(group: string, digits: string, timestamp?: number): Promise<string> {
    const { link, self } = this.#session;
    if (hasNumberAt(await this.#addressingOf(group), timestamp)) return jidOf(digits);
    if (digits === self.phoneNumber) return self.lidJid || self.jid;
    const socket = link.newest;
    const lid = socket && !this.#addresses.isHidden(digits) ? await lidOf(socket, digits) : undefined;
    return lid === undefined ? jidOf(digits) : `${lid}@lid`;
  }

  /**
   * Notes the participant address that a group message arrived with. Returns it unless `addressOf` will find it: a LID
   * in a group where no message has a number. Around a migration, times in seconds do not separate the two.
   */
  async noteMessage(group: string, participant: string, timestamp: number): Promise<string | undefined> {
    const { mode, numberUntil } = await this.#note(group, modeOf(participant), timestamp, false);
    return mode === 'lid' && numberUntil === undefined
      ? undefined
      : this.#session.baileys.jidNormalizedUser(participant);
  }

  /** Notes what the server tells about a group and its members. */
  async noteGroup(socket: WASocket | undefined, group: GroupMetadata): Promise<void> {
    const { store, host } = this.#session;
    // Not `addressingMode`: Baileys takes a group without that attribute for an old one.
    const [first] = group.participants;
    if (first !== undefined) await this.#note(group.id, modeOf(first.id), host.clock.now(), true);
    const pairs = [...group.participants.flatMap(pairOf), ...pairOf({ id: group.owner, phoneNumber: group.ownerPn })];
    if (socket === undefined || pairs.length === 0) return;
    // Groups are read with every connection, and have many members who have been stored before.
    const digest = createHash('sha256').update(JSON.stringify(pairs)).digest('base64url');
    const name = `members/${group.id}`;
    if ((await store.get(name)) === digest) return;
    await this.#learn(socket, pairs);
    await store.set(name, digest);
  }

  /** Stores pairs where Baileys looks for them. Its own store would keep each of them in memory. */
  async #learn(socket: WASocket, pairs: readonly Pair[]): Promise<void> {
    const { baileys, store } = this.#session;
    const userOf = (jid: string) => baileys.jidDecode(jid)?.user ?? '';
    for (let start = 0; start < pairs.length; start += AT_ONCE) {
      const part = pairs.slice(start, start + AT_ONCE);
      const lids = new Map(part.map(({ lid, pn }) => [userOf(pn), userOf(lid)]));
      const stored = await store.getMany([...lids.keys()].map((number) => nameOf(MAPPING, number)));
      const fresh = [...lids].filter(([number, lid]) => stored.get(nameOf(MAPPING, number)) !== JSON.stringify(lid));
      const entries = fresh.flatMap(([number, lid]) => [
        [number, lid],
        [`${lid}_reverse`, number],
      ]);
      const data: SignalDataSet = { [MAPPING]: Object.fromEntries(entries) };
      if (entries.length > 0) await socket.authState.keys.set(data);
      for (const { lid, pn } of part)
        if (this.#addresses.isHidden(placeholderOf(lid))) await this.#addresses.digitsOf(lid, pn);
    }
  }

  async #note(group: string, mode: Mode, timestamp: number, isListed: boolean): Promise<Addressing> {
    const before = await this.#addressingOf(group);
    const addressing = addressingAfter(before, mode, timestamp, isListed);
    if (addressing === before) return before;
    await this.#session.store.set(`addressing/${group}`, JSON.stringify(addressing));
    return this.#keep(group, addressing);
  }

  async #addressingOf(group: string): Promise<Addressing> {
    const known = this.#modes.get(group);
    if (known !== undefined) return known;
    const text = await this.#session.store.get(`addressing/${group}`);
    const addressing: Addressing = text === undefined ? USUAL : JSON.parse(text);
    // A note during the read is newer.
    return this.#modes.get(group) ?? this.#keep(group, addressing);
  }

  #keep(group: string, addressing: Addressing): Addressing {
    this.#modes.delete(group);
    this.#modes.set(group, addressing);
    const [oldest] = this.#modes.keys();
    if (this.#modes.size > MODES_KEPT && oldest !== undefined) this.#modes.delete(oldest);
    return addressing;
  }
}

function modeOf(participant: string): Mode {
  return isLidAddress(participant) ? 'lid' : 'number';
}

/** @param timestamp now if omitted */
function hasNumberAt({ mode, numberSince = 0, numberUntil = -1 }: Addressing, timestamp?: number): boolean {
  if (timestamp === undefined) return mode === 'number';
  return timestamp >= numberSince && (mode === 'number' || timestamp <= numberUntil);
}

/** @returns `before` if nothing changes */
function addressingAfter(before: Addressing, mode: Mode, timestamp: number, isListed: boolean): Addressing {
  const { numberSince, numberUntil = -1, listedAt } = before;
  const since = numberSince === undefined ? {} : { numberSince };
  const listed = isListed ? { listedAt: timestamp } : {};
  if (mode === 'lid') {
    if (before.mode === 'number') return { mode, ...since, numberUntil: timestamp - 1, ...listed };
    return isListed && listedAt === undefined ? { ...before, ...listed } : before;
  }
  // A message from before the migration can arrive after it.
  if (before.mode === 'number' || timestamp <= numberUntil) return before;
  const isOlder = !isListed && listedAt !== undefined && timestamp < listedAt;
  if (isOlder) return { ...before, numberUntil: timestamp };
  // Until now, the group was known to have LIDs.
  return { mode, ...(listedAt !== undefined && { numberSince: timestamp }) };
}

type Named = {
  readonly id?: string | undefined;
  readonly lid?: string | undefined;
  readonly phoneNumber?: string | undefined;
};

/** Returns the two addresses of a member, or nothing if only one is known. */
function pairOf({ id, lid, phoneNumber }: Named): Pair[] {
  const [one, other] = [id ?? '', lid ?? phoneNumber ?? ''].map((jid) => jid.replace(/:\d+(?=@)/, ''));
  const addresses = [one ?? '', other ?? ''];
  const lidJid = addresses.find((jid) => jid.endsWith('@lid'));
  const pn = addresses.find((jid) => jid.endsWith('@s.whatsapp.net'));
  return lidJid === undefined || pn === undefined ? [] : [{ lid: lidJid, pn }];
}

/** The pairs in a notice about a group: who acts, who is concerned, and all members of a new group. */
function pairsIn({ attrs, content }: BinaryNode): Pair[] {
  const { participant: id, participant_lid: lid, participant_pn: phoneNumber } = attrs;
  const changes = Array.isArray(content) ? content : [];
  const inside = changes.flatMap((change) => childrenOf(change));
  const people = [...inside, ...inside.filter(({ tag }) => tag === 'group').flatMap((group) => childrenOf(group))];
  const members = people.filter(({ tag }) => tag === 'participant' || tag === 'requested_user').slice(0, MAX_MEMBERS);
  return [
    ...pairOf({ id, lid, phoneNumber }),
    ...members.flatMap(({ attrs: { jid, lid: otherLid, phone_number: number } }) =>
      pairOf({ id: jid, lid: otherLid, phoneNumber: number }),
    ),
  ];
}

const childrenOf = ({ content }: BinaryNode): readonly BinaryNode[] => (Array.isArray(content) ? content : []);
