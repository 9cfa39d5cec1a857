import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { it } from 'node:test';
import { buildConnector, Pool } from 'undici';
import { createLookup, createTargetPolicy, type Lookup } from '../../src/egress/target.ts';
import { portOf } from '../support/connections/listening.ts';

it('rejects a webhook host whose DNS answer changes to a private address after the webhook is set', async () => {
  const policy = createTargetPolicy({ host: '0.0.0.0', allowedCidrs: [] });
  const lookup: Lookup = (_, __, callback) => callback(null, [{ address: '127.0.0.1', family: 4 }]);
  let visits = 0;
  const server = createServer((_, response) => {
    visits++;
    response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const port = portOf(server);
  const connect = buildConnector({ lookup: createLookup(policy, lookup) });
  const pool = new Pool(`http://rebind.example.com:${port}`, { connect });
  await assert.rejects(pool.request({ path: '/', method: 'POST' }), { code: 'ERR_TARGET_REFUSED' });
  // A literal address skips the lookup, so every attempt checks the URL first.
  const literal = new Pool(`http://127.0.0.1:${port}`, { connect });
  await literal.request({ path: '/', method: 'POST' });
  assert.equal(visits, 1);
  await Promise.all([pool.destroy(), literal.destroy()]);
  await new Promise((resolve) => server.close(resolve));
});
