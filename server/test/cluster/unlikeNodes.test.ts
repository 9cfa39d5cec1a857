import assert from 'node:assert/strict';
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { createLog } from '../../src/log.ts';
import { type Home, newHome } from '../support/databases/databases.ts';
import { eventually } from '../support/eventually.ts';
import { download, picture, upload } from '../support/media/media.ts';
import { queryOf } from '../support/processes/nodes.ts';
import { type ServerProcess, spawnServer } from '../support/processes/process.ts';
import { startServer, type TestServer } from '../support/server.ts';

const SECRET = 'a secret that has more than thirty-two characters';
const OTHER_SECRET = 'another secret of more than thirty-two characters';

/** A home on PostgreSQL, removed after the test once everything started on it has stopped. */
async function homeFor(test: TestContext): Promise<{ home: Home; ends: (() => Promise<unknown>)[] }> {
  const home = await newHome('postgres');
  const ends: (() => Promise<unknown>)[] = [];
  test.after(async () => {
    await Promise.all(ends.map((end) => end()));
    await home.remove();
  });
  return { home, ends };
}

describe('nodes with different secrets for login tokens', () => {
  /** Returns functions that start nodes with the data folder of their name, in this process or as another. */
  async function deployment(test: TestContext) {
    const { home, ends } = await homeFor(test);
    const start = async (name: string, env: Record<string, string>): Promise<TestServer> => {
      const node = await startServer({ home, env: { DATA_DIR: join(home.dataDir, name), ...env } });
      ends.push(node.stop);
      return node;
    };
    const spawn = async (name: string, env: Record<string, string>): Promise<ServerProcess> => {
      const node = await spawnServer({ ...home, dataDir: join(home.dataDir, name) }, env);
      ends.push(() => node.kill());
      return node;
    };
    const refuse = (starting: Promise<unknown>, pattern: RegExp) =>
      assert.rejects(starting, ({ message }: Error) => {
        assert.match(
          message,
          /^(the server ended with 1: )?JWT_SECRET differs from that of the running nodes .+\.\n?$/,
        );
        assert.match(message, pattern);
        for (const secret of [SECRET, OTHER_SECRET]) assert.ok(!message.includes(secret), message);
        return true;
      });
    return { start, spawn, refuse, query: queryOf(home) };
  }

  it('do not start side by side, and the error names the setting and the nodes', async (test) => {
    const { start, spawn, refuse, query } = await deployment(test);
    const first = await start('one', { JWT_SECRET: SECRET });
    const spawning = spawn('two', { JWT_SECRET: OTHER_SECRET });
    await refuse(spawning, new RegExp(`\\(${first.url}/?\\)`));
    await assert.rejects(spawning, /^Error: the server ended with 1: .+\.\n$/, 'words, and no stack');
    await refuse(start('two', {}), /or on none/);
    const kept = JSON.stringify(await query('select * from nodes'));
    assert.ok(!kept.includes(SECRET), kept);

    const second = await start('two', { JWT_SECRET: SECRET });
    assert.equal((await query('select node_id from nodes')).length, 2);
    await refuse(start('one more', { JWT_SECRET: OTHER_SECRET }), /stop all nodes first/);
    for (const node of [first, second]) await node.stop();
    await start('two', { JWT_SECRET: OTHER_SECRET });
    await refuse(start('one', { JWT_SECRET: SECRET }), /JWT_SECRET/);
  });

  it('start if the other nodes are dead or were earlier processes of the same node', async (test) => {
    const { start, spawn, refuse, query } = await deployment(test);
    await (await spawn('one', { JWT_SECRET: SECRET })).kill();
    const again = await spawn('one', { JWT_SECRET: OTHER_SECRET });
    await again.kill();
    // Regardless of how long the next start takes.
    await query('update nodes set expires_at = expires_at + 60000');
    await refuse(start('two', { JWT_SECRET: SECRET }), /a killed node counts as running/);
    await query('update nodes set expires_at = 1');
    await start('two', { JWT_SECRET: SECRET });
  });

  it('start beside an older version, which does not publish its secret', async (test) => {
    const { start, query } = await deployment(test);
    await start('one', { JWT_SECRET: SECRET });
    await query('update nodes set jwt_fingerprint = null, file_store = null');
    await start('two', { JWT_SECRET: OTHER_SECRET });
    assert.equal((await query('select node_id from nodes')).length, 2);
  });

  it('do not rejoin after a network partition until the others are gone', async (test) => {
    const { home, ends } = await homeFor(test);
    const lines: string[] = [];
    const log = createLog('debug', { write: (line: string) => void lines.push(line) });
    const server = await startServer({ home, log, env: { JWT_SECRET: SECRET } });
    ends.push(server.stop);
    const status = async (path: string) => (await fetch(`${server.url}${path}`)).status;
    // As if the others had evicted it and had all been restarted.
    await queryOf(home)(`
      update nodes set node_id = 'nod_other', instance = 'other', url = 'http://other', jwt_fingerprint = 'other',
        expires_at = expires_at + 600000`);
    const errors = () => lines.filter((line) => line.includes('node cannot join'));
    await eventually(
      async () => lines,
      (all) => errors().length > 0 && all.some((line) => /OtherSecretError.*failed to join/.test(line)),
    );
    assert.match(errors().join(), /"level":50.*node cannot join: JWT_SECRET differs from .*\(http:\/\/other\)/);
    assert.equal(await status('/ready'), 503);
    await queryOf(home)(`delete from nodes where node_id = 'nod_other'`);
    await eventually(
      () => status('/ready'),
      (ready) => ready === 200,
    );
    assert.equal(errors().length, 1, 'one line for all attempts');
  });
});

