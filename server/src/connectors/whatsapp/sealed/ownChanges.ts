import type { proto, WAMessageKey } from 'baileys';
import type { Session } from '../session.ts';
import { findSecret, type MessageSecret, ownAddresses } from './messageSecrets.ts';
import { type Sealed, type SealUse, seal } from './openedChanges.ts';

/*
 * Our own changes of messages in the announcement group of a community, where clients show only sealed ones (reactions:
 * whatsapp-rust #830, Baileys #857; edits: whatsapp-rust #762). In all other chats they go out unsealed, because all
 * clients still show those: WhatsApp Web seals its edits behind a switch of the server (whatsapp-rust #762), and
 * unsealed edits arrive (fazer-ai/baileys-api #392).
 */

/**
 * Returns a sealed reaction; undefined if the secret of the message is not known.
 * @param key the key of the message
 * @param emoji null removes the reaction
 */
export async function toSealedReaction(
  session: Session,
  key: WAMessageKey,
  emoji: string | null,
): Promise<proto.IMessage | undefined> {
  const { baileys, host } = session;
  const reaction = { text: emoji ?? '', senderTimestampMs: host.clock.now() };
  const plain = baileys.proto.Message.ReactionMessage.encode(reaction).finish();
  const sealed = await sealChange(session, key, 'Enc Reaction', plain);
  return sealed && { encReactionMessage: { ...sealed, targetMessageKey: key } };
}

/** Returns a sealed edit; undefined if the secret of the message is not known. */
export async function toSealedEdit(
  session: Session,
  key: WAMessageKey,
  editedMessage: proto.IMessage,
): Promise<proto.IMessage | undefined> {
  const { Message } = session.baileys.proto;
  const type = Message.ProtocolMessage.Type.MESSAGE_EDIT;
  const timestampMs = session.host.clock.now();
  const plain = Message.encode({ protocolMessage: { key, type, editedMessage, timestampMs } }).finish();
  const sealed = await sealChange(session, key, 'Message Edit', plain);
  const secretEncType = Message.SecretEncryptedMessage.SecretEncType.MESSAGE_EDIT;
  return sealed && { secretEncryptedMessage: { ...sealed, targetMessageKey: key, secretEncType } };
}

async function sealChange(
  session: Session,
  key: WAMessageKey,
  use: SealUse,
  plain: Uint8Array,
): Promise<Sealed | undefined> {
  const messageId = key.id ?? '';
  const found = await findSecret(session, key, messageId);
  const people = found && addressesFor(session, found);
  if (found === undefined || people === undefined) {
    session.host.log.info(
      { message: messageId, use },
      'sending a change unsealed: the secret of its message is unknown',
    );
    return undefined;
  }
  return seal(plain, { use, secret: found.secret, messageId, ...people });
}

/** Returns the address of the author, and our own address of the same kind. Our own messages come from the LID. */
function addressesFor(session: Session, { authors }: MessageSecret): { author: string; editor: string } | undefined {
  const { baileys, self } = session;
  const own = ownAddresses(session);
  const lid = own.find((jid) => baileys.isLidUser(jid)) ?? own[0];
  const number = own.find((jid) => !baileys.isLidUser(jid)) ?? own[0];
  const [author] = authors;
  if (author === undefined || lid === undefined || number === undefined) return undefined;
  if (self.is(author)) return { author: lid, editor: lid };
  return { author, editor: baileys.isLidUser(author) ? lid : number };
}
