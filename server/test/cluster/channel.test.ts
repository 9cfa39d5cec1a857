import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { Channel } from '../../src/cluster/channel.ts';
import type { Shared, Store } from '../../src/db/dialect.ts';
import { openPostgres } from '../../src/db/postgres/postgres.ts';
import { createLog } from '../../src/log.ts';
import { type FaultyLine, startFaultyLine } from '../support/connections/faultyLine.ts';
import { type Home, newHome } from '../support/databases/databases.ts';
import { eventually } from '../support/eventually.ts';
import { startServer } from '../support/server.ts';

const log = createLog('silent');

describe('the notification connection of a node', () => {
  let home: Home;
  let line: FaultyLine;
  /** The same database through a proxy that fails, not through a pooler. */
  let through: string;
  const stores: Store[] = [];
  const channels: Channel[] = [];

  before(async () => {
    home = await newHome('postgres');
    line = await startFaultyLine();
    line.aim(new URL(home.databaseUrl));
    const url = new URL(home.databaseUrl);
    url.host = `127.0.0.1:${line.port}`;
    through = url.href;
  });
  after(async () => {
    for (const channel of channels) await channel.stop();
    for (const store of stores) await store.close();
    await line.close();
    await home.remove();
  });

  function sharedBy(directUrl: string): Shared {
    const store = openPostgres(home.databaseUrl, { directUrl, poolSize: 1 });
    stores.push(store);
    assert.ok(store.shared);
    return store.shared;
  }

  async function open(
    nodeId: string,
    directUrl: string,
    pingMs: number,
  ): Promise<{ channel: Channel; heard: string[] }> {
    const channel = new Channel(sharedBy(directUrl), { nodeId, hasOthers: true }, log, { pingMs });
    const heard: string[] = [];
    channel.on('lane', (id) => heard.push(id));
    channel.on('gap', () => heard.push('gap'));
    await channel.start();
    channels.push(channel);
    return { channel, heard };
  }

  it('is replaced when it is half open', async (test) => {
    test.after(() => line.silence('none'));
    const here = await open('nod_here', through, 20);
    const there = await open('nod_there', home.databaseUrl, 20);
    there.channel.send('lane', 'one');
    await eventually(
      async () => here.heard,
      (heard) => heard.includes('one'),
    );
    line.silence('both');
    await eventually(
      async () => here.channel.isListening,
      (isListening) => !isListening,
    );
    line.silence('none');
    await eventually(
      async () => here.heard,
      (heard) => heard.includes('gap'),
    );
    assert.ok(here.channel.isListening);
    there.channel.send('lane', 'two');
    await eventually(
      async () => here.heard,
      (heard) => heard.includes('two'),
    );
  });

  it('delays no signal when it is half open', async (test) => {
    test.after(() => line.silence('none'));
    const here = await open('nod_mute', through, 60_000);
    const there = await open('nod_there_too', home.databaseUrl, 20);
    line.silence('both');
    here.channel.send('lane', 'one');
    await eventually(
      async () => there.heard,
      (heard) => heard.includes('one'),
    );
    here.channel.send('lane', 'two');
    await eventually(
      async () => there.heard,
      (heard) => heard.includes('two'),
    );
    assert.ok(!here.channel.isListening);
  });

  it('is reported by GET /ready and the metrics while it is down', async (test) => {
    const server = await startServer({ home, env: { DATABASE_DIRECT_URL: through } });
    test.after(() => {
      line.refuse(false);
      return server.stop();
    });
    const ready = async () => (await fetch(`${server.url}/ready`)).json();
    const figure = async () =>
      /^switchboard_signals_up (\d)$/m.exec(await (await fetch(`${server.url}/metrics`)).text());
    assert.deepEqual([await ready(), (await figure())?.[1]], [{ status: 'ready' }, '1']);
    line.refuse(true);
    line.reset();
    await eventually(ready, ({ status, degraded }) => status === 'ready' && degraded?.[0] === 'signals');
    await eventually(figure, (match) => match?.[1] === '0'); // a rendering is kept for a second
    line.refuse(false);
    await eventually(ready, ({ degraded }) => degraded === undefined);
  });
});
