import { invalidField } from '../../errors.ts';
import { oneOf, optional, string } from '../../invoke/input/fields.ts';
import { ref } from '../../invoke/input/references.ts';
import type { Context } from '../../invoke/operation.ts';
import { type StoredMedia, storedMedia } from '../../messages/content.ts';
import type { SessionRef } from '../../messages/store.ts';
import { preparedFile } from '../messages/sending.ts';

/* The content of what is sent to no chat: statuses, and posts in channels. */

type FileType = 'image' | 'video' | 'voice';

interface PostContent {
  readonly type?: 'text' | FileType | undefined;
  readonly message?: string | undefined;
  readonly mediaId?: string | undefined;
  readonly url?: string | undefined;
  readonly content?: string | undefined;
}

/** @param what is posted, such as `status` */
export const contentInput = <T extends string>(types: readonly T[], what: string, maxText: number) => ({
  type: optional(oneOf(types, `Type of the ${what}; \`text\` by default.`)),
  message: optional(string('Text, or caption of the file.', { minLength: 1, maxLength: maxText })),
  mediaId: optional(string('Id of an uploaded or received file (`med_…`).', { ...ref('file'), maxLength: 100 })),
  url: optional(string('https URL of the file.', { maxLength: 2048 })),
  content: optional(
    string('A small file in base64, up to 700,000 characters.', { minLength: 1, contentEncoding: 'base64' }),
  ),
});

/** @throws {AppError} `validation_failed` for a text without words, or with a file */
export function requirePostContent(
  { type = 'text', message, mediaId, url, content }: PostContent,
  types: readonly string[],
) {
  if (type !== 'text') return;
  if (message === undefined) throw invalidField('message', 'is required for a text', 'required');
  if ((mediaId ?? url ?? content) === undefined) return;
  const files = types.filter((one) => one !== 'text').map((one) => `\`${one}\``);
  throw invalidField('type', `is required for a file: ${files.slice(0, -1).join(', ')} or ${files.at(-1)}`, 'required');
}

/** Returns the file of a post in a form that the apps of the network show; undefined for a text. */
export async function fileToPost(
  ctx: Context<'media' | 'preparation'>,
  session: SessionRef,
  { type = 'text', ...given }: PostContent,
): Promise<StoredMedia | undefined> {
  return type === 'text' ? undefined : storedMedia(await preparedFile(ctx, session, { ...given, type }));
}
