import { createHash } from 'node:crypto';
import type { proto } from 'baileys';
import type { SessionStore } from '../../connector.ts';
import type { Baileys } from '../link/load.ts';

/**
 * Messages that were sent, as they were sent. Whoever cannot decrypt one asks for it again, days later as well, and a
 * vote can only be read with the secret of its poll.
 */
export interface SentMessages {
  keep(wireId: string, message: proto.IMessage): Promise<void>;
  find(wireId: string): Promise<proto.IMessage | undefined>;
}

/**
 * So many places per session, and a message takes the one that its id falls on, from whomever has it: nothing has to
 * be cleared away, and of the last thousand messages some 90 % are there.
 */
const PLACES = 10_000;

export function createSentMessages(store: SessionStore, { proto }: Baileys): SentMessages {
  return {
    keep(wireId, message) {
      const encoded = Buffer.from(proto.Message.encode(message).finish()).toString('base64');
      return store.set(placeOf(wireId), JSON.stringify([wireId, encoded]));
    },
    async find(wireId) {
      const text = await store.get(placeOf(wireId));
      if (text === undefined) return undefined;
      const [id, encoded] = JSON.parse(text);
      return id === wireId ? proto.Message.decode(Buffer.from(encoded, 'base64')) : undefined;
    },
  };
}

function placeOf(wireId: string): string {
  const place = createHash('sha256').update(wireId).digest().readUInt32BE() % PLACES;
  return `sent/${place}`;
}
