import { type BinaryNode, encodeBigEndian, generateSignalPubKey } from 'baileys';
import { bigEndian, bytesOf, childOf, childrenOf, stanza } from '../stanza.ts';

/**
 * The keys with which one device starts an encrypted session with another
 * (https://signal.org/docs/specifications/x3dh).
 */
export interface KeyBundle {
  readonly registrationId: number;
  readonly identity: Uint8Array;
  readonly signedPreKey: SignedPreKey;
  /** Undefined if the owner has none left. */
  readonly preKey: PreKey | undefined;
}

/** Public keys are raw, 32 bytes. The encoding of Signal prepends a type byte. */
export interface PreKey {
  readonly keyId: number;
  readonly publicKey: Uint8Array;
}

export interface SignedPreKey extends PreKey {
  readonly signature: Uint8Array;
}

const KEY_TYPE = Buffer.from([5]);

/** A bundle in the format of a response to a key query. */
export function bundleStanza(jid: string, bundle: KeyBundle): BinaryNode {
  return stanza('user', { jid }, [registrationStanza(bundle.registrationId), ...keyStanzas(bundle)]);
}

/** A bundle in the format of a receipt that requests a message again. */
export function keysStanza(bundle: KeyBundle): BinaryNode {
  return stanza('keys', {}, keyStanzas(bundle));
}

export const registrationStanza = (registrationId: number): BinaryNode =>
  stanza('registration', {}, encodeBigEndian(registrationId));

function keyStanzas({ identity, signedPreKey, preKey }: KeyBundle): BinaryNode[] {
  const signed = stanza('skey', {}, [
    stanza('id', {}, encodeBigEndian(signedPreKey.keyId, 3)),
    stanza('value', {}, signedPreKey.publicKey),
    stanza('signature', {}, signedPreKey.signature),
  ]);
  const oneTime =
    preKey &&
    stanza('key', {}, [stanza('id', {}, encodeBigEndian(preKey.keyId, 3)), stanza('value', {}, preKey.publicKey)]);
  return [stanza('type', {}, KEY_TYPE), stanza('identity', {}, identity), signed, ...(oneTime ? [oneTime] : [])];
}

export function readPreKey(node: BinaryNode): PreKey {
  return { keyId: bigEndian(bytesOf(node, 'id')), publicKey: bytesOf(node, 'value') };
}

export function readSignedPreKey(node: BinaryNode): SignedPreKey {
  return { ...readPreKey(node), signature: bytesOf(node, 'signature') };
}

export function readPreKeys(list: BinaryNode | undefined): PreKey[] {
  return childrenOf(list, 'key').map(readPreKey);
}

/** The bundle of a receipt that requests a message again, if it has one. */
export function readBundle(receipt: BinaryNode): KeyBundle | undefined {
  const keys = childOf(receipt, 'keys');
  const signed = childOf(keys, 'skey');
  if (keys === undefined || signed === undefined) return undefined;
  const oneTime = childOf(keys, 'key');
  return {
    registrationId: bigEndian(bytesOf(receipt, 'registration')),
    identity: bytesOf(keys, 'identity'),
    signedPreKey: readSignedPreKey(signed),
    preKey: oneTime && readPreKey(oneTime),
  };
}

/** With the type byte, as Signal signs and stores a public key. */
export const typedKey = (publicKey: Uint8Array): Uint8Array => generateSignalPubKey(publicKey);
