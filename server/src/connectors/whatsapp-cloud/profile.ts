import { Readable } from 'node:stream';
import { Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { AppError } from '../../errors.ts';
import type { NetworkMedia, ProfileActions, ProfileChange } from '../connector.ts';
import type { CloudNumber } from './cloudNumber.ts';

/*
 * The business profile of a number: POST /{phone number id}/whatsapp_business_profile. Its picture comes from a file
 * that was uploaded to the app before: https://developers.facebook.com/docs/graph-api/guides/upload
 */

const PICTURE_TYPES: readonly string[] = ['image/jpeg', 'image/png'];
const MAX_PICTURE_BYTES = 5 * 1024 * 1024;

const UploadSession = Compile(Type.Object({ id: Type.String({ pattern: '^upload:' }) }));
const Uploaded = Compile(Type.Object({ h: Type.String({ minLength: 1 }) }));

export function createProfileActions({ graph, monitor, options }: CloudNumber): ProfileActions {
  const { token, phoneNumberId } = options;
  /** The resumable upload, in one piece. Returns the handle of the file. */
  async function upload({ mimeType, size, open }: NetworkMedia): Promise<string> {
    const file = new URLSearchParams({ file_name: 'picture', file_length: String(size), file_type: mimeType });
    const session = await graph.call('POST', `app/uploads?${file}`);
    if (!UploadSession.Check(session))
      throw new AppError('send_failed', 'WhatsApp did not return an upload for the picture');
    const answer = await graph.post(session.id, Readable.from(await open(), { objectMode: false }), {
      // Only here, the scheme is not "Bearer".
      authorization: `OAuth ${token}`,
      file_offset: '0',
      'content-type': mimeType,
      'content-length': String(size),
    });
    if (!Uploaded.Check(answer)) throw new AppError('send_failed', 'WhatsApp did not return an id for the picture');
    return answer.h;
  }

  return {
    async read() {
      throw new AppError('not_supported', 'The WhatsApp Cloud API does not provide contact profiles');
    },
    async update(change) {
      requireSupportedFields(change);
      const { about, picture } = change;
      await monitor.ask(async () => {
        const handle = picture ? await upload(picture) : undefined;
        await graph.call('POST', `${phoneNumberId}/whatsapp_business_profile`, {
          messaging_product: 'whatsapp',
          ...(about !== undefined && { about }),
          ...(handle !== undefined && { profile_picture_handle: handle }),
        });
      });
    },
  };
}

/** @throws {AppError} `not_supported`, `unsupported_media_type`, `payload_too_large` */
function requireSupportedFields({ name, about, picture }: ProfileChange): void {
  if (name !== undefined)
    throw new AppError('not_supported', 'Meta must approve the name of a business; change it in the WhatsApp Manager');
  if (about === '') throw new AppError('not_supported', 'The WhatsApp Cloud API does not accept an empty about text');
  if (picture === null)
    throw new AppError(
      'not_supported',
      'The WhatsApp Cloud API cannot remove the picture of a number; replace it instead',
    );
  if (picture === undefined) return;
  if (!PICTURE_TYPES.includes(picture.mimeType))
    throw new AppError(
      'unsupported_media_type',
      `WhatsApp accepts JPEG and PNG pictures, but the file is ${picture.mimeType}`,
    );
  if (picture.size > MAX_PICTURE_BYTES)
    throw new AppError('payload_too_large', `The picture is larger than the limit of ${MAX_PICTURE_BYTES} bytes`);
}
