import { Type } from 'typebox';
import { callerKeyId } from '../../auth/authenticate.ts';
import { findKeyCaller } from '../../auth/keyCaller.ts';
import { allows } from '../../auth/permissions.ts';
import { isoTime } from '../../clock.ts';
import { AppError } from '../../errors.ts';
import {
  boolean,
  integer,
  named,
  object,
  onlyTrue,
  optional,
  orNull,
  string,
  time,
} from '../../invoke/input/fields.ts';
import { ref } from '../../invoke/input/references.ts';
import { defineOperation, sessionsOf } from '../../invoke/operation.ts';
import { SessionScopes } from '../../invoke/sessionScope.ts';
import { LINK_SECONDS } from '../../media/links.ts';

/* Links that download a file without a credential. */

const MediaId = string('Id of the file (`med_…`).', { ...ref('file'), maxLength: 100 });

const MediaLink = named('MediaLink', {
  mediaId: MediaId,
  url: string(
    'Downloads the file without a credential. A path if `PUBLIC_URL` is not set. Keep it as secret as the file.',
  ),
  expiresAt: time('When the link expires.'),
});

export const createMediaLink = defineOperation({
  id: 'media.create_link',
  route: 'POST /media/{mediaId}/links',
  approval: 'free',
  permission: 'media:read',
  scope: 'mediaId',
  effect: 'write',
  isRepeatable: true,
  uses: ['media', 'links'],
  summary: 'Create a link to a file',
  description:
    'Create a signed link that downloads a file without a credential until it expires. It supports `Range`. It stops working earlier if the file is deleted, if the API key that created it ends, is rotated, loses `media:read` or can no longer use the file, and with `media.revoke_links`.',
  status: 201,
  input: {
    mediaId: MediaId,
    expiresInSeconds: optional(
      integer(`Lifetime in seconds, up to seven days. Defaults to ${LINK_SECONDS.usual}.`, {
        minimum: LINK_SECONDS.least,
        maximum: LINK_SECONDS.most,
      }),
    ),
    download: optional(
      boolean('Whether browsers always save the file. By default, they show images, audio and video.'),
    ),
  },
  output: MediaLink,
  errors: ['not_found'],
  example: { mediaId: 'med_01JZ8Q5T2M0000000000000000', expiresInSeconds: 900 },
  async run(ctx, { mediaId, expiresInSeconds = LINK_SECONDS.usual, download = false }) {
    await ctx.media.find(ctx.accountId, mediaId);
    const make = await ctx.links.maker(ctx.accountId, callerKeyId(ctx) ?? undefined);
    const { url, expiresAt } = make({
      mediaId,
      lifetimeMs: expiresInSeconds * 1000,
      isDownload: download,
    });
    return { mediaId, url, expiresAt: isoTime(expiresAt) };
  },
});

export const revokeMediaLinks = defineOperation({
  id: 'media.revoke_links',
  route: 'POST /media/links/revoke',
  approval: 'free',
  permission: 'media:write',
  scope: 'account',
  effect: 'destructive',
  uses: ['links'],
  summary: 'Revoke all links to files',
  description:
    'Revoke all links to files that the account has made, including links in delivered webhooks, by rotating the key that signs them. New links work.',
  input: {},
  output: object({ revoked: onlyTrue() }),
  async run(ctx) {
    await ctx.links.revoke(ctx.accountId);
    return { revoked: true as const };
  },
});

/**
 * The file behind a link. `http/mediaContent.ts` sends its content. It is not in the table, because links have no
 * caller.
 */
export const openMediaLink = defineOperation({
  id: 'media.open_link',
  route: 'GET /media/{mediaId}/file',
  credential: 'none',
  permission: null,
  effect: 'read',
  uses: ['links'],
  summary: 'Download a file by a link',
  input: { mediaId: Type.String({ maxLength: 100 }), token: string('Token of the link.', { maxLength: 300 }) },
  output: object({
    mimeType: string('Media type.'),
    size: integer('Size in bytes.'),
    sha256: string('SHA-256 of the content.'),
    fileName: orNull(Type.String(), 'File name.'),
    isDownload: boolean('Whether browsers must save it.'),
  }),
  errors: ['link_invalid'],
  async run(ctx, { mediaId, token }) {
    const { accountId, keyId, isDownload, file } = await ctx.links.open(mediaId, token);
    if (keyId !== undefined) {
      const key = await findKeyCaller(ctx.database.reader, keyId, ctx.clock.now());
      if (key?.accountId !== accountId || !allows(key.credential.permissions, 'media:read'))
        throw new AppError('link_invalid');
      const sessionIds = sessionsOf({ caller: key });
      if (sessionIds !== undefined && !(await new SessionScopes(ctx).hasFile(key, sessionIds, mediaId)))
        throw new AppError('link_invalid');
    }
    const { mime_type: mimeType, size, hash: sha256, file_name: fileName } = file;
    return { mimeType, size: Number(size), sha256, fileName, isDownload };
  },
});
