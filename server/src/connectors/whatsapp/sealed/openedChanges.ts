import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import type { proto, WAMessageKey } from 'baileys';
import { isSealedChange } from '../content/kinds.ts';
import { lidOf, unhosted } from '../people/addresses.ts';
import type { Session } from '../session.ts';
import { findSecret, type MessageSecret, ownAddresses, secretIdOf } from './messageSecrets.ts';

/*
 * Changes that are sealed with the secret of the message that they change: edits of phones since May 2026 (Baileys
 * #2541, #2547, #2743), edits of events, and reactions in the announcement group of a community (whatsapp-rust #830).
 *
 * Key: HKDF-SHA256 of the secret without a salt, with the id of the message, the address of its author, the address of
 * the person who changes it, and the use as info. Cipher: AES-256-GCM without additional data. Sources: whatsapp-rust
 * #618, omni #1106, `msgsecret.go` of whatsmeow.
 */

export type SealUse = 'Message Edit' | 'Event Edit' | 'Enc Reaction';

const IV_BYTES = 12;
const TAG_BYTES = 16;
const KEY_BYTES = 32;
const CIPHER = 'aes-256-gcm';

interface Seal {
  readonly use: SealUse;
  readonly secret: Uint8Array;
  readonly messageId: string;
  /** Address of the author of the message. */
  readonly author: string;
  /** Address of the person who changes it. */
  readonly editor: string;
}

export interface Sealed {
  readonly encPayload: Uint8Array;
  readonly encIv: Uint8Array;
}

export function seal(plain: Uint8Array, how: Seal): Sealed {
  const encIv = randomBytes(IV_BYTES);
  const cipher = createCipheriv(CIPHER, keyOf(how), encIv);
  return { encPayload: Buffer.concat([cipher.update(plain), cipher.final(), cipher.getAuthTag()]), encIv };
}

/** @throws {Error} it was sealed in another way */
export function unseal({ encPayload, encIv }: Sealed, how: Seal): Uint8Array {
  if (encIv.length !== IV_BYTES || encPayload.length < TAG_BYTES) throw new Error('not a sealed change');
  const end = encPayload.length - TAG_BYTES;
  const decipher = createDecipheriv(CIPHER, keyOf(how), encIv);
  decipher.setAuthTag(encPayload.subarray(end));
  return Buffer.concat([decipher.update(encPayload.subarray(0, end)), decipher.final()]);
}

function keyOf({ use, secret, messageId, author, editor }: Seal): Uint8Array {
  return Buffer.from(hkdfSync('sha256', secret, new Uint8Array(0), `${messageId}${author}${editor}${use}`, KEY_BYTES));
}

/** A sealed change as it arrived. */
interface Envelope extends Sealed {
  readonly use: SealUse;
  readonly target: proto.IMessageKey & { readonly id: string };
}

export type Opened =
  /** The change in its plain form. */
  | { readonly message: proto.IMessage }
  /** Id (see `secretIdOf`) of the message whose secret is missing. It may still arrive. */
  | { readonly waitsFor: string }
  /** Nobody can read it here. */
  | 'unreadable';

/**
 * Opens a sealed change. Returns undefined for any other message.
 * @param key the key of the message that contains it
 */
export async function openChange(
  session: Session,
  message: proto.IMessage,
  key: WAMessageKey,
): Promise<Opened | undefined> {
  if (!isSealedChange(session.baileys, message)) return undefined;
  const envelope = envelopeOf(session, message);
  if (envelope === undefined) return 'unreadable';
  const { target, use } = envelope;
  const found = await findSecret(session, key, target.id);
  if (found === undefined) return { waitsFor: secretIdOf(session, key, target.id) };
  const plain = await unsealWithAny(session, envelope, found, key);
  const opened = plain && plainForm(session, use, target, plain);
  return opened === undefined ? 'unreadable' : { message: opened };
}

