import { type Static, Type } from 'typebox';
import { Compile } from 'typebox/compile';
import type { SessionHost } from '../connector.ts';
import type { CloudNumber } from './cloudNumber.ts';
import { describe } from './errors.ts';
import { type LookUps, type MessageEvent, toEvents } from './incoming.ts';

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
    errors: Type.Optional(Type.Array(Type.Object({ code: Type.Integer(), message: Text, title: Text }))),
  }),
);
const Thread = Type.Object({ id: Type.String(), messages: Type.Array(Type.Unknown()) });
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
export interface HistoryBatch {
  readonly messages: readonly HistoryMessage[];
  /** In percent; null if Meta does not say it. */
  readonly progress: number | null;
  /** Why there is no history, in Meta's words; null if there is one. */
  readonly refusal: string | null;
}

export interface HistoryMessage {
  readonly event: MessageEvent;
  /** How far an own message got, such as `read`; null if Meta does not say it. */
  readonly status: string | null;
}

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
  if (!Chunk.Check(chunk)) {
    ignore('a part of the history of an unknown shape');
    return undefined;
  }
  const { metadata, threads = [], errors: [error] = [] } = chunk;
  const messages: HistoryMessage[] = [];
  for (const thread of threads) {
    if (OneThread.Check(thread)) messages.push(...(await readThread(thread, ownNumber, lookUps, ignore)));
    else ignore('a thread of an unknown shape');
  }
  const progress = Number(metadata?.progress ?? Number.NaN);
  return {
    messages: messages.toSorted((one, other) => one.event.timestamp - other.event.timestamp),
    progress: progress >= 0 && progress <= 100 ? progress : null,
    refusal: error === undefined ? null : describe({ code: error.code, message: error.message ?? error.title ?? '' }),
  };
}

async function readThread(
  { id, messages }: Static<typeof Thread>,
  ownNumber: string,
  lookUps: LookUps,
  ignore: (problem: string) => void,
): Promise<HistoryMessage[]> {
  const found: HistoryMessage[] = [];
  for (const message of messages) {
    const events = await readMessage(message, id, ownNumber, lookUps);
    if ('problem' in events) ignore(events.problem);
    else found.push(...events);
  }
  return found;
}

/** @param thread digits of the other person; undefined for a message that names both sides */
export async function readMessage(
  message: unknown,
  thread: string | undefined,
  ownNumber: string,
  lookUps: LookUps,
): Promise<HistoryMessage[] | { readonly problem: string }> {
  if (!Message.Check(message)) return { problem: 'a message of the history of an unknown shape' };
  if (message.type === ANNOUNCED_FILE) return [];
  const isOwn = message.from?.replace(/\D/g, '') === ownNumber;
  const to = message.to ?? thread;
  const addressed = isOwn && to !== undefined ? { ...message, to } : message;
  const events = await toEvents(addressed, [], lookUps, isOwn ? ownNumber : undefined);
  if ('problem' in events) return events;
  const status = message.history_context?.status?.toLowerCase() ?? null;
  return events.map((event) => ({ event, status }));
}

const AT_ONCE = 50;

/** Reports a part of the history as messages that have waited. */
export async function reportHistory(host: Pick<SessionHost, 'onEvent'>, { messages }: HistoryBatch): Promise<void> {
  for (let start = 0; start < messages.length; start += AT_ONCE) {
    const together = messages.slice(start, start + AT_ONCE);
    await Promise.all(
      together.map(({ event }) => host.onEvent(event.type === 'message' ? { ...event, isReplayed: true } : event)),
    );
  }
}

const NAME_CHARACTERS = 200;

/** Reports an entry of the phone's address book. A removed one keeps its last name. */
export async function reportContact(host: Pick<SessionHost, 'onEvent'>, entry: unknown): Promise<boolean> {
  if (!Contact.Check(entry)) return false;
  const { contact, action } = entry;
  const phoneNumber = contact.phone_number.replace(/\D/g, '');
  const name = (contact.full_name || contact.first_name || '').slice(0, NAME_CHARACTERS).toWellFormed();
  if (!/^[0-9]{5,20}$/.test(phoneNumber)) return false;
  if (action !== 'remove' && name !== '') await host.onEvent({ type: 'contact_named', phoneNumber, name });
  return true;
}

const ASKED = 'app data';
const KINDS = ['smb_app_state_sync', 'history'] as const;

/** Asks Meta for the contacts and the history of the app, which it sends once, within a day after the number was added. */
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
      await host.store.set(ASKED, options.phoneNumberId);
    } catch (error) {
      if (!monitor.isClosed)
        host.log.warn({ err: error }, 'failed to ask for the history of the WhatsApp Business app');
    }
  }
}
