import { Type } from 'typebox';
import type { NetworkMedia } from '../../connectors/contract/networkMedia.ts';
import { invalidField } from '../../errors.ts';
import { orNull } from '../../invoke/input/fields.ts';
import { ref } from '../../invoke/input/references.ts';
import { type Context, sessionsOf } from '../../invoke/operation.ts';
import { storedMedia, toNetworkMedia } from '../../messages/content.ts';

/* Uploaded files as pictures of accounts and groups. */

export const PictureMediaId = orNull(
  Type.String({ ...ref('file'), maxLength: 100 }),
  'Id of an uploaded image; null removes the picture.',
);

/** Lets a key that is limited to sessions use a file that it added, even before a message contains the file. */
export async function noteAdded(ctx: Context, mediaId: string): Promise<void> {
  const { credential } = ctx.caller;
  if (sessionsOf(ctx) === undefined || credential.type !== 'api_key') return;
  const row = { account_id: ctx.accountId, key_id: credential.keyId, media_id: mediaId };
  await ctx.database.commit(({ kysely }) =>
    kysely
      .insertInto('key_media')
      .values(row)
      .onConflict((conflict) => conflict.doNothing())
      .execute(),
  );
}

/** @throws {AppError} `not_found`; `validation_failed` if the file is not an image */
export async function pictureOf(ctx: Context<'media'>, mediaId: string | null): Promise<NetworkMedia | null> {
  if (mediaId === null) return null;
  const media = storedMedia(await ctx.media.find(ctx.accountId, mediaId));
  if (!media.mimeType.startsWith('image/'))
    throw invalidField('pictureMediaId', `The file is ${media.mimeType}; a picture must be an image`, 'media_type');
  return toNetworkMedia(media, ctx.media);
}