function envelopeOf({ baileys }: Session, message: proto.IMessage): Envelope | undefined {
  const { encReactionMessage, secretEncryptedMessage } = message;
  const { targetMessageKey, encPayload, encIv } = encReactionMessage ?? secretEncryptedMessage ?? {};
  const id = targetMessageKey?.id;
  if (!id || !encPayload || !encIv) return undefined;
  const { EVENT_EDIT } = baileys.proto.Message.SecretEncryptedMessage.SecretEncType;
  const edit = secretEncryptedMessage?.secretEncType === EVENT_EDIT ? 'Event Edit' : 'Message Edit';
  return { use: encReactionMessage ? 'Enc Reaction' : edit, target: { ...targetMessageKey, id }, encPayload, encIv };
}

/** Tries the addresses of the author and of the person who changes the message: each has two. */
async function unsealWithAny(
  session: Session,
  { use, target, ...sealed }: Envelope,
  { secret, authors }: MessageSecret,
  key: WAMessageKey,
): Promise<Uint8Array | undefined> {
  const editors = await editorsOf(session, key);
  // Only its author edits a message, and the message may have arrived from the other address.
  const candidates = new Set([...authors, ...(use === 'Enc Reaction' ? [] : editors)]);
  for (const author of candidates) {
    for (const editor of editors) {
      try {
        return unseal(sealed, { use, secret, messageId: target.id, author, editor });
      } catch {
        // Not sealed with these addresses.
      }
    }
  }
  return undefined;
}

async function editorsOf(session: Session, key: WAMessageKey): Promise<string[]> {
  const { baileys, self, link } = session;
  const { fromMe, participant, participantAlt, remoteJid, remoteJidAlt } = key;
  if (fromMe === true || self.is(participant)) return ownAddresses(session);
  const [jid, given] = participant ? [participant, participantAlt] : [remoteJid, remoteJidAlt];
  if (!jid) return [];
  const address = unhosted(baileys.jidNormalizedUser(jid));
  const other = given || (link.newest && (await otherAddress(link.newest, baileys.isLidUser(address), address)));
  return [address, ...(other ? [unhosted(baileys.jidNormalizedUser(other))] : [])];
}

async function otherAddress(
  socket: NonNullable<Session['link']['newest']>,
  isLid: boolean | undefined,
  address: string,
): Promise<string | undefined> {
  if (isLid === true) return (await socket.signalRepository.lidMapping.getPNForLID(address)) ?? undefined;
  const lid = await lidOf(socket, address.split('@')[0] ?? '');
  return lid === undefined ? undefined : `${lid}@lid`;
}

/** Returns the change as an older client sends it; undefined if it is something else. */
function plainForm(
  { baileys: { proto } }: Session,
  use: SealUse,
  target: Envelope['target'],
  plain: Uint8Array,
): proto.IMessage | undefined {
  try {
    if (use === 'Enc Reaction') {
      const { text, senderTimestampMs } = proto.Message.ReactionMessage.decode(plain);
      return { reactionMessage: { key: target, text, senderTimestampMs } };
    }
    const editedMessage = use === 'Event Edit' ? eventOf(proto, plain) : editedOf(proto.Message.decode(plain));
    const type = proto.Message.ProtocolMessage.Type.MESSAGE_EDIT;
    return editedMessage ? { protocolMessage: { key: target, type, editedMessage } } : undefined;
  } catch {
    return undefined;
  }
}

/** Returns the new content: of an edit in the form of older clients, or by itself. */
function editedOf(message: proto.IMessage): proto.IMessage | undefined {
  const inner = message.editedMessage?.message ?? message;
  const edited = inner.protocolMessage ? inner.protocolMessage.editedMessage : inner;
  return edited && Object.values(edited).some((part) => part !== null && part !== undefined) ? edited : undefined;
}

/** Some clients seal the event without a message around it (whatsmeow, `DecryptSecretEncryptedMessage`). */
function eventOf({ Message }: Session['baileys']['proto'], plain: Uint8Array): proto.IMessage | undefined {
  try {
    const edited = editedOf(Message.decode(plain));
    if (edited?.eventMessage) return edited;
  } catch {
    // Not a message.
  }
  const eventMessage = Message.EventMessage.decode(plain);
  return eventMessage.name ? { eventMessage } : undefined;
}
