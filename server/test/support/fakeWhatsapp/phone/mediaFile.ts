import { createCipheriv, createDecipheriv, createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { aesEncryptGCM, type BinaryNode, hkdf, proto } from 'baileys';
import type { MediaHost } from '../server/mediaHost.ts';
import { stanza } from '../stanza.ts';

/** The types of files, with their field in a message. */
const KINDS = {
  image: { field: 'imageMessage', info: 'WhatsApp Image Keys' },
  video: { field: 'videoMessage', info: 'WhatsApp Video Keys' },
  audio: { field: 'audioMessage', info: 'WhatsApp Audio Keys' },
  document: { field: 'documentMessage', info: 'WhatsApp Document Keys' },
  sticker: { field: 'stickerMessage', info: 'WhatsApp Image Keys' },
} as const;

export type FileKind = keyof typeof KINDS;

/** The fields that every type of file message has. */
interface FileReference {
  readonly mediaKey?: Uint8Array | null;
  readonly directPath?: string | null;
  readonly fileSha256?: Uint8Array | null;
  readonly fileEncSha256?: Uint8Array | null;
}

const MAC_LENGTH = 10;

/** Encrypts and uploads a file; returns the message that carries it. */
export function uploadFile(host: MediaHost, kind: FileKind, content: Buffer, details: object): proto.IMessage {
  return { [KINDS[kind].field]: { ...uploadEncrypted(host, content, KINDS[kind].info), ...details } };
}

/** Encrypts and uploads a content; returns the reference to it. */
export function uploadEncrypted(host: MediaHost, content: Buffer, info: string) {
  const mediaKey = randomBytes(32);
  const { iv, cipherKey, macKey } = keysFor(mediaKey, info);
  const cipher = createCipheriv('aes-256-cbc', cipherKey, iv);
  const encrypted = Buffer.concat([cipher.update(content), cipher.final()]);
  const file = Buffer.concat([encrypted, macOf(macKey, iv, encrypted)]);
  const directPath = host.put(file);
  return {
    url: `https://${host.host}${directPath}`,
    directPath,
    mediaKey,
    mediaKeyTimestamp: Math.floor(Date.now() / 1000),
    fileSha256: sha256(content),
    fileEncSha256: sha256(file),
    fileLength: content.length,
  };
}

/** The type and location of a file, from its message. */
export function findFile(message: proto.IMessage): (FileReference & { kind: FileKind }) | undefined {
  for (const kind of Object.keys(KINDS) as FileKind[]) {
    const reference = message[KINDS[kind].field];
    if (reference) return { ...reference, kind };
  }
  const captioned = message.documentWithCaptionMessage?.message;
  return captioned ? findFile(captioned) : undefined;
}

/** Decrypts an uploaded file. Fails if it does not match its message. */
export function openFile(file: Buffer, reference: FileReference & { kind: FileKind }): Buffer {
  const { iv, cipherKey, macKey } = keysOf(reference.mediaKey ?? Buffer.alloc(0), reference.kind);
  const [encrypted, mac] = [file.subarray(0, -MAC_LENGTH), file.subarray(-MAC_LENGTH)];
  if (!timingSafeEqual(mac, macOf(macKey, iv, encrypted))) throw new Error('the file is not what was sent');
  const decipher = createDecipheriv('aes-256-cbc', cipherKey, iv);
  const content = Buffer.concat([decipher.update(encrypted), decipher.final()]);
  if (!sha256(content).equals(reference.fileSha256 ?? Buffer.alloc(0))) throw new Error("the file's hash is wrong");
  if (!sha256(file).equals(reference.fileEncSha256 ?? Buffer.alloc(0)))
    throw new Error("the encrypted file's hash is wrong");
  return content;
}

/** A phone's response to a failed download of a client: the new location, or that there is none. */
export function reuploadStanza(
  request: BinaryNode,
  { mediaKey }: FileReference,
  directPath: string | undefined,
): BinaryNode[] {
  const id = request.attrs['id'] ?? '';
  const { ResultType } = proto.MediaRetryNotification;
  const result = directPath === undefined ? ResultType.NOT_FOUND : ResultType.SUCCESS;
  const plain = proto.MediaRetryNotification.encode({ stanzaId: id, directPath, result }).finish();
  const key = Buffer.from(hkdf(mediaKey ?? Buffer.alloc(0), 32, { info: 'WhatsApp Media Retry Notification' }));
  const iv = randomBytes(12);
  const parts = { enc_p: aesEncryptGCM(plain, key, iv, Buffer.from(id)), enc_iv: iv };
  return [
    stanza(
      'encrypt',
      {},
      Object.entries(parts).map(([tag, bytes]) => stanza(tag, {}, bytes)),
    ),
  ];
}

const keysOf = (mediaKey: Uint8Array, kind: FileKind) => keysFor(mediaKey, KINDS[kind].info);

function keysFor(mediaKey: Uint8Array, info: string) {
  const keys = Buffer.from(hkdf(mediaKey, 112, { info }));
  return { iv: keys.subarray(0, 16), cipherKey: keys.subarray(16, 48), macKey: keys.subarray(48, 80) };
}

const macOf = (key: Buffer, iv: Buffer, encrypted: Buffer) =>
  createHmac('sha256', key).update(iv).update(encrypted).digest().subarray(0, MAC_LENGTH);

const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest();
