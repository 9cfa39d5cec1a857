import { Type } from 'typebox';
import { isoTime } from '../clock.ts';
import { ElsewhereError, LONGEST_SEND_MS } from '../cluster/forward.ts';
import { type MessageType, mediaTypes } from '../connectors/connector.ts';
import type { MediaTable } from '../db/schema.ts';
import { AppError, invalidField } from '../errors.ts';
import { type Context, defineOperation, requireContent } from '../invoke/operation.ts';
import { isPhoneNumber, notPhoneNumber, PhoneNumberInput, phoneNumber } from '../invoke/phoneNumbers.ts';
import { parseTime } from '../invoke/validate.ts';
import { type StoredContent, storedMedia } from '../messages/content.ts';
import { chatOf } from '../messages/outgoing.ts';
import { findMessage, type SessionRef } from '../messages/store.ts';
import { Message, MessageId, requireMessage, toMessage } from './messages.ts';
import { resolveSession, SessionId } from './sessions.ts';

const Text = Type.String({ minLength: 1, maxLength: 65_536, description: 'Text of the message.' });
const Caption = Type.Optional(Type.String({ maxLength: 4096, description: 'Text beside it.' }));

const AnyRecipient = Type.String({
  minLength: 1,
  maxLength: 200,
  description: 'Phone number in international form (+, spaces and dashes are taken off), or the id of a group.',
});
const To = Type.Refine(AnyRecipient, (to) => isGroupId(to) || isPhoneNumber(to), notPhoneNumber);

const SendAt = Type.Optional(
  Type.String({
    format: 'date-time',
    description: 'Send it at this time, given with its offset and up to a year ahead; a restart does not lose it.',
  }),
);

/** What every message that is sent may have, whatever its type. */
const envelope = {
  sessionId: Type.Optional(SessionId),
  to: To,
  replyTo: Type.Optional(Type.String({ maxLength: 100, description: 'Id of the message it answers.' })),
  sendAt: SendAt,
  idempotencyKey: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 255,
      description:
        'A request without an answer may still be carried out. Repeating it with the same key within 24 h is safe.',
    }),
  ),
};
const Mentions = Type.Optional(Type.Array(PhoneNumberInput('Somebody it mentions.'), { maxItems: 256 }));

const shared = {
  method: 'POST',
  credential: 'any',
  permission: 'messages:send',
  messageContent: 'messages',
  effect: 'write',
  tool: true,
  // The name of a file that somebody sent, and what the network says of a failure.
  thirdPartyText: true,
  status: 201,
  idempotent: true,
  output: Message,
  // What a network gets for its answer, and some for the database.
  deadlineMs: 35_000,
  async soFar(ctx: Context) {
    const row = await findMessage(ctx.database.reader, ctx.accountId, `msg_${ctx.resourceId}`);
    return row && toMessage(ctx, row);
  },
} as const;
/** Before the send, a file behind a URL may take a minute to come. */
const FILE_DEADLINE_MS = LONGEST_SEND_MS + 65_000;
const sendErrors = [
  'not_found',
  'session_required',
  'session_not_connected',
  'not_supported',
  'network_denied',
  'recipient_not_on_network',
  'send_failed',
  'template_required',
  'too_many',
] as const;

const MONTHS_AHEAD_MS = 366 * 24 * 3600 * 1000;

export const sendMessage = defineOperation({
  ...shared,
  id: 'messages.send',
  path: '/messages/send',
  summary: 'Send a text message',
  description:
    'Answers once the network has accepted the message: `status` is `sent`. `queued` means that the message is stored and goes out as soon as the node of its session sends it. Later changes of the status come by webhook.',
  input: Type.Object({ ...envelope, message: Text, mentions: Mentions }, { additionalProperties: false }),
  errors: sendErrors,
  example: { to: '491707654321', message: 'Hello' },
  run: (ctx, input) => send(ctx, input, { type: 'text', text: input.message, content: mentioning(input.mentions) }),
});

