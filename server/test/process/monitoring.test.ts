import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { before, describe, it } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { startReceiver } from '../support/connections/receiver.ts';
import { eventually } from '../support/eventually.ts';
import { connectSession, startServer } from '../support/server.ts';

/* A dashboard or alert with an unknown metric stays empty or silent without notice. */

const read = (path: string) => readFileSync(new URL(`../../../deploy/${path}`, import.meta.url), 'utf8');
const alerts = read('prometheus/alerts.yml');
const dashboard = JSON.parse(read('grafana/switchboard.json'));
const queries: readonly string[] = dashboard.panels.flatMap(({ targets = [] }: { targets?: { expr: string }[] }) =>
  targets.map(({ expr }) => expr),
);

const SERIES = /\b((?:switchboard|nodejs|process)_[a-z0-9_]+)(?:\{([^}]*)\})?/g;

/** The metrics that a text queries, each with its label matchers. */
function askedFor(text: string): { name: string; labels: string[] }[] {
  return [...text.matchAll(SERIES)].map(([, name = '', matchers = '']) => ({
    name,
    labels: [...matchers.matchAll(/(\w+)\s*[=!]~?"/g)].map(([, label]) => label ?? ''),
  }));
}

function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
}

describe('monitoring of a server', () => {
  let exported: ReadonlyMap<string, ReadonlySet<string>>;
  before(async () => {
    const server = await startServer({ database: 'postgres' });
    const receiver = await startReceiver();
    const { call } = await server.account();
    await connectSession(call);
    await call('POST', '/webhooks/set', { webhookUrl: receiver.url, events: ['message.sent'] });
    await call('POST', '/messages/send', { to: '491707654321', message: 'x' });
    collectGarbage(); // otherwise the metrics of the collector may have no values yet
    const text = await eventually(
      async () => (await fetch(`${server.url}/metrics`)).text(),
      (all) =>
        all.includes('switchboard_delivery_attempt_seconds_count') && all.includes('nodejs_gc_duration_seconds_sum'),
    );
    await server.stop();
    await receiver.close();
    const names = new Map<string, Set<string>>();
    for (const [, name = '', labels = ''] of text.matchAll(/^(\w+)(?:\{(.*)\})? \S+$/gm)) {
      const known = names.get(name) ?? new Set(['job', 'instance']); // Prometheus adds these
      for (const [, label = ''] of labels.matchAll(/(\w+)="/g)) known.add(label);
      names.set(name, known);
    }
    exported = names;
  });

  for (const [what, texts] of [
    ['alarm', [alerts]],
    ['dashboard', queries],
  ] as const) {
    it(`has no ${what} for a metric or label that the server does not export`, () => {
      const asked = texts.flatMap(askedFor);
      assert.ok(asked.length > 10);
      for (const { name, labels } of asked) {
        assert.ok(exported.has(name), `the server does not export ${name}`);
        for (const label of labels) assert.ok(exported.get(name)?.has(label), `${name} has no label ${label}`);
      }
    });
  }

  it('shows every metric of the server on the dashboard', () => {
    const shown = new Set(queries.flatMap(askedFor).map(({ name }) => name.replace(/_(bucket|sum|count)$/, '')));
    const ours = [...exported.keys()].filter((name) => name.startsWith('switchboard_'));
    for (const name of ours)
      assert.ok(shown.has(name.replace(/_(bucket|sum|count)$/, '')), `${name} is not on the dashboard`);
  });

  it('has panels with unique ids and no overlap', () => {
    const places = new Map<string, number>();
    for (const { id, gridPos } of dashboard.panels) {
      for (let x = gridPos.x; x < gridPos.x + gridPos.w; x++) {
        for (let y = gridPos.y; y < gridPos.y + gridPos.h; y++) {
          assert.ok(x < 24 && !places.has(`${x},${y}`), `panel ${id} stands on panel ${places.get(`${x},${y}`)}`);
          places.set(`${x},${y}`, id);
        }
      }
    }
    const ids = dashboard.panels.map(({ id }: { id: number }) => id);
    assert.equal(new Set(ids).size, ids.length);
  });

  it('documents exactly the existing alerts in the monitoring guide', () => {
    const guide = readFileSync(new URL('../../../docs/monitoring.md', import.meta.url), 'utf8');
    const named = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map(([, name]) => name).sort();
    assert.deepEqual(named(guide, /^\| `(Switchboard\w+)`/gm), named(alerts, /- alert: (\w+)/g));
  });
});
