import assert from 'node:assert/strict';
import fs, {
  closeSync,
  copyFileSync,
  cpSync,
  existsSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, it, type TestContext } from 'node:test';
import { DatabaseDamagedError, SqliteFiles } from '../../src/db/sqlite/sqliteFiles.ts';
import { createLog } from '../../src/log.ts';
import { type Home, newHome } from '../support/databases/databases.ts';
import { eventually } from '../support/eventually.ts';
import { bearer, connectSession, startServer, type TestServer } from '../support/server.ts';

const PAGE_BYTES = 2048;
const WAL_HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;

/** A server with a session, and its log. */
async function start(test: TestContext, home?: Home) {
  const lines: string[] = [];
  const log = createLog('error', { write: (line: string) => lines.push(line) });
  const server = await startServer({ ...(home && { home }), log });
  test.after(() => server.stop());
  return { server, log: () => lines.join('') };
}

async function sender(server: TestServer) {
  const { token, call } = await server.account();
  await connectSession(call);
  const acknowledged: string[] = [];
  const send = async (message = 'hello') => {
    const sent = await call('POST', '/messages/send', { to: '491702222222', message });
    if (sent.status === 201) acknowledged.push(sent.body.messageId);
    return sent;
  };
  const requireAll = async (other: TestServer) => {
    const asked = bearer(other.url, token);
    for (const id of acknowledged) assert.equal((await asked('GET', `/messages/${id}`)).status, 200, id);
  };
  return { call, send, acknowledged, requireAll };
}

const ready = async ({ url }: TestServer) => (await fetch(`${url}/ready`)).status;

/** Copies the files, as a crash would leave them, to a home of their own. */
async function crashImage(test: TestContext, { home }: TestServer): Promise<Home> {
  const image = await newHome('sqlite');
  test.after(() => image.remove());
  for (const name of ['switchboard.db', 'switchboard.db-wal', 'switchboard.commits', 'jwt-secret']) {
    copyFileSync(join(home.dataDir, name), join(image.dataDir, name));
  }
  return image;
}

const database = ({ dataDir }: Home) => join(dataDir, 'switchboard.db');

describe('a running SQLite server', () => {
  const losses: Record<string, (file: string) => void> = {
    'a deleted database': (file) => unlinkSync(file),
    'a deleted write-ahead log': (file) => unlinkSync(`${file}-wal`),
    'a database with an older copy in its place': (file) => {
      copyFileSync(file, `${file}.copy`);
      renameSync(`${file}.copy`, file);
    },
  };
  for (const [title, lose] of Object.entries(losses)) {
    it(`acknowledges nothing after ${title}, reports 503 on /ready, and saves acknowledged data`, async (test) => {
      const { server, log } = await start(test);
      const { send, acknowledged, requireAll } = await sender(server);
      assert.equal((await send('before')).status, 201);
      lose(database(server.home));
      const refused = await send('after');
      assert.deepEqual([refused.status, refused.body.code], [503, 'storage_unavailable']);
      assert.equal(await ready(server), 503);
      assert.match(log(), /switchboard\.db(-wal)? was (deleted|replaced) while the server was running/);
      const rescued = `${database(server.home)}.rescued`;
      await eventually(
        async () => log(),
        (text) => text.includes('All acknowledged data is in'),
      );

      const home = await newHome('sqlite');
      test.after(() => home.remove());
      copyFileSync(rescued, database(home));
      for (const name of ['switchboard.commits', 'jwt-secret']) {
        copyFileSync(join(server.home.dataDir, name), join(home.dataDir, name));
      }
      assert.equal(statSync(rescued).mode & 0o777, 0o600);
      const { server: again } = await start(test, home);
      assert.equal(acknowledged.length, 1);
      await requireAll(again);
    });
  }
});

