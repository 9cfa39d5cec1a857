import assert from 'node:assert/strict';
import { it } from 'node:test';
import { pino } from 'pino';
import type { NetworkEvent } from '../../../src/connectors/contract/events.ts';
import type { SessionHost } from '../../../src/connectors/contract/host.ts';
import { Sandbox } from '../../../src/sandbox/sandbox.ts';
import type { Simulation } from '../../../src/sandbox/simulatedActions.ts';
import type { SandboxStore } from '../../../src/sandbox/store.ts';
import { SteadyClock } from '../../../src/steadyClock.ts';
import { createFakeClock } from '../../support/fakeClock.ts';
import { createTestStore } from '../../whatsapp/host.ts';

const BOB = '491702222222';

it('a contact that was blocked again stays blocked while the session reconnects', async () => {
  const clock = createFakeClock();
  const log = pino({ level: 'silent' });
  const store: Partial<SandboxStore> = {
    claim: async (_, sessionId) => sessionId,
    newestMail: async () => 0,
    mailOf: async () => [],
    profile: async () => ({ name: null, about: null, picture: null }),
  };
  const steady = new SteadyClock(clock, clock.now());
  // Only these functions are used.
  const sandbox = new Sandbox({ store: store as SandboxStore, steady, clock, log, wakeOwner: () => {} });
  const events: NetworkEvent[] = [];
  let blocked: Promise<string[]> = Promise.resolve([]);
  const host: SessionHost = {
    sessionId: 'ses_test',
    scope: '',
    phoneNumber: '491701111111',
    options: {},
    clock,
    log,
    store: createTestStore(),
    callbackUrl: null,
    onEvent: async (event) => void events.push(event),
    undelivered: async () => [],
    lastIncoming: async () => null,
    groups: async () => [],
    blocked: () => blocked,
  };
  const connection = await sandbox.open(host);
  for (const isBlocked of [true, false, true]) await connection.setBlocked?.(BOB, isBlocked);
  const listed = Promise.withResolvers<string[]>();
  blocked = listed.promise;
  const play = async (action: Simulation) => connection.simulate?.(action);
  await play({ action: 'disconnect', reason: 'lost', reconnectAfterMs: 1000 });
  await clock.advance(1000);
  await play({ action: 'incoming', from: BOB, group: null } as Simulation);
  assert.deepEqual(
    events.map(({ type }) => type),
    ['connected', 'disconnected', 'connected'],
  );
  listed.resolve([BOB]);
  await connection.close();
});
