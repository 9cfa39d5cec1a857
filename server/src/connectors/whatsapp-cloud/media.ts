import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { AppError } from '../../errors.ts';
import type { MessageType } from '../../events/networkTypes.ts';
import type { TemplateHeader } from '../contract/content.ts';
import type { FileRule } from '../contract/media.ts';
import type { NetworkMedia } from '../contract/networkMedia.ts';
import { cloudMediaRules } from '../mediaRules.ts';
import type { Graph } from './graph.ts';

/** MIME types that we use and Meta does not know. */
const ALIASES: Readonly<Record<string, string>> = { 'audio/x-m4a': 'audio/mp4', 'video/x-m4v': 'video/mp4' };

const typeOf = ({ mimeType }: NetworkMedia) => ALIASES[mimeType] ?? mimeType;

const { image, video, audio, voice, sticker } = cloudMediaRules;

/** The limits of the rules for conversion, checked once more because a file may be older than a rule. */
const LIMITS: Readonly<Partial<Record<MessageType, Partial<FileRule>>>> = {
  image,
  video,
  audio,
  voice: { ...voice, mimeTypes: ['audio/ogg'] },
  sticker: { maxBytes: sticker?.maxAnimatedBytes ?? 0, mimeTypes: ['image/webp'] },
  document: { maxBytes: 100 * 1024 * 1024 },
};

/** @throws {AppError} `unsupported_media_type`, `payload_too_large`: WhatsApp reports them only after sending */
export function requireSendableMedia(type: MessageType, media: NetworkMedia): void {
  const mimeType = typeOf(media);
  const { maxBytes = 0, mimeTypes } = LIMITS[type] ?? {};
  if (mimeTypes !== undefined && !mimeTypes.some((accepted) => mimeType.startsWith(accepted))) {
    throw new AppError(
      'unsupported_media_type',
      `WhatsApp accepts ${mimeTypes.join(', ')} as ${type}, but the file is ${mimeType}; send it as document`,
    );
  }
  if (media.size > maxBytes)
    throw new AppError(
      'payload_too_large',
      `WhatsApp accepts files of up to ${Math.floor(maxBytes / 1024)} KiB as ${type}`,
    );
}

/**
 * Types of files in the header of a template. Meta accepts more documents as messages: "Only PDF documents are
 * supported for media-based message templates" (Cloud API reference, parameter object of a template).
 */
const HEADER_TYPES: Readonly<Record<TemplateHeader, readonly string[]>> = {
  image: ['image/jpeg', 'image/png'],
  video: ['video/mp4', 'video/3gpp'],
  document: ['application/pdf'],
};

/** @throws {AppError} `unsupported_media_type`, `payload_too_large` */
export function requireHeaderFile(type: TemplateHeader, media: NetworkMedia): void {
  const accepted = HEADER_TYPES[type];
  const mimeType = typeOf(media);
  if (!accepted.includes(mimeType))
    throw new AppError(
      'unsupported_media_type',
      `WhatsApp accepts ${accepted.join(' and ')} in a template header of the type ${type}, but the file is ${mimeType}`,
    );
  requireSendableMedia(type, media);
}

const Uploaded = Compile(Type.Object({ id: Type.String() }));
const Found = Compile(
  Type.Object({ url: Type.String(), mime_type: Type.String(), file_size: Type.Union([Type.Number(), Type.String()]) }),
);

/** @returns the id of the file at Meta, which is valid for 30 days */
export async function uploadMedia(graph: Graph, phoneNumberId: string, media: NetworkMedia): Promise<string> {
  const answer = await postFile(graph, `${phoneNumberId}/media`, media);
  if (!Uploaded.Check(answer)) throw new AppError('send_failed', 'WhatsApp did not return an id for the uploaded file');
  return answer.id;
}

/** Posts a file as a form, and returns the answer. Throws the errors of `Graph.call`. */
export async function postFile(graph: Graph, path: string, media: NetworkMedia): Promise<unknown> {
  const boundary = `switchboard-${randomUUID()}`;
  const field = (name: string, more: string, value: string) =>
    `--${boundary}\r\ncontent-disposition: form-data; name="${name}"${more}\r\n\r\n${value}`;
  const mimeType = typeOf(media);
  const fileName = (media.fileName ?? 'file').replace(/["\r\n\\]/g, '_');
  const head = Buffer.from(
    [
      field('messaging_product', '', 'whatsapp'),
      field('type', '', mimeType),
      field('file', `; filename="${fileName}"\r\ncontent-type: ${mimeType}`, ''),
    ].join('\r\n'),
  );
  const tail = Buffer.from(`\r\n--${boundary}--\r\n`);
  async function* body(): AsyncGenerator<Buffer> {
    yield head;
    yield* await media.open();
    yield tail;
  }
  return graph.post(path, Readable.from(body(), { objectMode: false }), {
    'content-type': `multipart/form-data; boundary=${boundary}`,
    'content-length': String(head.length + media.size + tail.length),
  });
}

/**
 * Finds the file of a message. Meta keeps it for 7 days, behind a URL that is valid for 5 minutes.
 * @throws {AppError} `fetch_failed`, and the errors of `Graph.call`
 */
export async function findMedia(graph: Graph, id: string, fileName: string | null): Promise<NetworkMedia> {
  const answer = await graph.call('GET', encodeURIComponent(id));
  if (!Found.Check(answer)) throw new AppError('fetch_failed', 'WhatsApp did not return the URL of the file');
  return {
    mimeType: answer.mime_type,
    size: Number(answer.file_size),
    fileName,
    open: () => graph.download(answer.url),
  };
}
