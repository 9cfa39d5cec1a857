import { type Static, Type } from 'typebox';
import { isoTime } from '../../clock.ts';
import type { MediaTable } from '../../db/schema.ts';
import {
  boolean,
  integer,
  named,
  notForAgents,
  object,
  oneOf,
  onlyTrue,
  optional,
  orNull,
  string,
  time,
} from '../../invoke/input/fields.ts';
import { ref } from '../../invoke/input/references.ts';
import { type Context, defineOperation } from '../../invoke/operation.ts';
import type { ServicesWith } from '../../invoke/services.ts';
import { factsOf } from '../../media/media.ts';
import { noteAdded } from '../shared/pictures.ts';
import { contentField, factFields, inlineContent, shownFacts, thumbnailField } from './mediaFields.ts';

const MediaId = string('Id of the file (`med_…`).', { ...ref('file'), maxLength: 100 });

const Media = named('Media', {
  mediaId: MediaId,
  mimeType: string('Media type, detected from the content, such as `image/jpeg`.'),
  size: integer('Size in bytes.', { minimum: 1 }),
  sha256: string('SHA-256 of the content, in hexadecimal.'),
  fileName: orNull(Type.String(), 'Name of the file; null if it has none.'),
  createdAt: time('When the file was first stored.'),
  url: string('Download the content here, with a credential that has `media:read`.'),
  ...factFields,
  ...contentField,
  ...thumbnailField,
});

export const uploadMedia = defineOperation({
  id: 'media.upload',
  route: 'POST /media',
  approval: 'free',
  permission: 'media:write',
  scope: 'none',
  effect: 'write',
  uses: ['media'],
  summary: 'Upload a file',
  description:
    'Upload a file to send it in a message, or to use it as a picture. The request body is the file itself, or a form (`multipart/form-data`) with one file. The server detects the media type from the content. Uploading the same content again returns the existing file under the name of its first upload, so repeats are safe.',
  status: 201,
  takesContent: true,
  input: {
    fileName: optional(
      string('Name of the file. By default the name in `Content-Disposition` or in the form.', { maxLength: 255 }),
    ),
  },
  output: Media,
  errors: ['payload_too_large', 'too_many'],
  async run(ctx, input) {
    const content = await ctx.openContent();
    const fileName = input.fileName ?? content.fileName;
    const row = await ctx.media.keep(ctx.accountId, { ...content, fileName });
    await noteAdded(ctx, row.media_id);
    return toMedia(ctx, row);
  },
});

/** Image types that models accept. Larger images would not fit into their context. */
const IMAGE_TYPES = ['image/png', 'image/jpeg', 'image/webp', 'image/gif'] as const;
const MAX_IMAGE_BYTES = 4 * 1024 * 1024;

export const getMedia = defineOperation({
  id: 'media.get',
  route: 'GET /media/{mediaId}',
  permission: 'media:read',
  scope: 'mediaId',
  effect: 'read',
  tool: true,
  thirdPartyText: true,
  uses: ['media', 'previews'],
  summary: 'Get a file',
  description: "Get a file's type, size and download `url`. Use it to look at the file of a message.",
  input: {
    mediaId: MediaId,
    encoding: optional({
      ...oneOf(['base64'], '`base64` also returns the content, of files of up to 1 MiB.'),
      ...notForAgents,
    }),
    thumbnail: optional({ ...boolean('`true` also returns the thumbnail, if there is one.'), ...notForAgents }),
  },
  output: Media,
  errors: ['not_found', 'payload_too_large'],
  representations: Object.fromEntries(
    IMAGE_TYPES.map((type) => [
      type,
      async ({ mimeType, size, sha256 }: Static<typeof Media>, { media }: ServicesWith<'media'>) =>
        mimeType === type && size <= MAX_IMAGE_BYTES ? media.read(sha256) : null,
    ]),
  ),
  preview: ({ mimeType, size, sha256 }, { previews }, accountId) =>
    previews.of(accountId, { mimeType, size, hash: sha256 }),
  async run(ctx, { mediaId, encoding, thumbnail }) {
    const row = await ctx.media.find(ctx.accountId, mediaId);
    return {
      ...toMedia(ctx, row),
      ...(encoding !== undefined && { content: await inlineContent(ctx, row) }),
      ...(thumbnail === true && row.thumbnail !== null && { thumbnail: row.thumbnail }),
    };
  },
});

export const deleteMedia = defineOperation({
  id: 'media.delete',
  route: 'DELETE /media/{mediaId}',
  approval: 'free',
  permission: 'media:write',
  scope: 'account', // the same content may belong to messages of other sessions
  effect: 'destructive',
  uses: ['removal'],
  summary: 'Delete a file',
  description:
    'Delete a file. This cannot be undone. Messages that were sent or received with it stay, and show it with `available: false`. A file that a scheduled or queued message or the picture of a group needs is not deleted.',
  input: { mediaId: MediaId },
  output: object({ mediaId: MediaId, deleted: onlyTrue() }),
  errors: ['not_found', 'message_state'],
  async run(ctx, { mediaId }) {
    await ctx.removal.delete(ctx.accountId, mediaId);
    return { mediaId, deleted: true as const };
  },
});

function toMedia({ media }: Context<'media'>, row: MediaTable) {
  return {
    mediaId: row.media_id,
    mimeType: row.mime_type,
    size: row.size,
    sha256: row.hash,
    fileName: row.file_name,
    createdAt: isoTime(row.created_at),
    url: media.urlOf(row.media_id),
    ...shownFacts(factsOf(row)),
  };
}
