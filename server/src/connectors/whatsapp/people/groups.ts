import type { BinaryNode, GroupMetadata, WASocket } from 'baileys';
import { LRUCache } from 'lru-cache';
import { KeyedQueue } from '../../../async.ts';
import { AppError } from '../../../errors.ts';
import type { GroupChange } from '../../../events/networkTypes.ts';
import type { NetworkGroup } from '../../contract/groups.ts';
import type { NetworkMedia } from '../../contract/networkMedia.ts';
import { isPlaceholder } from '../../contract/people.ts';
import { boomOf, QUERY_RETRIES_MS, translateErrors } from '../link/errors.ts';
import type { Session } from '../session.ts';
import { type Addresses, lidOfPlaceholder, unhosted } from './addresses.ts';
import { ChangedGroups } from './changedGroups.ts';
import { changesBetween, hasNews, toNetworkGroup, withNumbers } from './groupState.ts';
import type { MemberAddresses } from './memberAddresses.ts';
import { afterNotice } from './noticedMembers.ts';

const METADATA_KEPT = 200;
/** An account may be in very many groups. After a minute, Baileys would report that it is in none. */
const ALL_GROUPS_MS = 50_000;
/** How long a message of an unknown group waits for a connection over which to read the group. */
const OPEN_MS = 10_000;
const FORBIDDEN = 403;
const NOT_FOUND = 404;

/** A request for a group, and its number. */
interface Fetch {
  readonly socket: WASocket;
  readonly request: number;
  readonly answer: Promise<GroupMetadata>;
}

/**
 * The groups of a session, as the host knows them. After every sign of a change (a notification, an action of the
 * session, a new connection) the group is read again, and its differences from the known state are reported. So nothing
 * is reported twice, and nothing is missed.
 */
export class Groups {
  readonly #session: Session;
  readonly #addresses: Addresses;
  readonly #members: MemberAddresses;
  readonly #known = new Map<string, NetworkGroup>();
  readonly #metadata = new LRUCache<string, GroupMetadata>({ max: METADATA_KEPT });
  /** Serializes work on a group: two concurrent reads would report a change twice. */
  readonly #queue = new KeyedQueue();
  /** Counts the requests, and remembers for each group the request that returned its known state. */
  #requestCount = 0;
  readonly #answered = new Map<string, number>();
  /** The last request for each group before the last sign of a change. Its answer may lack the change. */
  readonly #outdated = new Map<string, number>();
  /** The newest request for each group, until its answer or the next sign of a change. */
  readonly #fetches = new Map<string, Fetch>();

  readonly #all = Promise.withResolvers<void>();
  readonly #changed: ChangedGroups;
  #cancelRetry = () => {};

