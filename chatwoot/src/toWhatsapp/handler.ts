import type { Operations } from '@switchboard/sdk/api';
import { ApiError, ConnectionError, NotFoundError } from '@switchboard/sdk/errors';
import type { ChatwootMessage } from '../chatwoot/payload.ts';
import type { Statement } from '../database/database.ts';
import { messageOf } from '../log.ts';
import { laneOf, type Parts, SOURCE_PREFIX } from '../parts.ts';
import { isPassing, outageOf } from '../passing.ts';
import type { Job } from '../queue/queue.ts';
import { done, type Outcome } from '../queue/worker.ts';
import type { LinkRow } from '../state.ts';
import { COPY_TIMEOUT_MS } from '../temporaryFile.ts';
import { deletionEcho, editEcho, reactionEcho } from '../toChatwoot/changes.ts';
import { linkConversation } from '../toChatwoot/conversations.ts';
import type { ChatwootJob, FailureJob } from '../toChatwoot/handler.ts';
import { resolveChat, type SentTo } from './chats.ts';
import { digestOf } from './digest.ts';
import { FileError, withAttachment } from './files.ts';
import { cardOf, type Part, partsOf, textOf } from './parts.ts';
import { TemplateError } from './templates.ts';

/** A job of the queue to WhatsApp. */
export interface WhatsappJob {
  readonly sessionId: string;
  readonly message: ChatwootMessage;
  /** Above 0 if the agent has tried a failed message again. */
  readonly retry: number;
}

/** Switchboard remembers an idempotency key for 24 hours. Within less, no message is sent twice. */
const MAX_AGE_MS = 23 * 3_600_000;
/** Number of the attempt that tells the agent about the delay: about a minute after the first one. */
const NOTICED_ATTEMPT = 6;

/** Agents read it in the conversation. */
const UNCONFIGURED =
  'this inbox is no longer connected to WhatsApp; an administrator can add its session to the bridge';

/** Sends a message of an agent, or applies its change. */
export async function handleToWhatsapp(parts: Parts, job: Job): Promise<Outcome> {
  // The bridge wrote the payload.
  const { sessionId, message, retry } = job.payload as WhatsappJob;
  if (!parts.inboxes.has(sessionId))
    return (await isWithoutEffect(parts, { message, retry })) ? done() : failed(parts, job, UNCONFIGURED);
  try {
    const chat = await resolveChat(parts, sessionId, message.conversation);
    if (chat === undefined) return failed(parts, job, 'the contact has no phone number');
    return await new Delivery(parts, job, { message, retry }, chat).run();
  } catch (error) {
    const reason = messageOf(error);
    if (error instanceof FileError || error instanceof TemplateError) return failed(parts, job, reason);
    if (error instanceof ApiError && !isPassing(error)) return failed(parts, job, reason);
    if (Date.now() - job.createdAt > MAX_AGE_MS) return failed(parts, job, reason);
    const afterMs = error instanceof ApiError ? error.retryAfterSeconds : undefined;
    if (job.attempt === NOTICED_ATTEMPT && (error instanceof ApiError || error instanceof ConnectionError))
      await parts.toChatwoot.add(failureOf(job, reason, 'delayed'));
    return {
      kind: 'retry',
      cause: 'outage',
      outage: outageOf(error),
      reason,
      isWithoutEffect: !job.isUnclear && isRefusal(error),
      ...(afterMs !== undefined && { afterMs: Math.min(afterMs, 300) * 1000 }),
    };
  }
}

/** Whether Switchboard refused the request before it did anything. It has not looked for an earlier one then. */
const isRefusal = (error: unknown) =>
  error instanceof ApiError && error.status < 500 && error.status !== 408 && error.code !== 'idempotency_in_flight';

/** Ends a job, and tells the agent. */
async function failed(parts: Parts, job: Job, reason: string): Promise<Outcome> {
  const { toChatwoot, state } = parts;
  const payload = job.payload as WhatsappJob;
  const outcome = isChange(payload, await state.linksOf(payload.message.id)) ? 'unchanged' : 'unsent';
  const insertion = toChatwoot.insertion(failureOf(job, reason, outcome));
  const statements = [insertion, ...(outcome === 'unsent' ? state.failureStatements(payload.message.id, job.seq) : [])];
  return { kind: 'failed', reason, statements, after: ([inserted = 0]) => toChatwoot.added(inserted) };
}

/** Whether a job changes a message that is on WhatsApp. */
const isChange = ({ message, retry }: Omit<WhatsappJob, 'sessionId'>, links: readonly LinkRow[]): boolean =>
  message.event !== 'message_created' &&
  retry === 0 &&
  (message.isDeleted || links.some(({ direction }) => direction === 'out'));