describe('SQLite files that lack acknowledged transactions', () => {
  const damages: Record<string, (home: Home) => void> = {
    'a torn write-ahead log': (home) => {
      const wal = `${database(home)}-wal`;
      truncateSync(wal, statSync(wal).size - PAGE_BYTES / 2);
    },
    'a write-ahead log with a damaged frame': (home) => {
      const fd = openSync(`${database(home)}-wal`, 'r+');
      writeSync(fd, Buffer.alloc(100, 7), 0, 100, WAL_HEADER_BYTES + 40 * (FRAME_HEADER_BYTES + PAGE_BYTES) + 500);
      closeSync(fd);
    },
    'a deleted write-ahead log': (home) => rmSync(`${database(home)}-wal`),
  };
  for (const [title, damage] of Object.entries(damages)) {
    it(`are refused at startup because of ${title}, with a reason, and stay unchanged`, async (test) => {
      const { server } = await start(test);
      const { send } = await sender(server);
      for (let n = 0; n < 5; n++) await send();
      const image = await crashImage(test, server);
      damage(image);
      const wal = `${database(image)}-wal`;
      const before = existsSync(wal) ? readFileSync(wal) : undefined;
      const message = /lacks the last \d+ acknowledged transactions: its write-ahead log .* was deleted or damaged/;
      await assert.rejects(startServer({ home: image }), (error: Error) => {
        assert.ok(error instanceof DatabaseDamagedError);
        assert.match(error.message, message);
        return true;
      });
      assert.deepEqual(before && readFileSync(wal), before, 'the write-ahead log is kept for analysis');

      rmSync(join(image.dataDir, 'switchboard.commits')); // As the message suggests, to continue without the missing transactions.
      await (await startServer({ home: image })).stop();
    });
  }

  it('are not replaced by an empty database if the database is missing', async (test) => {
    const { server } = await start(test);
    await sender(server);
    const image = await crashImage(test, server);
    rmSync(database(image));
    await assert.rejects(
      startServer({ home: image }),
      /switchboard\.db is missing, but it contained acknowledged transactions/,
    );
    assert.equal(existsSync(database(image)), false);
    writeFileSync(`${database(image)}.rescued`, '');
    await assert.rejects(startServer({ home: image }), /data that the server saved .* is in \S+\.rescued\. Rename/);
  });

  for (const [title, content, message] of [
    ['emptied', '', /switchboard\.db is empty, but its write-ahead log is not\. Nothing was changed/],
    ['overwritten', 'x'.repeat(PAGE_BYTES), /switchboard\.db is not a SQLite database\. Nothing was changed/],
  ] as const) {
    it(`are refused at startup if the database was ${title}, and keep their write-ahead log`, async (test) => {
      const { server } = await start(test);
      await sender(server);
      const image = await crashImage(test, server);
      const original = readFileSync(database(image));
      writeFileSync(database(image), content);
      const log = readFileSync(`${database(image)}-wal`);
      for (const commits of ['there', 'deleted']) {
        if (commits === 'deleted') rmSync(join(image.dataDir, 'switchboard.commits'));
        await assert.rejects(startServer({ home: image }), (error: Error) => {
          assert.ok(error instanceof DatabaseDamagedError);
          assert.match(error.message, message);
          return true;
        });
      }
      assert.deepEqual(readFileSync(`${database(image)}-wal`), log);
      writeFileSync(database(image), original); // as the message says
      await (await startServer({ home: image })).stop();
    });
  }

  it('are not reported after a crash alone', async (test) => {
    const { server } = await start(test);
    const { send, requireAll } = await sender(server);
    for (let n = 0; n < 5; n++) assert.equal((await send()).status, 201);
    const { server: again, log } = await start(test, await crashImage(test, server));
    await requireAll(again);
    assert.equal(await ready(again), 200);
    assert.equal(log(), '');
  });

  it('are not reported when the transaction counter wraps', async (test) => {
    const home = await newHome('sqlite');
    test.after(() => home.remove());
    await (await startServer({ home })).stop();
    const file = new DatabaseSync(database(home));
    file.exec('pragma user_version = 2147483647');
    file.close();
    writeFileSync(join(home.dataDir, 'switchboard.commits'), JSON.stringify({ commits: 2147483647, isOpen: false }));
    const { server } = await start(test, home);
    const { send } = await sender(server);
    assert.equal((await send()).status, 201);
    const { server: again } = await start(test, await crashImage(test, server));
    assert.equal(await ready(again), 200);
  });
});

