import type { proto } from 'baileys';
import type { MessageContent } from '../../contract/content.ts';
import type { Referral } from '../../contract/contentParts.ts';

type Context = proto.IContextInfo;
type Ad = proto.ContextInfo.IExternalAdReplyInfo;

/** Values of `entryPointConversionSource` for chats that began with an ad. Others stand for links and searches. */
const AD_ENTRY = /^ctwa/i;

/**
 * The ad or post before a message. Apps use `externalAdReply` for other previews too: an ad has a source or a click id.
 * https://github.com/evolution-foundation/evolution-api/issues/1252
 * For some numbers, everything but the entry point is sealed for the phone (`ctwaPayload`).
 * https://github.com/WhiskeySockets/Baileys/issues/2354
 */
export function referralOf(context: Context | null | undefined): Pick<MessageContent, 'referral'> {
  const ad = context?.externalAdReply;
  const entryPoint = context?.entryPointConversionSource ?? '';
  const isAd = ad ? Boolean(ad.sourceId || ad.ctwaClid) : false;
  if (!isAd && !AD_ENTRY.test(entryPoint)) return {};
  return { referral: { ...(ad && partsOf(ad)), ...entryOf(entryPoint || ad?.sourceType) } };
}

function partsOf({ sourceId, sourceUrl, title, body, ctwaClid, ...ad }: Ad): Referral {
  const mediaUrl = ad.mediaUrl || ad.originalImageUrl || ad.thumbnailUrl;
  return {
    ...(sourceId && { adId: sourceId }),
    ...(sourceUrl && { url: sourceUrl }),
    ...(title && { headline: title }),
    ...(body && { body }),
    ...(ctwaClid && { clickId: ctwaClid }),
    ...(mediaUrl && { mediaUrl }),
  };
}

const entryOf = (entryPoint: string | null | undefined): Referral => (entryPoint ? { entryPoint } : {});
