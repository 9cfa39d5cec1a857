import { Type } from 'typebox';
import type { Capability } from '../../connectors/contract/capabilities.ts';
import { capabilities } from '../../connectors/contract/capabilities.ts';
import type { ContentParts, LinkPreview } from '../../connectors/contract/contentParts.ts';
import { AppError, invalidField } from '../../errors.ts';
import { isGroupId } from '../../ids.ts';
import { boolean, notBlank, notForAgents, optional, strictPart, string } from '../../invoke/input/fields.ts';
import { ref } from '../../invoke/input/references.ts';
import { type Context, needsApproval } from '../../invoke/operation.ts';
import { plainLine } from '../../media/content.ts';
import { requireFetchable } from '../../media/fetch.ts';
import { PREVIEW_IMAGE_BYTES } from '../../media/linkPreviews.ts';
import type { StoredContent } from '../../messages/content.ts';
import type { SessionRef } from '../../messages/store.ts';

/* Options of a message that only some networks have. Tools show few of them. */

const ChosenPreview = strictPart('Title, description and picture of the preview.', {
  url: optional(string('The link; by default the first one in the text, which must contain it.', { maxLength: 2048 })),
  title: notBlank(string('Title of the page.', { minLength: 1, maxLength: 200 })),
  description: optional(string('A sentence below the title.', { minLength: 1, maxLength: 500 })),
  image: optional(
    string('Picture of the page: an https URL, or the id of an uploaded image (`med_…`).', {
      ...ref('fileOrUrl'),
      maxLength: 2048,
    }),
  ),
});

const LinkPreviewOption = optional({
  ...Type.Union([Type.Boolean(), ChosenPreview], {
    description:
      'Preview of the first link in the text. With true, the server fetches the page, over https only, and sends the text without a preview if there is none. Pass an object to choose what it shows. By default the network decides; WhatsApp then shows none.',
  }),
  ...notForAgents,
});

const MentionAll = optional(boolean('Mention everybody in the group. Only for groups.', { default: false }));

export const textOptions = { linkPreview: LinkPreviewOption, mentionAll: MentionAll };

export const fileOptions = {
  viewOnce: optional(
    boolean('The recipient can open the file once. For images, videos and voice messages.', { default: false }),
  ),
  gif: optional({
    ...boolean('Plays a video like a GIF: in a loop, without sound.', { default: false }),
    ...notForAgents,
  }),
  videoNote: optional({
    ...boolean('Shows a video as a round video note, which has no caption.', { default: false }),
    ...notForAgents,
  }),
  mentionAll: MentionAll,
};

interface Options {
  readonly mentionAll?: boolean | undefined;
}

interface TextOptions extends Options {
  readonly linkPreview?:
    | boolean
    | {
        readonly url?: string | undefined;
        readonly title: string;
        readonly description?: string | undefined;
        readonly image?: string | undefined;
      }
    | undefined;
}

interface FileOptions extends Options {
  readonly viewOnce?: boolean | undefined;
  readonly gif?: boolean | undefined;
  readonly videoNote?: boolean | undefined;
}

/** Whether a text has options that take time, or that its network may not have. */
export const hasTextOptions = ({ linkPreview, mentionAll }: TextOptions): boolean =>
  linkPreview !== undefined || mentionAll === true;

/** @throws {AppError} `not_supported`, `validation_failed`, `not_found`, `fetch_failed` */
export async function textParts(
  ctx: Context<'media' | 'linkPreviews' | 'targets'>,
  session: SessionRef,
  { to, message, linkPreview, mentionAll }: TextOptions & { readonly to: string; readonly message: string },
): Promise<StoredContent> {
  const mentions = await mentioningAll(ctx, session, to, { mentionAll });
  if (linkPreview === undefined) return mentions;
  if (linkPreview === false) return { ...mentions, linkPreview: null };
  await requireFeature(ctx, session, 'link_previews');
  if (typeof linkPreview === 'object') await requireFeature(ctx, session, 'chosen_link_previews');
  const parts =
    typeof linkPreview === 'object'
      ? await chosenPreview(ctx, message, linkPreview)
      : await madePreview(ctx, session, message);
  return { ...mentions, ...parts };
}

