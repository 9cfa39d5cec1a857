import assert from 'node:assert/strict';
import { it } from 'node:test';
import { version } from '../../src/version.ts';
import { describeOnEachDatabase } from '../support/databases.ts';
import { eventually } from '../support/eventually.ts';
import { startReceiver } from '../support/receiver.ts';
import { connectSession, startServer } from '../support/server.ts';

describeOnEachDatabase('metrics', (_, database) => {
  it('count operations, events and attempts, and tell of sessions, breakers and lag, but of no account', async (test) => {
    const server = await startServer({ database });
    const receiver = await startReceiver();
    test.after(async () => {
      await receiver.close();
      await server.stop();
    });
    const { call, accountId } = await server.account();
    const sessionId = await connectSession(call);
    await call('POST', '/webhooks/set', { webhookUrl: receiver.url, events: ['message.sent'] });
    await call('POST', '/messages/send', { to: '491707654321', message: 'x' });
    await call('POST', '/messages/send', { to: 'nobody', message: 'x' });
    await receiver.waitFor(1);
    const read = async () => (await fetch(`${server.url}/metrics`)).text();
    const text = await eventually(read, (all) =>
      all.includes('switchboard_delivery_attempt_seconds_count{class="ok"} 1'),
    );
    const operation = 'switchboard_operation_seconds_count{operation="messages.send",channel="rest"';
    for (const line of [
      `${operation},status="201"} 1`,
      `${operation},status="400"} 1`,
      'switchboard_events_total{kind="message.sent"} 1',
      'switchboard_events_total{kind="session.connected"} 1',
      'switchboard_sessions{status="connected"} 1',
      'switchboard_breakers{state="closed"} 1',
      'switchboard_deliveries_settled_total{state="failed"} 0',
      'switchboard_http_requests_total{method="POST",status="400"} 1',
      'switchboard_deliveries_in_flight 0',
      'switchboard_ready 1',
      'switchboard_database_up 1',
      `switchboard_info{version="${version}"`,
      'nodejs_eventloop_lag_seconds',
    ]) {
      assert.ok(text.includes(line), line);
    }
    const ofNodes = [
      'switchboard_nodes 1',
      'switchboard_nodes_with_other_files 0',
      '\nswitchboard_clock_skew_seconds ',
      'switchboard_leases{kind="sessions"} 1',
      'switchboard_leases{kind="webhooks"} 1',
      'switchboard_database_connections{use="idle"}',
      'switchboard_database_waiting 0',
    ];
    for (const line of ofNodes) assert.equal(text.includes(line), database === 'postgres', line);
    await eventually(read, (all) => all.includes('switchboard_deliveries_settled_total{state="delivered"} 1'));
    for (const private_ of [accountId, sessionId, receiver.url]) assert.ok(!text.includes(private_));
  });

  it('show how far deliveries are behind', async (test) => {
    const server = await startServer({ database, env: { WEBHOOK_TIMEOUT_MS: '30000' } });
    const receiver = await startReceiver();
    test.after(async () => {
      await receiver.close();
      await server.stop();
    });
    receiver.respond(() => {}); // never
    const { call } = await server.account();
    await connectSession(call);
    await call('POST', '/webhooks/set', { webhookUrl: receiver.url, events: ['message.sent'] });
    await call('POST', '/messages/send', { to: '491707654321', message: 'x' });
    const lag = async () => {
      const text = await (await fetch(`${server.url}/metrics`)).text();
      return Number(/^switchboard_lane_lag_seconds (\S+)$/m.exec(text)?.[1]);
    };
    await eventually(lag, (seconds) => seconds > 0.2);
  });

  it('tell a lane that is behind from one whose receiver is down', async (test) => {
    const server = await startServer({ database });
    const receiver = await startReceiver();
    test.after(async () => {
      await receiver.close();
      await server.stop();
    });
    receiver.respond((_, answer) => answer.writeHead(410).end());
    const { call } = await server.account();
    await connectSession(call);
    await call('POST', '/webhooks/set', { webhookUrl: receiver.url, events: ['message.sent'] });
    await call('POST', '/messages/send', { to: '491707654321', message: 'x' });
    const read = async () => (await fetch(`${server.url}/metrics`)).text();
    const text = await eventually(read, (all) => all.includes('switchboard_lanes{state="held"} 1'));
    for (const line of [
      'switchboard_lanes{state="moving"} 0',
      'switchboard_lane_lag_seconds 0',
      'switchboard_deliveries_pending 1',
      'switchboard_breakers{state="open"} 1',
      'switchboard_breakers_opened_total 1',
    ]) {
      assert.ok(text.includes(`${line}\n`), line);
    }
  });

  it('go on while the database is away, and say so', async (test) => {
    const server = await startServer({ database });
    test.after(() => server.stop());
    await server.app.services.database.commit(({ connection }) =>
      connection.query('alter table webhooks rename to gone', []),
    );
    const read = async () => (await fetch(`${server.url}/metrics`)).text();
    const text = await eventually(read, (all) => all.includes('switchboard_database_up 0'));
    assert.match(text, /^process_cpu_seconds_total /m);
    assert.doesNotMatch(text, /^switchboard_(lane_lag_seconds|deliveries_pending|breakers\{)/m);
  });

  it('are switched off by setting', async (test) => {
    const server = await startServer({ database, env: { METRICS: 'off' } });
    test.after(() => server.stop());
    assert.equal((await fetch(`${server.url}/metrics`)).status, 404);
  });
});
