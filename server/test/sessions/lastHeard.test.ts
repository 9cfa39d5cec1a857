import assert from 'node:assert/strict';
import { it } from 'node:test';
import { describeOnEachDeployment } from '../support/databases/databases.ts';
import { type Call, connectSession, newNumber, serversFor } from '../support/server.ts';

/** Ways to end a connection, within moments of its last event. */
const endings: readonly (readonly [title: string, end: (call: Call, path: string) => Promise<unknown>])[] = [
  ['the account disconnects it', (call, path) => call('POST', `${path}/disconnect`)],
  ['the account logs it out', (call, path) => call('POST', `${path}/logout`)],
  ['the network ends it', (call, path) => simulate(call, path, { action: 'disconnect', reconnectAfterMs: null })],
  ['the network interrupts it', (call, path) => simulate(call, path, { action: 'disconnect', reconnectAfterMs: 0 })],
  ['the phone unlinks it', (call, path) => simulate(call, path, { action: 'logout' })],
];

const simulate = (call: Call, path: string, action: object) => call('POST', `${path}/simulate`, action);

describeOnEachDeployment('when a session last heard from its network', (_, deployment) => {
  const server = serversFor(deployment);

  for (const [title, end] of endings)
    it(`is kept when ${title}`, async () => {
      const { call } = await (await server()).account();
      const path = `/sessions/${await connectSession(call)}`;
      const before = Date.now();
      await simulate(call, path, { action: 'incoming', from: newNumber(), message: 'last' });
      await end(call, path);
      const heardAt = async () => (await call('GET', path)).body.lastEventAt;
      const after = await heardAt();
      assert.ok(Date.parse(after) >= before, `${after} is before the last event`);
      await call('POST', `${path}/connect`);
      const again = await heardAt();
      assert.ok(Date.parse(again) >= Date.parse(after), `${again} is before ${after}`);
    });
});