describe('nodes that store files in different places', () => {
  interface LoggedNode extends TestServer {
    /** The number of nodes in each warning. */
    readonly warnings: number[];
    /** `switchboard_nodes_with_other_files`. */
    figure(): Promise<number>;
  }

  async function deployment(test: TestContext) {
    const { home, ends } = await homeFor(test);
    const folder = (name: string) => join(home.dataDir, name);
    const start = async (name: string, env: Record<string, string> = {}): Promise<LoggedNode> => {
      const warnings: number[] = [];
      const write = (line: string) => {
        const { msg, nodes } = JSON.parse(line);
        if (/keep files elsewhere.*MEDIA_DIR.*MEDIA_S3_URL/.test(msg)) warnings.push(nodes.length);
      };
      const log = createLog('warn', { write });
      const server = await startServer({ home, log, env: { DATA_DIR: folder(name), ...env } });
      ends.push(server.stop);
      const figure = async () => {
        const text = await (await fetch(`${server.url}/metrics`)).text();
        return Number(/^switchboard_nodes_with_other_files (\d+)$/m.exec(text)?.[1]);
      };
      return { ...server, warnings, figure };
    };
    return { start, folder, query: queryOf(home) };
  }

  it('start, log one warning per place, and show it', async (test) => {
    const { start } = await deployment(test);
    const first = await start('one');
    assert.deepEqual([first.warnings, await first.figure()], [[], 0], 'alone');
    const second = await start('two');
    assert.deepEqual([second.warnings, await second.figure()], [[1], 1]);
    await eventually(first.figure, (others) => others === 1);
    assert.deepEqual(first.warnings, [1]);

    // The nodes in the warning.
    const { token } = await first.account();
    const { body } = await upload(first, token, picture());
    assert.equal((await download(first, token, body.mediaId)).status, 200);
    assert.equal((await download(second, token, body.mediaId)).status, 503);

    await second.stop();
    await eventually(first.figure, (others) => others === 0);
    const again = await start('two');
    await eventually(first.figure, (others) => others === 1);
    assert.deepEqual([again.warnings, first.warnings], [[1], [1]], 'no new warning for a node that returns');
    await start('three');
    await eventually(first.figure, (others) => others === 2);
    assert.deepEqual(first.warnings, [1, 1]);
  });

  it('are not reported for one shared folder with different paths', async (test) => {
    const { start, folder } = await deployment(test);
    const first = await start('one');
    const [second, third] = await Promise.all([
      start('two', { MEDIA_DIR: `${folder('one')}/../one/media` }),
      start('three', { MEDIA_DIR: join(folder('one'), 'media') }),
    ]);
    const nodes = [first, second, third];
    for (const { url } of nodes) {
      await eventually(
        async () => (await fetch(`${url}/metrics`)).text(),
        (text) => text.includes('switchboard_nodes 3\n') && text.includes('switchboard_nodes_with_other_files 0\n'),
      );
    }
    assert.deepEqual(
      nodes.flatMap(({ warnings }) => warnings),
      [],
    );
    const { token } = await first.account();
    const { body } = await upload(first, token, picture());
    assert.equal((await download(second, token, body.mediaId)).status, 200);
  });

  it('are reported for another bucket or a folder, but not for the same bucket', async (test) => {
    const { start } = await deployment(test);
    const keys = { MEDIA_S3_ACCESS_KEY_ID: 'id', MEDIA_S3_SECRET_ACCESS_KEY: 'key' };
    const bucket = { MEDIA_S3_URL: 'http://127.0.0.1:9/', MEDIA_S3_BUCKET: 'files/switchboard', ...keys };
    await start('one', bucket);
    const second = await start('two', { ...bucket, MEDIA_S3_URL: 'http://127.0.0.1:9' });
    assert.deepEqual([second.warnings, await second.figure()], [[], 0]);
    const third = await start('three', { ...bucket, MEDIA_S3_BUCKET: 'files/another' });
    assert.deepEqual([third.warnings, await third.figure()], [[2], 2], 'a single warning for both');
    const fourth = await start('four');
    assert.deepEqual([fourth.warnings, await fourth.figure()], [[3], 3]);
  });

  it('are not reported for an older version, which does not publish its place', async (test) => {
    const { start, query } = await deployment(test);
    await start('one');
    await query('update nodes set file_store = null');
    const second = await start('two');
    assert.deepEqual([second.warnings, await second.figure()], [[], 0]);
  });
});

