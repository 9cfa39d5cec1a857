import { buffer } from 'node:stream/consumers';
import type { WASocket } from 'baileys';
import { AppError } from '../../../errors.ts';
import type { NetworkMedia } from '../../contract/networkMedia.ts';

const MAX_BYTES = 16 * 1024 * 1024;
const JPEG = Buffer.from([0xff, 0xd8, 0xff]);

/**
 * Sets the picture of a group, or of the account itself. Baileys makes a square JPEG of 640 pixels if it finds an image
 * library (`sharp` or `jimp`); without one, a JPEG is sent unchanged.
 * @throws {AppError} `payload_too_large`, `unsupported_media_type`
 */
export async function setPicture(socket: WASocket, jid: string, picture: NetworkMedia | null): Promise<void> {
  if (picture === null) return socket.removeProfilePicture(jid);
  if (picture.size > MAX_BYTES)
    throw new AppError('payload_too_large', `The picture is larger than the limit of ${MAX_BYTES} bytes`);
  const content = await buffer(await picture.open());
  try {
    await socket.updateProfilePicture(jid, content);
  } catch (error) {
    if (!isLibraryMissing(error)) throw error;
    if (!content.subarray(0, JPEG.length).equals(JPEG))
      throw new AppError(
        'unsupported_media_type',
        `WhatsApp accepts only JPEG, but the picture is ${picture.mimeType}; convert it, or install sharp so that the server can`,
        { cause: error },
      );
    await socket.query({
      tag: 'iq',
      attrs: {
        to: 's.whatsapp.net',
        type: 'set',
        xmlns: 'w:profile:picture',
        ...(jid.endsWith('@g.us') && { target: jid }),
      },
      content: [{ tag: 'picture', attrs: { type: 'image' }, content }],
    });
  }
}

function isLibraryMissing(error: unknown): boolean {
  return error instanceof Error && error.message === 'No image processing library available';
}
