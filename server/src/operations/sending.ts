import { Type } from 'typebox';
import { isoTime } from '../clock.ts';
import { LONGEST_SEND_MS } from '../cluster/forward.ts';
import { type MessageType, mediaTypes } from '../connectors/connector.ts';
import type { MediaTable } from '../db/schema.ts';
import { AppError, invalidField } from '../errors.ts';
import { orNull, Time } from '../invoke/fields.ts';
import { type Context, defineOperation, requireContent } from '../invoke/operation.ts';
import { isPhoneNumber, notPhoneNumber, PhoneNumberInput, phoneNumber } from '../invoke/phoneNumbers.ts';
import { parseTime } from '../invoke/validate.ts';
import { type StoredContent, storedMedia } from '../messages/content.ts';
import { chatOf } from '../messages/outgoing.ts';
import { findMessage, type SessionRef } from '../messages/store.ts';
import { Message, MessageId, requireMessage, toMessage } from './messages.ts';
import { OptionalSessionId, resolveSession } from './sessions.ts';

const Text = Type.String({ minLength: 1, maxLength: 65_536, description: 'Text of the message.' });
const Caption = Type.Optional(Type.String({ maxLength: 4096, description: 'Text shown below the file.' }));

const AnyRecipient = Type.String({
  minLength: 1,
  maxLength: 200,
  description:
    'Phone number in international form, such as 491701234567 (+, spaces and dashes are ignored), or the id of a group (`grp_…`).',
});
const To = Type.Refine(AnyRecipient, (to) => isGroupId(to) || isPhoneNumber(to), notPhoneNumber);

const SendAt = Type.Optional(
  Type.String({
    format: 'date-time',
    description:
      'Send the message later, up to a year ahead. Time with an offset, such as 2026-07-01T14:00:00+02:00. Restarts do not lose it.',
  }),
);

/** What every message that is sent may have, whatever its type. */
const envelope = {
  sessionId: OptionalSessionId,
  to: To,
  replyTo: Type.Optional(
    Type.String({ maxLength: 100, description: 'Id of a message (`msg_…`) in the same session, to reply to it.' }),
  ),
  sendAt: SendAt,
  idempotencyKey: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 255,
      description:
        'A unique value per message. Repeating the request with the same key within 24 hours sends nothing twice.',
    }),
  ),
};
const Mentions = Type.Optional(Type.Array(PhoneNumberInput('Number of a person to mention.'), { maxItems: 256 }));

const shared = {
  method: 'POST',
  owner: { of: 'sessionId', unless: 'sendAt' },
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
    'Send a text message to a person or a group. Returns the message once the network accepted it (`sent`); `queued` means that it goes out later. `messages.get` tells whether it was delivered or read.',
  input: Type.Object({ ...envelope, message: Text, mentions: Mentions }, { additionalProperties: false }),
  errors: sendErrors,
  example: { to: '491707654321', message: 'Hello' },
  run: (ctx, input) => send(ctx, input, { type: 'text', text: input.message, content: mentioning(input.mentions) }),
});

