import type { Message, Session } from '../../../../sdk/src/api.ts';
import type { Client } from '../../../../sdk/src/client.ts';
import { ConflictError } from '../../../../sdk/src/errors.ts';
import { qrPng } from '../../media/qrCode.ts';
import type { Fields } from '../../objects.ts';
import { configOf, unsentWarning } from './wahaConfig.ts';
import { badRequest, unexpectedStatus, unlessGone, WahaError } from './wahaErrors.ts';
import { chatOf, isLid, mentionsOf, numberOf, wahaChat } from './wahaIds.ts';
import { contentType, flag, object, optional, required, texts } from './wahaInput.ts';
import { ackOf, findMessage, requireOwnMessage, wahaMessage } from './wahaMessages.ts';
import { meOf, metadataOf, nameOf, type WahaSessions, wahaStatus } from './wahaSessions.ts';
import type { WahaTargets } from './wahaTargets.ts';

/*
 * The routes of WAHA that most clients use: a judgment from a dozen public clients, and the operations of WAHA's n8n
 * node (@devlikeapro/n8n-nodes-waha 2024.9.5, generated from the OpenAPI description of WAHA 2024.9.2).
 */

export interface Parts {
  readonly client: Client;
  readonly sessions: WahaSessions;
  readonly targets: WahaTargets;
  readonly publicUrl: string;
  /** Network of new sessions; undefined for the server's default. */
  readonly network: string | undefined;
  /** Shows a warning to the operator; undefined for none. */
  readonly warn: (text: string | undefined) => void;
}

export interface Call {
  /** The parts of the path in braces. */
  readonly path: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  readonly body: Fields;
  /** Whether the caller prefers JSON to a file. */
  readonly wantsJson: boolean;
}

export type Answer =
  | { readonly status: number; readonly json?: unknown }
  | { readonly status: number; readonly file: Response }
  | { readonly status: number; readonly image: Buffer };

type Route = (call: Call, parts: Parts) => Promise<Answer>;

