import type { Buffer } from 'node:buffer';
import { type Static, Type } from 'typebox';
import type { MediaFacts } from '../../connectors/contract/media.ts';
import { query } from '../../db/query.ts';
import { AppError } from '../../errors.ts';
import { MediaPart } from '../../events/parts.ts';
import { integer, list, notForAgents, onlyTrue, optional, string } from '../../invoke/input/fields.ts';
import type { Context } from '../../invoke/operation.ts';
import type { StoredContent, StoredMedia } from '../../messages/content.ts';
import { mediaPart } from '../../messages/content.ts';

/* The fields of files that only programs see: the facts about a file, and its content. */

/** Larger files are downloaded, because JSON has to be read into memory as a whole. */
export const MAX_INLINE_BYTES = 1024 * 1024;

export const factFields = {
  width: optional({ ...integer('Width in pixels, if it is known.', { minimum: 1 }), ...notForAgents }),
  height: optional({ ...integer('Height in pixels, if it is known.', { minimum: 1 }), ...notForAgents }),
  durationSeconds: optional({ ...integer('Duration in seconds, if it is known.', { minimum: 1 }), ...notForAgents }),
  waveform: optional({
    ...list(Type.Integer({ minimum: 0, maximum: 100 }), 'Loudness of a voice message over its duration: 64 values.'),
    ...notForAgents,
  }),
  hasThumbnail: optional({
    ...onlyTrue('Present if apps get a small picture of it before they download it.'),
    ...notForAgents,
  }),
};

export const contentField = {
  content: optional({
    ...string('The content in base64; only if you ask for it, and of up to 1 MiB.', { contentEncoding: 'base64' }),
    ...notForAgents,
  }),
};

export const thumbnailField = {
  thumbnail: optional({
    ...string('The thumbnail in base64, a small JPEG; only if you ask for it, and if there is one.', {
      contentEncoding: 'base64',
    }),
    ...notForAgents,
  }),
};

/** Facts about the file of a message. */
export const MessageMediaFacts = Type.Object(factFields, {
  description: 'Size, duration and waveform of the file, as far as they are known.',
});

/** The file of a status or a post. */
export const PostedMedia = Type.Object({
  ...MediaPart.properties,
  available: optional({
    ...Type.Literal(false, { description: 'Present if the file was deleted: its URL answers 404.' }),
    ...notForAgents,
  }),
});

/** The file of a message. */
export const MessageMedia = Type.Object({ ...PostedMedia.properties, ...contentField });

/** @throws {AppError} `payload_too_large` */
export async function inlineContent(
  ctx: Context<'media'>,
  { hash, size }: Pick<StoredMedia, 'hash' | 'size'>,
): Promise<string> {
  if (size > MAX_INLINE_BYTES) {
    const advice = 'download it from its `url` instead';
    throw new AppError(
      'payload_too_large',
      `The file has ${size} bytes, and only files of up to ${MAX_INLINE_BYTES} bytes are returned in base64; ${advice}`,
    );
  }
  const content: Buffer = await ctx.media.read(hash);
  return content.toString('base64');
}

export function shownFacts({ width, height, durationSeconds, waveform, hasThumbnail }: MediaFacts = {}) {
  return {
    ...(width !== undefined && { width }),
    ...(height !== undefined && { height }),
    ...(durationSeconds !== undefined && { durationSeconds }),
    ...(waveform !== undefined && { waveform: [...waveform] }),
    ...(hasThumbnail === true && { hasThumbnail }),
  };
}

interface Shown {
  readonly media?: Static<typeof MessageMedia>;
  readonly mediaFacts?: Static<typeof MessageMediaFacts>;
}

export type FileOf = Awaited<ReturnType<typeof mediaReader>>;

/** Returns a function that shows the file of a message, and reads at once which files still exist. */
export async function mediaReader(ctx: Context<'media'>, contents: readonly Pick<StoredContent, 'media'>[]) {
  const ids = contents.flatMap(({ media }) => (media === undefined ? [] : [media.mediaId]));
  const { accountId, database } = ctx;
  const found =
    ids.length === 0 ? [] : await findExisting.all(database.reader, { accountId, ids: JSON.stringify(ids) });
  const existing = new Set(found.map(({ media_id }) => media_id));
  return ({ media }: Pick<StoredContent, 'media'>): Shown => {
    if (media === undefined) return {};
    const isGone = !existing.has(media.mediaId);
    return {
      media: { ...mediaPart(media, ctx.media), ...(isGone && { available: false as const }) },
      ...(media.facts && { mediaFacts: shownFacts(media.facts) }),
    };
  };
}

const findExisting = query((db, p: { accountId: string; ids: string }, dialect) =>
  db
    .selectFrom('media')
    .select('media_id')
    .where('account_id', '=', p.accountId)
    .where('media_id', 'in', dialect.texts(p.ids)),
);