export const sendMedia = defineOperation({
  ...shared,
  id: 'messages.send_media',
  path: '/messages/send-media',
  deadlineMs: FILE_DEADLINE_MS,
  summary: 'Send an image, video, sound, document or sticker',
  description:
    'The file is one that was uploaded (`mediaId`), or one behind an https `url`, which is fetched and kept first.',
  input: Type.Object(
    {
      ...envelope,
      type: Type.Enum([...mediaTypes], { description: '`voice` is a sound that plays as a voice message.' }),
      mediaId: Type.Optional(Type.String({ maxLength: 100, description: 'Id of an uploaded file (`med_…`).' })),
      url: Type.Optional(Type.String({ maxLength: 2048, description: 'https address of the file.' })),
      caption: Caption,
      fileName: Type.Optional(
        Type.String({ minLength: 1, maxLength: 255, description: 'To show in place of its own.' }),
      ),
      mentions: Mentions,
    },
    { additionalProperties: false },
  ),
  errors: [...sendErrors, 'fetch_failed', 'payload_too_large'],
  example: { to: '491707654321', type: 'image', mediaId: 'med_01JZ0000000000000000000000', caption: 'Look' },
  async run(ctx, input) {
    const session = await resolveSession(ctx, input.sessionId);
    // Fetching a file takes its time: whoever has the session does it, and nobody twice.
    await ctx.liveSessions.requireOwner(session).catch((error) => {
      if (error instanceof ElsewhereError) throw error;
    });
    const row = await fileOf(ctx, input);
    requireMimeType(input.type, row.mime_type);
    const media = { ...storedMedia(row), fileName: input.fileName ?? row.file_name };
    const content = { media, ...mentioning(input.mentions) };
    return send(
      ctx,
      { ...input, sessionId: session.sessionId },
      { type: input.type, text: input.caption ?? '', content },
    );
  },
});

export const sendLocation = defineOperation({
  ...shared,
  id: 'messages.send_location',
  path: '/messages/send-location',
  summary: 'Send a location',
  input: Type.Object(
    {
      ...envelope,
      latitude: Type.Number({ minimum: -90, maximum: 90, description: 'Degrees, WGS 84.' }),
      longitude: Type.Number({ minimum: -180, maximum: 180, description: 'Degrees, WGS 84.' }),
      name: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
      address: Type.Optional(Type.String({ minLength: 1, maxLength: 500 })),
    },
    { additionalProperties: false },
  ),
  errors: sendErrors,
  example: { to: '491707654321', latitude: 52.5163, longitude: 13.3777, name: 'Brandenburg Gate' },
  run(ctx, input) {
    const { latitude, longitude, name, address } = input;
    const location = {
      latitude,
      longitude,
      ...(name !== undefined && { name }),
      ...(address !== undefined && { address }),
    };
    return send(ctx, input, { type: 'location', text: '', content: { location } });
  },
});

export const sendContact = defineOperation({
  ...shared,
  id: 'messages.send_contact',
  path: '/messages/send-contact',
  summary: 'Send a contact card',
  input: Type.Object(
    {
      ...envelope,
      name: Type.String({ minLength: 1, maxLength: 200 }),
      phoneNumbers: Type.Array(PhoneNumberInput('A number of the contact.'), { minItems: 1, maxItems: 10 }),
    },
    { additionalProperties: false },
  ),
  errors: sendErrors,
  example: { to: '491707654321', name: 'Ada', phoneNumbers: ['491701112223'] },
  run(ctx, input) {
    const phoneNumbers = input.phoneNumbers.map((text, index) => phoneNumber(`phoneNumbers.${index}`, text));
    return send(ctx, input, { type: 'contact', text: '', content: { contact: { name: input.name, phoneNumbers } } });
  },
});

export const sendPoll = defineOperation({
  ...shared,
  id: 'messages.send_poll',
  path: '/messages/send-poll',
  summary: 'Send a poll',
  description: 'The votes stand with the message: read it to see them.',
  input: Type.Object(
    {
      ...envelope,
      question: Type.String({ minLength: 1, maxLength: 255 }),
      options: Type.Array(Type.String({ minLength: 1, maxLength: 100 }), {
        minItems: 2,
        maxItems: 12,
        uniqueItems: true,
      }),
      maxSelections: Type.Optional(
        Type.Integer({ minimum: 1, maximum: 12, default: 1, description: 'How many options one person may choose.' }),
      ),
    },
    { additionalProperties: false },
  ),
  errors: sendErrors,
  example: { to: '491707654321', question: 'When?', options: ['Today', 'Tomorrow'] },
  run(ctx, input) {
    const maxSelections = input.maxSelections ?? 1;
    if (maxSelections > input.options.length)
      throw invalidField('maxSelections', `must not exceed the number of options, which is ${input.options.length}`);
    const poll = { options: input.options, maxSelections };
    return send(ctx, input, { type: 'poll', text: input.question, content: { poll } });
  },
});

