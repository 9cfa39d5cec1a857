import type { BinaryNode, SignalKeyStoreWithTransaction, WASocket } from 'baileys';
import { lidOf } from '../people/addresses.ts';
import type { Groups } from '../people/groups.ts';
import type { Session } from '../session.ts';

const MEMORY = 'sender-key-memory';
/** Groups whose memory is read at a time: up to 100 KB each for groups of 1,024 members. */
const GROUPS_AT_A_TIME = 20;

/**
 * The devices that have the session's key of each group. Baileys sends the key to a device once, and forgets a device
 * only when it asks for a message again. A phone that replaces another one has the address of the old one, so it would
 * read nothing until it has asked, and iPhones do not recover (WhiskeySockets/Baileys#2704, #2711,
 * evolution-foundation/evolution-api#2706).
 */
export class SenderKeys {
  readonly #session: Session;
  readonly #groups: Groups;

  constructor(session: Session, groups: Groups) {
    const { link, host } = session;
    this.#session = session;
    this.#groups = groups;
    link.on('socket', (socket) => {
      socket.ws.on('CB:notification,type:encrypt', (node: BinaryNode) => {
        if (!Array.isArray(node.content) || !node.content.some(({ tag }) => tag === 'identity')) return;
        this.#forget(socket, node).catch((error) =>
          host.log.warn({ err: error }, 'failed to renew group keys for a contact with a new phone'),
        );
      });
    });
  }

  /** Sends a group's messages without its key to these devices. They ask for it when they can read. */
  async skip(socket: WASocket, group: string, devices: readonly string[]): Promise<void> {
    await this.#change(socket, [group], (memory) => {
      for (const device of devices) memory[device] = true;
      return devices.length > 0;
    });
  }

  /** Makes the group's next message carry the key for these devices. */
  async renew(socket: WASocket, group: string, devices: readonly string[]): Promise<void> {
    await this.#change(socket, [group], (memory) => {
      for (const device of devices) delete memory[device];
      return devices.length > 0;
    });
  }

  /** Makes the next message in each group of a person carry the key for all devices of that person. */
  async #forget(socket: WASocket, { attrs: { from: jid = '', offline } }: BinaryNode): Promise<void> {
    const { baileys, self } = this.#session;
    if (self.is(jid)) return;
    const { known, listed } = await this.#otherAddresses(socket, jid);
    const users = new Set([jid, known, listed].flatMap((one) => baileys.jidDecode(one)?.user ?? []));
    const groups = this.#groups.withAnyOf(users);
    for (let start = 0; start < groups.length; start += GROUPS_AT_A_TIME)
      await this.#change(socket, groups.slice(start, start + GROUPS_AT_A_TIME), (memory) => {
        const own = Object.keys(memory).filter((device) => users.has(baileys.jidDecode(device)?.user ?? ''));
        for (const device of own) delete memory[device];
        return own.length > 0;
      });
    // Baileys renews the session under the addresses that it knows, except while it reads what came in its absence.
    if (known === undefined && listed !== undefined && offline === undefined)
      await socket.assertSessions([listed], true);
  }

  /** Returns the other address of a person as Baileys knows it, or as a group lists it. */
  async #otherAddresses({ authState, signalRepository }: WASocket, jid: string) {
    const { baileys } = this.#session;
    if (baileys.isLidUser(jid)) return { known: (await signalRepository.lidMapping.getPNForLID(jid)) ?? undefined };
    const lid = await lidOf({ authState }, baileys.jidDecode(jid)?.user ?? '');
    return lid === undefined ? { listed: this.#groups.lidOf(jid) } : { known: `${lid}@lid` };
  }

  /** Waits for a message that Baileys is sending, which would restore the memory that it has read. */
  async #change(
    { authState: { keys } }: { readonly authState: { readonly keys: SignalKeyStoreWithTransaction } },
    groups: readonly string[],
    change: (memory: Record<string, boolean>) => boolean,
  ): Promise<void> {
    await keys.transaction(async () => {
      const changed: Record<string, Record<string, boolean>> = {};
      const memories = await keys.get(MEMORY, [...groups]);
      for (const group of groups) {
        const memory = { ...memories[group] };
        if (change(memory)) changed[group] = memory;
      }
      if (Object.keys(changed).length > 0) await keys.set({ [MEMORY]: changed });
    }, this.#session.self.addresses.id);
  }
}
