import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { FORWARDED_BY, NODE_SIGNATURE, NodeSignatures } from '../../src/cluster/nodeSignature.ts';
import { type Call, connectSession, startServer, type TestServer } from '../support/server.ts';

const SECRET = 'the secret that all nodes of this test share';

describe('requests between nodes', () => {
  let server: TestServer;
  let call: Call;
  let sessionId: string;
  before(async () => {
    server = await startServer({ database: 'two nodes', env: { JWT_SECRET: SECRET } });
    ({ call } = await server.account());
    sessionId = await connectSession(call);
  });
  after(() => server.stop());

  it('requests with a forged node header are treated like any other', async () => {
    const message = { sessionId, to: '491707654321', message: 'Hello' };
    for (const signature of ['', 'v1,1,x', `v1,${Date.now()},${'A'.repeat(43)}`]) {
      const posing = { [FORWARDED_BY]: 'nod_X', [NODE_SIGNATURE]: signature };
      const { status, body } = await call('POST', '/messages/send', message, posing);
      assert.deepEqual([status, body.status], [201, 'sent']);
    }
  });

  it('requests that a node forwarded are not forwarded again', async () => {
    const body = JSON.stringify({ sessionId, to: '491707654321', message: 'Hello' });
    const { nodeId } = server.app.services.cluster;
    const signatures = new NodeSignatures(SECRET, 'nod_X', server.app.services.clock);
    const signed = signatures.sign({ method: 'POST', path: '/api/v1/messages/send', body }, nodeId);
    const { status, body: problem } = await call('POST', '/messages/send', body, signed);
    assert.deepEqual([status, problem.code], [503, 'session_unavailable']);
  });
});