/** NestJS answers a POST with 201. */
export const routes: Readonly<Record<string, Route>> = {
  'POST /api/sendText': async ({ body }, parts) => {
    const [text, mentions] = [required(body, 'text'), mentionsOf(texts(body, 'mentions'))];
    const { session, to, replyTo } = await destination(body, parts);
    return sent(parts, session, body, (sessionId) =>
      parts.client.messages.send({ sessionId, to, replyTo, message: text, ...mentions }),
    );
  },
  'POST /api/sendImage': (call, parts) => sendFile(call, parts, 'image'),
  'POST /api/sendFile': (call, parts) => sendFile(call, parts, 'document'),
  'POST /api/sendVoice': (call, parts) => sendFile(call, parts, 'voice'),
  'POST /api/sendVideo': (call, parts) => sendFile(call, parts, 'video'),
  'POST /api/sendSeen': (call, parts) => {
    const seen = seenMessages(call.body);
    // The whole chat counts as read, in every API.
    const run = async (chat: { sessionId: string; chatId: string }) => {
      for (const messageId of seen) await requireOwnMessage(parts.client, chat.sessionId, messageId);
      return parts.client.chats.markRead(chat);
    };
    return inChat(call, parts, run, { success: true });
  },
  'POST /api/startTyping': (call, parts) =>
    inChat(call, parts, (chat) => parts.client.chats.setTyping({ ...chat, state: 'typing' })),
  'POST /api/stopTyping': (call, parts) =>
    inChat(call, parts, (chat) => parts.client.chats.setTyping({ ...chat, state: 'paused' })),
  'PUT /api/reaction': async ({ body }, parts) => {
    const session = await sessionOf(body, parts);
    const messageId = await findMessage(parts.client, session.sessionId, required(body, 'messageId'));
    // An empty reaction removes it, in both APIs.
    const emoji = optional(body, 'reaction') ?? '';
    await working(session, () => parts.client.messages.react({ messageId, emoji }));
    return { status: 200, json: { success: true } };
  },
  'GET /api/contacts/check-exists': async ({ query }, parts) => {
    const session = await parts.sessions.get(query.get('session') || 'default');
    const phone = query.get('phone') ?? '';
    const phoneNumber = numberOf(phone);
    if (phoneNumber === '') throw badRequest('phone should not be empty');
    const { sessionId } = session;
    if (isLid(phone)) return { status: 200, json: await hiddenContact(parts, sessionId, phone.trim()) };
    const { data } = await working(session, () =>
      parts.client.contacts.check({ sessionId, phoneNumbers: [phoneNumber] }),
    );
    const [found] = data.filter(({ onNetwork }) => onNetwork);
    const json = found ? { numberExists: true, chatId: wahaChat(found.phoneNumber) } : { numberExists: false };
    return { status: 200, json };
  },
  'GET /api/sessions': async ({ query }, parts) => {
    const all = (await parts.sessions.list()).map((session) => infoOf(session, parts));
    // Without `all`, WAHA hides sessions that were stopped.
    const isShown = ({ status }: { status: string }) => query.get('all') === 'true' || status !== 'STOPPED';
    return { status: 200, json: all.filter(isShown) };
  },
  'POST /api/sessions': ({ body }, parts) => createSession(body, parts),
  'GET /api/sessions/{session}': async ({ path }, parts) => ({ status: 200, json: await detailsOf(path, parts) }),
  'POST /api/sessions/{session}/start': async ({ path }, parts) => {
    const { sessionId, status } = await named(path, parts);
    if (!['connected', 'connecting', 'awaiting_pairing'].includes(status))
      await parts.client.sessions.connect({ sessionId });
    return { status: 201, json: await detailsOf(path, parts) };
  },
  'POST /api/sessions/{session}/stop': async ({ path }, parts) => {
    const { sessionId, status } = await named(path, parts);
    if (wahaStatus(status, null) !== 'STOPPED') await parts.client.sessions.disconnect({ sessionId });
    return { status: 201, json: await detailsOf(path, parts) };
  },
  'POST /api/sessions/{session}/logout': async ({ path }, parts) => {
    const { sessionId, status } = await named(path, parts);
    if (!['logged_out', 'created'].includes(status)) await parts.client.sessions.logout({ sessionId });
    return { status: 201, json: await detailsOf(path, parts) };
  },
  'GET /api/{session}/auth/qr': async ({ path, query, wantsJson }, parts) => {
    const session = await named(path, parts);
    const isWaiting = session.status === 'awaiting_pairing';
    if (!isWaiting) throw unexpectedStatus(nameOf(session), wahaStatus(session.status, session.error), 'SCAN_QR_CODE');
    const { qr } = await parts.client.sessions.getQr({ sessionId: session.sessionId });
    if (query.get('format') === 'raw') return { status: 200, json: { value: qr } };
    const image = await qrPng(qr);
    if (!wantsJson) return { status: 200, image };
    return { status: 200, json: { mimetype: 'image/png', data: image.toString('base64') } };
  },
  'GET /api/files/{file}': async ({ path: { file = '' } }, { client }) => {
    const [mediaId = ''] = file.split('.');
    if (!mediaId.startsWith('med_')) throw fileNotFound();
    const answer = await client.media.content({ mediaId }).catch((error) => {
      throw error.status === 404 ? fileNotFound() : error;
    });
    return { status: 200, file: answer };
  },
};

/** Copies the answer of WAHA's `AllExceptionsFilter`. */
function fileNotFound(): WahaError {
  const error = {
    code: 404,
    key: 'FILE_NOT_FOUND',
    message: 'File not found',
    details: 'File not found or no longer available',
  };
  return new WahaError(404, 'File not found', { body: { error } });
}

/** Looks up a LID among the contacts, because networks check only numbers. */
async function hiddenContact({ client }: Parts, sessionId: string, lid: string) {
  const contact = await unlessGone(client.contacts.get({ sessionId, contactId: lid }));
  if (contact === undefined) return { numberExists: false };
  return { numberExists: true, chatId: contact.unidentified === true ? lid : wahaChat(contact.phoneNumber) };
}

/** The session that the path names. @throws {WahaError} 404 */
async function named({ session = '' }: Call['path'], { sessions }: Parts): Promise<Session> {
  const found = await sessions.find(session);
  if (found === undefined) throw new WahaError(404, 'Session not found');
  return found;
}

const sessionOf = (body: Fields, { sessions }: Parts) => sessions.get(optional(body, 'session') ?? 'default');

async function destination(body: Fields, parts: Parts) {
  const to = chatOf(required(body, 'chatId'));
  const session = await sessionOf(body, parts);
  const reply = optional(body, 'reply_to');
  const replyTo = reply === undefined ? undefined : await findMessage(parts.client, session.sessionId, reply);
  return { session, to, replyTo };
}

const MAX_SEEN = 100;

/** `SendSeenRequest` of WAHA has `messageIds`, and `messageId` from before (`src/structures/chatting.dto.ts`). */
function seenMessages(body: Fields): readonly string[] {
  const [one, several = []] = [optional(body, 'messageId'), texts(body, 'messageIds')];
  if (several.length > MAX_SEEN) throw badRequest(`messageIds must contain no more than ${MAX_SEEN} elements`);
  return one === undefined ? several : [one, ...several];
}

