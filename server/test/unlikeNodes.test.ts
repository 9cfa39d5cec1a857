import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { createLog } from '../src/log.ts';
import { type Home, newHome } from './support/databases.ts';
import { eventually } from './support/eventually.ts';
import { queryOf } from './support/nodes.ts';
import { type ServerProcess, spawnServer } from './support/process.ts';
import { startServer } from './support/server.ts';

const SECRET = 'a secret that has more than thirty-two characters';
const OTHER_SECRET = 'another secret of more than thirty-two characters';

/** A home on PostgreSQL, removed when the test has ended and what it started is gone. */
async function homeFor(test: TestContext): Promise<{ home: Home; ends: (() => Promise<unknown>)[] }> {
  const home = await newHome('postgres');
  const ends: (() => Promise<unknown>)[] = [];
  test.after(async () => {
    await Promise.all(ends.map((end) => end()));
    await home.remove();
  });
  return { home, ends };
}

describe('nodes that sign login tokens with different secrets', () => {
  /** A way to start nodes as processes, each by the name of its data folder. */
  async function deployment(test: TestContext) {
    const { home, ends } = await homeFor(test);
    const start = async (name: string, env: Record<string, string>): Promise<ServerProcess> => {
      const node = await spawnServer({ ...home, dataDir: join(home.dataDir, name) }, env);
      ends.push(() => node.kill());
      return node;
    };
    const refuse = (name: string, env: Record<string, string>, pattern: RegExp) =>
      assert.rejects(start(name, env), ({ message }: Error) => {
        assert.match(message, /^the server ended with 1: JWT_SECRET is not what .+\.\n$/, 'words, and no stack');
        assert.match(message, pattern);
        for (const secret of [SECRET, OTHER_SECRET]) assert.ok(!message.includes(secret), message);
        return true;
      });
    return { start, refuse, query: queryOf(home) };
  }

  it('do not start beside one another, and the message names the setting and the nodes', async (test) => {
    const { start, refuse, query } = await deployment(test);
    const first = await start('one', { JWT_SECRET: SECRET });
    await refuse('two', { JWT_SECRET: OTHER_SECRET }, new RegExp(`\\(${first.url}/?\\)`));
    await refuse('two', {}, /or none for all/);
    const kept = JSON.stringify(await query('select * from nodes'));
    assert.ok(!kept.includes(SECRET), kept);

    const second = await start('two', { JWT_SECRET: SECRET });
    assert.equal((await query('select node_id from nodes')).length, 2);
    await refuse('one more', { JWT_SECRET: OTHER_SECRET }, /stop all of them first/);
    for (const node of [first, second]) assert.equal(await node.stop(), 0);
    await start('two', { JWT_SECRET: OTHER_SECRET });
    await refuse('one', { JWT_SECRET: SECRET }, /JWT_SECRET/);
  });

  it('do when the others are dead, or were this one', async (test) => {
    const { start, refuse, query } = await deployment(test);
    await (await start('one', { JWT_SECRET: SECRET })).kill();
    const again = await start('one', { JWT_SECRET: OTHER_SECRET });
    await again.kill();
    await refuse('two', { JWT_SECRET: SECRET }, /one that was killed counts/);
    await query('update nodes set expires_at = 1');
    await start('two', { JWT_SECRET: SECRET });
  });

  it('do beside an older version, which does not say', async (test) => {
    const { start, query } = await deployment(test);
    await start('one', { JWT_SECRET: SECRET });
    await query('update nodes set jwt_fingerprint = null');
    await start('two', { JWT_SECRET: OTHER_SECRET });
    assert.equal((await query('select node_id from nodes')).length, 2);
  });

  it('do not come together again after one was cut off, until the others are gone', async (test) => {
    const { home, ends } = await homeFor(test);
    const lines: string[] = [];
    const log = createLog('debug', { write: (line: string) => void lines.push(line) });
    const server = await startServer({ home, log, env: { JWT_SECRET: SECRET } });
    ends.push(server.stop);
    const status = async (path: string) => (await fetch(`${server.url}${path}`)).status;
    // As if the others had given it up, and had all been started anew.
    await queryOf(home)(`
      update nodes set node_id = 'nod_other', instance = 'other', url = 'http://other', jwt_fingerprint = 'other',
        expires_at = expires_at + 600000`);
    const told = () => lines.filter((line) => line.includes('stays out'));
    await eventually(
      async () => lines,
      (all) => told().length > 0 && all.some((line) => /OtherSecretError.*joining failed/.test(line)),
    );
    assert.match(told().join(), /"level":50.*this node stays out: JWT_SECRET is not .*\(http:\/\/other\)/);
    assert.equal(await status('/ready'), 503);
    await queryOf(home)(`delete from nodes where node_id = 'nod_other'`);
    await eventually(
      () => status('/ready'),
      (ready) => ready === 200,
    );
    assert.equal(told().length, 1, 'however often it tried');
  });
});
