import { Readable } from 'node:stream';
import { type Static, type TObject, type TProperties, Type } from 'typebox';
import { MAX_SEND_MS } from '../../cluster/forward.ts';
import { mediaTypes } from '../../connectors/contract/content.ts';
import { isPlaceholder } from '../../connectors/contract/people.ts';
import { AppError, invalidField } from '../../errors.ts';
import type { MessageType } from '../../events/networkTypes.ts';
import { integer, list, number, oneOf, optional, string, token } from '../../invoke/input/fields.ts';
import { PhoneNumberList } from '../../invoke/input/phoneNumbers.ts';
import { ref } from '../../invoke/input/references.ts';
import { type Context, defineOperation, requireContent } from '../../invoke/operation.ts';
import { requireMessage, resolveSession } from '../../invoke/resources.ts';
import { cleanFileName } from '../../media/content.ts';
import { PREVIEW_MS } from '../../media/linkPreviews.ts';
import { contentOf, type StoredContent, storedMedia } from '../../messages/content.ts';
import type { SessionRef } from '../../messages/store.ts';
import { deferredFile } from './deferredFetch.ts';
import { MessageId } from './messages.ts';
import { fileOptions, fileParts, hasTextOptions, textOptions, textParts } from './richSending.ts';
import { type Content, envelope, requireSendable, send, sendErrors, sendOperation, Text, To } from './send.ts';

const Caption = optional(string('Text shown below the file.', { maxLength: 4096 }));

type Given<P extends TProperties> = Static<TObject<P>>;

export const Mentions = optional(PhoneNumberList('People to mention, up to 256.', { maxItems: 256 }));

/** Fetching a file from a URL may take a minute before the send. */
export const FILE_DEADLINE_MS = MAX_SEND_MS + 65_000;

export const sendMessage = defineOperation({
  ...sendOperation,
  tool: true,
  id: 'messages.send',
  route: 'POST /messages/send',
  uses: ['sender', 'media', 'linkPreviews', 'targets'],
  summary: 'Send a text message',
  description:
    'Send a text message to a person or a group. Returns the message as `sent` once the network accepted it, or as `queued` if it goes out later. Call `messages.get` to see whether it was delivered or read.',
  deadlineMs: sendOperation.deadlineMs + 3 * PREVIEW_MS,
  input: { ...envelope, message: Text, mentions: Mentions, ...textOptions },
  errors: [...sendErrors, 'fetch_failed', 'payload_too_large'],
  example: { to: '491707654321', message: 'Hello' },
  async run(ctx, input) {
    const content = mentioning(input.mentions);
    if (!hasTextOptions(input)) return send(ctx, input, { type: 'text', text: input.message, content });
    const session = await requireSendable(ctx, input, 'text');
    const parts = await textParts(ctx, session, input);
    return send(ctx, input, { type: 'text', text: input.message, content: { ...content, ...parts } });
  },
});

/** The errors of `preparedFile`, besides `not_found`. */
export const fileErrors = ['fetch_failed', 'payload_too_large', 'unsupported_media_type', 'too_busy'] as const;