async function sendFile({ body }: Call, parts: Parts, type: 'image' | 'document' | 'voice' | 'video'): Promise<Answer> {
  const file = object(body, 'file');
  if (file === undefined) throw badRequest('file should not be empty');
  const { session, to, replyTo } = await destination(body, parts);
  const [url, fileName, mimeType] = [optional(file, 'url'), optional(file, 'filename'), optional(file, 'mimetype')];
  const content = url === undefined ? await uploaded(file, { fileName, mimeType }, parts) : { url };
  const caption = type === 'voice' ? undefined : optional(body, 'caption');
  const mentions = mentionsOf(texts(body, 'mentions'));
  return sent(parts, session, body, (sessionId) =>
    parts.client.messages.sendMedia({ sessionId, to, replyTo, type, caption, fileName, ...content, ...mentions }),
  );
}

/** Uploads base64 first, because a message takes only small content. */
async function uploaded(
  file: Fields,
  { fileName, mimeType }: { readonly fileName: string | undefined; readonly mimeType: string | undefined },
  { client }: Parts,
) {
  const data = required(file, 'data').replace(/^data:[^,]*,/, '');
  const bytes = Buffer.from(data, 'base64');
  if (bytes.length === 0) throw badRequest('file.data must be base64');
  const { mediaId } = await client.media.upload(new Blob([bytes], { type: contentType(mimeType) }), { fileName });
  return { mediaId };
}

async function sent(
  parts: Parts,
  session: Session,
  body: Fields,
  send: (sessionId: string) => Promise<Message>,
): Promise<Answer> {
  const chat = wahaChat(chatOf(required(body, 'chatId')));
  const message = await working(session, () => send(session.sessionId));
  const place = { chat, fromMe: true, me: message.from, ack: ackOf(message.status), publicUrl: parts.publicUrl };
  return { status: 201, json: wahaMessage(message, place) };
}

async function inChat(
  { body }: Call,
  parts: Parts,
  run: (chat: { sessionId: string; chatId: string }) => Promise<unknown>,
  json?: object,
): Promise<Answer> {
  const chatId = chatOf(required(body, 'chatId'));
  const session = await sessionOf(body, parts);
  await working(session, () => run({ sessionId: session.sessionId, chatId }));
  return { status: 201, ...(json && { json }) };
}

/** Reports a session that is not connected as WAHA does. */
async function working<T>(session: Session, run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    if (!(error instanceof ConflictError) || error.code !== 'session_not_connected') throw error;
    const { status, error: reason } = session;
    throw unexpectedStatus(nameOf(session), wahaStatus(status, reason), 'WORKING');
  }
}

function infoOf(session: Session, { targets }: Parts) {
  const webhooks = targets.ofSession(session.sessionId).map(({ url, events }) => ({ url, events }));
  return {
    name: nameOf(session),
    status: wahaStatus(session.status, session.error),
    config: { metadata: metadataOf(session), ...(webhooks.length > 0 && { webhooks }) },
    me: meOf(session),
  };
}

async function detailsOf(path: Call['path'], parts: Parts) {
  return { ...infoOf(await named(path, parts), parts), engine: { engine: 'SWITCHBOARD' } };
}

const MAX_NAME = 54;

async function createSession(body: Fields, parts: Parts): Promise<Answer> {
  const name = optional(body, 'name') ?? `session_${crypto.randomUUID().replaceAll('-', '')}`;
  if (name.length > MAX_NAME) throw badRequest(`name must be shorter than or equal to ${MAX_NAME} characters`);
  const { metadata, proxy, webhooks } = configOf(body);
  const isStarted = flag(body, 'start', true);
  const { client, sessions, targets, network: connector, warn } = parts;
  const options = proxy === undefined ? undefined : { proxy };
  await sessions.create(
    { name, connector, metadata, options },
    {
      async complete(sessionId, finish) {
        for (const { url, events } of webhooks) await targets.add({ url, events, sessionId });
        await finish();
        if (isStarted) await client.sessions.connect({ sessionId });
      },
      async undo(sessionId) {
        await targets.removeOfSession(sessionId);
        await unlessGone(client.sessions.delete({ sessionId }));
      },
      warn,
    },
  );
  for (const webhook of webhooks) warn(unsentWarning(webhook));
  return { status: 201, json: await detailsOf({ session: name }, parts) };
}
