import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import packageJson from '../../package.json' with { type: 'json' };
import { readSettings, settingsTable, variableOf } from '../src/config.ts';
import { checkUrl, createTargetPolicy } from '../src/target.ts';

/* Deployment files that no other test runs, checked against the code. */

const root = new URL('../../', import.meta.url);
const read = (path: string) => readFileSync(new URL(path, root), 'utf8');
const dockerfile = read('Dockerfile');
const unit = read('deploy/switchboard.service');

describe('the deployment files', () => {
  it('run the Node version that package.json pins', () => {
    assert.equal(/^ARG NODE_VERSION=(.+)$/m.exec(dockerfile)?.[1], packageJson.devDependencies.node);
  });

  it('set only known settings to valid values in compose.yaml', () => {
    const { services } = parse(read('compose.yaml'), { merge: true });
    const known = new Set(Object.keys(settingsTable).map(variableOf));
    for (const name of ['node1', 'node2']) {
      const given: Record<string, string> = services[name].environment;
      for (const variable of Object.keys(given)) assert.ok(known.has(variable), variable);
      const settings = readSettings(
        Object.fromEntries(Object.entries(given).map(([variable, value]) => [variable, withDefaults(value)])),
      );
      assert.equal(settings.nodeUrl?.hostname, name);
      assert.ok(services.proxy.environment.NODES.includes(settings.nodeUrl?.host));
      assert.notEqual(settings.databaseUrl, '');
      assert.ok(services[name].volumes.includes(`${name}:/data`), 'each node has its own folder');
      assert.ok(services[name].volumes.includes(`media:${settings.mediaDir}`), 'media files are shared');
    }
  });

  it('let webhooks reach services only on the receivers network of compose.yaml', () => {
    const { services, networks } = parse(read('compose.yaml'), { merge: true });
    const { subnet, gateway, ip_range: range } = networks.receivers.ipam.config[0];
    const nodes = ['node1', 'node2'].map((name) => services[name].networks.receivers.ipv4_address);
    const settings = readSettings({
      WEBHOOK_ALLOWED_CIDRS: withDefaults(services.node1.environment.WEBHOOK_ALLOWED_CIDRS),
    });
    const policy = createTargetPolicy({ host: '0.0.0.0', allowedCidrs: settings.webhookAllowedCidrs });
    const isAllowed = (address: string) => checkUrl(`http://${withDefaults(address)}:3000/`, policy).ok;

    // Docker assigns only addresses of the range.
    assert.equal(withDefaults(range), settings.webhookAllowedCidrs.join());
    assert.equal(isAllowed(range.replace(/\d+\/25$/, '129')), true);
    for (const address of [gateway, ...nodes]) {
      assert.equal(isAllowed(address), false, address);
      assert.equal(address.replace(/\d+$/, '0/24'), subnet);
    }
    for (const name of ['postgres', 'proxy']) assert.equal(services[name].networks, undefined, name);
  });

  it('name only existing files in the systemd unit', () => {
    const [, program = '', script = ''] = /^ExecStart=(\S+) (\S+)$/m.exec(unit) ?? [];
    assert.match(program, /^\/opt\/switchboard\//);
    for (const path of [program.replace('/opt/switchboard/', ''), script]) {
      assert.ok(existsSync(fileURLToPath(new URL(path, root))), path);
    }
  });

  it('give shutdown as much time as the server may take', () => {
    const { services } = parse(read('compose.yaml'), { merge: true });
    const node = services.node1;
    const stops = [
      { killedAfter: /^TimeoutStopSec=(\d+)$/m.exec(unit)?.[1], settings: readSettings({}) },
      {
        killedAfter: node.stop_grace_period.replace('s', ''),
        settings: readSettings({
          STOP_DELAY_SECONDS: node.environment.STOP_DELAY_SECONDS,
          STOP_TIMEOUT_SECONDS: node.environment.STOP_TIMEOUT_SECONDS ?? '',
        }),
      },
    ];
    for (const { killedAfter, settings } of stops)
      assert.ok(Number(killedAfter) >= settings.stopDelaySeconds + settings.stopTimeoutSeconds + 5, killedAfter);
  });
});

/** A value as Compose expands it without environment variables: `${NAME:-default}` and `${NAME:?message}`. */
function withDefaults(value: string): string {
  return value.replace(/\$\{\w+:(-|\?)([^}]*)\}/g, (_, kind: string, rest: string) => (kind === '-' ? rest : 'set'));
}
