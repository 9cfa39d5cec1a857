import { AppError, invalidField } from '../../../errors.ts';
import type { TemplateDraft } from '../../contract/business.ts';
import type { NetworkMedia } from '../../contract/networkMedia.ts';
import { uploadToApp } from './appUploads.ts';
import type { CloudNumber } from './cloudNumber.ts';

/*
 * Headers with a file need an example for the review:
 * https://developers.facebook.com/documentation/business-messaging/whatsapp/templates/components#media-headers
 */

type Components = TemplateDraft['components'];

interface Rule {
  readonly mimeTypes: readonly string[];
  readonly maxBytes: number;
}

const MIB = 1024 * 1024;
const RULES = new Map<string, Rule>([
  ['IMAGE', { mimeTypes: ['image/jpeg', 'image/png'], maxBytes: 5 * MIB }],
  ['VIDEO', { mimeTypes: ['video/mp4'], maxBytes: 16 * MIB }],
  ['GIF', { mimeTypes: ['video/mp4'], maxBytes: 3.5 * MIB }],
  ['DOCUMENT', { mimeTypes: ['application/pdf'], maxBytes: 100 * MIB }],
]);

/**
 * Uploads the example of a header, and adds it to the components.
 * @throws {AppError} `validation_failed`, `unsupported_media_type`, `payload_too_large`, and the errors of
 * `NumberMonitor.ask`
 */
export async function withExample(
  number: CloudNumber,
  components: Components,
  file: NetworkMedia | undefined,
): Promise<Components> {
  if (file === undefined) return components;
  const header = components.find(({ type }) => upper(type) === 'HEADER');
  const format = upper(header?.['format']);
  const rule = RULES.get(format);
  if (header === undefined || rule === undefined)
    throw invalidField('headerMediaId', 'needs a header with the format IMAGE, VIDEO, GIF or DOCUMENT in `components`');
  requireFile(file, format, rule);
  const handle = await number.monitor.ask(() => uploadToApp(number, file, 'header'));
  const filled = { ...header, example: { header_handle: [handle] } };
  return components.map((component) => (component === header ? filled : component));
}

function requireFile({ mimeType, size }: NetworkMedia, format: string, { mimeTypes, maxBytes }: Rule): void {
  if (!mimeTypes.includes(mimeType))
    throw new AppError(
      'unsupported_media_type',
      `WhatsApp accepts ${mimeTypes.join(' and ')} in a header with the format ${format}, but the file is ${mimeType}`,
    );
  if (size > maxBytes)
    throw new AppError('payload_too_large', `The file is larger than the limit of ${maxBytes} bytes for this header`);
}

const upper = (value: unknown): string => (typeof value === 'string' ? value.toUpperCase() : '');