/** Whether an update changes nothing on WhatsApp. */
async function isWithoutEffect(
  { state, settings }: Parts,
  { message, retry }: Omit<WhatsappJob, 'sessionId'>,
): Promise<boolean> {
  const links = await state.linksOf(message.id);
  if (!isChange({ message, retry }, links)) return false;
  if (message.isDeleted) return links.length === 0 || (await state.isEcho(`chatwoot-deletion:${message.id}`));
  const text = textOf(message, agentNameOf(settings, message));
  return text === '' || links.find(isFirstSent)?.digest === digestOf(text);
}

const isFirstSent = ({ direction, part }: LinkRow) => direction === 'out' && part === '0';

/** Name above a message, if the setting is on. */
const agentNameOf = ({ agentNames }: Parts['settings'], { type, senderName }: ChatwootMessage) =>
  agentNames && type === 'outgoing' ? senderName : undefined;

function failureOf({ seq, payload }: Job, reason: string, outcome: FailureJob['outcome']) {
  const { sessionId, message } = payload as WhatsappJob;
  const failure: FailureJob = {
    kind: 'failure',
    sessionId,
    conversationId: message.conversation.id,
    chatwootId: message.id,
    reason,
    outcome,
  };
  return { dedup: `failure:${seq}:${outcome}`, lane: `failure:${message.id}`, payload: failure };
}

type Sent = Operations['messages.send']['output'];

/** One message of Chatwoot on its way to WhatsApp. Parts that an earlier attempt sent are linked and not sent again. */
class Delivery {
  readonly #parts: Parts;
  readonly #job: Job;
  readonly #message: ChatwootMessage;
  readonly #retry: number;
  readonly #chat: SentTo;
  readonly #agentName: string | undefined;

  constructor(parts: Parts, job: Job, { message, retry }: Omit<WhatsappJob, 'sessionId'>, chat: SentTo) {
    this.#parts = parts;
    this.#job = job;
    this.#message = message;
    this.#retry = retry;
    this.#chat = chat;
    this.#agentName = agentNameOf(parts.settings, message);
  }

