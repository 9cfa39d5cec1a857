import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, it } from 'node:test';
import pg from 'pg';
import { newHome } from '../../server/test/support/databases/databases.ts';
import { eventually } from '../../server/test/support/eventually.ts';
import { newNumber } from '../../server/test/support/server.ts';
import { DatabaseError, openDatabase } from '../src/database/database.ts';
import { BridgeProcess } from './bridgeProcess.ts';
import { openBridge, openScene, sentMessages } from './scene.ts';

describe('the bridge on PostgreSQL', () => {
  it('passes messages both ways and over a restart, for one process at a time', async (test) => {
    const home = await newHome('postgres');
    const scene = await openScene(test, { env: { CHATWOOT_BRIDGE_DATABASE: home.databaseUrl } });
    test.after(() => home.remove()); // after the bridge has stopped
    const { chatwoot, incoming, conversation, sent, settings } = scene;
    const from = newNumber();
    await incoming(from, 'Hello');
    await chatwoot.write(conversation(from).id, 'Hi');
    await sentMessages(sent, 1);
    await assert.rejects(openBridge(settings), DatabaseError);
    await scene.bridge.stop();
    scene.bridge = await openBridge(settings);
    await scene.bridge.start();
    const second = await incoming(from, 'Again');
    assert.equal(second.conversationId, conversation(from).id);
    await chatwoot.write(second.conversationId, 'Hi again');
    await sentMessages(sent, 2);
    assert.equal(chatwoot.messages.size, 4);
  });

  it('ends when the connection with the lock does, because another bridge can start then', async (test) => {
    const home = await newHome('postgres');
    const { settings, bridge, sessionId } = await openScene(test, {
      env: { CHATWOOT_BRIDGE_DATABASE: home.databaseUrl },
    });
    test.after(() => home.remove());
    await bridge.stop();
    const running = new BridgeProcess({
      SWITCHBOARD_URL: settings.switchboardUrl,
      SWITCHBOARD_KEY: settings.switchboardKey,
      CHATWOOT_URL: settings.chatwootUrl,
      CHATWOOT_TOKEN: settings.chatwootToken,
      CHATWOOT_ACCOUNT_ID: '1',
      CHATWOOT_INBOXES: sessionId,
      CHATWOOT_BRIDGE_PORT: String(settings.port),
      CHATWOOT_BRIDGE_DATABASE: home.databaseUrl,
    });
    test.after(() => running.kill());
    await running.start();
    const client = new pg.Client(home.databaseUrl);
    await client.connect();
    const { rowCount } = await client.query(
      `SELECT pg_terminate_backend(pid) FROM pg_locks JOIN pg_database ON pg_database.oid = database
        WHERE locktype = 'advisory' AND objid = 7204611093 % 4294967296 AND datname = current_database()`,
    );
    await client.end();
    assert.equal(rowCount, 1);
    assert.equal(await running.ended(), 1);
    assert.match(running.output, /The database was lost/);
  });

  it('explains that it may not create its schema', async (test) => {
    const home = await newHome('postgres');
    const client = new pg.Client(home.databaseUrl);
    await client.connect();
    const role = `reader_${randomUUID().replaceAll('-', '')}`;
    await client.query(`CREATE ROLE ${role} LOGIN PASSWORD 'secret'`);
    test.after(async () => {
      await client.query(`DROP ROLE ${role}`);
      await client.end();
      await home.remove();
    });
    const url = new URL(home.databaseUrl);
    url.username = role;
    url.password = 'secret';
    await assert.rejects(openDatabase(url.href), /^DatabaseError: Cannot open PostgreSQL: permission denied/);
    const open = () => client.query('SELECT 1 FROM pg_stat_activity WHERE usename = $1', [role]);
    await eventually(open, ({ rowCount }) => rowCount === 0);
  });
});
