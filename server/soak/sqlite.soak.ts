import { it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { newHome } from '../test/support/databases/databases.ts';
import { startScene } from './scene.ts';
import { randomFrom, SECONDS, SEED } from './settings.ts';
import { judge } from './verdict.ts';

const JUMPS_MS = [0, 900, -900, -60_000, 600_000];

it('a SQLite server loses, duplicates and reorders nothing while it is killed and its clock jumps', async (test) => {
  const random = randomFrom(SEED);
  const home = await newHome('sqlite');
  const { server, load } = await startScene(test, home, home);
  const faults: string[] = [];
  const endsAt = performance.now() + SECONDS * 1000;
  while (performance.now() < endsAt) {
    await delay(50 + random() * 1500);
    await server.kill();
    const jump = JUMPS_MS[Math.floor(random() * JUMPS_MS.length)] ?? 0;
    server.setClock(jump);
    faults.push(`killed, clock ${jump} ms`);
    await server.start();
  }
  await load.stop();
  await judge(test, load, faults);
});
