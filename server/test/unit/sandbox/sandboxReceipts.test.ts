import assert from 'node:assert/strict';
import { it } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { pino } from 'pino';
import type { NetworkEvent } from '../../../src/connectors/contract/events.ts';
import { Mailboxes } from '../../../src/sandbox/mailboxes.ts';
import type { SandboxStore } from '../../../src/sandbox/store.ts';
import { createFakeClock } from '../../support/fakeClock.ts';

it('messages that arrive together share a receipt', async () => {
  const store: Partial<SandboxStore> = {
    claim: async (_, sessionId) => sessionId,
    newestMail: async () => 0,
    mailOf: async () => [],
  };
  // Only these functions are used.
  const options = { store: store as SandboxStore, clock: createFakeClock(), log: pino({ level: 'silent' }) };
  const mailboxes = new Mailboxes({ ...options, wakeOwner: () => {} });
  const events: NetworkEvent[] = [];
  const phoneOf = async (number: string) => {
    const receive = async ({ event }: { event: NetworkEvent }) => events.push(event) > 0;
    const phone = { sessionId: number, address: number, number, name: null, receive };
    await mailboxes.join(phone);
    mailboxes.catchUp(phone);
    await turn();
    return phone;
  };
  const [sender, recipient] = [await phoneOf('1'), await phoneOf('2')];
  const ids = Array.from({ length: 20 }, (_, n) => `${n}`);
  const [chat, content] = [{ type: 'direct', id: '2' } as const, { type: 'text', text: 'hello' } as const];
  const message = { type: 'message', chat, from: '1', content, timestamp: 0, replyTo: null } as const;
  await Promise.all(
    ids.map((networkId) => mailboxes.deliver({ to: [recipient.address], event: { ...message, networkId }, sender })),
  );
  await mailboxes.stop();
  assert.deepEqual(
    events.map((event) => (event.type === 'receipt' ? event.networkIds : event.type)),
    [...ids.map(() => 'message'), ids],
  );
});
