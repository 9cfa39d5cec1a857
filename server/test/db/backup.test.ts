import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { BackupError, backUp } from '../../src/backup.ts';
import { readSettings } from '../../src/config.ts';
import { emptyHome, type Home } from '../support/databases/databases.ts';
import { download, picture, upload } from '../support/media/media.ts';
import { bearer, connectSession, startServer, type TestServer } from '../support/server.ts';

const entry = fileURLToPath(new URL('../../start.js', import.meta.url));
const run = promisify(execFile);

describe('backup of a running SQLite server', () => {
  let server: TestServer;
  let place: Home;
  before(async () => {
    server = await startServer();
    place = await emptyHome('sqlite');
  });
  after(async () => {
    await server.stop();
    await place.remove();
  });
  const settings = () => readSettings({ DATA_DIR: server.home.dataDir });
  const at = (name: string) => join(place.dataDir, name);

  it('succeeds before the first media file exists, and leaves nothing beside the target folder', async () => {
    rmSync(join(server.home.dataDir, 'media', 'content'), { recursive: true, force: true });
    assert.deepEqual(await backUp(settings(), at('empty')), { files: 0, hasLoginSecret: true });
    assert.deepEqual(readdirSync(place.dataDir), ['empty']);
  });

  it('contains every acknowledged write under load, and can replace DATA_DIR', async (test) => {
    const { call, token } = await server.account();
    await connectSession(call);
    const bytes = picture();
    const { mediaId } = (await upload(server, token, bytes)).body;
    const acknowledged: string[] = [];
    let isDone = false;
    const send = async () => {
      const { body } = await call('POST', '/messages/send', { to: '491702222222', message: 'x'.repeat(500) });
      acknowledged.push(body.messageId);
    };
    for (let n = 0; n < 20; n++) await send();
    const due = [...acknowledged];
    const writing = (async () => {
      while (!isDone) await send();
    })();
    const { stdout } = await run(process.execPath, [entry, 'backup', at('full')], {
      env: { ...process.env, DATA_DIR: server.home.dataDir },
    }).finally(() => (isDone = true));
    await writing;
    assert.match(stdout, /^Backup complete: .*full \(database, login secret and \d+ files\)\n$/);
    assert.ok(acknowledged.length > due.length, 'the backup ran during writes');
    assert.equal(statSync(at('full')).mode & 0o777, 0o700);
    assert.equal(statSync(join(at('full'), 'switchboard.db')).mode & 0o777, 0o600);

    const restored = await startServer({ home: { ...place, dataDir: at('full') } });
    test.after(() => restored.stop());
    const asked = bearer(restored.url, token);
    for (const id of due) assert.equal((await asked('GET', `/messages/${id}`)).status, 200);
    assert.deepEqual((await download(restored, token, mediaId)).bytes, bytes);
  });

  it('refuses an existing folder and a source without a SQLite database', async () => {
    mkdirSync(at('taken'));
    await assert.rejects(backUp(settings(), at('taken')), BackupError);
    const elsewhere = readSettings({ DATA_DIR: at('nowhere') });
    await assert.rejects(backUp(elsewhere, at('other')), /There is no database in .*nowhere/);
    const postgres = readSettings({ DATABASE_URL: 'postgres://localhost/x' });
    await assert.rejects(backUp(postgres, at('other')), /pg_dump/);
    assert.equal(existsSync(at('other')), false);
  });

  it('removes its own files and those of an interrupted backup after a failure', async () => {
    mkdirSync(at('broken'));
    writeFileSync(join(at('broken'), 'switchboard.db'), 'not a database');
    mkdirSync(`${at('out')}.partial`);
    writeFileSync(join(`${at('out')}.partial`, 'switchboard.db'), 'half of one');
    await assert.rejects(backUp(readSettings({ DATA_DIR: at('broken') }), at('out')), /not a database/);
    assert.deepEqual(
      readdirSync(place.dataDir).filter((name) => name.startsWith('out')),
      [],
    );
    const { stdout } = await run(process.execPath, [entry, 'backup', '--help']);
    for (const text of ['DATA_DIR', 'default ./data', 'MEDIA_DIR']) assert.ok(stdout.includes(text), text);
  });
});
