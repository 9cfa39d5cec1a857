import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  addTransactionCapability,
  DEFAULT_CONNECTION_CONFIG,
  encodeWAMessage,
  initAuthCreds,
  proto,
  unpadRandomMax16,
} from 'baileys';
import pino from 'pino';
import { SignalTurns } from '../../../src/connectors/whatsapp/link/signalTurns.ts';
import { typedKey } from '../../support/fakeWhatsapp/encryption/keyBundle.ts';
import { createMemoryKeys, createSignal } from '../../support/fakeWhatsapp/encryption/signal.ts';

const silent = pino({ level: 'silent' });
const MEMBERS = 1024;
const ME = '111:7@lid';
const deviceOf = (n: number) => `${2000 + n}@lid`;
const letter = (conversation: string) => encodeWAMessage({ conversation });

/**
 * A session's repository, and the highest number of devices that it has handled between two turns of the event loop.
 */
function createClient() {
  const creds = { ...initAuthCreds(), me: { id: ME } };
  const keys = addTransactionCapability(createMemoryKeys(), silent, { maxCommitRetries: 1, delayBetweenTriesMs: 1 });
  const handled = { inTurn: 0, most: 0, all: 0 };
  const counted = <T>(work: () => T): T => {
    if (handled.inTurn++ === 0) setImmediate(() => (handled.inTurn = 0));
    handled.most = Math.max(handled.most, handled.inTurn);
    handled.all++;
    return work();
  };
  const repository = new SignalTurns(creds).split((...args) => {
    const own = DEFAULT_CONNECTION_CONFIG.makeSignalRepository(...args);
    return {
      ...own,
      validateSession: (jid) => counted(() => own.validateSession(jid)),
      injectE2ESession: (options) => counted(() => own.injectE2ESession(options)),
      encryptMessage: (options) => counted(() => own.encryptMessage(options)),
    };
  })({ creds, keys }, silent);
  const takeMost = () => {
    const { most } = handled;
    Object.assign(handled, { inTurn: 0, most: 0 });
    return most;
  };
  return { creds, keys, repository, handled, takeMost };
}

/** The keys of another device, as the client reads them from the server's answer. */
async function bundleOf(phone: ReturnType<typeof createSignal>) {
  const { registrationId, identity, signedPreKey, preKey } = await phone.takeBundle();
  const typed = <T extends { publicKey: Uint8Array }>(key: T) => ({ ...key, publicKey: typedKey(key.publicKey) });
  assert.ok(preKey);
  return { registrationId, identityKey: typedKey(identity), signedPreKey: typed(signedPreKey), preKey: typed(preKey) };
}

describe('a message to 1,024 devices', () => {
  const { keys, repository, handled, takeMost } = createClient();
  const devices = Array.from({ length: MEMBERS }, (_, n) => deviceOf(n));

  it('begins sessions and encrypts for at most four devices between two turns of the event loop', async () => {
    const session = await bundleOf(createSignal());
    await keys.transaction(async () => {
      for (const jid of devices) assert.equal((await repository.validateSession(jid)).exists, false);
      assert.ok(takeMost() <= 16);
      for (const jid of devices) await repository.injectE2ESession({ jid, session });
      assert.ok(takeMost() <= 4);
      const parts = await Promise.all(devices.map((jid) => repository.encryptMessage({ jid, data: letter('hello') })));
      assert.ok(takeMost() <= 4);
      assert.ok(parts.every(({ type }) => type === 'pkmsg'));
    }, ME);
    assert.equal(handled.all, 3 * MEMBERS);
  });

  it('finds its sessions in the next message', async () => {
    await keys.transaction(async () => {
      for (const jid of devices) assert.equal((await repository.validateSession(jid)).exists, true);
    }, ME);
    assert.ok(takeMost() <= 16);
  });
});

it('keeps the changes of a message that a device sends during the encryption', async () => {
  const { keys, repository } = createClient();
  const bob = createSignal();
  const jid = deviceOf(0);
  const read = async (message: Awaited<ReturnType<typeof bob.encrypt>>) => {
    const { type, ciphertext } = message;
    assert.ok(type !== 'skmsg');
    const bytes = await repository.decryptMessage({ jid, type, ciphertext });
    return proto.Message.decode(unpadRandomMax16(bytes)).conversation;
  };
  await repository.injectE2ESession({ jid, session: await bundleOf(bob) });
  const first = await repository.encryptMessage({ jid, data: letter('first') });
  await bob.decrypt(ME, first.type, first.ciphertext);
  const answers = [];
  for (const text of ['answer', 'another']) answers.push(await bob.encrypt(ME, { conversation: text }));
  const [answer, another] = answers;
  assert.ok(answer && another);

  const checked = Promise.withResolvers<void>();
  const received = Promise.withResolvers<void>();
  const sending = keys.transaction(async () => {
    await repository.validateSession(jid); // now cached in this transaction
    checked.resolve();
    await received.promise;
    return repository.encryptMessage({ jid, data: letter('second') });
  }, ME);
  await checked.promise;
  assert.equal(await read(answer), 'answer');
  received.resolve();

  const second = await sending;
  // With the session as it was before the answer, this would still carry a pre-key.
  assert.equal(second.type, 'msg');
  assert.equal((await bob.decrypt(ME, second.type, second.ciphertext)).conversation, 'second');
  assert.equal(await read(another), 'another');
});