export const sendMedia = defineOperation({
  ...sendOperation,
  tool: true,
  id: 'messages.send_media',
  route: 'POST /messages/send-media',
  owner: { field: 'sessionId' }, // also for a later send, because it fetches the file
  deadlineMs: FILE_DEADLINE_MS,
  uses: ['sender', 'media', 'preparation', 'targets'],
  summary: 'Send a file',
  description:
    'Send an image, video, audio, voice message, document or sticker. Pass one of `mediaId`, an https `url`, which the server fetches first, and `content`.',
  input: {
    ...envelope,
    type: oneOf(mediaTypes, '`voice` plays as a voice message; `document` accepts any file.'),
    mediaId: optional(string('Id of an uploaded or received file (`med_…`).', { ...ref('file'), maxLength: 100 })),
    url: optional(
      string('https URL of the file. For a key with `requiresApproval`, the server fetches it after the approval.', {
        maxLength: 2048,
      }),
    ),
    content: optional(
      string('A small file in base64, up to 700,000 characters.', { minLength: 1, contentEncoding: 'base64' }),
    ),
    mimeType: optional(
      string('Type of a text in `content`; others are detected.', { ...token('exact'), maxLength: 100 }),
    ),
    caption: Caption,
    fileName: optional(
      string('File name to show to the recipient, such as `invoice.pdf`.', { minLength: 1, maxLength: 255 }),
    ),
    mentions: Mentions,
    ...fileOptions,
  },
  errors: [...sendErrors, ...fileErrors],
  example: { to: '491707654321', type: 'image', mediaId: 'med_01JZ0000000000000000000000', caption: 'Look' },
  async run(ctx, input) {
    const session = await requireSendable(ctx, input, input.type);
    const mentions = { ...mentioning(input.mentions), ...(await fileParts(ctx, session, input)) };
    const content = { ...(await contentToSend(ctx, session, input)), ...mentions };
    return send(ctx, input, { type: input.type, text: input.caption ?? '', content });
  },
});

export const locationFields = {
  latitude: number('Degrees north (WGS 84), such as 52.5163.', { minimum: -90, maximum: 90 }),
  longitude: number('Degrees east (WGS 84), such as 13.3777.', { minimum: -180, maximum: 180 }),
  name: optional(string('Name of the place.', { minLength: 1, maxLength: 200 })),
  address: optional(string('Postal address of the place.', { minLength: 1, maxLength: 500 })),
};

export const sendLocation = defineOperation({
  ...sendOperation,
  tool: true,
  id: 'messages.send_location',
  route: 'POST /messages/send-location',
  uses: ['sender', 'media'],
  summary: 'Send a location',
  description: 'Send coordinates, which the recipient can open in a map.',
  input: { ...envelope, ...locationFields },
  example: { to: '491707654321', latitude: 52.5163, longitude: 13.3777, name: 'Brandenburg Gate' },
  run: (ctx, input) => send(ctx, input, locationContent(input)),
});

export function locationContent({ latitude, longitude, name, address }: Given<typeof locationFields>): Content {
  const location = {
    latitude,
    longitude,
    ...(name !== undefined && { name }),
    ...(address !== undefined && { address }),
  };
  return { type: 'location', text: '', content: { location } };
}

export const cardFields = {
  name: string('Name on the card.', { minLength: 1, maxLength: 200 }),
  phoneNumbers: PhoneNumberList('Up to ten numbers on the card.', { minItems: 1, maxItems: 10 }),
};

export const sendContact = defineOperation({
  ...sendOperation,
  tool: true,
  id: 'messages.send_contact',
  route: 'POST /messages/send-contact',
  uses: ['sender', 'media'],
  summary: 'Send a contact card',
  description: 'Send a name with phone numbers, which the recipient can save.',
  input: { ...envelope, ...cardFields },
  example: { to: '491707654321', name: 'Ada', phoneNumbers: ['491701112223'] },
  run: (ctx, input) => send(ctx, input, contactContent(input)),
});

/** @throws {AppError} `validation_failed` for a person whose number is hidden */
export function contactContent({ name, phoneNumbers }: Given<typeof cardFields>): Content {
  requireNumbers(phoneNumbers);
  return { type: 'contact', text: '', content: { contact: { name, phoneNumbers } } };
}

export const pollFields = {
  question: string('Question above the options.', { minLength: 1, maxLength: 255 }),
  options: list(Type.String({ minLength: 1, maxLength: 100 }), 'Two to twelve different answers.', {
    minItems: 2,
    maxItems: 12,
    uniqueItems: true,
  }),
  maxSelections: optional(
    integer('Number of options that one person can choose; 1 by default.', { minimum: 1, maximum: 12, default: 1 }),
  ),
};