  constructor(session: Session, addresses: Addresses, members: MemberAddresses) {
    const { link, host } = session;
    this.#session = session;
    this.#addresses = addresses;
    this.#members = members;
    this.#changed = new ChangedGroups(host, (networkId) => this.#readChanged(networkId));
    link.on('socket', (socket) => {
      socket.ws.on('CB:notification,type:w:gp2', (notice: BinaryNode) => {
        if (link.newest === socket) this.#onNotice(notice);
      });
    });
    link.on('open', (socket) => void this.#readAllOrRetry(socket));
    link.on('lost', () => {
      this.#changed.stop();
      this.#cancelRetry();
    });
  }

  async start(): Promise<void> {
    for (const group of await this.#session.host.groups()) this.#known.set(group.networkId, group);
  }

  /** Resolves once the groups were read after a connection, or could not be read. */
  whenRead(): Promise<void> {
    return this.#all.promise;
  }

  /**
   * @returns undefined if the session is not in the group
   * @throws {AppError} see `translateErrors`
   */
  read(networkId: string): Promise<NetworkGroup | undefined> {
    const read = () => this.#read(this.#session.link.requireSocket(), networkId);
    return translateErrors(() => this.#queue.run(networkId, read));
  }

  /** @throws {AppError} `session_not_connected` if an unknown group cannot be read */
  async know(networkId: string): Promise<void> {
    if (this.#known.has(networkId)) return;
    const socket = await this.#session.link.whenOpen(OPEN_MS);
    await this.#queue.run(networkId, async () => {
      if (!this.#known.has(networkId)) await this.#read(socket, networkId);
    });
  }

  /** Adopts the state of a group that the session has just created. */
  put(metadata: GroupMetadata): Promise<NetworkGroup> {
    return this.#queue.run(metadata.id, () => this.#put(metadata, ++this.#requestCount));
  }

  /** Adopts the invite of a group, which is an event only if it replaces another one. */
  async noteInvite(networkId: string, inviteCode: string, isRenewed: boolean): Promise<void> {
    if (this.#known.get(networkId)?.inviteCode === inviteCode) return;
    await this.#note(networkId, { inviteCode }, isRenewed ? { type: 'invite_link' } : undefined);
  }

  /** @param changeId identifies the change if it may be noted again */
  notePicture(networkId: string, picture: NetworkMedia | null, changeId?: string): Promise<void> {
    return this.#note(networkId, { picture }, { type: 'picture' }, changeId);
  }

  /**
   * @param digits of a person
   * @throws {AppError} see `know`
   */
  async isAdmin(networkId: string, digits: string): Promise<boolean> {
    await this.know(networkId);
    const person = this.#stateOf(networkId)?.participants.find(({ phoneNumber }) => phoneNumber === digits);
    return person !== undefined && person.role !== 'member';
  }

  /** @throws {AppError} `network_denied` if the session is not known to be an admin of the group */
  async requireAdmin(networkId: string): Promise<void> {
    if (!(await this.isAdmin(networkId, this.#session.self.phoneNumber)))
      throw new AppError('network_denied', 'Only an admin of the group can do this');
  }

  /** Whether it is the group for the announcements of a community. */
  isAnnouncementGroup(networkId: string): boolean {
    return this.#known.get(networkId)?.isAnnouncementGroup === true;
  }

  left(networkId: string): Promise<void> {
    return this.#queue.run(networkId, () => this.#forget(networkId, ++this.#requestCount));
  }

  /** Returns the known groups with a member who has one of these phone numbers or LIDs. */
  withAnyOf(users: ReadonlySet<string>): string[] {
    const isOne = (digits: string) => users.has(isPlaceholder(digits) ? lidOfPlaceholder(digits) : digits);
    return [...this.#known.values()]
      .filter(({ participants }) => participants.some(({ phoneNumber }) => isOne(phoneNumber)))
      .map(({ networkId }) => networkId);
  }

  /** Returns the LID that a group lists for an address, if it lists both. */
  lidOf(jid: string): string | undefined {
    const { areJidsSameUser, isLidUser } = this.#session.baileys;
    for (const { participants } of this.#metadata.values())
      for (const { id, lid = id, phoneNumber = id } of participants)
        if (isLidUser(lid) && areJidsSameUser(phoneNumber, jid)) return lid;
    return undefined;
  }

  /**
   * Returns a group as Baileys needs it for sending. If there was a sign of a change that only a read can tell, all
   * sends wait for the same one: Baileys would read the group for each of them.
   */
  async currentOrRead(networkId: string): Promise<GroupMetadata | undefined> {
    const socket = this.#session.link.newest;
    const known = this.#metadata.get(networkId);
    if (known !== undefined || socket === undefined) return known;
    const running = this.#fetches.get(networkId);
    return (running?.socket === socket ? running : this.#fetch(socket, networkId)).answer;
  }

  /**
   * Whether a person is in a group.
   * @param addresses the person's addresses, without devices
   */
  async hasMember(networkId: string, addresses: readonly string[]): Promise<boolean> {
    const { baileys } = this.#session;
    const isOne = (jid: string | undefined) =>
      jid !== undefined && addresses.includes(unhosted(baileys.jidNormalizedUser(jid)));
    const read = await this.currentOrRead(networkId);
    return read?.participants.some(({ id, lid, phoneNumber }) => [id, lid, phoneNumber].some(isOne)) === true;
  }

  #onNotice(notice: BinaryNode): void {
    const { from: networkId } = notice.attrs;
    if (networkId === undefined) return;
    const { self, baileys } = this.#session;
    const known = this.#metadata.get(networkId);
    const after = known && afterNotice(known, notice, baileys.jidNormalizedUser);
    const isMember = after?.participants.some(({ id }) => self.is(id)) === true;
    if (after !== undefined && isMember) this.#metadata.set(networkId, after);
    else this.#metadata.delete(networkId);
    this.#outdated.set(networkId, this.#requestCount);
    this.#fetches.delete(networkId);
    this.#changed.note(networkId);
  }

  #fetch(socket: WASocket, networkId: string): Fetch {
    const request = ++this.#requestCount;
    const answer = this.#session.requests.run(socket, () => socket.groupMetadata(networkId));
    const fetch: Fetch = { socket, request, answer };
    this.#fetches.set(networkId, fetch);
    const end = () => {
      if (this.#fetches.get(networkId) === fetch) this.#fetches.delete(networkId);
    };
    answer.then((read) => {
      this.#keepForSending(read, request);
      end();
    }, end);
    return fetch;
  }

  #keepForSending(read: GroupMetadata, request: number): void {
    if (request > (this.#outdated.get(read.id) ?? 0)) this.#metadata.set(read.id, read);
  }

  #note(
    networkId: string,
    fields: Partial<NetworkGroup>,
    change: GroupChange | undefined,
    changeId?: string,
  ): Promise<void> {
    return this.#queue.run(networkId, async () => {
      const before = this.#stateOf(networkId);
      if (before === undefined) return;
      const group = { ...before, ...fields };
      const { reporter, host } = this.#session;
      if (change === undefined) await reporter.report({ type: 'group_invite', group });
      else {
        const timestamp = host.clock.now();
        await reporter.report({ type: 'group_updated', change, ...(changeId && { changeId }), timestamp, group });
      }
      this.#known.set(networkId, group);
    });
  }

  async #readChanged(networkId: string): Promise<void> {
    const socket = this.#session.link.newest;
    if (socket !== undefined) await this.#queue.run(networkId, () => this.#read(socket, networkId));
  }

  /** WhatsApp may limit this query (`rate-overlimit`), and a group without changes would stay stale for days. */
  async #readAllOrRetry(socket: WASocket, failures = 0): Promise<void> {
    const { host, link } = this.#session;
    try {
      await this.#readAll(socket);
    } catch (error) {
      host.log.warn({ err: error, failures }, 'failed to read the groups');
      const waitMs = QUERY_RETRIES_MS[failures];
      if (waitMs !== undefined && link.newest === socket)
        this.#cancelRetry = host.clock.after(waitMs, () => void this.#readAllOrRetry(socket, failures + 1));
    } finally {
      this.#all.resolve();
    }
  }

  /** Reads all groups, because some may have changed while the session was offline. */
  async #readAll(socket: WASocket): Promise<void> {
    const request = ++this.#requestCount;
    const all = await this.#session.requests.run(socket, () => socket.groupFetchAllParticipating(), ALL_GROUPS_MS);
    // The known state may be newer than this answer.
    const ifOlder = (networkId: string, work: () => Promise<unknown>) =>
      this.#queue.run(networkId, async () => {
        if ((this.#answered.get(networkId) ?? 0) < request) await work();
      });
    for (const one of Object.values(all)) await ifOlder(one.id, () => this.#put(one, request));
    // A lost answer looks like an account without groups, so each missing group is read separately.
    for (const networkId of [...this.#known.keys()]) {
      if (all[networkId] === undefined) await ifOlder(networkId, () => this.#read(socket, networkId));
    }
  }

  async #read(socket: WASocket, networkId: string): Promise<NetworkGroup | undefined> {
    const { request, answer } = this.#fetch(socket, networkId);
    try {
      return await this.#put(await answer, request);
    } catch (error) {
      const { statusCode } = boomOf(error);
      if (statusCode !== FORBIDDEN && statusCode !== NOT_FOUND) throw error;
      await this.#forget(networkId, request);
      return undefined;
    }
  }

  async #put(read: GroupMetadata, request: number): Promise<NetworkGroup> {
    this.#keepForSending(read, request);
    this.#answered.set(read.id, request);
    await this.#members.noteGroup(this.#session.link.newest, read);
    const group = await toNetworkGroup(read, this.#known.get(read.id), this.#addresses);
    return this.#report(group);
  }

  async #forget(networkId: string, request: number): Promise<void> {
    this.#metadata.delete(networkId);
    this.#answered.set(networkId, request);
    const before = this.#stateOf(networkId);
    if (before === undefined) return;
    const own = this.#session.self.phoneNumber;
    const participants = before.participants.filter(({ phoneNumber }) => phoneNumber !== own);
    await this.#report({ ...before, participants });
    this.#known.delete(networkId);
  }

  async #report(now: NetworkGroup): Promise<NetworkGroup> {
    const { reporter, host } = this.#session;
    // Both with the numbers known now: reading the description may just have identified somebody.
    const before = this.#stateOf(now.networkId);
    const group = withNumbers(now, this.#addresses.identified);
    if (before === undefined) await reporter.report({ type: 'group_created', group });
    else {
      const timestamp = host.clock.now();
      const changes = changesBetween(before, group);
      for (const change of changes) await reporter.report({ type: 'group_updated', change, timestamp, group });
      if (changes.length === 0 && hasNews(before, group)) await reporter.report({ type: 'group_noted', group });
    }
    this.#known.set(group.networkId, group);
    return group;
  }

  /** Returns the known state, with the numbers of people who have been identified since. */
  #stateOf(networkId: string): NetworkGroup | undefined {
    const group = this.#known.get(networkId);
    return group && withNumbers(group, this.#addresses.identified);
  }
}
