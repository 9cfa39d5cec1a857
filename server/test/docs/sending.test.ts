import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { bearer, type Call, startServer, type TestServer } from '../support/server.ts';
import { root } from './markdown.ts';

/* Sends every request of the tables in docs/sending.md from a sandbox session. */

const page = readFileSync(join(root, 'docs/sending.md'), 'utf8');
const sectionOf = (heading: string) => new RegExp(`^## ${heading}\n(.*?)^## `, 'ms').exec(page)?.[1] ?? '';
const rowsOf = (section: string) =>
  [...section.matchAll(/^\| (?!---)(.+)\|$/gm)]
    .slice(1)
    .map(([, row = '']) => row.split('|').map((cell) => cell.trim()));
const code = (cell: string) => /^`(.*)`$/.exec(cell)?.[1];

/** A valid file for each type of message. */
const files: Readonly<Record<string, string>> = {
  image: 'docs/pictures/keys-light.png',
  sticker: 'docs/pictures/keys-light.png',
  document: 'docs/pictures/keys-light.png',
  audio: 'server/test/fixtures/media/tone.mp3',
  voice: 'server/test/fixtures/media/tone.mp3',
  video: 'server/test/fixtures/media/clip.mp4',
};

describe('docs/sending.md', () => {
  let server: TestServer;
  let call: Call;
  let key: string;
  before(async () => {
    server = await startServer();
    const account = await server.account();
    ({ key } = (await account.call('POST', '/api-keys/create', { name: 'sending' })).body);
    call = bearer(server.url, key);
    const { sessionId } = (await call('POST', '/sessions', { connector: 'sandbox' })).body;
    await call('POST', `/sessions/${sessionId}/connect`);
  });
  after(() => server.stop());

  async function upload(type: string): Promise<string> {
    const response = await fetch(`${server.url}/api/v1/media`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}` },
      body: readFileSync(join(root, files[type] ?? assert.fail(`no file of the type ${type}`))),
    });
    return ((await response.json()) as { mediaId: string }).mediaId;
  }

  it('lists requests that work', async () => {
    const rows = rowsOf(sectionOf('All types of messages'));
    assert.ok(rows.length > 20);
    const { groupId } = (await call('POST', '/groups', { subject: 'Team', phoneNumbers: ['491707654321'] })).body;
    for (const [name, request = '', cell = ''] of rows) {
      const { messageId } = (await call('POST', '/messages/send', { to: '491707654321', message: 'Hi' })).body;
      const [method = '', path = ''] = (code(request) ?? '').split(' ');
      const [, type = 'image'] = /"type": "(\w+)"/.exec(cell) ?? [];
      const mediaId = cell.includes('med_…') ? await upload(type) : '';
      const body = code(cell)?.replaceAll('med_…', mediaId).replace('grp_…', groupId);
      const sent = await call(method, path.replace('msg_…', messageId), body);
      assert.ok(sent.status < 300, `${name}: ${sent.status} ${JSON.stringify(sent.body)}`);
    }
  });

  it('lists forms of numbers that are accepted', async () => {
    const section = sectionOf('Recipients and phone numbers');
    const forms = [...section.matchAll(/`([^`]*491707654321[^`]*|\+?0?0?49[^`]+)`/g)].map(([, form = '']) => form);
    assert.ok(forms.length >= 7);
    for (const to of forms) {
      const sent = await call('POST', '/messages/send', { to, message: 'Hi' });
      assert.deepEqual([sent.status, sent.body.to], [201, '491707654321'], to);
    }
    const national = await call('POST', '/messages/send', { to: '0170 7654321', message: 'Hi' });
    assert.equal(national.body.code, 'validation_failed');
  });
});
