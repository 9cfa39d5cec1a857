import { createHash } from 'node:crypto';
import type { proto, WAMessageKey } from 'baileys';
import { findSent } from '../outbound/sentMessages.ts';
import { unhosted } from '../people/addresses.ts';
import type { Session } from '../session.ts';
import { findPoll } from './polls.ts';

/*
 * Secrets of received messages. Phones seal the edits of a message with its secret, and reactions to it in the
 * announcement group of a community.
 */

/**
 * Per session, at some 200 bytes each, so at most 3 MB. One replaces the other in the place that its id hashes to:
 * after 1,000 further messages, 94 % are left. Phones allow edits for 15 minutes.
 */
const PLACES = 16_384;
export const SECRET_BYTES = 32;

export interface MessageSecret {
  readonly secret: Uint8Array;
  /** Addresses of the author, starting with the one that the message arrived from. */
  readonly authors: readonly string[];
}

/** A secret in the form of the store. */
export interface SecretEntry {
  /** Id of the message (see `secretIdOf`). */
  readonly id: string;
  readonly key: string;
  readonly value: string;
}

/**
 * Returns the entry that keeps the secret of a received message; undefined if it has none. The first message with an id
 * counts: another person can send one with the same id, and with another secret.
 * @param layers the message and its wrappers; any of them may have the secret
 */
export async function secretEntryOf(
  session: Session,
  key: WAMessageKey,
  layers: readonly proto.IMessage[],
): Promise<SecretEntry | undefined> {
  const { baileys, self } = session;
  const secret = secretOf(layers);
  if (!key.id || secret === undefined) return undefined;
  const { fromMe, participant, participantAlt, remoteJid, remoteJidAlt } = key;
  const isOwn = fromMe === true || self.is(participant);
  const theirs = participant ? [participant, participantAlt] : [remoteJid, remoteJidAlt];
  const authors = isOwn ? [] : theirs.flatMap((jid) => (jid ? [unhosted(baileys.jidNormalizedUser(jid))] : []));
  const first = await readStored(session, key, key.id);
  if (first !== undefined && !haveSameAuthor(first.authors, authors)) return undefined;
  const id = secretIdOf(session, key, key.id);
  return { id, key: placeOf(id), value: JSON.stringify([id, authors, Buffer.from(secret).toString('base64')]) };
}

/**
 * Finds the secret of a message that was sent or received.
 * @param chat a key of the same chat
 */
export async function findSecret(
  session: Session,
  chat: WAMessageKey,
  wireId: string,
): Promise<MessageSecret | undefined> {
  const own = ownAddresses(session);
  const sent = await findSent(session, wireId);
  const secret = sent && secretOf([sent]);
  if (secret !== undefined) return { secret, authors: own };
  const stored = await readStored(session, chat, wireId);
  if (stored === undefined) return findPoll(session, chat, wireId);
  return stored.authors.length > 0 ? stored : { ...stored, authors: own };
}

/** Returns an id that is the same for both addresses of a person. */
export function secretIdOf({ baileys }: Session, { remoteJid }: WAMessageKey, wireId: string): string {
  return createHash('sha256')
    .update(JSON.stringify([baileys.isJidGroup(remoteJid ?? '') ? remoteJid : null, wireId]))
    .digest('base64url');
}

/** Returns the session's own addresses, the number first. */
export function ownAddresses({ baileys, self }: Session): string[] {
  const { id, lid } = self.addresses;
  return [id, lid].filter((jid) => jid !== '').map((jid) => baileys.jidNormalizedUser(jid));
}

async function readStored(session: Session, chat: WAMessageKey, wireId: string): Promise<MessageSecret | undefined> {
  const wanted = secretIdOf(session, chat, wireId);
  const text = await session.store.get(placeOf(wanted));
  if (text === undefined) return undefined;
  const [id, authors, secret] = JSON.parse(text);
  return id === wanted ? { secret: Buffer.from(secret, 'base64'), authors } : undefined;
}

/** @param authors addresses of a person; none for the session's number */
function haveSameAuthor(authors: readonly string[], others: readonly string[]): boolean {
  return authors.length === 0 ? others.length === 0 : authors.some((author) => others.includes(author));
}

function secretOf(layers: readonly proto.IMessage[]): Uint8Array | undefined {
  const secrets = layers.map(({ messageContextInfo }) => messageContextInfo?.messageSecret);
  return secrets.find((secret) => secret?.length === SECRET_BYTES) ?? undefined;
}

function placeOf(id: string): string {
  return `secrets/${Buffer.from(id, 'base64url').readUInt32BE() % PLACES}`;
}
