import { createHash } from 'node:crypto';
import type { proto } from 'baileys';
import type { Session } from '../session.ts';
import { withText } from './richContent.ts';

/*
 * Sent messages. A device that cannot decrypt one requests it again, even days later, and a vote can be read only with
 * the secret of its poll.
 */

/** Per session. A message replaces the one in the place that its id hashes to: some 90 % of the last 1,000 are kept. */
const PLACES = 10_000;

/** A kept message: its id, its content, or null if it must not go out again, and the ids of its edits. */
type Kept = readonly [wireId: string, encoded: string | null, edits?: readonly string[]];

export async function keepSent(session: Session, wireId: string, message: proto.IMessage): Promise<void> {
  await keep(session, [wireId, encode(session, message)]);
}

/** Returns undefined for a message that was deleted for everyone. */
export async function findSent(session: Session, wireId: string): Promise<proto.IMessage | undefined> {
  const encoded = (await findKept(session, wireId))?.[1] ?? undefined;
  return encoded === undefined ? undefined : session.baileys.proto.Message.decode(Buffer.from(encoded, 'base64'));
}

/** Keeps a sent message and its edits from going out again, after it was deleted for everyone. */
export async function withdrawSent(session: Session, wireId: string): Promise<void> {
  const [, , edits = []] = (await findKept(session, wireId)) ?? [];
  for (const id of [wireId, ...edits]) {
    await keep(session, [id, null]);
    dropCached(session, id);
  }
}

/**
 * Makes a sent message go out with its present text when a device requests it again, and none of its earlier edits.
 * @param editId the id of the message that edits it, if this server sent that
 */
export async function editSent(session: Session, wireId: string, text: string, editId?: string): Promise<void> {
  const kept = await findKept(session, wireId);
  const sent = await findSent(session, wireId);
  if (kept === undefined || sent === undefined) return;
  const [, , edits = []] = kept;
  for (const id of edits) {
    await keep(session, [id, null]);
    dropCached(session, id);
  }
  const edited = withText(sent, text);
  await keep(session, [wireId, edited ? encode(session, edited) : null, editId === undefined ? [] : [editId]]);
  dropCached(session, wireId);
}

function encode({ baileys }: Session, message: proto.IMessage): string {
  return Buffer.from(baileys.proto.Message.encode(message).finish()).toString('base64');
}

async function keep({ store }: Session, kept: Kept): Promise<void> {
  await store.set(placeOf(kept[0]), JSON.stringify(kept));
}

async function findKept({ store }: Session, wireId: string): Promise<Kept | undefined> {
  const text = await store.get(placeOf(wireId));
  const kept: Kept | undefined = text === undefined ? undefined : JSON.parse(text);
  return kept?.[0] === wireId ? kept : undefined;
}

/** Baileys keeps the messages of the last minutes too, and asks for ours only if it has none. */
function dropCached({ link }: Session, wireId: string): void {
  link.socket?.messageRetryManager?.markRetrySuccess(wireId);
}

function placeOf(wireId: string): string {
  const place = createHash('sha256').update(wireId).digest().readUInt32BE() % PLACES;
  return `sent/${place}`;
}
