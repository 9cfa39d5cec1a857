import { type Static, type TObject, Type } from 'typebox';
import { mediaTypes } from '../../connectors/contract/content.ts';
import { AppError, invalidField } from '../../errors.ts';
import type { MessageType } from '../../events/networkTypes.ts';
import { oneOf, optional, strictPart, string } from '../../invoke/input/fields.ts';
import { ref } from '../../invoke/input/references.ts';
import type { Context } from '../../invoke/operation.ts';
import { cleanFileName } from '../../media/content.ts';
import type { StoredContent } from '../../messages/content.ts';
import type { SessionRef } from '../../messages/store.ts';
import { albumContents, albumFields, albumOf, eventContent, eventFields } from '../messages/eventsAndAlbums.ts';
import {
  chosenPreview,
  fileOptions,
  fileParts,
  firstLink,
  requireFeature,
  textOptions,
  textParts,
} from '../messages/richSending.ts';
import { type Content, Text } from '../messages/send.ts';
import {
  cardFields,
  contactContent,
  contentToSend,
  locationContent,
  locationFields,
  Mentions,
  mentioning,
  pollContent,
  pollFields,
} from '../messages/sending.ts';
import {
  choiceFields,
  interactiveContent,
  requireCatalog,
  templateContent,
  templateFields,
} from '../messages/sendingChoices.ts';

/* The content of a bulk send. */

const { request: _, ...choices } = choiceFields;

const contents = {
  message: optional(Text),
  media: optional(
    strictPart('A file. Pass either `mediaId` or an https `url`, which the server fetches once.', {
      type: oneOf(mediaTypes, '`voice` plays as a voice message; `document` accepts any file.'),
      mediaId: optional(string('Id of an uploaded or received file (`med_…`).', { ...ref('file'), maxLength: 100 })),
      url: optional(string('https URL of the file.', { maxLength: 2048 })),
      caption: optional(string('Text shown below the file.', { maxLength: 4096 })),
      fileName: optional(string('File name to show to the recipient.', { minLength: 1, maxLength: 255 })),
      mentions: Mentions,
      ...fileOptions,
    }),
  ),
  location: optional(strictPart('A location, as in `messages/send-location`.', locationFields)),
  contact: optional(strictPart('A contact card, as in `messages/send-contact`.', cardFields)),
  poll: optional(strictPart('A poll, as in `messages/send-poll`.', pollFields)),
  event: optional(strictPart('An event, as in `messages/send-event`.', eventFields)),
  album: optional(
    strictPart('An album, as in `messages/send-album`. Each file is a message, and a request has up to 1,000.', {
      ...albumFields,
    }),
  ),
  template: optional(strictPart('A template, as in `messages/send-template`.', templateFields)),
  interactive: optional(strictPart('Buttons, a list, a link or products, as in `messages/send-interactive`.', choices)),
};

/** Options of `message`. A file has its own. */
const ofText = { mentions: Mentions, ...textOptions };

export const kinds = { ...contents, ...ofText };

const MAX_VALUES = 20;
const MAX_VALUE_LENGTH = 1024;

/** Values for the placeholders of one recipient. */
const Values = Type.Record(Type.String(), Type.String({ maxLength: MAX_VALUE_LENGTH }), { maxProperties: MAX_VALUES });

export const contentFields = {
  ...kinds,
  values: optional(
    Type.Array(Values, {
      description: `Values for the placeholders of each recipient, in the order of \`to\`: \`{"name": "Ada"}\` replaces \`{{name}}\` in every text of the content, and encoded in the URL of a link button after the host. A name has up to 64 letters, digits, \`_\`, \`-\` and \`.\`; other double braces are an error. Up to ${MAX_VALUES} per recipient. Without \`values\`, braces are ordinary text.`,
      minItems: 1,
      maxItems: 1000,
    }),
  ),
};

export type Kinds = Static<TObject<typeof kinds>>;
export type Kind = keyof typeof contents;
const names = Object.keys(contents) as Kind[]; // the type of Object.keys loses them
const textFields = Object.keys(ofText) as (keyof typeof ofText)[]; // likewise

/**
 * Returns the type of content, which has to be the only one.
 * @throws {AppError} `validation_failed`
 */
export function kindOf(input: Kinds): Kind {
  const given = names.filter((name) => input[name] !== undefined);
  const [kind] = given;
  if (kind === undefined || given.length > 1) {
    const listed = names.map((name) => `\`${name}\``).join(', ');
    throw invalidField(kind ?? 'message', `Pass exactly one of ${listed}`, kind === undefined ? 'required' : 'unknown');
  }
  const option =
    kind === 'message' ? undefined : textFields.find((name) => input[name] !== undefined && input[name] !== false);
  if (option === undefined) return kind;
  const own = kind === 'media' && option !== 'linkPreview' ? `; pass \`media.${option}\` for a file` : '';
  throw invalidField(option, `is only for \`message\`${own}`, 'unknown');
}

/** Returns the types of a recipient's messages, one per message. */
export function typesOf(kind: Kind, { media, album }: Kinds): MessageType[] {
  if (kind === 'message') return ['text'];
  if (kind === 'album') return album?.files.map(({ type }) => type) ?? [];
  return [kind === 'media' ? (media?.type ?? 'document') : kind];
}

/** Whether everybody in a group is mentioned. */
export const mentionsEverybody = ({ mentionAll, media }: Kinds): boolean =>
  mentionAll === true || media?.mentionAll === true;

