import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Compile } from 'typebox/compile';
import { parse, parseAllDocuments, stringify } from 'yaml';
import packageJson from '../../package.json' with { type: 'json' };
import { readSettings, settingsTable, variableOf } from '../../src/config.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const chart = join(root, 'deploy/helm/switchboard');
const read = (path: string) => readFileSync(join(chart, path), 'utf8');
const values = parse(read('values.yaml'));
const settings = new Set(Object.keys(settingsTable).map(variableOf));
const several = {
  database: 'postgresql',
  replicas: 3,
  existingSecret: 'switchboard',
  settings: { MEDIA_S3_URL: 'https://files.example.com', MEDIA_MAX_BYTES: 104_857_600, SANDBOX_SHARED: true },
  ingress: { enabled: true, host: 'chat.example.com', tlsSecret: 'chat-tls' },
  metrics: { serviceMonitor: { enabled: true } },
  networkPolicy: {
    enabled: true,
    from: [{ namespaceSelector: {} }],
    egress: [{ to: [{ ipBlock: { cidr: '0.0.0.0/0' } }] }],
  },
  webhookAllowedCidrs: ['10.96.40.0/24'],
};

describe('the Helm chart', () => {
  it('has the version of the packages', () => {
    const { version, appVersion } = parse(read('Chart.yaml'));
    assert.deepEqual([version, appVersion], [packageJson.version, packageJson.version]);
  });

  it('sets only settings that the server knows', () => {
    const names = [...read('templates/_helpers.tpl').matchAll(/(?:^ {2}|set \$settings )"([A-Z_]+)"/gm)].map(
      ([, name]) => name ?? '',
    );
    assert.ok(names.length >= 9);
    for (const name of names) assert.ok(settings.has(name), name);
    for (const file of globSync('{values.yaml,README.md}', { cwd: chart }))
      for (const [name] of read(file).matchAll(/\b(?:[A-Z][A-Z0-9]*_)+[A-Z0-9]+\b/g))
        assert.ok(settings.has(name), `${file}: ${name}`);
  });

  it('runs as the user of the image', () => {
    const [, uid] = /useradd --uid (\d+)/.exec(readFileSync(join(root, 'Dockerfile'), 'utf8')) ?? [];
    assert.match(read('templates/statefulset.yaml'), new RegExp(`runAsUser: ${uid}$`, 'm'));
  });

  it('accepts its own values, and refuses others', () => {
    const schema = Compile(JSON.parse(read('values.schema.json')));
    const accepts = (more: object) => schema.Check({ ...values, ...more });
    assert.ok(accepts({}));
    assert.ok(accepts(several));
    for (const wrong of [
      { replicas: 2 },
      { replicas: -1 },
      { database: 'mysql' },
      { databse: 'sqlite' },
      { ingress: { ...values.ingress, enabled: true } },
      { settings: { rateLimit: 1 } },
      { settings: { CONNECTORS: ['a'] } },
      { secrets: { ENCRYPTION_KEY: 1 } },
      { allowedHosts: ['http://chat.example.com'] },
      { webhookAllowedCidrs: ['10.0.0.1'] },
    ])
      assert.equal(accepts(wrong), false, JSON.stringify(wrong));
  });

  describe('rendered', {
    skip: spawnSync('helm', ['version']).status === 0 ? false : 'this machine has no helm',
  }, () => {
    const folder = mkdtempSync(join(tmpdir(), 'helm-'));
    after(() => rmSync(folder, { recursive: true }));
    const helm = (command: readonly string[], more: object) => {
      const file = join(folder, 'values.yaml');
      writeFileSync(file, stringify(more));
      return execFileSync('helm', [...command, chart, '--values', file], { encoding: 'utf8', stdio: 'pipe' });
    };
    const render = (more: object) =>
      parseAllDocuments(helm(['template', 'chat', '--namespace', 'apps'], more)).flatMap(
        (document) => document.toJS() ?? [],
      );

    it('passes the linter', () => {
      for (const more of [{}, several]) helm(['lint', '--strict'], more);
    });

    it('starts nodes with settings that the server accepts', () => {
      for (const more of [{}, several]) {
        const [{ spec }] = render(more).filter(({ kind }) => kind === 'StatefulSet');
        const [{ env }] = spec.template.spec.containers;
        const given = Object.fromEntries(
          env.map(({ name, value = 'chat-0' }: { name: string; value?: string }) => [
            name,
            value.replace('$(POD_NAME)', 'chat-0'),
          ]),
        );
        const { POD_NAME: _, DATABASE_URL: fromSecret, ...rest } = given;
        assert.equal(fromSecret !== undefined, more === several, 'a pod does not start without the key of the secret');
        const secret = {
          DATABASE_URL: 'postgres://a:b@c/d',
          MEDIA_S3_BUCKET: 'files',
          MEDIA_S3_ACCESS_KEY_ID: 'a',
          MEDIA_S3_SECRET_ACCESS_KEY: 'b',
        };
        const read = readSettings({ ...rest, ...(more === several && secret) });
        assert.ok(
          spec.template.spec.terminationGracePeriodSeconds >= read.stopDelaySeconds + read.stopTimeoutSeconds + 5,
        );
        assert.equal(read.dataDir, '/data');
        assert.equal(read.nodeUrl?.host, more === several ? 'chat-0.chat-switchboard-nodes.apps.svc:8080' : undefined);
      }
    });

    it('lets `helm test` through the network policy, and sends it no traffic', () => {
      const rendered = render(several);
      const { metadata } = rendered.find(({ kind }) => kind === 'Pod');
      const selects = (selector: Record<string, string>) =>
        Object.entries(selector).every(([label, value]) => metadata.labels[label] === value);
      const { spec } = rendered.find(({ kind }) => kind === 'NetworkPolicy');
      const peers: { podSelector?: { matchLabels: Record<string, string> } }[] = spec.ingress[0].from;
      assert.ok(peers.some(({ podSelector }) => podSelector && selects(podSelector.matchLabels)));
      const services = rendered.filter(({ kind }) => kind === 'Service');
      assert.ok(services.length > 1);
      for (const { spec } of services) assert.ok(spec.selector === undefined || !selects(spec.selector));
    });

    it('refuses values that would lose data', () => {
      for (const more of [
        { database: 'postgresql' },
        { ...several, settings: {} },
        { secrets: { DATABASE_URL: 'postgres://a' } },
        { settings: { DATABASE_URL: 'postgres://a' } },
      ])
        assert.throws(() => render(more), /: .*needs? /);
    });
  });
});
