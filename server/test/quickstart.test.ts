import assert from 'node:assert/strict';
import { it } from 'node:test';
import { quickstart } from '../../examples/quickstart.ts';
import { newHome } from './support/databases.ts';
import { spawnServer } from './support/process.ts';

it('the quickstart connects, sends and receives against a running server', async () => {
  const home = await newHome('sqlite');
  const server = await spawnServer(home);
  try {
    const lines: string[] = [];
    const events = await quickstart(server.url, (line) => lines.push(line));
    const kinds = events.map(({ event }) => event);
    assert.equal(kinds.filter((kind) => kind === 'session.connected').length, 2);
    for (const kind of ['message.sent', 'message.delivered', 'message.incoming', 'message.read']) {
      assert.equal(kinds.filter((one) => one === kind).length, 1, kind);
    }
    const incoming = events.find(({ event }) => event === 'message.incoming');
    assert.equal(incoming?.data['message'], 'Hello Bob');
    assert.equal(lines.filter((line) => line.includes('both signatures verified')).length, events.length);
  } finally {
    await server.stop();
    await home.remove();
  }
});