type ContentContext = Context<'media' | 'preparation' | 'targets' | 'linkPreviews'>;

/** Makes the messages of a recipient: one, or one per file of an album. */
type Make = (own: Kinds, albumId: string) => Promise<Content[]> | Content[];

interface First {
  readonly to: string;
  readonly content: Kinds;
}

/**
 * Returns the function that makes a recipient's messages. Files and previews are fetched and converted once, for all of
 * them.
 * @param first the first recipient that gets a message, and its content
 * @throws {AppError} the errors of the files and of the options
 */
export async function contentMaker(ctx: ContentContext, session: SessionRef, first: First): Promise<Make> {
  const kind = kindOf(first.content);
  const inKind = (error: unknown) => {
    throw inPart(kind, error);
  };
  const make = await makerOf(ctx, session, first).catch(inKind);
  return async (own, albumId) => {
    try {
      return await make(own, albumId);
    } catch (error) {
      return inKind(error);
    }
  };
}

/** Returns an error with the fields as a bulk has them, such as `event.endsAt`. Those of a text are at the top. */
function inPart(kind: Kind, error: unknown): unknown {
  if (kind === 'message' || !(error instanceof AppError)) return error;
  const [first] = error.fields;
  if (first === undefined || first.field.startsWith(`${kind}.`)) return error;
  const fields = error.fields.map((one) => ({ ...one, field: `${kind}.${one.field}` }));
  const detail = error.message.startsWith(`${first.field} `) ? `${kind}.${error.message}` : error.message;
  return new AppError(error.code, detail, { fields, cause: error });
}

/** Whether content is valid before its placeholders are replaced, so that only the values can be wrong. */
export function isValidWithoutValues(content: Kinds): boolean {
  try {
    simpleContent(content);
    return true;
  } catch {
    return false;
  }
}

async function makerOf(ctx: ContentContext, session: SessionRef, first: First): Promise<Make> {
  const { message, media, album, template, interactive } = first.content;
  if (interactive !== undefined) await requireCatalog(ctx, session, interactive);
  if (message !== undefined) return textMaker(ctx, session, { ...first.content, message, to: first.to });
  if (media !== undefined) return fileMaker(ctx, session, media, first.to);
  if (template !== undefined) return templateMaker(ctx, session, template);
  if (album === undefined) return (own) => [simpleContent(own)];
  await requireFeature(ctx, session, 'albums');
  const files = await albumContents(ctx, session, album.files, 'album.');
  return (own, albumId) => albumOf(albumId, own.album?.files ?? album.files, files);
}

function simpleContent({ location, contact, poll, event, interactive }: Kinds): Content {
  if (location !== undefined) return locationContent(location);
  if (contact !== undefined) return contactContent(contact);
  if (poll !== undefined) return pollContent(poll);
  if (event !== undefined) return eventContent(event);
  if (interactive !== undefined) return interactiveContent(interactive);
  throw new AppError('internal_error');
}

/** The server fetches one page or picture for a preview, whatever the number of recipients. */
async function textMaker(
  ctx: ContentContext,
  session: SessionRef,
  first: Kinds & { readonly message: string; readonly to: string },
): Promise<Make> {
  const { linkPreview, message } = first;
  const mentions = mentioning(first.mentions);
  const shared = await textParts(ctx, session, first);
  return async ({ message: text = '', linkPreview: own }) => {
    if (linkPreview === true && firstLink(text) !== firstLink(message))
      throw invalidField(
        'linkPreview',
        'must be an object if the recipients get different links; `true` fetches the page of one link',
      );
    const content = { ...mentions, ...shared };
    if (typeof own !== 'object' || shared.linkPreview === null) return [{ type: 'text', text, content }];
    const { linkPreview: preview } = await chosenPreview(ctx, text, { ...own, image: undefined });
    if (!preview) throw new AppError('internal_error');
    const thumbnail = shared.linkPreview?.thumbnail;
    const shown = { ...preview, ...(thumbnail !== undefined && { thumbnail }) };
    return [{ type: 'text', text, content: { ...content, linkPreview: shown } }];
  };
}

async function fileMaker(
  ctx: ContentContext,
  session: SessionRef,
  media: NonNullable<Kinds['media']>,
  to: string,
): Promise<Make> {
  const parts = { ...mentioning(media.mentions), ...(await fileParts(ctx, session, { ...media, to })) };
  const file = { ...(await contentToSend(ctx, session, media, 'media.')), ...parts };
  return ({ media: own = media }) => [{ type: own.type, text: own.caption ?? '', content: named(file, own.fileName) }];
}

async function templateMaker(
  ctx: ContentContext,
  session: SessionRef,
  first: NonNullable<Kinds['template']>,
): Promise<Make> {
  const head = first.header && (await templateContent(ctx, session, first)).content;
  return async ({ template: own = first }) => {
    const { header, ...rest } = own;
    const content = await templateContent(ctx, session, rest);
    if (head === undefined || content.content.template === undefined) return [content];
    const template = { ...content.content.template, ...(header && { header: header.type }) };
    return [{ ...content, content: { ...named(head, header?.fileName), template } }];
  };
}

/** Returns a file under the name that it has for a recipient. */
function named(file: StoredContent, fileName: string | undefined): StoredContent {
  const name = cleanFileName(fileName ?? null);
  if (name === null) return file;
  return {
    ...file,
    ...(file.media && { media: { ...file.media, fileName: name } }),
    ...(file.toFetch && { toFetch: { ...file.toFetch, fileName: name } }),
  };
}