export const sendTemplate = defineOperation({
  ...shared,
  id: 'messages.send_template',
  path: '/messages/send-template',
  tool: false,
  summary: 'Send a template',
  description:
    'A text that the network has approved before, for networks that want one to begin a conversation with. `components` fills it in, in the form that the network gives them.',
  input: Type.Object(
    {
      ...envelope,
      name: Type.String({ minLength: 1, maxLength: 512, description: 'Name of the template.' }),
      language: Type.String({ minLength: 2, maxLength: 20, description: 'Such as `en_US`.' }),
      components: Type.Optional(Type.Array(Type.Record(Type.String(), Type.Unknown()), { maxItems: 20 })),
    },
    { additionalProperties: false },
  ),
  errors: sendErrors,
  example: {
    to: '491707654321',
    name: 'order_sent',
    language: 'en_US',
    components: [{ type: 'body', parameters: [{ type: 'text', text: 'Ada' }] }],
  },
  run(ctx, input) {
    const { name, language, components = [] } = input;
    return send(ctx, input, { type: 'template', text: '', content: { template: { name, language, components } } });
  },
});

const Choice = {
  id: Type.String({ minLength: 1, maxLength: 200, description: 'Comes back as the `payload` of the answer.' }),
  title: Type.String({ minLength: 1, maxLength: 24 }),
};

export const sendInteractive = defineOperation({
  ...shared,
  id: 'messages.send_interactive',
  path: '/messages/send-interactive',
  tool: false,
  summary: 'Send a text with buttons, a list or a link',
  description:
    'One of `buttons`, `list` and `link`. Who chooses answers with a message whose text is the title and whose `payload` is the id.',
  input: Type.Object(
    {
      ...envelope,
      message: Type.String({ minLength: 1, maxLength: 1024, description: 'The text above the choice.' }),
      header: Type.Optional(Type.String({ minLength: 1, maxLength: 60 })),
      footer: Type.Optional(Type.String({ minLength: 1, maxLength: 60 })),
      buttons: Type.Optional(
        Type.Array(Type.Object(Choice, { additionalProperties: false }), { minItems: 1, maxItems: 3 }),
      ),
      list: Type.Optional(
        Type.Object(
          {
            title: Type.String({ minLength: 1, maxLength: 20, description: 'What opens the list.' }),
            rows: Type.Array(
              Type.Object(
                {
                  ...Choice,
                  description: Type.Optional(Type.String({ minLength: 1, maxLength: 72 })),
                  section: Type.Optional(
                    Type.String({ minLength: 1, maxLength: 24, description: 'Rows of one section stand together.' }),
                  ),
                },
                { additionalProperties: false },
              ),
              { minItems: 1, maxItems: 10 },
            ),
          },
          { additionalProperties: false },
        ),
      ),
      link: Type.Optional(
        Type.Object(
          {
            title: Type.String({ minLength: 1, maxLength: 20 }),
            url: Type.String({ pattern: '^https?://', maxLength: 2000 }),
          },
          { additionalProperties: false },
        ),
      ),
    },
    { additionalProperties: false },
  ),
  errors: sendErrors,
  example: { to: '491707654321', message: 'Tea?', buttons: [{ id: 'yes', title: 'Yes, please' }] },
  run(ctx, input) {
    const { message, header, footer, buttons, list, link } = input;
    if ([buttons, list, link].filter((part) => part !== undefined).length !== 1)
      throw invalidField('buttons', 'Pass exactly one of `buttons`, `list` and `link`', 'required');
    const ids = (buttons ?? list?.rows ?? []).map(({ id }) => id);
    if (new Set(ids).size < ids.length)
      throw invalidField(buttons ? 'buttons' : 'list.rows', 'Each id must be unique, but two are the same');
    const given = { header, footer, buttons, list, link };
    const interactive = Object.fromEntries(Object.entries(given).filter(([, part]) => part !== undefined));
    return send(ctx, input, { type: 'interactive', text: message, content: { interactive } });
  },
});

