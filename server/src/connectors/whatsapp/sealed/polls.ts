import { createHash } from 'node:crypto';
import type { proto, WAMessageKey } from 'baileys';
import { parseContent } from '../content/incomingContent.ts';
import { findSent } from '../outbound/sentMessages.ts';
import type { Session } from '../session.ts';

/*
 * Polls and events that were received. Votes in them, and answers to them, are encrypted with their secret and with the
 * address of their author in the form in which they arrived.
 */

/** Per session. One replaces the other in the place that its id hashes to. */
const PLACES = 2000;
const SECRET_BYTES = 32;
/** The sender chooses the options. Longer ones, and more of them, are in no official app. */
const OPTIONS = 12;
const OPTION_CHARACTERS = 400;

/** The parts of a poll or event that reading its votes or answers requires. */
export interface StoredPoll {
  readonly secret: Uint8Array;
  /** The addresses of its author, the one under which it arrived first. */
  readonly authors: readonly string[];
  /** Empty for an event. */
  readonly options: readonly string[];
}

/** Stores a poll or event. The first with an id counts: another person can send it again, with another secret. */
export async function keepPoll(session: Session, key: WAMessageKey, message: proto.IMessage): Promise<void> {
  const { baileys, store, self } = session;
  const { fromMe, participant, participantAlt, remoteJid, remoteJidAlt } = key;
  const { secret, options } = partsOf(session, message) ?? {};
  if (!key.id || secret === undefined || (await readStored(session, key, key.id)) !== undefined) return;
  const isOwn = fromMe === true || self.is(participant);
  const theirs = participant ? [participant, participantAlt] : [remoteJid, remoteJidAlt];
  const authors = isOwn ? [] : theirs.flatMap((jid) => (jid ? [baileys.jidNormalizedUser(jid)] : []));
  const sealed = Buffer.from(secret).toString('base64');
  const id = idOf(session, key, key.id);
  await store.set(placeOf(id), JSON.stringify([id, authors, sealed, options]));
}

/**
 * Finds a poll or event: one that the session has sent, or one that was received.
 * @param chat a key of the same chat
 */
export async function findPoll(session: Session, chat: WAMessageKey, wireId: string): Promise<StoredPoll | undefined> {
  const { baileys, self } = session;
  const own = Object.values(self.addresses).filter((jid) => jid !== '');
  const authors = own.map((jid) => baileys.jidNormalizedUser(jid));
  const sent = await findSent(session, wireId);
  const parts = sent && partsOf(session, sent);
  if (parts !== undefined) return { ...parts, authors };
  const stored = await readStored(session, chat, wireId);
  return stored && { ...stored, authors: stored.authors.length > 0 ? stored.authors : authors };
}

async function readStored(session: Session, chat: WAMessageKey, wireId: string): Promise<StoredPoll | undefined> {
  const wanted = idOf(session, chat, wireId);
  const text = await session.store.get(placeOf(wanted));
  if (text === undefined) return undefined;
  const [id, authors, secret, options] = JSON.parse(text);
  return id === wanted ? { secret: Buffer.from(secret, 'base64'), authors, options } : undefined;
}

function partsOf({ baileys }: Session, message: proto.IMessage): Omit<StoredPoll, 'authors'> | undefined {
  const secret = message.messageContextInfo?.messageSecret;
  if (secret?.length !== SECRET_BYTES) return undefined;
  const options = parseContent(baileys, message)?.content.poll?.options ?? [];
  return { secret, options: options.slice(0, OPTIONS).filter(({ length }) => length <= OPTION_CHARACTERS) };
}

/**
 * A poll in a group is known by its group too, so that a direct one with its id is another. The two addresses of a
 * person are the same chat, so that of a direct one is left out.
 */
function idOf({ baileys }: Session, { remoteJid }: WAMessageKey, wireId: string): string {
  return createHash('sha256')
    .update(JSON.stringify([baileys.isJidGroup(remoteJid ?? '') ? remoteJid : null, wireId]))
    .digest('hex');
}

function placeOf(id: string): string {
  return `polls/${Number.parseInt(id.slice(0, 8), 16) % PLACES}`;
}
