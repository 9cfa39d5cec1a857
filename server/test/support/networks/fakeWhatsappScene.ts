import assert from 'node:assert/strict';
import { type FakeWhatsapp, type Phone, startFakeWhatsapp } from '../fakeWhatsapp/index.ts';
import { type BaileysClient, createBaileysClient } from './baileysClient.ts';

/** Three people, and a real client that is linked to the first one's phone and open. */
export interface Scene {
  readonly whatsapp: FakeWhatsapp;
  readonly me: Phone;
  readonly bob: Phone;
  readonly carol: Phone;
  readonly client: BaileysClient;
  /** Connects the client again. */
  reconnect(): Promise<void>;
  /** Stops everything. Fails on errors of the server that no test has seen. */
  close(): Promise<void>;
}

export async function startScene(): Promise<Scene> {
  // Baileys itself does not look up LIDs, and migrated accounts refuse numbers.
  const whatsapp = await startFakeWhatsapp({ isMigrated: false });
  whatsapp.trustMedia();
  const me = whatsapp.phone('15550001000', 'Me');
  const client = createBaileysClient(whatsapp.url);
  await client.linked(async ({ qr }) => me.scan(await qr()));
  return {
    whatsapp,
    me,
    bob: whatsapp.phone('15550002000', 'Bob'),
    carol: whatsapp.phone('15550003000', 'Carol'),
    client,
    async reconnect() {
      client.connect();
      await client.opened();
    },
    async close() {
      await client.end();
      await whatsapp.close();
      assert.deepEqual(whatsapp.troubles, []);
    },
  };
}
