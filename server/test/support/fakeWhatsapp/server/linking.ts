import { createHmac, randomBytes } from 'node:crypto';
import { type BinaryNode, Curve, proto } from 'baileys';
import type { Connection } from '../connection.ts';
import { typedKey } from '../encryption/keyBundle.ts';
import { isSignedBy } from '../encryption/signatures.ts';
import { wantsFullHistory } from '../phone/history.ts';
import { bigEndian, childOf, PEOPLE, SERVER_JID, stanza } from '../stanza.ts';
import type { Account, Companion } from './account.ts';
import type { CodeLink } from './pairingCode.ts';

/** A client that is being linked, from its first connection until it has signed. */
export interface Link {
  /** The prefixes of its QR codes, in order. */
  readonly refs: readonly string[];
  /** The id of the stanza with the phone's consent. */
  consentId?: string;
  /** Resolves `scan` when the client has signed, and rejects if it disconnects before. */
  settle?: { resolve(companion: Companion): void; reject(error: Error): void };
  consent?: { account: Account; details: Uint8Array; companion: Companion };
  /** The state of linking by pairing code. */
  code?: CodeLink;
}

const REFS = 6;
/** Prefixes of the data in the two signatures of a linking. */
const ACCOUNT_SIGNS = Buffer.from([6, 0]);
const DEVICE_SIGNS = Buffer.from([6, 1]);

/** Sends a client without an account the references for its QR codes. */
export function offerLink(connection: Connection): void {
  const refs = Array.from({ length: REFS }, () => `2@${randomBytes(24).toString('base64')}`);
  connection.link = { refs };
  const offer = refs.map((ref) => stanza('ref', {}, Buffer.from(ref)));
  connection.send(
    stanza('iq', { from: SERVER_JID, type: 'set', id: newId(), xmlns: 'md' }, [stanza('pair-device', {}, offer)]),
  );
}

/** Scans a QR code with the phone. Resolves once the client is linked, which then reconnects automatically. */
export function scanQr(connections: Iterable<Connection>, account: Account, qr: string): Promise<Companion> {
  const [ref = '', clientKey = '', identity = '', secret = ''] = (qr.split('#').at(-1) ?? '').split(',');
  const connection = [...connections].find(({ link }) => link?.refs.includes(ref));
  if (connection === undefined) return Promise.reject(new Error('no client shows this QR code, or no longer'));
  if (!Buffer.from(clientKey, 'base64').equals(connection.clientKey))
    return Promise.reject(new Error('the QR code names another key than its client has'));
  return consent(connection, account, Buffer.from(identity, 'base64'), Buffer.from(secret, 'base64'));
}

/**
 * Signs the identity of the client by the account, and proves knowledge of the secret in the QR code (or pairing code).
 */
export function consent(
  connection: Connection,
  account: Account,
  identity: Uint8Array,
  secret: Uint8Array,
): Promise<Companion> {
  const link = connection.link;
  if (link === undefined) return Promise.reject(new Error('the client does not ask to be linked'));
  const id = account.nextDeviceId++;
  const companion = companionOf(account, id, connection, identity);
  const details = proto.ADVDeviceIdentity.encode({
    rawId: id,
    timestamp: nowS(),
    keyIndex: id,
    accountType: proto.ADVEncryptionType.E2EE,
    deviceType: proto.ADVEncryptionType.E2EE,
  }).finish();
  const { public: accountSignatureKey, private: accountKey } = account.signal.identityKey;
  const signed = proto.ADVSignedDeviceIdentity.encode({
    details,
    accountSignatureKey,
    accountSignature: Curve.sign(accountKey, Buffer.concat([ACCOUNT_SIGNS, details, identity])),
  }).finish();
  const hmac = createHmac('sha256', secret).update(signed).digest();

  link.consentId = newId();
  link.consent = { account, details, companion };
  connection.send(
    stanza('iq', { from: SERVER_JID, type: 'set', id: link.consentId, xmlns: 'md' }, [
      stanza('pair-success', {}, [
        stanza('device-identity', {}, proto.ADVSignedDeviceIdentityHMAC.encode({ details: signed, hmac }).finish()),
        stanza('biz', { name: account.profile.name }),
        stanza('device', { jid: `${account.number}:${id}@${PEOPLE}`, lid: `${account.lid}:${id}@lid` }),
        stanza('platform', { name: 'android' }),
      ]),
    ]),
  );
  return new Promise((resolve, reject) => {
    link.settle = { resolve, reject };
  });
}

/** Handles the client's response to the consent: its own signature. Returns whether the response was one. */
export function finishLink(connection: Connection, answer: BinaryNode): Companion | undefined {
  const link = connection.link;
  if (link?.consent === undefined || answer.attrs['id'] !== link.consentId) return undefined;
  const { account, details, companion } = link.consent;
  const identity = childOf(childOf(answer, 'pair-device-sign'), 'device-identity');
  const { deviceSignature } = proto.ADVSignedDeviceIdentity.decode(Buffer.from((identity?.content as Buffer) ?? []));
  const message = Buffer.concat([DEVICE_SIGNS, details, companion.identity, account.signal.identityKey.public]);
  if (!deviceSignature || !isSignedBy(companion.identity, message, deviceSignature))
    throw new Error("the linked client's signature is wrong");
  account.companions.set(companion.id, companion);
  link.settle?.resolve(companion);
  return companion;
}

function companionOf(
  account: Account,
  id: number,
  { payload, clientKey }: Connection,
  identity: Uint8Array,
): Companion {
  const data = payload.devicePairingData;
  const publicKey = present(data?.eSkeyVal);
  const signature = present(data?.eSkeySig);
  if (!isSignedBy(identity, typedKey(publicKey), signature))
    throw new Error("the client's signed pre-key is not signed by its identity");
  return {
    account,
    id,
    clientKey,
    identity,
    registrationId: bigEndian(present(data?.eRegid)),
    signedPreKey: { keyId: bigEndian(present(data?.eSkeyId)), publicKey, signature },
    preKeys: [],
    pending: new Map(),
    connection: undefined,
    hasHistory: false,
    wantsFullHistory: wantsFullHistory(payload),
  };
}

function present(bytes: Uint8Array | null | undefined): Buffer {
  if (!bytes) throw new Error('the client asks to be linked without its keys');
  return Buffer.from(bytes);
}

export const newId = (): string => randomBytes(8).toString('hex').toUpperCase();
export const nowS = (): number => Math.floor(Date.now() / 1000);
