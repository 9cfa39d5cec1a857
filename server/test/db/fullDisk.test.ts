import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { globSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { newHome } from '../support/databases/databases.ts';
import { download, upload } from '../support/media/media.ts';
import { startServer, type TestServer } from '../support/server.ts';

it('an upload to a full disk returns 503, leaves no file, and succeeds once there is space', async (test) => {
  const home = await newHome('sqlite');
  const mediaDir = join(home.dataDir, 'small');
  mkdirSync(mediaDir);
  const { status } = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', mediaDir]);
  let server: TestServer | undefined;
  test.after(async () => {
    await server?.stop();
    if (status === 0) spawnSync('umount', [mediaDir]);
    await home.remove();
  });
  if (status !== 0) return test.skip('only root can mount a small disk');
  server = await startServer({ home, env: { MEDIA_DIR: mediaDir } });
  const { token, call } = await server.account();
  const files = () => globSync('**/*', { cwd: mediaDir, withFileTypes: true }).filter((entry) => entry.isFile());
  const before = files().length;

  const refused = await upload(server, token, randomBytes(3_000_000));
  assert.deepEqual([refused.status, refused.body.code], [503, 'storage_unavailable'], JSON.stringify(refused.body));
  assert.match(refused.body.detail, /the disk is full/);
  assert.ok(refused.headers.get('retry-after'));
  assert.equal(files().length, before);
  assert.equal((await call('GET', '/auth/me')).status, 200);

  const small = randomBytes(100_000);
  const { body } = await upload(server, token, small);
  assert.deepEqual((await download(server, token, body.mediaId)).bytes, small);
});
