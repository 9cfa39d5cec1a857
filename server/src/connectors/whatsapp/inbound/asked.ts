import { createHash } from 'node:crypto';
import type { proto, WAMessageKey } from 'baileys';
import { findSent } from '../outbound/sentMessages.ts';
import type { Session } from '../session.ts';

/*
 * Polls and events that were received. Votes in them, and answers to them, are encrypted with their secret and with the
 * address of their author in the form in which they arrived.
 */

/** Per session. One replaces the other in the place that its id hashes to. */
const PLACES = 2000;

export interface Asked {
  readonly message: proto.IMessage;
  /** The addresses of its author, the one under which it arrived first. */
  readonly authors: readonly string[];
}

export async function keepAsked({ baileys, store, self }: Session, key: WAMessageKey, message: proto.IMessage) {
  const { id, fromMe, participant, participantAlt, remoteJid, remoteJidAlt } = key;
  if (!id) return;
  const isOwn = fromMe === true || self.is(participant);
  const theirs = participant ? [participant, participantAlt] : [remoteJid, remoteJidAlt];
  const authors = isOwn ? [] : theirs.flatMap((jid) => (jid ? [baileys.jidNormalizedUser(jid)] : []));
  const encoded = Buffer.from(baileys.proto.Message.encode(message).finish()).toString('base64');
  await store.set(placeOf(id), JSON.stringify([id, authors, encoded]));
}

/** Finds a poll or event: one that the session has sent, or one that was received. */
export async function findAsked(session: Session, wireId: string): Promise<Asked | undefined> {
  const { baileys, store, self } = session;
  const own = Object.values(self.addresses).filter((jid) => jid !== '');
  const authors = own.map((jid) => baileys.jidNormalizedUser(jid));
  const sent = await findSent(session, wireId);
  if (sent !== undefined) return { message: sent, authors };
  const text = await store.get(placeOf(wireId));
  if (text === undefined) return undefined;
  const [id, theirs, encoded] = JSON.parse(text);
  if (id !== wireId) return undefined;
  const message = baileys.proto.Message.decode(Buffer.from(encoded, 'base64'));
  return { message, authors: theirs.length > 0 ? theirs : authors };
}

function placeOf(wireId: string): string {
  return `asked/${createHash('sha256').update(wireId).digest().readUInt32BE() % PLACES}`;
}
