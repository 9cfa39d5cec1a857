import assert from 'node:assert/strict';
import { it } from 'node:test';
import * as baileys from 'baileys';
import { pino } from 'pino';
import { socketConfig } from '../../../src/connectors/whatsapp/link/socketConfig.ts';
import type { Session } from '../../../src/connectors/whatsapp/session.ts';
import { createMemoryKeys } from '../../support/fakeWhatsapp/encryption/signal.ts';

it('keeps the devices of a group of 1,024 members for its next message, within a bound', async () => {
  const host = { log: pino({ level: 'silent' }), options: {} };
  const settings = { whatsappUrl: undefined, whatsappKeepAliveSeconds: 30 };
  // Only these fields are read.
  const session = { baileys, creds: baileys.initAuthCreds(), settings, host } as unknown as Session;
  const { userDevicesCache } = socketConfig(session, {
    keys: createMemoryKeys(),
    agent: undefined,
    getMessage: async () => undefined,
    cachedGroupMetadata: async () => undefined,
    makeSignalRepository: baileys.DEFAULT_CONNECTION_CONFIG.makeSignalRepository,
  });
  assert.ok(userDevicesCache);
  const stored = async (users: readonly string[]) => {
    const found = await Promise.all(users.map((user) => userDevicesCache.get<{ user: string }[]>(user)));
    return found.filter((devices, n) => devices?.[0]?.user === users[n]).length;
  };
  const members = Array.from({ length: 1024 }, (_, n) => `2${n}`);
  for (const user of members) await userDevicesCache.set(user, [{ user, device: 0 }]);
  assert.equal(await stored(members), members.length);

  const others = Array.from({ length: 10_000 }, (_, n) => `3${n}`);
  for (const user of others) await userDevicesCache.set(user, [{ user, device: 0 }]);
  assert.equal(await stored([...members, ...others]), 2500);
});
