import { type Context, needsApproval } from '../../invoke/operation.ts';
import { requireFetchable } from '../../media/fetch.ts';
import type { StoredContent } from '../../messages/content.ts';

/*
 * A request for a URL tells its host whatever the URL contains, so for a key with `requiresApproval` the server makes
 * it once the message is approved. Until then, the message has the URL in `toFetch`.
 */

/**
 * Returns the part of a message that stands for the file at a URL, or undefined if the file can be fetched now.
 * @throws {AppError} `validation_failed` if the URL is not allowed
 */
export function deferredFile(
  ctx: Context<'targets'>,
  { url, fileName }: { readonly url?: string | undefined; readonly fileName?: string | undefined },
  field = 'url',
): StoredContent | undefined {
  if (url === undefined || !needsApproval(ctx)) return undefined;
  requireFetchable(url, ctx.targets, field);
  return { toFetch: { fileUrl: url, ...(fileName !== undefined && { fileName }) } };
}