  async run(): Promise<Outcome> {
    const links = await this.#parts.state.linksOf(this.#message.id);
    return isChange({ message: this.#message, retry: this.#retry }, links) ? this.#change(links) : this.#send(links);
  }

  async #send(links: readonly LinkRow[]): Promise<Outcome> {
    const { state, settings, switchboard, toChatwoot, toWhatsapp } = this.#parts;
    const { sessionId, chatId, isNew } = this.#chat;
    const parts = partsOf(this.#message, this.#agentName);
    const sent = new Set(links.filter(({ status }) => status !== 'failed').map(({ part }) => part));
    const replyTo = await this.#replyTarget();
    // From here on, chat messages without a link can come from this job.
    await toWhatsapp.workOn(this.#job.seq, laneOf(sessionId, chatId));
    for (const [index, part] of parts.entries()) {
      if (sent.has(String(index))) continue;
      if (part.kind === 'reaction') return this.#react(part.emoji, replyTo);
      // The first part is the reply.
      const { messageId } = await this.#sendPart(part, index, index === 0 ? replyTo : undefined);
      await state.saveLink(this.#linkOf(messageId, index));
    }
    const conversationId = this.#message.conversation.id;
    // An earlier attempt may have ended before it linked the conversation.
    if (isNew || this.#job.attempt > 1) await linkConversation(this.#parts, { sessionId, chatId, conversationId });
    if (settings.markRead && this.#message.type === 'outgoing')
      await switchboard.chats.markRead({ chatId, sessionId }).catch(() => {}); // an extra, which some networks lack
    const statuses = (await state.linksOf(this.#message.id)).map((link) => this.#statusJob(link));
    // A part of an earlier try has a job already.
    return done(statuses, (changes) => toChatwoot.added(changes.filter((count) => count > 0).length));
  }

  #statusJob({ messageId, sessionId, chatId }: LinkRow): Statement {
    const payload: ChatwootJob = { kind: 'status', sessionId, messageId };
    return this.#parts.toChatwoot.insertion({ dedup: `status:${messageId}`, lane: laneOf(sessionId, chatId), payload });
  }

  #linkOf(messageId: string, index: number): LinkRow {
    return {
      messageId,
      sessionId: this.#chat.sessionId,
      chatId: this.#chat.chatId,
      conversationId: this.#message.conversation.id,
      chatwootId: this.#message.id,
      direction: 'out',
      part: String(index),
      digest: digestOf(textOf(this.#message, this.#agentName)),
      status: 'sending',
    };
  }

  async #sendPart(
    part: Exclude<Part, { kind: 'reaction' }>,
    index: number,
    replyTo: string | undefined,
  ): Promise<Sent> {
    const { messages } = this.#parts.switchboard;
    const { sessionId, chatId: to } = this.#chat;
    const common = { sessionId, to, ...(replyTo !== undefined && { replyTo }) };
    const options = { idempotencyKey: this.#keyOf(index) };
    if (part.kind === 'text') return messages.send({ ...common, message: part.text }, options);
    if (part.kind === 'template') return messages.sendTemplate({ ...common, ...part.template }, options);
    if (part.kind === 'location') {
      const { latitude, longitude, name } = part;
      return messages.sendLocation({ ...common, latitude, longitude, ...(name && { name }) }, options);
    }
    return withAttachment(part.attachment, this.#parts.settings, (blob, fileName) =>
      this.#sendFile(blob, fileName, part, common, options),
    );
  }

  async #sendFile(
    blob: Blob,
    fileName: string,
    { attachment, caption }: Extract<Part, { kind: 'file' }>,
    common: { sessionId: string; to: string; replyTo?: string },
    options: { idempotencyKey: string },
  ): Promise<Sent> {
    const { messages, media } = this.#parts.switchboard;
    const card = await cardOf(blob, fileName);
    if (card !== undefined)
      return messages.sendContact({ ...common, name: card.name, phoneNumbers: [...card.phoneNumbers] }, options);
    const signal = AbortSignal.timeout(COPY_TIMEOUT_MS);
    const { mediaId } = await media.upload(blob, { fileName }, { signal });
    const text = caption === '' ? {} : { caption };
    const asDocument = { ...common, ...text, type: 'document', mediaId, fileName } as const;
    const type = typeOf(attachment.fileType);
    if (type === 'document') return messages.sendMedia(asDocument, options);
    try {
      return await messages.sendMedia({ ...common, ...(type === 'voice' ? {} : text), type, mediaId }, options);
    } catch (error) {
      // A format that the network does not play goes as a file. A refused request has used no idempotency key.
      if (!(error instanceof ApiError && [400, 415, 422].includes(error.status))) throw error;
      return messages.sendMedia(asDocument, { idempotencyKey: `${options.idempotencyKey}:document` });
    }
  }

  async #react(emoji: string, messageId: string | undefined): Promise<Outcome> {
    if (messageId === undefined) return failed(this.#parts, this.#job, 'the message to react to is unknown');
    await this.#parts.state.expectEcho(reactionEcho(messageId, emoji));
    await this.#parts.switchboard.messages.react({ messageId, emoji });
    return done();
  }

  /** An edit, which some versions of Chatwoot allow, or a deletion. Other updates change nothing on WhatsApp. */
  async #change(links: readonly LinkRow[]): Promise<Outcome> {
    const { state, switchboard } = this.#parts;
    if (this.#message.isDeleted) return this.#delete(links);
    const text = textOf(this.#message, this.#agentName);
    const digest = digestOf(text);
    const edited = links.find(isFirstSent);
    if (edited === undefined || edited.digest === digest || text === '') return done();
    await state.expectEcho(editEcho(edited.messageId, digest));
    await switchboard.messages.edit({ messageId: edited.messageId, message: text });
    return done(links.map(({ messageId }) => state.digestStatement(messageId, digest)));
  }

  async #delete(links: readonly LinkRow[]): Promise<Outcome> {
    const { state, switchboard } = this.#parts;
    if (await state.isEcho(`chatwoot-deletion:${this.#message.id}`)) return done();
    for (const { messageId } of links) {
      await state.expectEcho(deletionEcho(messageId));
      await switchboard.messages.delete({ messageId }).catch((error) => {
        if (!(error instanceof NotFoundError)) throw error;
      });
    }
    return done();
  }

  /** The message that this one replies or reacts to, if it is in the same chat. Programs can set any id in Chatwoot. */
  async #replyTarget(): Promise<string | undefined> {
    const { state, switchboard } = this.#parts;
    const { inReplyTo, inReplyToSourceId } = this.#message;
    const id = inReplyToSourceId?.startsWith(SOURCE_PREFIX) ? inReplyToSourceId.slice(SOURCE_PREFIX.length) : '';
    const [part] = inReplyTo === undefined ? [] : await state.linksOf(inReplyTo);
    const link = part ?? (await state.link(id));
    if (link !== undefined) return this.#isInChat(link) ? link.messageId : undefined;
    if (!/^msg_\w+$/.test(id)) return undefined;
    const message = await switchboard.messages.get({ messageId: id }).catch((error) => {
      if (!(error instanceof NotFoundError)) throw error;
    });
    return message !== undefined && this.#isInChat(message) ? id : undefined;
  }

  #isInChat({ sessionId, chatId }: { readonly sessionId: string; readonly chatId: string }): boolean {
    return sessionId === this.#chat.sessionId && chatId === this.#chat.chatId;
  }

  #keyOf(index: number): string {
    const retry = this.#retry === 0 ? '' : `:${this.#retry}`;
    return `chatwoot:${this.#parts.settings.accountId}:${this.#message.id}:${index}${retry}`;
  }
}

/** `file_type` of app/models/attachment.rb. Agents record voice messages; other sound files play as voice too. */
function typeOf(fileType: string): 'image' | 'video' | 'voice' | 'document' {
  if (fileType === 'audio') return 'voice';
  return fileType === 'image' || fileType === 'video' ? fileType : 'document';
}
