import { createHash } from 'node:crypto';
import type { proto } from 'baileys';
import type { SessionStore } from '../../connector.ts';
import type { Baileys } from '../link/load.ts';

/**
 * Places per session. A message takes the place that its id hashes to and replaces the previous one there, so nothing
 * has to be cleaned up; of the last thousand messages, some 90 % are kept.
 */
const PLACES = 10_000;

/**
 * Sent messages. A device that cannot decrypt one requests it again, even days later, and a vote can be read only with
 * the secret of its poll.
 */
export class SentMessages {
  readonly #store: SessionStore;
  readonly #baileys: Baileys;

  constructor(store: SessionStore, baileys: Baileys) {
    this.#store = store;
    this.#baileys = baileys;
  }

  async keep(wireId: string, message: proto.IMessage): Promise<void> {
    const encoded = Buffer.from(this.#baileys.proto.Message.encode(message).finish()).toString('base64');
    await this.#store.set(placeOf(wireId), JSON.stringify([wireId, encoded]));
  }

  async find(wireId: string): Promise<proto.IMessage | undefined> {
    const text = await this.#store.get(placeOf(wireId));
    if (text === undefined) return undefined;
    const [id, encoded] = JSON.parse(text);
    return id === wireId ? this.#baileys.proto.Message.decode(Buffer.from(encoded, 'base64')) : undefined;
  }
}

function placeOf(wireId: string): string {
  const place = createHash('sha256').update(wireId).digest().readUInt32BE() % PLACES;
  return `sent/${place}`;
}
