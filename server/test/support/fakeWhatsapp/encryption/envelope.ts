import { type BinaryNode, proto } from 'baileys';
import { type Account, type DeviceAddress, lidJidOf, takeBundle } from '../server/account.ts';
import { GROUPS, STATUS, stanza } from '../stanza.ts';
import type { Encrypted, EncryptionType } from './signal.ts';

/** Encrypts a message of a phone for one device. Starts a session with the device if there is none. */
export async function encryptTo(
  from: Account,
  to: DeviceAddress,
  message: proto.IMessage,
  attributes: Readonly<Record<string, string>> = {},
): Promise<BinaryNode> {
  const device = lidJidOf(to);
  if (!(await from.signal.hasSession(device))) {
    const bundle = await takeBundle(to);
    if (bundle === undefined) throw new Error(`${device} is not linked`);
    await from.signal.beginSession(device, bundle);
  }
  return encStanza(await from.signal.encrypt(device, message), attributes);
}

export function encStanza(
  { type, ciphertext }: Encrypted,
  attributes: Readonly<Record<string, string>> = {},
): BinaryNode {
  return stanza('enc', { v: '2', type, ...attributes }, ciphertext);
}

/** The content of a message stanza as read by a phone: all parts, in order, merged into one message. */
export async function openEnvelopes(
  account: Account,
  author: DeviceAddress,
  node: BinaryNode,
): Promise<{ message: proto.Message; encryption: EncryptionType }> {
  const device = lidJidOf(author);
  const chat = node.attrs['from'] ?? '';
  const parts = Array.isArray(node.content) ? node.content.filter(({ tag }) => tag === 'enc') : [];
  let message = new proto.Message();
  let encryption: EncryptionType = 'msg';
  for (const { attrs, content } of parts) {
    if (!(content instanceof Uint8Array)) throw new Error('an encrypted part without content');
    encryption = attrs['type'] as EncryptionType;
    const part =
      encryption === 'skmsg'
        ? await account.signal.decryptFromGroup(chat, device, content)
        : await account.signal.decrypt(device, encryption, content);
    if (part.senderKeyDistributionMessage)
      await account.signal.takeSenderKey(device, part.senderKeyDistributionMessage);
    message = Object.assign(message, part);
  }
  if (parts.length === 0) throw new Error(`nothing is encrypted in it for ${account.number}`);
  return { message, encryption };
}

/** Whether messages to it have a key that all recipients share. */
export const isShared = (jid: string): boolean => isGroup(jid) || jid === STATUS;

export const isGroup = (jid: string): boolean => jid.endsWith(`@${GROUPS}`);