export const sendPoll = defineOperation({
  ...sendOperation,
  tool: true,
  id: 'messages.send_poll',
  route: 'POST /messages/send-poll',
  uses: ['sender', 'media'],
  summary: 'Send a poll',
  description:
    'Send a question with 2 to 12 answers. Votes are stored on the message; read them with `messages.get`. Not every network supports polls.',
  input: { ...envelope, ...pollFields },
  example: { to: '491707654321', question: 'When?', options: ['Today', 'Tomorrow'] },
  run: (ctx, input) => send(ctx, input, pollContent(input)),
});

/** @throws {AppError} `validation_failed` */
export function pollContent({ question, options, maxSelections = 1 }: Given<typeof pollFields>): Content {
  if (maxSelections > options.length)
    throw invalidField('maxSelections', `must not exceed the number of options, which is ${options.length}`);
  return { type: 'poll', text: question, content: { poll: { options, maxSelections } } };
}

export const forwardMessage = defineOperation({
  ...sendOperation,
  tool: true,
  id: 'messages.forward',
  route: 'POST /messages/{messageId}/forward',
  owner: { field: 'messageId' },
  scope: 'messageId',
  deadlineMs: FILE_DEADLINE_MS,
  uses: ['sender', 'media'],
  summary: 'Forward a message',
  description:
    'Send a copy of a message, including its file, to another person or group. The copy is marked as forwarded and goes out through the session of the original.',
  input: { messageId: MessageId, to: To, idempotencyKey: envelope.idempotencyKey },
  errors: [...sendErrors, 'message_state'],
  example: { messageId: 'msg_01JZ0000000000000000000000', to: '491707654321' },
  async run(ctx, { messageId, to }) {
    requireContent(ctx, 'messages'); // the recipient of a copy can read it
    const row = await requireMessage(ctx, messageId);
    if (row.deleted_at !== null) throw new AppError('message_state', 'The message was deleted');
    const stored = contentOf(row);
    if (stored.toFetch !== undefined)
      throw new AppError('message_state', 'The message waits for approval, and its files have not been fetched yet');
    if (stored.isViewOnce === true)
      throw new AppError('message_state', 'A file that can be opened once cannot be forwarded');
    if (stored.remoteMedia !== undefined)
      throw new AppError(
        'message_state',
        'The file of the message is still at the network; fetch it first, with `POST /messages/{messageId}/media`',
      );
    if (stored.media !== undefined) await ctx.media.touch(await ctx.media.find(ctx.accountId, stored.media.mediaId));
    const { mentions: _, mentionsAll: _1, album: _2, choice: _3, quoted: _4, referral: _5, ...copied } = stored;
    const { livePhoto: _6, address: _7, ...content } = copied;
    return send(
      { ...ctx, session: await resolveSession(ctx, row.session_id) },
      { to },
      { type: row.type, text: row.body, content: { ...content, isForwarded: true } },
    );
  },
});

/** @throws {AppError} `validation_failed` for a person whose number is hidden */
function requireNumbers(phoneNumbers: readonly string[]): void {
  const index = phoneNumbers.findIndex(isPlaceholder);
  if (index >= 0)
    throw invalidField(`phoneNumbers.${index}`, 'must be a phone number; the person hides it', 'phone_number');
}

export function mentioning(mentions: readonly string[] | undefined): StoredContent {
  if (mentions === undefined || mentions.length === 0) return {};
  return { mentions };
}

/**
 * The file of a message, or the URL from which it is fetched once the message is approved.
 * @param path before the names of the fields, in errors
 */
export async function contentToSend(
  ctx: Context<'media' | 'preparation' | 'targets'>,
  session: SessionRef,
  given: GivenFile,
  path = '',
): Promise<StoredContent> {
  const fileName = cleanFileName(given.fileName ?? null) ?? undefined;
  requireOneSource(given, path);
  const deferred = deferredFile(ctx, { url: given.url, fileName }, `${path}url`);
  if (deferred !== undefined) return deferred;
  const row = await preparedFile(ctx, session, given);
  return { media: { ...storedMedia(row), fileName: fileName ?? row.file_name } };
}

