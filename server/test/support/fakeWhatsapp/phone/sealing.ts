import { createCipheriv, createDecipheriv, createHmac, randomBytes } from 'node:crypto';
import type { proto } from 'baileys';

/**
 * Sealing of changes by phones, written from the public descriptions and apart from the connector: whatsapp-rust #618
 * and #830, Baileys #2547 and #2743, omni #1106. No additional data, unlike votes.
 */
export interface Sealing {
  readonly use: 'Message Edit' | 'Event Edit' | 'Enc Reaction';
  readonly secret: Uint8Array;
  readonly messageId: string;
  /** Address of the author of the changed message. */
  readonly author: string;
  /** Address of the person who changes it. */
  readonly editor: string;
}

export function sealChange(plain: Uint8Array, sealing: Sealing): { encPayload: Uint8Array; encIv: Uint8Array } {
  const encIv = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', keyOf(sealing), encIv);
  return { encPayload: Buffer.concat([cipher.update(plain), cipher.final(), cipher.getAuthTag()]), encIv };
}

/** Throws if it was sealed in another way. */
export function openSealed(
  { encPayload, encIv }: Pick<proto.Message.IEncReactionMessage, 'encPayload' | 'encIv'>,
  sealing: Sealing,
): Buffer {
  const payload = Buffer.from(encPayload ?? []);
  const decipher = createDecipheriv('aes-256-gcm', keyOf(sealing), encIv ?? Buffer.alloc(0));
  decipher.setAuthTag(payload.subarray(-16));
  return Buffer.concat([decipher.update(payload.subarray(0, -16)), decipher.final()]);
}

/** HKDF (RFC 5869) with one block and no salt. */
function keyOf({ use, secret, messageId, author, editor }: Sealing): Buffer {
  const extracted = createHmac('sha256', Buffer.alloc(32)).update(secret).digest();
  return createHmac('sha256', extracted).update(`${messageId}${author}${editor}${use}\u0001`).digest();
}
