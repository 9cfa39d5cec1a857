import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { chownSync, existsSync, readdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { it } from 'node:test';
import { promisify } from 'node:util';
import { restoreFixture } from '../support/databases/fixtures.ts';
import { cli, entry, newPerson } from './support.ts';

it('upgrades a database, and moves an account to another one', async (test) => {
  const { home, credentials } = await restoreFixture(22, 'sqlite');
  const person = newPerson();
  test.after(async () => {
    person.remove();
    await home.remove();
  });
  const env = { DATA_DIR: home.dataDir, ENCRYPTION_KEY: credentials.encryptionKey };
  const checked = await cli(person, ['upgrade', '--check', '--json'], { env });
  assert.deepEqual([checked.code, checked.json], [0, { upgraded: false, from: 22, kept: null, uncovered: [] }]);
  const wrong = await cli(person, ['upgrade'], { env: { DATA_DIR: home.dataDir } });
  assert.deepEqual([wrong.code, /Set ENCRYPTION_KEY/.test(wrong.stderr)], [1, true]);

  const upgraded = await cli(person, ['upgrade'], { env });
  const kept = join(home.dataDir, 'switchboard.schema-22.db');
  assert.equal(upgraded.code, 0);
  assert.equal(upgraded.stdout, `Upgraded from schema version 22. The earlier data is in ${kept}.\n`);
  assert.match(upgraded.stderr, /^messages: 24 rows \(\d+\.\d s\)$/m);
  assert.ok(upgraded.stderr.includes(`remove the earlier data: rm ${kept}\n`));
  assert.ok(existsSync(kept));
  assert.equal((await cli(person, ['upgrade'], { env })).stdout, 'The database needs no conversion.\n');

  const file = join(person.home, 'account');
  const exporting = ['admin', 'export-account', credentials.email, file, '--without-files', '--passphrase-stdin'];
  const short = await cli(person, exporting, { env, stdin: 'too short\n' });
  assert.deepEqual([short.code, /at least 12 characters/.test(short.stderr)], [2, true]);
  const stdin = 'correct horse battery staple\n';
  const exported = await cli(person, exporting, { env, stdin });
  assert.equal(exported.code, 0, exported.stderr);
  assert.match(exported.stdout, /^Exported acc_\w+ to .*\/account \(\d+ rows, 0 files\)\.\n$/);
  assert.match(exported.stderr, /Its sessions are stopped, and its webhooks are paused\.\n/);
  const unknown = await cli(person, exporting.with(2, 'nobody@example.com').with(3, `${file}2`), { env, stdin });
  assert.deepEqual([unknown.code, /No account has/.test(unknown.stderr)], [1, true]);

  const importing = ['admin', 'import-account', file, '--passphrase-stdin'];
  const there = { DATA_DIR: join(person.home, 'data') };
  const imported = await cli(person, importing, { env: there, stdin });
  assert.equal(imported.code, 0, imported.stderr);
  assert.match(imported.stdout, /^Imported acc_\w+ \(\S+@example\.com\): \d+ rows, 0 files\.\n$/);
  const again = await cli(person, importing, { env: there, stdin });
  assert.deepEqual([again.code, /exists already\. Nothing was imported/.test(again.stderr)], [1, true]);
});

const isReachable = () => {
  for (let folder = import.meta.dirname; ; folder = dirname(folder)) {
    if ((statSync(folder).mode & 0o001) === 0) return false;
    if (folder === dirname(folder)) return true;
  }
};
const isPossible = process.geteuid?.() === 0 && isReachable();
const NOBODY = 65_534;

it('upgrades as the owner of the data folder if root runs it', {
  skip: !isPossible && 'needs root, and a checkout that all users can read',
}, async (test) => {
  const { home, credentials } = await restoreFixture(22, 'sqlite');
  test.after(() => home.remove());
  for (const path of [home.dataDir, ...readdirSync(home.dataDir).map((name) => join(home.dataDir, name))])
    chownSync(path, NOBODY, NOBODY);
  const env = { DATA_DIR: home.dataDir, ENCRYPTION_KEY: credentials.encryptionKey };
  await promisify(execFile)(process.execPath, [entry, 'upgrade'], { env });
  for (const name of readdirSync(home.dataDir)) assert.equal(statSync(join(home.dataDir, name)).uid, NOBODY, name);
});