/** @throws {AppError} `not_supported`, `validation_failed` */
export async function fileParts(
  ctx: Context,
  session: SessionRef,
  { to, type, caption, ...options }: FileOptions & { to: string; type: string; caption?: string | undefined },
): Promise<ContentParts> {
  const { viewOnce, gif, videoNote } = options;
  if (viewOnce === true && !['image', 'video', 'voice'].includes(type))
    throw invalidField('viewOnce', 'is only for images, videos and voice messages');
  for (const [name, value] of Object.entries({ gif, videoNote }))
    if (value === true && type !== 'video') throw invalidField(name, 'is only for videos');
  if (gif === true && videoNote === true) throw invalidField('videoNote', 'cannot be combined with `gif`');
  if (videoNote === true && caption) throw invalidField('caption', 'is not possible on a video note');
  if (viewOnce === true) await requireFeature(ctx, session, 'view_once');
  if (gif === true) await requireFeature(ctx, session, 'gif');
  if (videoNote === true) await requireFeature(ctx, session, 'video_note');
  return {
    ...(await mentioningAll(ctx, session, to, options)),
    ...(viewOnce === true && { isViewOnce: true }),
    ...(gif === true && { isGif: true }),
    ...(videoNote === true && { isVideoNote: true }),
  };
}

async function mentioningAll(ctx: Context, session: SessionRef, to: string, { mentionAll }: Options) {
  if (mentionAll !== true) return {};
  if (!isGroupId(to)) throw invalidField('mentionAll', 'is only for groups');
  await requireFeature(ctx, session, 'mention_all');
  return { mentionsAll: true };
}

/**
 * Requires a feature of the session's network, whether or not the session is connected.
 * @throws {AppError} `not_supported`
 */
export async function requireFeature(ctx: Context, session: SessionRef, name: Capability): Promise<void> {
  if (!(await hasFeature(ctx, session, name)))
    throw new AppError('not_supported', `The network does not support this: ${capabilities[name].title}`);
}

/** A network that declares nothing has whatever its connections have. */
async function hasFeature(ctx: Context, { sessionId }: SessionRef, name: Capability): Promise<boolean> {
  const connectorOf = await ctx.sessions.connectorsOf.of([sessionId]);
  return connectorOf(sessionId)?.capabilities?.includes(name) ?? true;
}

const LINK = /https?:\/\/[^\s<>"]{3,2000}/i;

/** The first link of a text, without the punctuation of the sentence around it. */
export function firstLink(text: string): string | undefined {
  const found = LINK.exec(text)?.[0].replace(/[.,;:!?'*_~]+$/, '');
  if (found === undefined) return undefined;
  const isClosed = found.endsWith(')') && !found.includes('(');
  const link = isClosed ? found.slice(0, -1) : found;
  return URL.canParse(link) ? link : undefined;
}

/** The preview of the first link. It waits for the approval of the message, because the URL can carry data. */
async function madePreview(ctx: Context<'linkPreviews'>, session: SessionRef, message: string): Promise<StoredContent> {
  const url = firstLink(message);
  if (url === undefined) return {};
  // Such a network makes the preview itself.
  if (!(await hasFeature(ctx, session, 'chosen_link_previews'))) return { linkPreview: { url } };
  if (needsApproval(ctx)) return { toFetch: { preview: true } };
  const page = await ctx.linkPreviews.of(ctx.accountId, url);
  return page === undefined ? {} : { linkPreview: { url, ...page } };
}

export async function chosenPreview(
  ctx: Context<'media' | 'linkPreviews' | 'targets'>,
  message: string,
  { url = firstLink(message), title, description, image }: Exclude<NonNullable<TextOptions['linkPreview']>, boolean>,
): Promise<StoredContent> {
  if (url === undefined) throw invalidField('linkPreview', 'The text has no link to show a preview of');
  if (!message.includes(url)) throw invalidField('linkPreview.url', 'must occur in the text');
  const below = plainLine(description ?? '');
  const linkPreview: LinkPreview = { url, title: plainLine(title), ...(below && { description: below }) };
  if (image === undefined) return { linkPreview };
  if (needsApproval(ctx) && !image.startsWith('med_')) {
    requireFetchable(image, ctx.targets, 'linkPreview.image');
    return { linkPreview, toFetch: { previewImageUrl: image } };
  }
  return { linkPreview: { ...linkPreview, thumbnail: await thumbnailOf(ctx, image) } };
}

async function thumbnailOf(ctx: Context<'media' | 'linkPreviews'>, image: string): Promise<string> {
  const found = image.startsWith('med_')
    ? await uploadedThumbnail(ctx, image)
    : await ctx.linkPreviews.fetchThumbnail(ctx.accountId, image);
  if (found !== undefined) return found;
  throw invalidField('linkPreview.image', `is not an image of up to ${PREVIEW_IMAGE_BYTES} bytes that can be shown`);
}

async function uploadedThumbnail(
  { linkPreviews, media, accountId }: Context<'media' | 'linkPreviews'>,
  mediaId: string,
) {
  const { hash, size } = await media.find(accountId, mediaId);
  return size > PREVIEW_IMAGE_BYTES ? undefined : linkPreviews.thumbnail(accountId, await media.read(hash));
}