describe('nodes whose data folder is a copy', () => {
  it('do not start beside the node with the original, which keeps running', async (test) => {
    const { home, ends } = await homeFor(test);
    const start = async (name: string): Promise<ServerProcess> => {
      const node = await spawnServer({ ...home, dataDir: join(home.dataDir, name) }, { LEASE_SECONDS: '4' });
      ends.push(() => node.kill());
      return node;
    };
    const original = await start('original');
    cpSync(join(home.dataDir, 'original'), join(home.dataDir, 'copy'), { recursive: true });
    await assert.rejects(start('copy'), /DATA_DIR is a copy of the folder of a running node/);
    assert.equal((await fetch(`${original.url}/ready`)).status, 200);

    await original.kill();
    const again = await start('original'); // immediately, because its earlier process is dead
    assert.equal(await again.stop(), 0);
    const copy = await start('copy');
    await assert.rejects(start('original'), /or that node runs on a copy of this folder/);
    // As if the whole disk had been copied for another machine, including inodes.
    const runs = (name: string) => join(home.dataDir, name, 'instance-runs');
    const read = (name: string) => JSON.parse(readFileSync(runs(name), 'utf8'));
    writeFileSync(
      runs('original'),
      JSON.stringify({ ...read('original'), nodeIds: read('copy').nodeIds, boot: 'another' }),
    );
    await assert.rejects(start('original'), /or that node runs on a copy of this folder/);
    assert.equal((await fetch(`${copy.url}/ready`)).status, 200);
    await copy.kill();
    await start('original'); // Like a folder that was moved or restored: once the other lease has expired.
  });
});