describe('a corrupt SQLite page', () => {
  it('is found after a crash, named in the log, and blocks writes', async (test) => {
    const { server } = await start(test);
    const { send } = await sender(server);
    for (let n = 0; n < 50; n++) await send('x'.repeat(3000));
    const image = await newHome('sqlite');
    test.after(() => image.remove());
    await server.app.services.database.commit(({ connection }) => connection.query('select 1', []));
    cpSync(server.home.dataDir, image.dataDir, { recursive: true, filter: (path) => !/-shm|\.lock/.test(path) });
    const writer = new DatabaseSync(database(image));
    writer.exec('pragma wal_checkpoint(truncate)');
    const { rootpage } = writer.prepare(`select rootpage from sqlite_schema where name = 'messages'`).get() as {
      rootpage: number;
    };
    writer.close();
    const fd = openSync(database(image), 'r+');
    writeSync(fd, Buffer.alloc(PAGE_BYTES, 7), 0, PAGE_BYTES, (rootpage - 1) * PAGE_BYTES);
    closeSync(fd);

    const lines: string[] = [];
    const log = createLog('error', { write: (line: string) => lines.push(line) });
    const damaged = await startServer({ home: image, log });
    test.after(() => damaged.stop());
    await eventually(
      () => ready(damaged),
      (status) => status === 503,
    );
    assert.match(lines.join(''), /database files are damaged/);
    assert.match(lines.join(''), /found (damage in|a destroyed page)/);
    const refused = await damaged.call('POST', '/auth/register', { email: 'x@example.com', password: 'correct horse' });
    assert.equal(refused.status, 503);
  });

  it('does not end the process if the search for it fails during a stop', async (test) => {
    const { server } = await start(test);
    const image = await crashImage(test, server);
    const writer = new DatabaseSync(database(image));
    test.after(() => writer.close());
    writer.prepare('select count(*) from accounts').get(); // creates the other two files
    const save = () => Promise.reject(new Error('nothing can be saved'));
    const files = new SqliteFiles(database(image), { commits: counted(image), save, onDamage: () => {} });
    unlinkSync(database(image));
    files.startCheck();
    // The thread fails before this one can learn of it.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1500);
    await files.stop();
    files.close();
    assert.equal(noted(image), counted(server.home));
  });
});

describe('the transaction counter beside the database', () => {
  it('does not undo transactions if it cannot be written, and is written as soon as possible', async (test) => {
    const replaceWriteSync = replaceableWriteSync(test);
    const { server } = await start(test);
    const { send, acknowledged, requireAll } = await sender(server);
    const { writeSync: write } = fs;
    const failing = replaceWriteSync((...given: Parameters<typeof write>) => {
      if (String(given[1]).includes('"commits"')) throw Object.assign(new Error('EIO: i/o error'), { code: 'EIO' });
      return write(...given);
    });
    assert.equal((await send('while it fails')).status, 201);
    assert.ok(failing.calls() > 0);
    failing.restore();
    await eventually(
      async () => noted(server.home),
      (count) => count === counted(server.home),
    );
    await requireAll(server);
    assert.equal(acknowledged.length, 1);
  });

  it('is written completely on a disk that accepts it in parts', async (test) => {
    const replaceWriteSync = replaceableWriteSync(test);
    const { server } = await start(test);
    const { send } = await sender(server);
    const { writeSync: write } = fs;
    const short = (fd: number, bytes: Buffer, offset: number, length: number, position: number) =>
      write(fd, bytes, offset, Math.ceil(length / 2), position);
    const mocked = replaceWriteSync(short);
    assert.equal((await send()).status, 201);
    mocked.restore();
    assert.ok(mocked.calls() > 1);
    await eventually(
      async () => noted(server.home),
      (count) => count === counted(server.home),
    );
  });
});

/**
 * Allows replacing `writeSync` for every module that imported it, until it is restored or the test ends. Must be called
 * before a server starts: cleanup runs in order, and a server stops only on a working disk.
 */
function replaceableWriteSync(test: TestContext) {
  let restore = () => {};
  test.after(() => restore());
  return (writing: (...given: never[]) => number) => {
    const { mock } = test.mock.method(fs, 'writeSync', writing);
    syncBuiltinESMExports();
    restore = () => {
      mock.restore();
      syncBuiltinESMExports();
    };
    return { restore, calls: () => mock.callCount() };
  };
}

const noted = ({ dataDir }: Home) => JSON.parse(readFileSync(join(dataDir, 'switchboard.commits'), 'utf8')).commits;

function counted(home: Home): number {
  const reading = new DatabaseSync(database(home), { readOnly: true });
  const count = reading.prepare('pragma user_version').get()?.['user_version'];
  reading.close();
  return Number(count);
}
