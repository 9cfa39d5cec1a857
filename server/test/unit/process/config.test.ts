import assert from 'node:assert/strict';
import { it } from 'node:test';
import {
  readSettings,
  SettingsError,
  settingSections,
  settingsHelp,
  settingsTable,
  variableOf,
} from '../../../src/config.ts';

it('has a default for everything and no default secret', () => {
  const settings = readSettings({});
  assert.equal(settings.host, '127.0.0.1');
  assert.equal(settings.port, 8080);
  assert.equal(settings.databaseUrl, '');
  assert.equal(settings.jwtSecret, '');
  assert.deepEqual(settings.webhookRetrySeconds, [5, 30, 120, 600, 1800, 3600, 10800, 21600, 43200, 86400]);
  assert.ok(Object.isFrozen(settings));
});

it('treats an empty variable as unset', () => {
  assert.equal(readSettings({ PORT: ' ' }).port, 8080);
});

it('reports all problems at once, each with its expected value', () => {
  const problems = (env: Record<string, string>) => {
    try {
      readSettings(env);
    } catch (error) {
      assert.ok(error instanceof SettingsError);
      return error.problems.join('\n');
    }
    return '';
  };
  const text = problems({
    PORT: '99999',
    REGISTRATION: 'maybe',
    QUERY_KEY_AUTH: 'yes',
    JWT_SECRET: 'short',
    DATABASE_URL: 'mysql://root:hunter2@localhost/x',
    WEBHOOK_ALLOWED_CIDRS: '10.0.0.0/8, 10.0.0.0/33',
    WEBHOOK_RETRY_SECONDS: '5,soon',
    PUBLIC_URL: 'example.com',
  });
  for (const name of [
    'PORT',
    'REGISTRATION',
    'QUERY_KEY_AUTH',
    'JWT_SECRET',
    'DATABASE_URL',
    'WEBHOOK_ALLOWED_CIDRS',
    'WEBHOOK_RETRY_SECONDS',
    'PUBLIC_URL',
  ]) {
    assert.match(text, new RegExp(`^ {2}${name} must`, 'm'));
  }
  assert.match(text, /open, closed/);
  assert.match(text, /"10\.0\.0\.0\/33"/);
  assert.ok(!text.includes('hunter2'), 'a password in DATABASE_URL is not repeated');
  const unescaped = problems({ DATABASE_URL: 'postgres://root:hunter2/[@localhost/x' });
  assert.match(unescaped, /DATABASE_URL is not a valid URL; percent-encode/);
  assert.ok(!unescaped.includes('hunter2'));
  assert.match(problems({ DATABASE_URL: 'postgres://root:caf%e9@localhost/x' }), /DATABASE_URL is not a valid URL/);
  for (const accepted of ['caf%c3%a9', '100%', 'a%zz'])
    assert.equal(problems({ DATABASE_URL: `postgres://root:${accepted}@localhost/x` }), '', accepted);
  const login = problems({
    MEDIA_S3_URL: 's3://ann:hunter2@files.example.com',
    WHATSAPP_URL: 'http://ann:hunter2@host',
  });
  assert.match(login, /not "s3:\/\/\[hidden\]@files\.example\.com"/);
  assert.ok(!login.includes('hunter2') && !login.includes('ann'));
  assert.equal(problems({ DATABASE_URL: 'postgres://root@/x?host=/var/run/postgresql' }), '');
});

it('reads the proxies that it trusts', () => {
  const proxies = (TRUST_PROXY: string) => readSettings({ TRUST_PROXY }).trustProxy;
  assert.deepEqual([proxies(''), proxies('off'), proxies('on')], [false, false, true]);
  assert.equal((proxies('10.0.0.2, fd00::/8') as readonly unknown[]).length, 2);
  for (const wrong of ['yes', '10.0.0', '10.0.0.2,on', '10.0.0.0/33'])
    assert.throws(() => proxies(wrong), /TRUST_PROXY must be .*, not "/, wrong);
});

it('refuses several nodes without PostgreSQL', () => {
  const NODE_URL = 'http://node1:8080';
  assert.throws(() => readSettings({ NODE_URL }), /NODE_URL needs DATABASE_URL/);
  readSettings({ NODE_URL, DATABASE_URL: 'postgres://localhost/switchboard' });
});

it('accepts MCP_OAUTH only with an address that browsers reach safely', () => {
  const problemOf = (PUBLIC_URL: string) => {
    try {
      readSettings({ MCP_OAUTH: 'on', PUBLIC_URL });
    } catch (error) {
      assert.ok(error instanceof SettingsError);
      return error.problems.join('\n');
    }
    return '';
  };
  assert.match(problemOf(''), /PUBLIC_URL must be set if MCP_OAUTH is on/);
  assert.match(problemOf('http://chat.example.com'), /PUBLIC_URL must use https, except for localhost, if MCP_OAUTH/);
  assert.match(problemOf('http://localhost.example.com'), /must use https/);
  assert.match(problemOf('https://example.com/chat'), /PUBLIC_URL must have no path/);
  for (const url of ['https://chat.example.com', 'http://localhost:8080', 'http://127.0.0.1:8080', 'http://[::1]:8080'])
    assert.equal(problemOf(url), '', url);
});

it('lists every setting in one section', () => {
  const listed = Object.values(settingSections).flat<readonly (readonly string[])[]>();
  assert.deepEqual(listed.toSorted(), Object.keys(settingsTable).toSorted());
});

it('prints every setting with its description', () => {
  const help = settingsHelp();
  for (const [name, { doc }] of Object.entries(settingsTable)) {
    assert.ok(help.includes(variableOf(name)));
    assert.ok(help.includes(doc));
  }
});
