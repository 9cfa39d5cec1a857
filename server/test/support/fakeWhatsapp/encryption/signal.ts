import {
  addTransactionCapability,
  Curve,
  DEFAULT_CONNECTION_CONFIG,
  encodeWAMessage,
  initAuthCreds,
  type KeyPair,
  proto,
  type SignalDataSet,
  type SignalKeyStore,
  unpadRandomMax16,
} from 'baileys';
import pino from 'pino';
import { type KeyBundle, typedKey } from './keyBundle.ts';

export type EncryptionType = 'pkmsg' | 'msg' | 'skmsg';

export interface Encrypted {
  readonly type: EncryptionType;
  readonly ciphertext: Uint8Array;
}

/** The encryption of a phone. Devices and groups are identified by their jids, always in LID form. */
export interface Signal {
  readonly identityKey: KeyPair;
  readonly registrationId: number;
  /** A bundle with a fresh one-time key. */
  takeBundle(): Promise<KeyBundle>;
  hasSession(device: string): Promise<boolean>;
  beginSession(device: string, bundle: KeyBundle): Promise<void>;
  endSession(device: string): Promise<void>;
  encrypt(device: string, message: proto.IMessage): Promise<Encrypted>;
  decrypt(device: string, type: 'pkmsg' | 'msg', ciphertext: Uint8Array): Promise<proto.Message>;
  /** Also returns the data that others need to read it, for those who do not have it yet. */
  encryptToGroup(
    group: string,
    me: string,
    message: proto.IMessage,
  ): Promise<Encrypted & { senderKey: proto.Message.ISenderKeyDistributionMessage }>;
  decryptFromGroup(group: string, author: string, ciphertext: Uint8Array): Promise<proto.Message>;
  takeSenderKey(author: string, senderKey: proto.Message.ISenderKeyDistributionMessage): Promise<void>;
}

const silent = pino({ level: 'silent' });

/** Real Signal with the library of the client, so a message that fails to decrypt here would also fail on a phone. */
export function createSignal(): Signal {
  const creds = initAuthCreds();
  const keys = addTransactionCapability(createMemoryKeys(), silent, { maxCommitRetries: 1, delayBetweenTriesMs: 1 });
  const repository = DEFAULT_CONNECTION_CONFIG.makeSignalRepository({ creds, keys }, silent);
  let nextPreKeyId = 1;

  return {
    identityKey: creds.signedIdentityKey,
    registrationId: creds.registrationId,
    async takeBundle() {
      const keyId = nextPreKeyId++;
      const pair = Curve.generateKeyPair();
      await keys.set({ 'pre-key': { [keyId]: pair } });
      const { keyPair, keyId: signedKeyId, signature } = creds.signedPreKey;
      return {
        registrationId: creds.registrationId,
        identity: creds.signedIdentityKey.public,
        signedPreKey: { keyId: signedKeyId, publicKey: keyPair.public, signature },
        preKey: { keyId, publicKey: pair.public },
      };
    },
    hasSession: async (device) => (await repository.validateSession(device)).exists,
    async beginSession(jid, { registrationId, identity, signedPreKey, preKey }) {
      const session = {
        registrationId,
        identityKey: typedKey(identity),
        signedPreKey: { ...signedPreKey, publicKey: typedKey(signedPreKey.publicKey) },
        ...(preKey && { preKey: { ...preKey, publicKey: typedKey(preKey.publicKey) } }),
      };
      await repository.injectE2ESession({ jid, session });
    },
    endSession: (device) => repository.deleteSession([device]),
    encrypt: (jid, message) => repository.encryptMessage({ jid, data: encodeWAMessage(message) }),
    decrypt: async (jid, type, ciphertext) => decode(await repository.decryptMessage({ jid, type, ciphertext })),
    async encryptToGroup(group, meId, message) {
      const data = encodeWAMessage(message);
      const { ciphertext, senderKeyDistributionMessage } = await repository.encryptGroupMessage({ group, meId, data });
      return {
        type: 'skmsg',
        ciphertext,
        senderKey: { groupId: group, axolotlSenderKeyDistributionMessage: senderKeyDistributionMessage },
      };
    },
    decryptFromGroup: async (group, authorJid, msg) =>
      decode(await repository.decryptGroupMessage({ group, authorJid, msg })),
    takeSenderKey: (authorJid, item) => repository.processSenderKeyDistributionMessage({ authorJid, item }),
  };
}

const decode = (padded: Uint8Array) => proto.Message.decode(unpadRandomMax16(padded));

/** Keys in memory, as far as tests need them. */
export function createMemoryKeys(): SignalKeyStore {
  const values = new Map<string, unknown>();
  return {
    get(type, ids) {
      const found = ids.map((id) => [id, values.get(`${type}/${id}`)] as const);
      // The values of a type were all set with that type.
      return Object.fromEntries(found.filter(([, value]) => value !== undefined)) as never;
    },
    set(data: SignalDataSet) {
      for (const [type, entries] of Object.entries(data)) {
        for (const [id, value] of Object.entries(entries)) {
          if (value === null) values.delete(`${type}/${id}`);
          else values.set(`${type}/${id}`, value);
        }
      }
    },
  };
}
