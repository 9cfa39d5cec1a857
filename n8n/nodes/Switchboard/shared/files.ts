import type { Readable } from 'node:stream';
import type {
  BinaryHelperFunctions,
  IBinaryData,
  IDataObject,
  IExecuteFunctions,
  IWebhookFunctions,
} from 'n8n-workflow';
import type { ItemCall } from './itemCall.ts';
import { callApi, fetchApi, path } from './transport.ts';

/* Files on their way into n8n and out of it, as streams where n8n stores them outside its memory. */

type FileBody = Parameters<BinaryHelperFunctions['prepareBinaryData']>[0];

const UPLOAD_TIMEOUT_MS = 300_000;
const DOWNLOAD_TIMEOUT_MS = 300_000;

/** Uploads the binary data of the item. @returns the file as the API describes it */
export async function upload(item: ItemCall, property: string): Promise<IDataObject> {
  const { helpers } = item.execution;
  const binary = helpers.assertBinaryData(item.itemIndex, property);
  const { id } = binary;
  const size = id === undefined ? undefined : (await helpers.getBinaryMetadata(id)).fileSize;
  let stream: Readable | undefined;
  const openBody = async () => {
    if (id === undefined) return helpers.getBinaryDataBuffer(item.itemIndex, property);
    // A failed attempt leaves a part unread.
    stream?.destroy();
    stream = await helpers.getBinaryStream(id);
    return stream;
  };
  const uploading = item.call({
    method: 'POST',
    path: '/media',
    ...(binary.fileName !== undefined && { query: { fileName: binary.fileName } }),
    headers: {
      'Content-Type': contentTypeOf(binary.mimeType),
      ...(size !== undefined && { 'Content-Length': size }),
    },
    openBody,
    // The same content gets the same id.
    isRepeatable: true,
    timeoutMs: UPLOAD_TIMEOUT_MS,
  });
  return uploading.finally(() => stream?.destroy());
}

/** RFC 9110, section 8.3.1. Other characters would break the header. */
const MEDIA_TYPE = /^[\w!#$%&'*+.^`|~-]+\/[\w!#$%&'*+.^`|~-]+(?:[ \t]*;[ \t!-~]*)?$/;
/** n8n's HTTP client encodes a body of these types, and the server reads a form as one. */
const ENCODED_TYPES = ['application/json', 'application/x-www-form-urlencoded', 'multipart/form-data'];

/**
 * Returns the type to send a file with. The server recognizes a file by its content, so a general type loses little.
 */
function contentTypeOf(mimeType: string): string {
  const type = mimeType.trim();
  const [essence = ''] = type.toLowerCase().split(/[; \t]/);
  return MEDIA_TYPE.test(type) && !ENCODED_TYPES.includes(essence) ? type : 'application/octet-stream';
}

/** Downloads a file, named like it. @returns it as binary data of n8n */
export async function download(
  context: IExecuteFunctions | IWebhookFunctions,
  mediaId: string,
  { itemIndex, timeoutMs = DOWNLOAD_TIMEOUT_MS }: { itemIndex?: number; timeoutMs?: number } = {},
): Promise<{ media: IDataObject; binary: IBinaryData }> {
  const at = itemIndex === undefined ? {} : { itemIndex };
  const media = await callApi(context, { path: path`/media/${mediaId}`, timeoutMs, ...at });
  const { body } = await fetchApi<FileBody>(context, {
    path: path`/media/${mediaId}/content`,
    encoding: 'stream',
    timeoutMs,
    ...at,
  });
  const { fileName, mimeType } = media;
  const name = typeof fileName === 'string' ? fileName : `${mediaId}${endingOf(String(mimeType))}`;
  return { media, binary: await context.helpers.prepareBinaryData(body, name, String(mimeType)) };
}

const ENDINGS: Readonly<Record<string, string>> = {
  'image/jpeg': '.jpg',
  'image/png': '.png',
  'image/webp': '.webp',
  'image/gif': '.gif',
  'video/mp4': '.mp4',
  'audio/ogg': '.ogg',
  'audio/mpeg': '.mp3',
  'audio/mp4': '.m4a',
  'application/pdf': '.pdf',
};

function endingOf(mimeType: string): string {
  return ENDINGS[mimeType.split(';')[0]?.trim() ?? ''] ?? '';
}

/** Returns how apps show a file of this type. Stickers and voice messages look like other files, so they are chosen. */
export function kindOf(mimeType: string): 'image' | 'video' | 'audio' | 'document' {
  const [kind] = mimeType.split('/');
  // Apps show only these as images; the network rejects others.
  if (kind === 'image') return /^image\/(?:jpeg|png|webp|gif)/.test(mimeType) ? 'image' : 'document';
  return kind === 'video' || kind === 'audio' ? kind : 'document';
}
