import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createLog } from '../../src/log.ts';
import { atMostEvery, throttle } from '../../src/metrics.ts';
import { version } from '../../src/version.ts';
import { startFaultyLine } from '../support/connections/faultyLine.ts';
import { startReceiver } from '../support/connections/receiver.ts';
import { describeOnEachDatabase, newHome } from '../support/databases/databases.ts';
import { eventually } from '../support/eventually.ts';
import { connectSession, startServer } from '../support/server.ts';

describeOnEachDatabase('metrics', (_, database) => {
  it('counts the risk of connected sessions only', async () => {
    const server = await startServer({ database });
    try {
      const { call } = await server.account();
      const sessionId = await connectSession(call);
      const simulate = { action: 'standing', noNewChatsUntil: new Date(Date.now() + 3_600_000).toISOString() };
      assert.equal((await call('POST', `/sessions/${sessionId}/simulate`, simulate)).status, 200);
      const reads = (line: string) =>
        eventually(
          async () => (await fetch(`${server.url}/metrics`)).text(),
          (text) => text.includes(line),
        );
      await reads('switchboard_session_risk{risk="high"} 1');
      await call('POST', `/sessions/${sessionId}/disconnect`);
      const text = await reads('switchboard_session_risk{risk="high"} 0');
      assert.match(text, /switchboard_session_risk\{risk="low"\} 0/);
    } finally {
      await server.stop();
    }
  });

  it('count operations, events and attempts, and report sessions, breakers and lag, but no accounts', async (test) => {
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
      '\nswitchboard_whatsapp_version_age_seconds ',
      'switchboard_session_risk{risk="low"} 1',
      'switchboard_session_risk{risk="high"} 0',
      'switchboard_breakers{state="closed"} 1',
      'switchboard_deliveries_settled_total{state="failed"} 0',
      'switchboard_http_requests_total{method="POST",status="400"} 1',
      'switchboard_deliveries_in_flight 0',
      'switchboard_ready 1',
      'switchboard_degraded{part="signals"} 0',
      'switchboard_degraded{part="media_conversion"} 0',
      'switchboard_database_up 1',
      `switchboard_info{version="${version}"`,
      'nodejs_eventloop_lag_seconds',
    ]) {
      assert.ok(text.includes(line), line);
    }
    // With the interval of the measurement, which wakes an idle process no more often than ten times a second.
    const lag = Number(/^nodejs_eventloop_lag_min_seconds (.+)$/m.exec(await read())?.[1]);
    assert.ok(lag > 0.05, `${lag} s`);
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

  it('show the lag of deliveries', async (test) => {
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

  it('separate a lane that lags from one whose receiver is down', async (test) => {
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

  it('omit figures that cannot be read', async (test) => {
    const server = await startServer({ database });
    test.after(() => server.stop());
    await server.app.services.database.commit(({ connection }) =>
      connection.query('alter table webhooks rename to gone', []),
    );
    const text = await (await fetch(`${server.url}/metrics`)).text();
    assert.match(text, /^process_cpu_seconds_total /m);
    assert.match(text, /^switchboard_database_up 1$/m);
    assert.doesNotMatch(text, /^switchboard_(lane_lag_seconds|deliveries_pending|breakers\{)/m);
  });

  it('are disabled by a setting', async (test) => {
    const server = await startServer({ database, env: { METRICS: 'off' } });
    test.after(() => server.stop());
    assert.equal((await fetch(`${server.url}/metrics`)).status, 404);
  });
});

it('metrics report an unavailable PostgreSQL and its recovery', async (test) => {
  const home = await newHome('postgres');
  const line = await startFaultyLine();
  const url = new URL(home.databaseUrl);
  line.aim(url);
  url.host = `127.0.0.1:${line.port}`;
  const server = await startServer({ home: { ...home, databaseUrl: url.href } });
  test.after(async () => {
    line.refuse(false);
    await server.stop();
    await line.close();
    await home.remove();
  });
  const read = async () => (await fetch(`${server.url}/metrics`)).text();
  line.refuse(true);
  line.reset();
  const away = await eventually(read, (text) => text.includes('switchboard_database_up 0\n'));
  assert.doesNotMatch(away, /^switchboard_deliveries_pending/m);
  line.refuse(false);
  const back = await eventually(read, (text) => text.includes('switchboard_database_up 1\n'));
  assert.match(back, /^switchboard_ready /m);
  await eventually(read, (text) => /^switchboard_deliveries_pending 0$/m.test(text));
});

describe('a throttled query', () => {
  function throttled() {
    let now = 0;
    let runs = 0;
    const settle: { resolve: (n: number) => void; reject: (error: Error) => void }[] = [];
    const query = () =>
      new Promise<number>((resolve, reject) => {
        runs++;
        settle.push({ resolve, reject });
      });
    const ask = throttle(query, () => now);
    /** Requests the value, which takes the given time to settle. */
    const take = async (ms: number, error?: Error) => {
      const asked = ask();
      now += ms;
      const last = settle.at(-1);
      if (error === undefined) last?.resolve(runs);
      else last?.reject(error);
      await asked.catch(() => {});
    };
    /** Whether it runs again after the given time. */
    const runsAgainAfter = (ms: number) => {
      now += ms;
      const before = runs;
      void ask().catch(() => {});
      return runs > before;
    };
    return { take, runsAgainAfter };
  }

  it('takes at most 1 % of the time, and runs between once a second and once a minute', async () => {
    const { take, runsAgainAfter } = throttled();
    await take(1);
    assert.ok(!runsAgainAfter(999));
    assert.ok(runsAgainAfter(1));
    const slow = throttled();
    await slow.take(200);
    assert.ok(!slow.runsAgainAfter(19_999));
    assert.ok(slow.runsAgainAfter(1));
    const slowest = throttled();
    await slowest.take(5000);
    assert.ok(!slowest.runsAgainAfter(59_999));
    assert.ok(slowest.runsAgainAfter(1));
  });

  it('runs again one second after a failure, however long that took', async () => {
    const { take, runsAgainAfter } = throttled();
    await take(5000, new Error('timeout'));
    assert.ok(!runsAgainAfter(999));
    assert.ok(runsAgainAfter(1));
  });
});

describe('access to the metrics', () => {
  const statusOf = async (url: string, token?: string) =>
    (await fetch(url, { headers: token === undefined ? {} : { authorization: `Bearer ${token}` } })).status;
  const token = 'a-token-of-more-than-32-characters';

  it('is refused without a port or token if other machines can reach the server', async () => {
    const reachable: Record<string, string>[] = [{ PUBLIC_URL: 'https://chat.example.com' }, { TRUST_PROXY: 'on' }];
    for (const env of reachable) {
      const lines: string[] = [];
      const log = createLog('warn', { write: (line: string) => void lines.push(line) });
      const server = await startServer({ env, log });
      assert.equal(await statusOf(`${server.url}/metrics`), 404);
      await server.stop();
      assert.ok(lines.some((line) => line.includes('set METRICS_PORT or METRICS_TOKEN')));
    }
  });

  it('needs the token, if there is one', async (test) => {
    const server = await startServer({ env: { PUBLIC_URL: 'https://chat.example.com', METRICS_TOKEN: token } });
    test.after(() => server.stop());
    const url = `${server.url}/metrics`;
    assert.deepEqual(
      [await statusOf(url), await statusOf(url, `${token}x`), await statusOf(url, token)],
      [401, 401, 200],
    );
  });

  it('is on a separate port, if there is one', async (test) => {
    const server = await startServer({ env: { PUBLIC_URL: 'https://chat.example.com', METRICS_PORT: '0' } });
    test.after(() => server.stop());
    assert.equal(await statusOf(`${server.url}/metrics`), 404);
    const { metricsUrl = assert.fail('does not listen') } = server.app;
    const response = await fetch(`${metricsUrl}/metrics`);
    assert.match(response.headers.get('content-type') ?? '', /^text\/plain/);
    assert.match(await response.text(), /^switchboard_ready 1$/m);
    assert.equal(await statusOf(`${metricsUrl}/health`), 404);
    assert.equal((await fetch(`${metricsUrl}/metrics`, { method: 'POST' })).status, 404);
  });

  it('on a separate port also needs the token', async (test) => {
    const server = await startServer({ env: { METRICS_PORT: '0', METRICS_TOKEN: token } });
    test.after(() => server.stop());
    const url = `${server.app.metricsUrl}/metrics`;
    assert.deepEqual([await statusOf(url), await statusOf(url, token)], [401, 200]);
  });
});

it('shares a result between concurrent callers and within a second, but not a failure', async () => {
  let now = 0;
  let reads = 0;
  let fails = false;
  const read = atMostEvery(
    1000,
    async () => {
      reads += 1;
      if (fails) throw new Error('no');
      return reads;
    },
    () => now,
  );
  assert.deepEqual(await Promise.all([read(), read(), read()]), [1, 1, 1]);
  now = 999;
  assert.equal(await read(), 1);
  now = 1000;
  fails = true;
  await assert.rejects(read());
  fails = false;
  assert.equal(await read(), 3);
});