export const forwardMessage = defineOperation({
  ...shared,
  id: 'messages.forward',
  path: '/messages/{messageId}/forward',
  deadlineMs: FILE_DEADLINE_MS,
  summary: 'Forward a message to another chat',
  description: 'It goes out through the session that has it, marked as forwarded.',
  input: Type.Object(
    { messageId: MessageId, to: To, idempotencyKey: envelope.idempotencyKey },
    { additionalProperties: false },
  ),
  errors: [...sendErrors, 'message_state'],
  example: { messageId: 'msg_01JZ0000000000000000000000', to: '491707654321' },
  async run(ctx, { messageId, to }) {
    requireContent(ctx, 'messages'); // who gets a copy reads it
    const row = await requireMessage(ctx, messageId);
    if (row.deleted_at !== null) throw new AppError('message_state', 'The message was deleted');
    const { mentions: _, ...content } = JSON.parse(row.content ?? '{}') as StoredContent;
    return send(
      ctx,
      { to, sessionId: row.session_id },
      // Written by us, from the same list.
      { type: row.type as MessageType, text: row.body, content: { ...content, isForwarded: true } },
    );
  },
});

const BulkResult = Type.Object(
  {
    to: Type.String({ description: 'As it was given.' }),
    messageId: Type.Union([MessageId, Type.Null()]),
    sendAt: Type.Union([Type.String({ format: 'date-time' }), Type.Null()]),
    error: Type.Optional(Type.String({ description: 'Why nothing is sent there, in words.' })),
  },
  { title: 'BulkResult' },
);

export const sendBulk = defineOperation({
  ...shared,
  id: 'messages.send_bulk',
  path: '/messages/send-bulk',
  tool: false,
  soFar: undefined, // every node can schedule
  messageContent: undefined, // its answer has none
  summary: 'Send a text to many recipients, one after the other',
  description:
    'Every message is stored at once, as `scheduled`, so a restart loses none; they go out `intervalMs` apart. A recipient that cannot be sent to has an `error` in its result and holds up nobody.',
  status: 202,
  input: Type.Object(
    {
      sessionId: Type.Optional(SessionId),
      // Not `To`: a wrong one is told in its result and holds up nobody.
      to: Type.Array(AnyRecipient, { minItems: 1, maxItems: 1000 }),
      message: Text,
      intervalMs: Type.Optional(
        Type.Integer({ minimum: 0, maximum: 3_600_000, default: 1000, description: 'Time between two messages.' }),
      ),
      sendAt: SendAt,
      idempotencyKey: envelope.idempotencyKey,
    },
    { additionalProperties: false },
  ),
  output: Type.Object({ accepted: Type.Integer(), refused: Type.Integer(), results: Type.Array(BulkResult) }),
  errors: ['not_found', 'session_required', 'session_not_connected', 'too_many'],
  example: { to: ['491707654321', '491701112223'], message: 'Hello', intervalMs: 2000 },
  async run(ctx, input) {
    const session = await resolveSession(ctx, input.sessionId);
    const startsAt = input.sendAt === undefined ? ctx.clock.now() : futureTime(ctx, input.sendAt);
    const intervalMs = input.intervalMs ?? 1000;
    const ids = bulkIds(ctx);
    let place = 0;
    const plan = [];
    for (const given of input.to) {
      const messageId = ids();
      try {
        const to = recipientOf(given);
        await chatOf(ctx.database.reader, session, to); // a group has to be one of the session's
        plan.push({ given, messageId, to, sendAt: startsAt + place++ * intervalMs });
      } catch (error) {
        if (!(error instanceof AppError)) throw error;
        plan.push({ given, error: error.message });
      }
    }
    const drafts = plan.flatMap((item) =>
      'error' in item ? [] : [{ ...item, type: 'text' as const, text: input.message, content: {}, replyTo: null }],
    );
    await ctx.sender.schedule(session, drafts);
    return {
      accepted: drafts.length,
      refused: plan.length - drafts.length,
      results: plan.map((item) =>
        'error' in item
          ? { to: item.given, messageId: null, sendAt: null, error: item.error }
          : { to: item.given, messageId: item.messageId, sendAt: isoTime(item.sendAt) },
      ),
    };
  },
});

export const cancelMessage = defineOperation({
  id: 'messages.cancel',
  method: 'POST',
  path: '/messages/{messageId}/cancel',
  credential: 'any',
  permission: 'messages:send',
  messageContent: 'messages',
  effect: 'destructive',
  tool: false,
  summary: 'Take back a scheduled message',
  description: 'It stays listed, as `failed`.',
  input: Type.Object({ messageId: MessageId }, { additionalProperties: false }),
  output: Message,
  errors: ['not_found', 'message_state'],
  async run(ctx, { messageId }) {
    const row = await requireMessage(ctx, messageId);
    if (!(await ctx.sender.cancel(row))) {
      const { status } = await requireMessage(ctx, messageId);
      throw new AppError('message_state', `Only a scheduled message can be cancelled; this one is ${status}`);
    }
    return toMessage(ctx, await requireMessage(ctx, messageId));
  },
});

