import assert from 'node:assert/strict';
import type { FakeNetwork, NetworkUnderTest, Site } from '../../conformance/connector.ts';
import { bearer, connectSession, newNumber, sharedSandbox } from '../server.ts';

/** The sandbox includes its other side: `simulate`, and other sessions of the server. */
export const sandboxUnderTest: NetworkUnderTest = {
  connector: 'sandbox',
  gaps: {
    repeats: 'the simulator writes a new message each time',
  },

  async start(): Promise<FakeNetwork> {
    const somebody = newNumber();
    let token: string | undefined;
    const simulate = async ({ call, sessionId }: Site, action: object) => {
      const { status, body } = await call('POST', `/sessions/${sessionId}/simulate`, action);
      assert.equal(status, 200, JSON.stringify(body));
    };
    return {
      env: sharedSandbox,
      session: { options: { pairing: true } },
      somebody,
      async attach({ server }) {
        if (token !== undefined) return;
        const account = await server.account();
        token = account.token;
        await connectSession(account.call, somebody);
      },
      link: (site) => simulate(site, { action: 'pair' }),
      async arrived({ server }) {
        const { body } = await bearer(server.url, token ?? '')('GET', '/messages?limit=200');
        return body.data.map(({ message }: { message: string }) => message).reverse();
      },
      write: (site, { text, answers, from = somebody }) =>
        simulate(site, {
          action: 'incoming',
          from,
          message: text,
          ...(answers !== undefined && { messageId: answers }),
        }),
      confirm: (site, messageId, status) => simulate(site, { action: 'receipt', messageId, status }),
      cut: (site) => simulate(site, { action: 'disconnect', reason: 'The cable was cut', reconnectAfterMs: 60_000 }),
      mend: ({ clock }) => clock.advance(60_000),
      async close() {},
    };
  },
};
