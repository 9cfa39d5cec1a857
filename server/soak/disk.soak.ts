import assert from 'node:assert/strict';
import { join } from 'node:path';
import { it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { newHome } from '../test/support/databases/databases.ts';
import { diskModes, FailingDisk } from './failingDisk.ts';
import { startScene } from './scene.ts';
import { randomFrom, SECONDS, SEED } from './settings.ts';
import { judge } from './verdict.ts';

const MAX_FAULT_MS = 4000;
const HEALED_MS = 1500;

it('a SQLite server loses, duplicates and reorders nothing while its disk fails', {
  skip: !FailingDisk.isAvailable && 'there is no C compiler',
}, async (test) => {
  const random = randomFrom(SEED);
  const home = await newHome('sqlite');
  const dataDir = join(home.dataDir, 'disk');
  const disk = new FailingDisk(dataDir, join(home.dataDir, 'control'));
  const { server, load } = await startScene(test, home, { dataDir, databaseUrl: '', env: disk.env });
  const faults: string[] = [];
  const failing = diskModes.filter((mode) => mode !== 'ok');
  const endsAt = performance.now() + SECONDS * 1000;
  // Every fault once, then as the seed determines.
  for (let round = 0; performance.now() < endsAt; round++) {
    const mode = failing[round] ?? failing[Math.floor(random() * failing.length)] ?? 'error';
    const ms = Math.round(random() * MAX_FAULT_MS);
    const isKilled = random() < 0.3;
    disk.set(mode);
    await delay(ms);
    if (isKilled) await server.kill();
    disk.set('ok');
    if (isKilled) await server.start();
    await delay(HEALED_MS);
    assert.ok(server.isRunning, `the server exited after ${mode} for ${ms} ms`);
    // It refuses everything after a sync that the disk refused, until it is restarted.
    const isRefusing = (await fetch(`${server.url}/ready`)).status !== 200;
    if (isRefusing) {
      assert.ok(mode === 'unsynced' || mode === 'error', `not ready after ${mode} for ${ms} ms`);
      await server.kill();
      await server.start();
    }
    const then = isKilled ? ', then killed' : isRefusing ? ', then restarted' : '';
    faults.push(`${mode} for ${ms} ms${then}`);
  }
  await load.stop();
  await judge(test, load, faults);
});