export const sendMedia = defineOperation({
  ...shared,
  id: 'messages.send_media',
  path: '/messages/send-media',
  owner: { of: 'sessionId' }, // also for a later send, because it fetches the file
  deadlineMs: FILE_DEADLINE_MS,
  summary: 'Send a file',
  description:
    'Send an image, video, audio, voice message, document or sticker. Pass either `mediaId` of a stored file, or an https `url`, which the server fetches first.',
  input: Type.Object(
    {
      ...envelope,
      type: Type.Enum([...mediaTypes], {
        description: '`voice` plays as a voice message; `document` accepts any file.',
      }),
      mediaId: Type.Optional(
        Type.String({ maxLength: 100, description: 'Id of an uploaded or received file (`med_…`).' }),
      ),
      url: Type.Optional(Type.String({ maxLength: 2048, description: 'https URL of the file.' })),
      caption: Caption,
      fileName: Type.Optional(
        Type.String({
          minLength: 1,
          maxLength: 255,
          description: 'File name to show to the recipient, such as `invoice.pdf`.',
        }),
      ),
      mentions: Mentions,
    },
    { additionalProperties: false },
  ),
  errors: [...sendErrors, 'fetch_failed', 'payload_too_large'],
  example: { to: '491707654321', type: 'image', mediaId: 'med_01JZ0000000000000000000000', caption: 'Look' },
  async run(ctx, input) {
    const session = await resolveSession(ctx, input.sessionId);
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
  description: 'Send a point on the map to a person or a group, with an optional name and address.',
  input: Type.Object(
    {
      ...envelope,
      latitude: Type.Number({ minimum: -90, maximum: 90, description: 'Degrees north (WGS 84), such as 52.5163.' }),
      longitude: Type.Number({ minimum: -180, maximum: 180, description: 'Degrees east (WGS 84), such as 13.3777.' }),
      name: Type.Optional(Type.String({ minLength: 1, maxLength: 200, description: 'Name of the place.' })),
      address: Type.Optional(
        Type.String({ minLength: 1, maxLength: 500, description: 'Postal address of the place.' }),
      ),
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
  description: 'Send a contact card, a name with phone numbers, to a person or a group.',
  input: Type.Object(
    {
      ...envelope,
      name: Type.String({ minLength: 1, maxLength: 200, description: 'Name on the card.' }),
      phoneNumbers: Type.Array(PhoneNumberInput('A number on the card.'), { minItems: 1, maxItems: 10 }),
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
  description:
    'Send a question with 2 to 12 answers to choose from. Votes are stored on the message; read them with `messages.get`. Not every network supports polls.',
  input: Type.Object(
    {
      ...envelope,
      question: Type.String({ minLength: 1, maxLength: 255, description: 'Question above the options.' }),
      options: Type.Array(
        Type.String({ minLength: 1, maxLength: 100, description: 'An answer; each one must differ.' }),
        {
          minItems: 2,
          maxItems: 12,
          uniqueItems: true,
        },
      ),
      maxSelections: Type.Optional(
        Type.Integer({
          minimum: 1,
          maximum: 12,
          default: 1,
          description: 'Number of options that one person can choose; 1 by default.',
        }),
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
    'Send a text that the network has approved in advance. Use it on networks that require a template to start a conversation, or when another send fails with `template_required`. `components` fills in the values.',
  input: Type.Object(
    {
      ...envelope,
      name: Type.String({
        minLength: 1,
        maxLength: 512,
        description: 'Name of the template at the network, such as `order_sent`.',
      }),
      language: Type.String({ minLength: 2, maxLength: 20, description: 'Language of the template, such as `en_US`.' }),
      components: Type.Optional(
        Type.Array(Type.Record(Type.String(), Type.Unknown()), {
          maxItems: 20,
          description: "Values for the template, in the network's format.",
        }),
      ),
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
  id: Type.String({
    minLength: 1,
    maxLength: 200,
    description: 'Your id of the choice; the answer has it as `payload`.',
  }),
  title: Type.String({ minLength: 1, maxLength: 24, description: 'Text of the button or row.' }),
};

export const sendInteractive = defineOperation({
  ...shared,
  id: 'messages.send_interactive',
  path: '/messages/send-interactive',
  tool: false,
  summary: 'Send an interactive message',
  description:
    'Send a text with buttons, a list or a link: pass exactly one of `buttons`, `list` and `link`. When the recipient chooses, the session receives a message whose text is the title of the choice and whose `payload` is its id.',
  input: Type.Object(
    {
      ...envelope,
      message: Type.String({ minLength: 1, maxLength: 1024, description: 'Text above the choices.' }),
      header: Type.Optional(Type.String({ minLength: 1, maxLength: 60, description: 'Bold line above the text.' })),
      footer: Type.Optional(Type.String({ minLength: 1, maxLength: 60, description: 'Small line below the text.' })),
      buttons: Type.Optional(
        Type.Array(Type.Object(Choice, { additionalProperties: false }), {
          minItems: 1,
          maxItems: 3,
          description: 'Up to three buttons.',
        }),
      ),
      list: Type.Optional(
        Type.Object(
          {
            title: Type.String({ minLength: 1, maxLength: 20, description: 'Text of the button that opens the list.' }),
            rows: Type.Array(
              Type.Object(
                {
                  ...Choice,
                  description: Type.Optional(
                    Type.String({ minLength: 1, maxLength: 72, description: 'Second line of the row.' }),
                  ),
                  section: Type.Optional(
                    Type.String({
                      minLength: 1,
                      maxLength: 24,
                      description: 'Heading; rows with the same section are grouped.',
                    }),
                  ),
                },
                { additionalProperties: false },
              ),
              { minItems: 1, maxItems: 10, description: 'Up to ten rows.' },
            ),
          },
          { additionalProperties: false, description: 'A list that the recipient opens to choose a row.' },
        ),
      ),
      link: Type.Optional(
        Type.Object(
          {
            title: Type.String({ minLength: 1, maxLength: 20, description: 'Text of the button.' }),
            url: Type.String({
              pattern: '^https?://',
              maxLength: 2000,
              description: 'http or https URL that the button opens.',
            }),
          },
          { additionalProperties: false, description: 'A button that opens a URL.' },
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
  owner: { of: 'messageId' },
  deadlineMs: FILE_DEADLINE_MS,
  summary: 'Forward a message',
  description:
    'Send a copy of a message, including its file, to another person or group. The copy is marked as forwarded and goes out through the session of the original.',
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
    to: Type.String({ description: 'Recipient as you passed it.' }),
    messageId: orNull(MessageId, 'Id of the message; null if it was refused.'),
    sendAt: orNull(Time, 'When the message will be sent; null if it was refused.'),
    error: Type.Optional(Type.String({ description: 'Why the message was refused, as a sentence.' })),
  },
  { title: 'BulkResult' },
);

export const sendBulk = defineOperation({
  ...shared,
  id: 'messages.send_bulk',
  path: '/messages/send-bulk',
  tool: false,
  owner: undefined, // every node can schedule
  soFar: undefined,
  messageContent: undefined, // its answer has none
  summary: 'Send a text to many recipients',
  description:
    'Schedule the same text for up to 1,000 recipients, sent `intervalMs` apart. All messages are stored before the response, so a restart loses none. An invalid recipient gets an `error` in its result and does not affect the others.',
  status: 202,
  input: Type.Object(
    {
      sessionId: OptionalSessionId,
      // Not `To`: an invalid recipient is reported in its result and does not affect the others.
      to: Type.Array(AnyRecipient, { minItems: 1, maxItems: 1000 }),
      message: Text,
      intervalMs: Type.Optional(
        Type.Integer({
          minimum: 0,
          maximum: 3_600_000,
          default: 1000,
          description: 'Milliseconds between two messages; 1000 by default.',
        }),
      ),
      sendAt: SendAt,
      idempotencyKey: envelope.idempotencyKey,
    },
    { additionalProperties: false },
  ),
  output: Type.Object({
    accepted: Type.Integer({ description: 'Number of messages that were scheduled.' }),
    refused: Type.Integer({ description: 'Number of recipients that cannot be sent to.' }),
    results: Type.Array(BulkResult, { description: 'One entry per recipient, in the order of `to`.' }),
  }),
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
  summary: 'Cancel a scheduled message',
  description:
    'Cancel a message that waits for its `sendAt`. It stays in lists with the status `failed`. Messages that are no longer `scheduled` cannot be cancelled.',
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
