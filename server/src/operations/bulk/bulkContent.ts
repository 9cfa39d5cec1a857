import { type Static, type TObject, Type } from 'typebox';
import { mediaTypes } from '../../connectors/contract/content.ts';
import { AppError, type FieldError, invalidField } from '../../errors.ts';
import type { MessageType } from '../../events/networkTypes.ts';
import { oneOf, optional, strictObject, strictPart, string } from '../../invoke/input/fields.ts';
import { ref } from '../../invoke/input/references.ts';
import { validator } from '../../invoke/input/validate.ts';
import type { Context } from '../../invoke/operation.ts';
import { cleanFileName } from '../../media/content.ts';
import type { StoredContent } from '../../messages/content.ts';
import type { SessionRef } from '../../messages/store.ts';
import { type Content, Text } from '../messages/send.ts';
import {
  cardFields,
  contactContent,
  contentToSend,
  locationContent,
  locationFields,
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

/* The content of a bulk send, and the placeholders in it. */

const { request: _, ...choices } = choiceFields;

const kinds = {
  message: optional(Text),
  media: optional(
    strictPart('A file. Pass either `mediaId` or an https `url`, which the server fetches once.', {
      type: oneOf(mediaTypes, '`voice` plays as a voice message; `document` accepts any file.'),
      mediaId: optional(string('Id of an uploaded or received file (`med_…`).', { ...ref('file'), maxLength: 100 })),
      url: optional(string('https URL of the file.', { maxLength: 2048 })),
      caption: optional(string('Text shown below the file.', { maxLength: 4096 })),
      fileName: optional(string('File name to show to the recipient.', { minLength: 1, maxLength: 255 })),
    }),
  ),
  location: optional(strictPart('A location, as in `messages/send-location`.', locationFields)),
  contact: optional(strictPart('A contact card, as in `messages/send-contact`.', cardFields)),
  poll: optional(strictPart('A poll, as in `messages/send-poll`.', pollFields)),
  template: optional(strictPart('A template, as in `messages/send-template`.', templateFields)),
  interactive: optional(strictPart('Buttons, a list, a link or products, as in `messages/send-interactive`.', choices)),
};

const MAX_VALUES = 20;
const MAX_VALUE_LENGTH = 1024;

/** Values for the placeholders of one recipient. */
const Values = Type.Record(Type.String(), Type.String({ maxLength: MAX_VALUE_LENGTH }), { maxProperties: MAX_VALUES });

export const contentFields = {
  ...kinds,
  values: optional(
    Type.Array(Values, {
      description: `Values for the placeholders of each recipient, in the order of \`to\`: \`{"name": "Ada"}\` replaces \`{{name}}\` in every text of the content, and encoded in the URL of a link button after the host. A name has up to 64 letters, digits, \`_\`, \`-\` and \`.\`; other text in double braces is an error. Up to ${MAX_VALUES} per recipient. Without \`values\`, braces are ordinary text.`,
      minItems: 1,
      maxItems: 1000,
    }),
  ),
};

type Kinds = Static<TObject<typeof kinds>>;
type Kind = keyof typeof kinds;
const names = Object.keys(kinds) as Kind[]; // the type of Object.keys loses them

/**
 * Returns the type of content, which has to be the only one.
 * @throws {AppError} `validation_failed`
 */
export function kindOf(input: Kinds): Kind {
  const given = names.filter((name) => input[name] !== undefined);
  const [kind] = given;
  if (kind !== undefined && given.length === 1) return kind;
  const listed = names.map((name) => `\`${name}\``).join(', ');
  throw invalidField(kind ?? 'message', `Pass exactly one of ${listed}`, kind === undefined ? 'required' : 'unknown');
}

/** Returns the type of the messages. */
export function typeOf(kind: Kind, { media }: Kinds): MessageType {
  if (kind === 'message') return 'text';
  return kind === 'media' ? (media?.type ?? 'document') : kind;
}

/** `{{first-name}}` and `{{1}}` are placeholders. */
const PLACEHOLDER = /\{\{\s*([\p{L}\p{N}_][\p{L}\p{N}_.-]{0,63})\s*\}\}/gu;
/** Anything in double braces, to reject what only looks like a placeholder. */
const BRACES = /\{\{([^{}]*)\}\}/g;
const MAX_REPORTED = 20;

/**
 * Returns the content for each recipient, with its values.
 * @param isNeeded whether the recipient at a position gets a message; the values of the others do not matter
 * @throws {AppError} `validation_failed` listing missing values, or the first values that make the content invalid
 */
export function contentsFor<K extends Kinds>(
  input: K,
  kind: Kind,
  values: readonly Record<string, string>[],
  isNeeded: (index: number) => boolean,
): (K | undefined)[] {
  const part = input[kind];
  const wanted = new Set<string>();
  replaceTexts(part, [kind], (text, path) => {
    for (const name of placeholdersIn(text, path)) wanted.add(name);
    return text;
  });
  const missing = missingValues(wanted, values, isNeeded);
  const [first] = missing;
  if (first !== undefined)
    throw new AppError(
      'validation_failed',
      `${first.field} ${first.message}${missing.length > 1 ? ', and more are missing' : ''}`,
      { fields: missing },
    );
  return values.map((own, index) => {
    if (!isNeeded(index)) return undefined;
    const rendered = { ...input, [kind]: replaceTexts(part, [kind], (text, path) => render(text, path, own)) };
    try {
      validate({ [kind]: rendered[kind] });
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      throw invalidField(`values.${index}`, `These values make the content invalid: ${error.message}`);
    }
    return rendered;
  });
}

const validate = validator(strictObject(kinds));

/** Returns the first missing values: a text can have thousands of placeholders, for each of 1,000 recipients. */
function missingValues(
  wanted: ReadonlySet<string>,
  values: readonly Record<string, string>[],
  isNeeded: (index: number) => boolean,
): FieldError[] {
  const missing: FieldError[] = [];
  for (const [index, own] of values.entries()) {
    if (!isNeeded(index)) continue;
    for (const name of wanted) {
      if (Object.hasOwn(own, name)) continue;
      missing.push({ field: `values.${index}.${name}`, code: 'required', message: `is required for {{${name}}}` });
      if (missing.length === MAX_REPORTED) return missing;
    }
  }
  return missing;
}

/** Fields without placeholders, because they identify something. */
const FIXED = ['mediaId', 'url', 'type', 'language', 'catalogId'];
/** URL that a button opens. Values go only after its origin, so that none of them changes the host. */
const BUTTON_URL = 'interactive.link.url';
const ORIGIN = /^https?:\/\/[^\s/?#\\{}]+(?=[/?#])/i;

/**
 * Returns the names of the placeholders in a text.
 * @throws {AppError} `validation_failed` for double braces that would reach the recipient
 */
function placeholdersIn(text: string, path: readonly string[]): string[] {
  const field = path.join('.');
  const found = [...text.matchAll(BRACES)].filter(([, inner = '']) => inner.trim() !== '');
  if (found.length === 0) return [];
  const wrong = found.find(([all]) => all.replace(PLACEHOLDER, '') !== '');
  if (wrong !== undefined)
    throw invalidField(
      field,
      `"${wrong[0].slice(0, 100)}" is not a placeholder; use up to 64 letters, digits, "_", "-" and "."`,
    );
  if (field === BUTTON_URL) {
    if (!ORIGIN.test(text)) throw invalidField(field, 'can contain placeholders only after the host and a slash');
  } else if (FIXED.includes(path.at(-1) ?? '')) throw invalidField(field, 'cannot contain placeholders');
  return [...text.matchAll(PLACEHOLDER)].map(([, name = '']) => name);
}

/** Returns a text with its placeholders replaced. A placeholder in a value stays as it is. */
function render(text: string, path: readonly string[], values: Readonly<Record<string, string>>): string {
  const isUrl = path.join('.') === BUTTON_URL;
  return text.replace(PLACEHOLDER, (all, name: string) => {
    const value = values[name] ?? all;
    return isUrl ? encodeURIComponent(value.toWellFormed()) : value;
  });
}

/** Returns a copy of a value in which each text is replaced. */
function replaceTexts(
  part: unknown,
  path: readonly string[],
  replace: (text: string, path: readonly string[]) => string,
): unknown {
  if (typeof part === 'string') return replace(part, path);
  if (Array.isArray(part)) return part.map((item, index) => replaceTexts(item, [...path, String(index)], replace));
  if (typeof part !== 'object' || part === null) return part;
  const replaced = Object.entries(part).map(([name, value]) => [name, replaceTexts(value, [...path, name], replace)]);
  return Object.fromEntries(replaced);
}

type ContentContext = Context<'media' | 'preparation' | 'targets'>;

/**
 * Returns the function that makes a recipient's content. Files are fetched and converted once, for all of them.
 * @throws {AppError} the errors of the file
 */
export async function contentMaker(
  ctx: ContentContext,
  session: SessionRef,
  input: Kinds,
): Promise<(own: Kinds) => Promise<Content>> {
  const { media, template, interactive } = input;
  if (interactive !== undefined) await requireCatalog(ctx, session, interactive);
  const file = media && (await contentToSend(ctx, session, media, 'media.'));
  const head = template?.header && (await templateContent(ctx, session, template)).content;
  return async (own) => {
    if (own.message !== undefined) return { type: 'text', text: own.message, content: {} };
    if (own.location !== undefined) return locationContent(own.location);
    if (own.contact !== undefined) return contactContent(own.contact);
    if (own.poll !== undefined) return pollContent(own.poll);
    if (own.interactive !== undefined) return interactiveContent(own.interactive);
    if (own.template !== undefined) {
      const { header, ...rest } = own.template;
      const content = await templateContent(ctx, session, rest);
      if (head === undefined || content.content.template === undefined) return content;
      const template = { ...content.content.template, ...(header && { header: header.type }) };
      return { ...content, content: { ...named(head, header?.fileName), template } };
    }
    if (own.media === undefined || file === undefined) throw new AppError('internal_error');
    return { type: own.media.type, text: own.media.caption ?? '', content: named(file, own.media.fileName) };
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
