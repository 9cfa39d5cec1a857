import { type Static, Type } from 'typebox';
import { Compile } from 'typebox/compile';
import type { HistoryMessage, RemoteFile } from '../../contract/history.ts';
import type { SessionHost } from '../../contract/host.ts';
import { describe } from '../errors.ts';
import type { CloudNumber } from '../number/cloudNumber.ts';
import { type LookUps, type MessageEvent, toEvents } from './incoming.ts';
import { withKnownParts } from './knownParts.ts';

/*
 * Numbers that the WhatsApp Business app uses as well: its chats and its address book, which Meta sends once after the
 * number was added, if the owner of the phone agrees.
 * https://developers.facebook.com/documentation/business-messaging/whatsapp/embedded-signup/onboarding-business-app-users
 */

const Text = Type.Optional(Type.Union([Type.String(), Type.Null()]));

const Chunk = Compile(
  Type.Object({
    metadata: Type.Optional(
      Type.Object({
        phase: Type.Optional(Type.Unknown()),
        chunk_order: Type.Optional(Type.Unknown()),
        progress: Type.Optional(Type.Unknown()),
      }),
    ),
    threads: Type.Optional(Type.Array(Type.Unknown())),
    errors: Type.Optional(Type.Array(Type.Unknown())),
  }),
);
const Refusal = Compile(Type.Object({ code: Type.Optional(Type.Integer()), message: Text, title: Text }));
const Thread = Type.Object({ id: Type.Optional(Type.String()), messages: Type.Array(Type.Unknown()) });
const OneThread = Compile(Thread);
const Message = Compile(
  Type.Object({
    from: Type.Optional(Type.String()),
    to: Type.Optional(Type.String()),
    type: Type.String(),
    history_context: Type.Optional(Type.Object({ status: Text })),
  }),
);
const Contact = Compile(
  Type.Object({
    type: Type.Literal('contact'),
    action: Type.String(),
    contact: Type.Object({ full_name: Text, first_name: Text, phone_number: Type.String() }),
  }),
);

/** A part of the history of a number. */
interface HistoryBatch {
  readonly messages: readonly HistoryMessage[];
  /** Changes of messages that are not in this part. */
  readonly changes: readonly MessageChange[];
  /** In percent; null if Meta does not say it. */
  readonly progress: number | null;
  /** Why there is no history, in Meta's words; null if there is one. */
  readonly refusal: string | null;
}

type MessageChange = Extract<MessageEvent, { type: 'reaction' | 'edited' | 'deleted' }>;

type Read = Pick<HistoryBatch, 'messages' | 'changes'>;

/** Meta announces a message with a file by this type. A later callback has the message, if it is not too old. */
const ANNOUNCED_FILE = 'media_placeholder';

/**
 * Reads a chunk of the history.
 * @param ignore receives the reason for each part that cannot be read
 */
export async function readHistory(
  chunk: unknown,
  ownNumber: string,
  lookUps: LookUps,
  ignore: (problem: string) => void,
): Promise<HistoryBatch | undefined> {
  const known = withKnownParts(Chunk, chunk, {});
  if (known === undefined) {
    ignore('a part of the history of an unknown shape');
    return undefined;
  }
  const { metadata, threads = [], errors = [] } = known;
  const parts: Read[] = [];
  for (const given of threads) {
    const thread = withKnownParts(OneThread, given, { messages: [] });
    if (thread !== undefined) parts.push(...(await readThread(thread, ownNumber, lookUps, ignore)));
    else ignore('a thread of an unknown shape');
  }
  const progress = Number(metadata?.progress ?? Number.NaN);
  return {
    ...joined(parts),
    progress: progress >= 0 && progress <= 100 ? progress : null,
    refusal: errors.length === 0 ? null : refusalOf(errors[0]),
  };
}

function refusalOf(error: unknown): string {
  const { code, message, title } = withKnownParts(Refusal, error, {}) ?? {};
  return describe({ code: code ?? 0, message: message ?? title ?? 'Meta gave no reason' });
}

async function readThread(
  { id, messages }: Static<typeof Thread>,
  ownNumber: string,
  lookUps: LookUps,
  ignore: (problem: string) => void,
): Promise<Read[]> {
  const found: Read[] = [];
  for (const message of messages) {
    const read = await readMessage(message, id, ownNumber, lookUps);
    if ('problem' in read) ignore(read.problem);
    else found.push(read);
  }
  return found;
}

/** Joins parts. Reactions belong to their messages, if these are here. */
function joined(parts: readonly Read[]): Read {
  const messages = parts.flatMap((part) => part.messages);
  const changes = parts.flatMap((part) => part.changes);
  const known = new Set(messages.map(({ networkId }) => networkId));
  const reactions = Map.groupBy(
    changes.flatMap((change) => (change.type === 'reaction' && change.emoji !== null ? [change] : [])),
    ({ networkId }) => networkId,
  );
  return {
    messages: messages.map((message) => {
      const own = reactions.get(message.networkId) ?? [];
      return own.length === 0
        ? message
        : {
            ...message,
            reactions: own.map(({ from, emoji, timestamp }) => ({ from, emoji: emoji ?? '', timestamp })),
          };
    }),
    changes: changes.filter(({ type, networkId }) => type !== 'reaction' || !known.has(networkId)),
  };
}

/**
 * Reads a message of the history. Its file stays at Meta until somebody asks for it.
 * @param thread digits of the other person; undefined for a message that names both sides
 */
