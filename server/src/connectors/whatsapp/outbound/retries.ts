import type { BinaryNode, proto, WAMessageKey } from 'baileys';
import { idsOf } from '../inbound/receipts.ts';
import type { Addresses } from '../people/addresses.ts';
import type { Groups } from '../people/groups.ts';
import type { Session } from '../session.ts';
import { audienceOfSent, chatOfSent, dropCached, findSent } from './sentMessages.ts';

/**
 * Retries: a device requests a sent message that it cannot decrypt. Message ids are not secret on the network, so only
 * people in its chat get it. whatsmeow (retry.go, `getMessageForRetry`) also looks for it by chat and id,
 * under both addresses of a person.
 */
export class Retries {
  readonly #session: Session;
  readonly #addresses: Addresses;
  readonly #groups: Groups;

  constructor(session: Session, addresses: Addresses, groups: Groups) {
    this.#session = session;
    this.#addresses = addresses;
    this.#groups = groups;
  }

  /** Returns the message that a device requests, if it is kept and the device may have it. */
  async find(key: WAMessageKey): Promise<proto.IMessage | undefined> {
    const chat = key.id ? await chatOfSent(this.#session, key.id) : undefined;
    if (!key.id || chat === undefined || !(await this.#mayHave(key, chat))) return undefined;
    return findSent(this.#session, key.id);
  }

  /**
   * Call it before Baileys gets a request: its own cache answers every request with the right chat and id, even if the
   * person is not in the group.
   */
  async guard(request: BinaryNode): Promise<void> {
    const { log } = this.#session.host;
    for (const id of idsOf(request)) {
      const isRefused = await this.#refuses(request, id).catch((error: unknown) => {
        log.warn({ err: error, message: id }, 'failed to check who requests a message again');
        return true;
      });
      if (isRefused) dropCached(this.#session, id);
    }
  }

  async #refuses({ attrs: { from = '', participant = from } }: BinaryNode, id: string): Promise<boolean> {
    // A message that was sent a moment ago is not kept yet.
    const chat = (await chatOfSent(this.#session, id)) ?? (await this.#addresses.bothOf(from));
    if (await this.#mayHave({ id, remoteJid: from, participant }, chat)) return false;
    this.#session.host.log.warn({ message: id }, 'ignoring a request for a message from outside its chat');
    return true;
  }

  /** A member who left the group after the message gets it no longer. One who joined later does, as with whatsmeow. */
  async #mayHave({ id, remoteJid, participant }: WAMessageKey, chat: readonly string[]): Promise<boolean> {
    const { baileys, self } = this.#session;
    if (!remoteJid) return false;
    const requester = participant || remoteJid;
    if (self.is(requester)) return true;
    const addresses = await this.#addresses.bothOf(remoteJid);
    if (!chat.some((address) => addresses.includes(address))) return false;
    const isStatus = baileys.isJidStatusBroadcast(remoteJid);
    if (!isStatus && !baileys.isJidGroup(remoteJid)) return true;
    const both = await this.#addresses.bothOf(requester);
    if (!isStatus) return this.#groups.hasMember(remoteJid, both);
    const audience = id ? await audienceOfSent(this.#session, id) : [];
    return audience.some((address) => both.includes(address));
  }
}
