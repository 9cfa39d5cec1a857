import { createHash, randomUUID } from 'node:crypto';
import type { proto } from 'baileys';
import type { Session } from '../session.ts';
import { withText } from './richContent.ts';

/*
 * Sent messages. A device that cannot decrypt one requests it again, even days later, and a vote can be read only with
 * the secret of its poll.
 */

/** Per session. A message replaces the one in the place that its id hashes to: some 90 % of the last 1,000 are kept. */
const PLACES = 10_000;
/** Statuses, and their deletions, whose audience is kept: they disappear after a day. Each takes up to 50 KB. */
const AUDIENCE_PLACES = 128;
/** Addresses of one status: 1,000 people, the session's own number, and their other addresses. */
const AUDIENCE = 2002;

/**
 * A kept message: its id, its content, or null if it must not go out again, the ids of its edits, the id of its last
 * change, and its chat.
 */
type Kept = readonly [
  wireId: string,
  encoded: string | null,
  edits?: readonly string[],
  changeId?: string,
  chat?: readonly string[],
];

/**
 * @param chat the addresses of its chat: both of a person, as far as they are known
 * @param audience for a status, the addresses of the people who see it
 */
export async function keepSent(
  session: Session,
  wireId: string,
  message: proto.IMessage,
  chat: readonly string[],
  audience?: readonly string[],
): Promise<void> {
  const kept: Kept = [wireId, encode(session, message), [], '', chat];
  if (audience === undefined) return keep(session, kept);
  const changes = new Map([
    [audiencePlaceOf(wireId), JSON.stringify([wireId, audience.slice(0, AUDIENCE)])],
    [placeOf(wireId), JSON.stringify(kept)],
  ]);
  await session.store.write(changes);
}

/** Returns the addresses of the people who see a status; none if it is not kept. */
export async function audienceOfSent({ store }: Session, wireId: string): Promise<readonly string[]> {
  const text = await store.get(audiencePlaceOf(wireId));
  const [id, audience] = text === undefined ? [] : JSON.parse(text);
  return id === wireId ? audience : [];
}

/** Returns the addresses of a kept message's chat; undefined if the message is not kept. */
export async function chatOfSent(session: Session, wireId: string): Promise<readonly string[] | undefined> {
  const kept = await findKept(session, wireId);
  return kept && (kept[4] ?? []);
}

/** Returns undefined for a message that was deleted for everyone. */
export async function findSent(session: Session, wireId: string): Promise<proto.IMessage | undefined> {
  const encoded = (await findKept(session, wireId))?.[1] ?? undefined;
  return encoded === undefined ? undefined : session.baileys.proto.Message.decode(Buffer.from(encoded, 'base64'));
}

/** Restores the kept message after the network refused a change, unless it has changed again. */
export type Restore = () => Promise<void>;

/**
 * Keeps a sent message and its edits from going out again. Call it before the message is deleted for everyone: a device
 * may request it as soon as another one has received the deletion.
 */
export async function withdrawSent(session: Session, wireId: string): Promise<Restore> {
  const [before, ...edits] = await findWithEdits(session, wireId);
  const after: Kept = [wireId, null, [], randomUUID(), before?.[4]];
  await replace(session, after, edits);
  return createRestore(session, after, [before, ...edits]);
}

/**
 * Does the same for a message that an admin, or a phone of the session, has deleted, if it is kept.
 * @param group the group that an admin deleted it in; anyone may be the admin of another one
 */
export async function withdrawKept(session: Session, wireId: string, group?: string): Promise<void> {
  const chat = await chatOfSent(session, wireId);
  if (chat === undefined) dropCached(session, wireId);
  else if (group === undefined || chat.includes(group)) await withdrawSent(session, wireId);
}

/**
 * Makes a sent message go out with its present text when a device requests it again, and none of its earlier edits.
 * Call it before the edit is sent.
 * @param editId the id of the message that edits it, if this server sends that
 */
export async function editSent(session: Session, wireId: string, text: string, editId?: string): Promise<Restore> {
  const [before, ...edits] = await findWithEdits(session, wireId);
  const sent = await findSent(session, wireId);
  dropCached(session, wireId);
  if (before === undefined || sent === undefined) return async () => {};
  const edited = withText(sent, text);
  const after: Kept = [
    wireId,
    edited ? encode(session, edited) : null,
    editId === undefined ? [] : [editId],
    randomUUID(),
    before[4],
  ];
  await replace(session, after, edits);
  return createRestore(session, after, [before, ...edits]);
}

/** Returns a kept message, undefined if it is no longer kept, and its kept edits. */
async function findWithEdits(session: Session, wireId: string): Promise<[Kept | undefined, ...Kept[]]> {
  const kept = await findKept(session, wireId);
  const edits = await Promise.all((kept?.[2] ?? []).map((id) => findKept(session, id)));
  return [kept, ...edits.filter((edit) => edit !== undefined)];
}

async function replace(session: Session, message: Kept, edits: readonly Kept[]): Promise<void> {
  for (const kept of [...edits.map(([id]): Kept => [id, null]), message]) {
    await keep(session, kept);
    dropCached(session, kept[0]);
  }
}

const createRestore =
  (session: Session, after: Kept, before: readonly (Kept | undefined)[]): Restore =>
  async () => {
    const present = await findKept(session, after[0]);
    if (present?.[3] !== after[3]) return;
    for (const kept of before) if (kept !== undefined) await keep(session, kept);
  };

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
export function dropCached({ link }: Session, wireId: string): void {
  link.socket?.messageRetryManager?.markRetrySuccess(wireId);
}

const placeOf = (wireId: string): string => `sent/${hash(wireId) % PLACES}`;

const audiencePlaceOf = (wireId: string): string => `audience/${hash(wireId) % AUDIENCE_PLACES}`;

const hash = (wireId: string): number => createHash('sha256').update(wireId).digest().readUInt32BE();