interface Envelope {
  readonly sessionId?: string | undefined;
  readonly to: string;
  readonly replyTo?: string | undefined;
  readonly sendAt?: string | undefined;
}

interface What {
  readonly type: MessageType;
  readonly text: string;
  readonly content: StoredContent;
}

/** Every send: through the session that is meant, now or at its time. */
async function send(ctx: Context, { sessionId, to, replyTo, sendAt }: Envelope, what: What) {
  const session = await resolveSession(ctx, sessionId);
  const recipient = recipientOf(to);
  if (replyTo !== undefined) await requireQuotable(ctx, session, replyTo, recipient);
  const draft = {
    ...what,
    to: recipient,
    replyTo: replyTo ?? null,
    messageId: ctx.resourceId === undefined ? ctx.newId('msg') : `msg_${ctx.resourceId}`,
  };
  if (sendAt === undefined) return toMessage(ctx, await ctx.sender.send(session, draft));
  const [row] = await ctx.sender.schedule(session, [{ ...draft, sendAt: futureTime(ctx, sendAt) }]);
  if (row === undefined) throw new AppError('internal_error');
  return toMessage(ctx, row);
}

/** The chat that `to` names: a group, or a phone number. @throws {AppError} `validation_failed` */
export function recipientOf(to: string, field = 'to'): string {
  return isGroupId(to) ? to : phoneNumber(field, to);
}

const isGroupId = (to: unknown): boolean => typeof to === 'string' && to.startsWith('grp_');

function mentioning(mentions: readonly string[] | undefined): StoredContent {
  if (mentions === undefined || mentions.length === 0) return {};
  return { mentions: mentions.map((text, index) => phoneNumber(`mentions.${index}`, text)) };
}

function futureTime({ clock }: Context, text: string): number {
  const at = parseTime('sendAt', text);
  const now = clock.now();
  const read = `${isoTime(at)}, and it is now ${isoTime(now)}. Check its offset, such as Z or +02:00`;
  if (at <= now) throw invalidField('sendAt', `has passed: it is ${read}`, 'past');
  if (at > now + MONTHS_AHEAD_MS) throw invalidField('sendAt', `is more than a year away: it is ${read}`);
  return at;
}

/** @throws {AppError} `validation_failed`; `permission_denied` for what would show a message to others */
async function requireQuotable(ctx: Context, { sessionId }: SessionRef, messageId: string, to: string): Promise<void> {
  const row = await findMessage(ctx.database.reader, ctx.accountId, messageId);
  if (row?.session_id !== sessionId)
    throw invalidField('replyTo', `The session has no message ${messageId}`, 'not_found');
  // Who joins a group later learns what was written before only by a quote.
  if (row.chat_id !== to || isGroupId(to)) requireContent(ctx, 'messages');
}

async function fileOf(
  ctx: Context,
  { mediaId, url }: { mediaId?: string | undefined; url?: string | undefined },
): Promise<MediaTable> {
  if ((mediaId === undefined) === (url === undefined))
    throw invalidField('mediaId', 'Pass either `mediaId` or `url`', 'required');
  if (url !== undefined) return ctx.media.fetch(ctx.accountId, url);
  return ctx.media.find(ctx.accountId, mediaId ?? '');
}

/** The beginning of the MIME type that each type of message takes; what is not here takes everything. */
const MIME_TYPES: Readonly<Partial<Record<MessageType, string>>> = {
  image: 'image/',
  sticker: 'image/',
  video: 'video/',
  audio: 'audio/',
  voice: 'audio/',
};

function requireMimeType(type: MessageType, mimeType: string): void {
  const wanted = MIME_TYPES[type] ?? '';
  if (!mimeType.startsWith(wanted)) {
    throw invalidField(
      'type',
      `The file is ${mimeType}, which cannot be sent as ${type}; send it as document`,
      'media_type',
    );
  }
}

/** Ids for the messages of one request; the same ones when it is run again under its idempotency key. */
function bulkIds({ resourceId, newId }: Context): () => string {
  if (resourceId === undefined) return () => newId('msg');
  let count = 0;
  return () => `msg_${resourceId}_${count++}`;
}