export async function readMessage(
  given: unknown,
  thread: string | undefined,
  ownNumber: string,
  lookUps: LookUps,
): Promise<Read | { readonly problem: string }> {
  const message = withKnownParts(Message, given, { type: 'unknown' });
  if (message === undefined) return { problem: 'a message of the history of an unknown shape' };
  if (message.type === ANNOUNCED_FILE) return { messages: [], changes: [] };
  const isOwn = message.from?.replace(/\D/g, '') === ownNumber;
  const to = message.to ?? thread;
  const addressed = isOwn && to !== undefined ? { ...message, to } : message;
  let file: RemoteFile | undefined;
  const findFile: LookUps['findFile'] = async (reference, ...about) => {
    const found = await lookUps.findFile(reference, ...about);
    if (found !== undefined) {
      const { mimeType, size, fileName } = found;
      file = { mimeType, size, fileName, reference };
    }
    return undefined;
  };
  const events = await toEvents(addressed, [], { ...lookUps, findFile }, isOwn ? ownNumber : undefined);
  if ('problem' in events) return events;
  const status = STATUSES[message.history_context?.status?.toUpperCase() ?? ''];
  const messages: HistoryMessage[] = [];
  const changes: MessageChange[] = [];
  for (const event of events) {
    if (event.type === 'reaction' || event.type === 'edited' || event.type === 'deleted') changes.push(event);
    if (event.type !== 'message') continue;
    const { type: _, content, ...rest } = event;
    const { media: __, ...withoutFile } = content;
    const more = { ...(file !== undefined && { file }), ...(isOwn && status !== undefined && { status }) };
    messages.push({ ...rest, content: withoutFile, ...more });
  }
  return { messages, changes };
}

const STATUSES: Readonly<Record<string, NonNullable<HistoryMessage['status']>>> = {
  PENDING: 'sent',
  SENT: 'sent',
  DELIVERED: 'delivered',
  READ: 'read',
  PLAYED: 'read',
  ERROR: 'failed',
};

/** Messages that are stored together. */
const AT_ONCE = 500;
const PROGRESS = 'history progress';

/** Reports messages of the history, which are stored without becoming events of the API. */
export async function reportMessages(
  host: Pick<SessionHost, 'onEvent'>,
  { messages, changes }: Pick<HistoryBatch, 'messages' | 'changes'>,
): Promise<void> {
  for (let start = 0; start < messages.length; start += AT_ONCE)
    await host.onEvent({
      type: 'history',
      chats: [],
      contacts: [],
      messages: messages.slice(start, start + AT_ONCE),
    });
  for (const change of changes) await host.onEvent(change);
}

/** Reports a part of the history, and how far the import is. A part that Meta repeats does not set it back. */
export async function reportHistory(
  host: Pick<SessionHost, 'onEvent' | 'store'>,
  phoneNumberId: string,
  batch: HistoryBatch,
): Promise<void> {
  await reportMessages(host, batch);
  const [number, stored] = (await host.store.get(PROGRESS))?.split(' ') ?? [];
  const before = number === phoneNumberId ? Number(stored) : 0;
  if (batch.refusal !== null) {
    const error = `The history of the app is missing: ${batch.refusal}`;
    await host.onEvent({ type: 'history_progress', state: 'failed', progress: before, error });
    return;
  }
  const { progress } = batch;
  if (progress === null || progress < before) return;
  await host.onEvent({ type: 'history_progress', state: progress === 100 ? 'complete' : 'importing', progress });
  await host.store.set(PROGRESS, `${phoneNumberId} ${progress}`);
}

const NAME_CHARACTERS = 200;

/** Reports an entry of the phone's address book. */
export async function reportContact(host: Pick<SessionHost, 'onEvent'>, entry: unknown): Promise<boolean> {
  if (!Contact.Check(entry)) return false;
  const { contact, action } = entry;
  const phoneNumber = contact.phone_number.replace(/\D/g, '');
  const name = (contact.full_name || contact.first_name || '').slice(0, NAME_CHARACTERS).toWellFormed();
  if (!/^[0-9]{5,20}$/.test(phoneNumber)) return false;
  const saved = action === 'remove' || name === '' ? null : name;
  await host.onEvent({ type: 'contact_saved', phoneNumber, name: saved });
  return true;
}

const ASKED = 'app data';
const KINDS = ['smb_app_state_sync', 'history'] as const;

/**
 * Asks Meta for the contacts and the history of the app, which it sends once, within a day after the number was added.
 */
export class AppDataRequest {
  readonly #number: CloudNumber;
  #isDone = false;

  constructor(number: CloudNumber) {
    this.#number = number;
  }

  async send(): Promise<void> {
    const { graph, monitor, options, host } = this.#number;
    if (options.coexistence !== true || this.#isDone) return;
    this.#isDone = true;
    try {
      if ((await host.store.get(ASKED)) === options.phoneNumberId) return;
      for (const sync_type of KINDS)
        await graph.call('POST', `${options.phoneNumberId}/smb_app_data`, { messaging_product: 'whatsapp', sync_type });
      await host.onEvent({ type: 'history_progress', state: 'waiting', progress: 0 });
      await host.store.set(ASKED, options.phoneNumberId);
    } catch (error) {
      if (!monitor.isClosed)
        host.log.warn({ err: error }, 'failed to ask for the history of the WhatsApp Business app');
    }
  }
}
