import type { ContentParts, LinkPreview } from '../../connectors/contract/contentParts.ts';
import type { MessageRow } from '../../db/schema.ts';
import type { Context } from '../../invoke/operation.ts';
import { contentOf, type StoredContent, storedMedia, type ToFetch } from '../../messages/content.ts';
import { sessionOf } from '../../messages/store.ts';
import { firstLink } from './richSending.ts';
import { preparedFile } from './sending.ts';

/**
 * Fetches what a message waits for, and drops a link preview that no longer fits its text.
 * @param text the text that goes out
 * @returns the content to send; undefined if it stays as it is
 * @throws {AppError} `fetch_failed` and the other errors of a file, so that the message still waits
 */
export async function approvedContent(
  ctx: Context<'media' | 'linkPreviews' | 'preparation'>,
  row: MessageRow,
  text: string,
): Promise<StoredContent | undefined> {
  const { toFetch, linkPreview, ...content } = contentOf(row);
  const type = content.template?.header ?? row.type;
  const preview = linkPreview && !text.includes(linkPreview.url) ? undefined : linkPreview;
  if (toFetch === undefined && preview === linkPreview) return undefined;
  return {
    ...content,
    ...(await fetchedFile(ctx, { ...row, type }, toFetch)),
    ...(await fetchedPreview(ctx, preview, text, toFetch)),
  };
}

async function fetchedFile(
  ctx: Context<'media' | 'preparation'>,
  row: MessageRow,
  { fileUrl: url, fileName }: ToFetch = {},
) {
  if (url === undefined) return {};
  const media = storedMedia(await preparedFile(ctx, sessionOf(row), { type: row.type, url }));
  return { media: { ...media, fileName: fileName ?? media.fileName } };
}

async function fetchedPreview(
  ctx: Context<'linkPreviews'>,
  linkPreview: LinkPreview | null | undefined,
  text: string,
  { preview, previewImageUrl }: ToFetch = {},
): Promise<ContentParts> {
  const link = preview === true ? firstLink(text) : undefined;
  if (link !== undefined) {
    const page = await ctx.linkPreviews.of(ctx.accountId, link);
    return page === undefined ? {} : { linkPreview: { url: link, ...page } };
  }
  if (linkPreview === undefined) return {};
  if (linkPreview === null || previewImageUrl === undefined) return { linkPreview };
  const thumbnail = await ctx.linkPreviews.fetchThumbnail(ctx.accountId, previewImageUrl);
  return { linkPreview: { ...linkPreview, ...(thumbnail && { thumbnail }) } };
}
