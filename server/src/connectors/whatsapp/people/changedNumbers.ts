import type { BinaryNode, WASocket } from 'baileys';
import { KeyedQueue } from '../../../async.ts';
import type { Recipients } from '../outbound/recipients.ts';
import type { Session } from '../session.ts';
import { type Addresses, MAPPING, placeholderOf, unhosted } from './addresses.ts';

/** Followed by the former number. A change that is not stored yet. */
const PENDING = 'changing/';
/** Followed by the former number. The last change of it. */
const DONE = 'changed/';
/** Changes in one notification; the server sends one. */
const MAX_CHANGES = 20;
/** The server repeats a notification to a client that was offline, which it unlinks after 14 days. */
const DONE_S = 30 * 24 * 3600;

/** A change in the form of the store, with addresses without the device. */
interface Change {
  readonly from: string;
  readonly to: string;
  readonly fromLid?: string;
  readonly toLid?: string;
  /** Time of the notification in seconds. */
  readonly at: number;
}

/**
 * People who change their phone number. The server reports it as `<notification type="contacts"><modify old new old_lid
 * new_lid/>`, which phones and WhatsApp Web read (`handleContactModify` of the Android app,
 * `WAWebHandleContactNotification`, whatsapp-rust#351), and Baileys does not. Both LIDs can be missing.
 *
 * A former number can belong to someone else later. So it does not lead to the person, its LID is forgotten, and a
 * notification that the server repeats changes nothing.
 */
export class ChangedNumbers {
  readonly #session: Session;
  readonly #addresses: Addresses;
  readonly #recipients: Recipients;
  readonly #queue = new KeyedQueue();
  /** Changes that the last connection left. */
  #left: Change[] = [];

  constructor(session: Session, addresses: Addresses, recipients: Recipients) {
    const { link } = session;
    this.#session = session;
    this.#addresses = addresses;
    this.#recipients = recipients;
    link.on('socket', (socket) => {
      socket.ws.on('CB:notification,type:contacts', (node: BinaryNode) => {
        for (const change of this.#changesIn(node)) this.#enqueue(socket, change);
      });
    });
    link.on('open', () => {
      const { socket } = link;
      if (socket !== undefined) for (const change of this.#left.splice(0)) this.#enqueue(socket, change);
    });
  }

  async start(): Promise<void> {
    const { store, host } = this.#session;
    const expiresS = host.clock.now() / 1000 - DONE_S;
    for (const [key, at] of await store.list(DONE))
      if (Number(at) > 0 && Number(at) < expiresS) await store.delete(key);
    const stored = await store.list(PENDING);
    this.#left = [...stored.values()].map((text) => JSON.parse(text));
  }

  /** Resolves once the changes that have arrived are stored. Undefined if all of them are. */
  get storing(): Promise<void> | undefined {
    return this.#queue.length('') === 0 ? undefined : this.#queue.idle();
  }

  /**
   * Stores changes one after the other, because a person can change the number twice. Baileys confirms the
   * notification.
   */
  #enqueue(socket: WASocket, change: Change): void {
    void this.#queue.run('', () => this.#session.reporter.keep('changed number', () => this.#store(socket, change)));
  }

  #changesIn({ attrs: { t }, content }: BinaryNode): Change[] {
    const { baileys, self } = this.#session;
    const isPerson = (jid: string) => Boolean(baileys.isPnUser(jid) || baileys.isLidUser(jid));
    const children = Array.isArray(content) ? content : [];
    return children.slice(0, MAX_CHANGES).flatMap(({ tag, attrs }) => {
      if (tag !== 'modify') return [];
      const addresses = [attrs['old'], attrs['new'], attrs['old_lid'], attrs['new_lid']];
      const [from = '', to = '', fromLid = '', toLid = ''] = addresses.map((jid) =>
        unhosted(baileys.jidNormalizedUser(jid)),
      );
      if (!isPerson(from) || !isPerson(to) || self.is(from) || self.is(to)) return [];
      return {
        from,
        to,
        ...(baileys.isLidUser(fromLid) && { fromLid }),
        ...(baileys.isLidUser(toLid) && { toLid }),
        at: Number(t) || 0,
      };
    });
  }

  async #store(socket: WASocket, change: Change): Promise<void> {
    const { store, host } = this.#session;
    const { from, to, at } = change;
    const last = await store.get(DONE + from);
    if (last !== undefined && Number(last) >= at) return store.delete(PENDING + from);
    // First, so that a crash does not lose it.
    await store.set(PENDING + from, JSON.stringify(change));
    const former = await this.#addresses.digitsOf(from);
    await this.#learn(socket, change);
    const current = await this.#addresses.digitsOf(to);
    this.#addresses.noteChange(former, current);
    this.#recipients.forget(former, current);
    if (former !== current)
      await host.onEvent({
        type: 'identified',
        standIn: former,
        phoneNumber: current,
        change: { numberChanged: true },
      });
    await store.write(
      new Map([
        [PENDING + from, null],
        [DONE + from, String(at)],
      ]),
    );
  }

  /** Stores the new pair, removes the LID of the former number, and joins what is stored under placeholders. */
  async #learn({ authState, signalRepository }: WASocket, { from, to, fromLid, toLid }: Change): Promise<void> {
    const { baileys } = this.#session;
    const userOf = (jid: string) => baileys.jidDecode(jid)?.user ?? '';
    const { lidMapping } = signalRepository;
    if (baileys.isPnUser(from)) {
      const number = userOf(from);
      const { [number]: lid = '' } = await authState.keys.get(MAPPING, [number]);
      const reverse = `${lid}_reverse`;
      const { [reverse]: owner } = await authState.keys.get(MAPPING, [reverse]);
      // Otherwise messages from the LID would go on to belong to the former number, without LIDs in the notification.
      await authState.keys.set({ [MAPPING]: { [number]: null, ...(owner === number && { [reverse]: null }) } });
      // Baileys keeps the pair in memory, and has no call that forgets it.
      const { mappingCache } = lidMapping as unknown as { readonly mappingCache?: Map<string, string> };
      mappingCache?.delete(`pn:${number}`);
      if (mappingCache?.get(`lid:${lid}`) === number) mappingCache.delete(`lid:${lid}`);
    }
    if (!baileys.isPnUser(to)) return;
    if (toLid !== undefined) await lidMapping.storeLIDPNMappings([{ lid: toLid, pn: to }]);
    for (const lid of new Set([fromLid, toLid]))
      if (lid !== undefined && this.#addresses.isHidden(placeholderOf(lid))) await this.#addresses.digitsOf(lid, to);
  }
}
