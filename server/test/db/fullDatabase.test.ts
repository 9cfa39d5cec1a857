import assert from 'node:assert/strict';
import { join } from 'node:path';
import { it } from 'node:test';
import { newHome } from '../support/databases/databases.ts';
import { eventually } from '../support/eventually.ts';
import { queryOf } from '../support/processes/nodes.ts';
import { connectSession, startServer } from '../support/server.ts';

it('no node is ready while PostgreSQL has no space for a row', async (test) => {
  const home = await newHome('postgres');
  const servers = [await startServer({ home })];
  test.after(async () => {
    for (const server of servers.toReversed()) await server.stop();
    await home.remove();
  });
  const [first] = servers;
  assert.ok(first);
  const { call } = await first.account();
  await connectSession(call);
  servers.push(await startServer({ home, env: { DATA_DIR: join(home.dataDir, 'other'), NODE_ROLE: 'api' } }));
  const ask = queryOf(home);
  // The error of PostgreSQL for a file that cannot grow.
  await ask(`
    create function refuse() returns trigger as $$ begin
      raise exception using errcode = '53100', message = 'could not extend file: No space left on device';
    end $$ language plpgsql;
    create trigger refuse before insert on messages for each row execute function refuse();
    create trigger refuse before insert on secrets for each row execute function refuse();`);
  const statuses = () => Promise.all(servers.map(async ({ url }) => (await fetch(`${url}/ready`)).status));
  assert.equal((await call('POST', '/messages/send', { to: '491702222222', message: 'hello' })).status, 503);
  await eventually(statuses, (all) => all.every((status) => status === 503));
  await ask('drop function refuse cascade');
  await eventually(statuses, (all) => all.every((status) => status === 200));
  assert.deepEqual(await ask(`select name from secrets where name like 'probe%'`), []);
});