export interface GivenFile {
  readonly type: MessageType;
  readonly mediaId?: string | undefined;
  readonly url?: string | undefined;
  readonly content?: string | undefined;
  readonly mimeType?: string | undefined;
  readonly fileName?: string | undefined;
}

/** Returns the file of a message, in a form that the apps of the network play. */
export async function preparedFile(ctx: Context<'media' | 'preparation'>, session: SessionRef, given: GivenFile) {
  const rules = (await ctx.sessions.connectorsOf.of([session.sessionId]))(session.sessionId)?.mediaRules;
  const row = await fileOf(ctx, given, rules !== undefined);
  return ctx.preparation.prepare(row, given.type, rules);
}

/**
 * Returns the file of a message, and stores one that the account does not have yet. That needs no `media:write`: a key
 * that may send may attach.
 * @param isConverted whether the network of the session has rules, by which the file is converted
 */
async function fileOf(
  ctx: Context<'media'>,
  { type, mediaId, url, content, mimeType, fileName }: GivenFile,
  isConverted: boolean,
) {
  requireOneSource({ mediaId, url, content, mimeType });
  const requireType = (found: string) => {
    // Browsers record sound as WebM, which is detected as video.
    if (!(isConverted && found === 'video/webm' && (type === 'voice' || type === 'audio')))
      requireMimeType(type, found);
  };
  if (url !== undefined) return ctx.media.fetch(ctx.accountId, url, requireType);
  if (content !== undefined) {
    const file = { stream: Readable.from([decoded(content)]), mimeType: mimeType ?? null, fileName: fileName ?? null };
    return ctx.media.keep(ctx.accountId, file, requireType);
  }
  const row = await ctx.media.find(ctx.accountId, mediaId ?? '');
  requireType(row.mime_type);
  return row;
}

/** @throws {AppError} `validation_failed` */
function requireOneSource({ mediaId, url, content, mimeType }: Omit<GivenFile, 'type'>, path = ''): void {
  const given = Object.entries({ mediaId, url, content }).flatMap(([name, value]) =>
    value === undefined ? [] : [path + name],
  );
  if (given.length !== 1) throw notOneSource(given, path);
  if (mimeType !== undefined && content === undefined)
    throw invalidField('mimeType', 'is only for `content`; other files have a type', 'unknown');
}

/** @param given the fields that have a file */
function notOneSource(given: readonly string[], path: string): AppError {
  const nested = `Pass exactly one of \`${path}mediaId\` and \`${path}url\``;
  const [detail, code] = [path === '' ? 'Pass exactly one of `mediaId`, `url` and `content`' : nested, 'required'];
  if (given.length === 0) return invalidField(`${path}mediaId`, detail, code);
  const message = `${detail}, not ${given.join(' and ')}`;
  return new AppError('validation_failed', message, { fields: given.map((field) => ({ field, code, message })) });
}

/** Leaves room for the other fields in a body of 1 MiB. */
const MAX_CONTENT_CHARACTERS = 700_000;

/** @throws {AppError} `payload_too_large`, or `validation_failed` if it is not base64 (RFC 4648) */
function decoded(content: string): Buffer {
  if (content.length > MAX_CONTENT_CHARACTERS) {
    const message = `has ${content.length} characters, more than ${MAX_CONTENT_CHARACTERS}; pass an https \`url\` instead, or the \`mediaId\` of an uploaded file`;
    const fields = [{ field: 'content', code: 'maxLength', message }];
    throw new AppError('payload_too_large', `content ${message}`, { fields });
  }
  const text = content.replace(/\s+/g, '');
  if (text === '' || text.length % 4 !== 0 || !/^[A-Za-z0-9+/]+={0,2}$/.test(text))
    throw invalidField(
      'content',
      'must be the file in base64 with its padding, without a prefix such as data:',
      'base64',
    );
  return Buffer.from(text, 'base64');
}

/** Required start of the MIME type by message type. Other types accept every file. */
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
