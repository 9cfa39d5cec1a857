import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { FORWARDED_BY, NODE_SIGNATURE, NodeSignatures } from '../../../src/cluster/nodeSignature.ts';
import { createFakeClock } from '../../support/fakeClock.ts';

const SECRET = 'the secret that all nodes of this test share';

describe('signatures between nodes', () => {
  const clock = createFakeClock();
  const sender = new NodeSignatures(SECRET, 'nod_A', clock);
  const receiver = new NodeSignatures(SECRET, 'nod_B', clock);
  const request = { method: 'POST', path: '/api/v1/messages/send?x=1', body: '{"to":"1"}' };

  it('are accepted by the addressed node', () => {
    assert.ok(receiver.verify(request, sender.sign(request, 'nod_B')));
    const body = Buffer.from(request.body);
    assert.ok(receiver.verify({ ...request, body }, sender.sign(request, 'nod_B')), 'the same bytes in a buffer');
  });

  it('are bound to one method, path, body, sender and receiver', () => {
    const headers = sender.sign(request, 'nod_B');
    assert.ok(!receiver.verify({ ...request, method: 'GET' }, headers));
    assert.ok(!receiver.verify({ ...request, path: '/api/v1/messages/send' }, headers));
    assert.ok(!receiver.verify({ ...request, body: '{"to":"2"}' }, headers));
    assert.ok(!receiver.verify(request, { ...headers, [FORWARDED_BY]: 'nod_C' }));
    assert.ok(!receiver.verify(request, sender.sign(request, 'nod_C')));
  });

  it('require the secret of the deployment', () => {
    const stranger = new NodeSignatures('another secret, which is long enough too', 'nod_A', clock);
    assert.ok(!receiver.verify(request, stranger.sign(request, 'nod_B')));
  });

  it('expire after 15 minutes, whichever clock is behind', async () => {
    const old = sender.sign(request, 'nod_B');
    const slow = createFakeClock(clock.now() - 14 * 60_000);
    assert.ok(new NodeSignatures(SECRET, 'nod_B', slow).verify(request, old));
    await clock.advance(16 * 60_000);
    assert.ok(!receiver.verify(request, old));
    assert.ok(!new NodeSignatures(SECRET, 'nod_B', slow).verify(request, sender.sign(request, 'nod_B')));
  });

  it('are rejected if damaged or missing', () => {
    const headers = sender.sign(request, 'nod_B');
    for (const damaged of ['', 'v1', 'v1,x,y', 'v2,1,abc', `${headers[NODE_SIGNATURE]}A`, undefined])
      assert.ok(!receiver.verify(request, { ...headers, [NODE_SIGNATURE]: damaged }), String(damaged));
    assert.ok(!receiver.verify(request, { [NODE_SIGNATURE]: headers[NODE_SIGNATURE] }));
  });
});
