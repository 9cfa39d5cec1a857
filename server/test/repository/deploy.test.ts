import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import packageJson from '../../../package.json' with { type: 'json' };
import { readSettings, settingsTable, variableOf } from '../../src/config.ts';
import { checkUrl, createTargetPolicy } from '../../src/egress/target.ts';

/* Deployment files that no other test runs, checked against the code. */

const root = new URL('../../../', import.meta.url);
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
      const settings = readSettings(expanded(given));
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
    const own = ['node1', 'node2', 'proxy'].map((name) => services[name].networks.receivers.ipv4_address);
    const settings = readSettings({
      WEBHOOK_ALLOWED_CIDRS: withDefaults(services.node1.environment.WEBHOOK_ALLOWED_CIDRS),
    });
    const policy = createTargetPolicy({ host: '0.0.0.0', allowedCidrs: settings.webhookAllowedCidrs });
    const isAllowed = (address: string) => checkUrl(`http://${withDefaults(address)}:3000/`, policy).ok;

    // Docker assigns only addresses of the range.
    assert.equal(withDefaults(range), settings.webhookAllowedCidrs.join());
    assert.equal(isAllowed(range.replace(/\d+\/25$/, '129')), true);
    for (const address of [gateway, ...own]) {
      assert.equal(isAllowed(address), false, address);
      assert.equal(address.replace(/\d+$/, '0/24'), subnet);
    }
    assert.equal(services.postgres.networks, undefined);
  });

  it('trust only the proxy of compose.yaml to say for whom it calls', () => {
    const { services } = parse(read('compose.yaml'), { merge: true });
    assert.deepEqual(Object.keys(services.proxy.networks), ['receivers'], 'it reaches the nodes from one address');
    const address = withDefaults(services.proxy.networks.receivers.ipv4_address);
    for (const name of ['node1', 'node2']) {
      const { TRUST_PROXY } = services[name].environment;
      assert.equal(withDefaults(TRUST_PROXY), address);
      assert.ok(Array.isArray(readSettings({ TRUST_PROXY: address }).trustProxy));
    }
  });

  it('run one node on SQLite with compose.single.yaml', () => {
    const { services, networks, volumes } = parse(read('deploy/compose.single.yaml'));
    const { node1 } = services;
    const settings = readSettings(expanded(node1.environment));
    assert.equal(settings.databaseUrl, '');
    assert.ok('data' in volumes && node1.volumes.includes('data:/data'));
    const all = parse(read('compose.yaml'), { merge: true });
    assert.deepEqual(networks, all.networks, 'the receivers network is the same');
    assert.deepEqual(settings.webhookAllowedCidrs.join(), withDefaults(networks.receivers.ipam.config[0].ip_range));
    for (const name of ['read_only', 'tmpfs', 'cap_drop', 'security_opt', 'init', 'ulimits'])
      assert.deepEqual(node1[name], all.services.node1[name], name);
  });

  it('attach n8n only where webhooks may go', () => {
    const { services } = parse(read('deploy/compose.n8n.yaml'));
    assert.deepEqual(services.n8n.networks, ['receivers'], 'on another network its name would have a second address');
    for (const path of ['compose.yaml', 'deploy/compose.single.yaml']) {
      const { node1 } = parse(read(path), { merge: true }).services;
      const settings = readSettings(expanded(node1.environment));
      const isOwn = settings.nodeUrl?.hostname === 'node1' || settings.allowedHosts.includes('node1');
      assert.ok(isOwn, `${path}: n8n calls the API at http://node1:8080`);
    }
  });

  it('build an image for every kind of processor', () => {
    const lock = JSON.parse(read('package-lock.json')).packages as Record<
      string,
      { optional?: boolean; dev?: boolean }
    >;
    const native = Object.keys(lock).filter((path) => /linux-?x64/.test(path) && !lock[path]?.dev);
    assert.ok(native.length > 3);
    for (const path of native) assert.ok(path.replace('x64', 'arm64') in lock, path);
    assert.doesNotMatch(dockerfile, /x64|x86|amd64|arm64|aarch64/);
    // The dashboard is the same for every processor, so it is built on that of the machine.
    assert.match(dockerfile, /^FROM --platform=\$BUILDPLATFORM .* AS build$/m);
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
        killedAfter: parse(read('deploy/compose.single.yaml')).services.node1.stop_grace_period.replace('s', ''),
        settings: readSettings({}),
      },
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

const expanded = (environment: Record<string, string>) =>
  Object.fromEntries(Object.entries(environment).map(([variable, value]) => [variable, withDefaults(value)]));

/** A value as Compose expands it without environment variables: `${NAME:-default}` and `${NAME:?message}`. */
function withDefaults(value: string): string {
  return value.replace(/\$\{\w+:(-|\?)([^}]*)\}/g, (_, kind: string, rest: string) => (kind === '-' ? rest : 'set'));
}
