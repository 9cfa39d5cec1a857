import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { ConfigError, readSettings, settingsTable } from '../src/config.ts';

const needed = {
  SWITCHBOARD_KEY: 'sk_secret',
  CHATWOOT_URL: 'https://chat.example.com/',
  CHATWOOT_TOKEN: 'token_secret',
  CHATWOOT_ACCOUNT_ID: '1',
  CHATWOOT_INBOXES: 'ses_1,ses_2',
};
const folder = mkdtempSync(join(tmpdir(), 'chatwoot-config-'));
after(() => rmSync(folder, { recursive: true }));
let files = 0;
const fileOf = (content: unknown) => {
  const path = join(folder, `${++files}.json`);
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
  return path;
};
const problemsOf = (environment: Record<string, string>, file?: string) => {
  try {
    readSettings(environment, file);
  } catch (error) {
    assert.ok(error instanceof ConfigError);
    return error.message.split('\n');
  }
  return [];
};

describe('settings', () => {
  it('reads the environment with defaults', () => {
    const settings = readSettings(needed);
    assert.equal(settings.chatwootUrl, 'https://chat.example.com');
    assert.equal(settings.url, 'http://127.0.0.1:3100');
    assert.equal(settings.urlForSwitchboard, settings.url);
    assert.deepEqual(
      settings.inboxes.map(({ sessionId, groups, conversations }) => [sessionId, groups, conversations]),
      [
        ['ses_1', false, 'reopen'],
        ['ses_2', false, 'reopen'],
      ],
    );
  });

  it('reads a file with several inboxes, and prefers the environment', () => {
    const file = fileOf({
      switchboardKey: 'sk',
      chatwootUrl: 'http://chatwoot:3000',
      chatwootToken: 'token',
      accountId: 2,
      groups: true,
      inboxes: [
        { sessionId: 'ses_1', name: 'Sales' },
        { sessionId: 'ses_2', groups: false, conversations: 'new' },
      ],
    });
    const settings = readSettings({ CHATWOOT_ACCOUNT_ID: '3' }, file);
    assert.equal(settings.accountId, 3);
    assert.deepEqual(
      settings.inboxes.map(({ name, groups, conversations }) => [name, groups, conversations]),
      [
        ['Sales', true, 'reopen'],
        ['WhatsApp', false, 'new'],
      ],
    );
  });

  it('lists all problems', () => {
    assert.deepEqual(problemsOf({ CHATWOOT_URL: 'chat.example.com', CHATWOOT_BRIDGE_PORT: '99999' }), [
      '`port` (CHATWOOT_BRIDGE_PORT) must be an integer from 0 to 65535',
      'SWITCHBOARD_KEY (or `switchboardKey` in the file) is required',
      '`chatwootUrl` (CHATWOOT_URL) must be an http or https URL without a login or a query',
      'CHATWOOT_TOKEN (or `chatwootToken` in the file) is required',
      '`accountId` (CHATWOOT_ACCOUNT_ID) is required',
      '`inboxes` (CHATWOOT_INBOXES) is required',
    ]);
  });

  it('rejects unknown names', () => {
    assert.deepEqual(problemsOf({ ...needed, CHATWOOT_GROUP: 'on' }), ['Unknown variable CHATWOOT_GROUP']);
    const file = fileOf({ group: true });
    assert.deepEqual(problemsOf(needed, file), [`${file}: unknown setting \`group\``]);
    assert.deepEqual(problemsOf({ ...needed, CHATWOOT_INBOXES: '[{"sessionId":"ses_1","group":true}]' }), [
      'inboxes[0]: unknown setting `group`',
    ]);
  });

  it('rejects a session that is listed twice', () => {
    assert.deepEqual(problemsOf({ ...needed, CHATWOOT_INBOXES: 'ses_1, ses_1' }), ['`inboxes` lists a session twice']);
  });

  it('rejects an inbox that is listed twice', () => {
    const inboxes = JSON.stringify([
      { sessionId: 'ses_1', inboxId: 5 },
      { sessionId: 'ses_2', inboxId: 5 },
      { sessionId: 'ses_3' },
      { sessionId: 'ses_4' },
    ]);
    assert.deepEqual(problemsOf({ ...needed, CHATWOOT_INBOXES: inboxes }), [
      '`inboxes` lists an `inboxId` twice; each session needs its own inbox',
    ]);
  });

  it('rejects an empty inbox list', () => {
    const problem = '`inboxes` (CHATWOOT_INBOXES) is required';
    assert.deepEqual(problemsOf({ ...needed, CHATWOOT_INBOXES: ' []' }), [problem]);
    const { CHATWOOT_INBOXES: _, ...others } = needed;
    assert.deepEqual(problemsOf(others, fileOf({ inboxes: [] })), [problem]);
  });

  it('never prints secrets', () => {
    const file = fileOf('{"chatwootToken": "token_secret", oops}');
    const text = problemsOf({ ...needed, CHATWOOT_GROUPS: 'perhaps', CHATWOOT_TOKEN: '' }, file).join('\n');
    assert.match(text, /is not JSON/);
    assert.doesNotMatch(text, /secret/);
  });

  it('has every setting in the documentation', () => {
    const page = readFileSync(fileURLToPath(new URL('../../docs/chatwoot.md', import.meta.url)), 'utf8');
    for (const { key, variable, standard, meaning } of settingsTable) {
      const state = standard === undefined ? 'required' : standard === '' ? '' : `\`${standard}\``;
      assert.ok(page.includes(`| \`${variable}\` | \`${key}\` | ${state} | ${meaning} |`), variable);
    }
  });
});
