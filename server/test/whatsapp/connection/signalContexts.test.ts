import assert from 'node:assert/strict';
import { before, it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import type { SignalDataSet, SignalKeyStore } from 'baileys';
import pino from 'pino';
import { type Baileys, loadBaileys } from '../../../src/connectors/whatsapp/link/load.ts';
import type { Encrypted } from '../../support/fakeWhatsapp/encryption/signal.ts';

// Loaded like in the server, because an earlier import would find the unpatched client.
let baileys: Baileys;
let createSignal: typeof import('../../support/fakeWhatsapp/encryption/signal.ts').createSignal;
let createMemoryKeys: typeof import('../../support/fakeWhatsapp/encryption/signal.ts').createMemoryKeys;
before(async () => {
  baileys = await loadBaileys();
  ({ createSignal, createMemoryKeys } = await import('../../support/fakeWhatsapp/encryption/signal.ts'));
});

const silent = pino({ level: 'silent' });
const BOB = '999@lid';

/** A session's end of the encryption, with a list of its writes. */
function createClient() {
  const creds = baileys.initAuthCreds();
  const memory = createMemoryKeys();
  const written: string[] = [];
  const keys: SignalKeyStore = {
    async get(type, ids) {
      await delay(2); // simulates a slow database
      return memory.get(type, ids);
    },
    set(data: SignalDataSet) {
      written.push(Object.keys(data).sort().join(' '));
      return memory.set(data);
    },
  };
  const inTransactions = baileys.addTransactionCapability(keys, silent, {
    maxCommitRetries: 1,
    delayBetweenTriesMs: 1,
  });
  const repository = baileys.DEFAULT_CONNECTION_CONFIG.makeSignalRepository({ creds, keys: inTransactions }, silent);
  return { creds, memory, written, keys: inTransactions, repository };
}

it('stores messages of one sender to two sessions together with the keys they used, per session', async () => {
  const bob = createSignal();
  const clients = [createClient(), createClient()];
  const letters: Encrypted[][] = [];
  for (const [index, { creds, memory }] of clients.entries()) {
    const device = `${index + 1}11:1@lid`;
    const { keyPair, keyId, signature } = creds.signedPreKey;
    const preKey = baileys.Curve.generateKeyPair();
    await memory.set({ 'pre-key': { 1: preKey } });
    await bob.beginSession(device, {
      registrationId: creds.registrationId,
      identity: creds.signedIdentityKey.public,
      signedPreKey: { keyId, publicKey: keyPair.public, signature },
      preKey: { keyId: 1, publicKey: preKey.public },
    });
    const mine = [];
    for (const text of ['one', 'two', 'three']) mine.push(await bob.encrypt(device, { conversation: text }));
    letters.push(mine);
  }

  for (const turn of [0, 1, 2]) {
    await Promise.all(
      clients.map(({ keys, repository }, index) => {
        const letter = letters[index]?.[turn];
        assert.ok(letter !== undefined && letter.type !== 'skmsg');
        const { type, ciphertext } = letter;
        return keys.transaction(async () => {
          await repository.decryptMessage({ jid: BOB, type, ciphertext });
          await keys.set({ received: { [turn]: 'a message' } } as SignalDataSet);
        }, BOB);
      }),
    );
  }
  for (const { written } of clients) {
    assert.equal(written.length, 3, JSON.stringify(written));
    for (const together of written) assert.match(together, /received.* session/, JSON.stringify(written));
  }
});
