import { createHash } from 'node:crypto';
import type { proto } from 'baileys';
import type { Session } from '../session.ts';

/*
 * Sent messages. A device that cannot decrypt one requests it again, even days later, and a vote can be read only with
 * the secret of its poll.
 */

/** Per session. A message replaces the one in the place that its id hashes to: some 90 % of the last 1,000 are kept. */
const PLACES = 10_000;

export async function keepSent({ baileys, store }: Session, wireId: string, message: proto.IMessage): Promise<void> {
  const encoded = Buffer.from(baileys.proto.Message.encode(message).finish()).toString('base64');
  await store.set(placeOf(wireId), JSON.stringify([wireId, encoded]));
}

export async function findSent({ baileys, store }: Session, wireId: string): Promise<proto.IMessage | undefined> {
  const text = await store.get(placeOf(wireId));
  if (text === undefined) return undefined;
  const [id, encoded] = JSON.parse(text);
  return id === wireId ? baileys.proto.Message.decode(Buffer.from(encoded, 'base64')) : undefined;
}

function placeOf(wireId: string): string {
  const place = createHash('sha256').update(wireId).digest().readUInt32BE() % PLACES;
  return `sent/${place}`;
}
