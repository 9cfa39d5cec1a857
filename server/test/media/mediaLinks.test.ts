import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { Writable } from 'node:stream';
import { after, before, it } from 'node:test';
import { systemClock } from '../../src/clock.ts';
import { createLog } from '../../src/log.ts';
import { describeOnEachDeployment } from '../support/databases/databases.ts';
import { picture, upload } from '../support/media/media.ts';
import { bearer, connectSession, eventOf, newNumber, startServer, type TestServer } from '../support/server.ts';

type Account = Awaited<ReturnType<TestServer['account']>>;

/** Opens a link without a credential. */
async function open(url: string, headers: Record<string, string> = {}, method = 'GET') {
  const response = await fetch(url, { method, headers });
  return { status: response.status, headers: response.headers, bytes: Buffer.from(await response.arrayBuffer()) };
}

const codeOf = ({ bytes }: { bytes: Buffer }): string => JSON.parse(bytes.toString()).code;

describeOnEachDeployment('links to files', (_, database) => {
  let server: TestServer;
  let own: Account;
  before(async () => {
    server = await startServer({ database });
    own = await server.account();
  });
  after(() => server.stop());

  const at = (path: string) => new URL(path, server.url).href;
  async function add(bytes: Buffer = picture(), query = '?fileName=photo.png') {
    const { body } = await upload(server, own.token, bytes, { query });
    return body as { mediaId: string; sha256: string };
  }
  async function link(mediaId: string, input: object = {}, { call } = own) {
    const { status, body } = await call('POST', `/media/${mediaId}/links`, input);
    assert.equal(status, 201, JSON.stringify(body));
    return { ...body, url: at(body.url) } as { url: string; expiresAt: string };
  }
  async function key(permissions: readonly string[], more: object = {}) {
    const { body } = await own.call('POST', '/api-keys/create', { name: 'links', permissions, ...more });
    return { keyId: body.keyId as string, call: bearer(server.url, body.key) };
  }

  it('downloads a file without a credential, in whole and in part, on every node', async () => {
    const bytes = picture();
    const { mediaId, sha256 } = await add(bytes);
    const { url } = await link(mediaId);
    const whole = await open(url);
    assert.equal(whole.status, 200);
    assert.ok(whole.bytes.equals(bytes));
    assert.equal(whole.headers.get('content-type'), 'image/png');
    assert.equal(whole.headers.get('content-disposition'), 'inline; filename=photo.png');
    assert.equal(whole.headers.get('x-content-type-options'), 'nosniff');
    assert.equal(whole.headers.get('content-security-policy'), "default-src 'none'; sandbox");
    assert.equal(whole.headers.get('referrer-policy'), 'no-referrer');
    const part = await open(url, { range: 'bytes=4-9' });
    assert.deepEqual([part.status, part.headers.get('content-range')], [206, `bytes 4-9/${bytes.length}`]);
    assert.ok(part.bytes.equals(bytes.subarray(4, 10)));
    assert.equal((await open(url, { range: `bytes=${bytes.length}-` })).status, 416);
    assert.equal((await open(url, { 'if-none-match': `"${sha256}"` })).status, 304);
    const head = await open(url, {}, 'HEAD');
    assert.deepEqual([head.status, head.headers.get('content-length'), head.bytes.length], [200, `${bytes.length}`, 0]);
    assert.equal((await open(`${url}&utm_source=mail`)).status, 200);
    if (server.other !== undefined) {
      const elsewhere = new URL(url);
      elsewhere.port = new URL(server.other.url).port;
      assert.ok((await open(elsewhere.href)).bytes.equals(bytes));
    }
  });

  it('shows only passive files in the browser, and none that has to be saved', async () => {
    const disposition = async (url: string) => (await open(url)).headers.get('content-disposition')?.split(';')[0];
    const page = await add(Buffer.from(`<html><script>${randomBytes(8).toString('hex')}</script></html>`), '');
    assert.equal(await disposition((await link(page.mediaId)).url), 'attachment');
    const image = await add();
    assert.equal(await disposition((await link(image.mediaId, { download: true })).url), 'attachment');
  });

  it('rejects a changed, foreign or unknown link with the same error', async () => {
    const { mediaId } = await add();
    const { url } = await link(mediaId);
    const token = new URL(url).searchParams.get('token') ?? '';
    const [accountId = '', expires = '', , , signature = ''] = token.split('.');
    const stranger = await server.account();
    const { body: foreign } = await upload(server, stranger.token, picture());
    const path = (id: string, changed: string) => at(`/api/v1/media/${id}/file?token=${changed}`);
    const other = await add();
    const wrong = [
      path(other.mediaId, token),
      path(foreign.mediaId, token),
      path('med_00000000000000000000000000', token),
      path(mediaId, `${stranger.accountId}.${expires}...${signature}`),
      path(mediaId, `${accountId}.${Number(expires) + 1}...${signature}`),
      path(mediaId, `${accountId}.${expires}..d.${signature}`),
      path(mediaId, `${accountId}.${expires}...${'A'.repeat(43)}`),
      path(mediaId, `${accountId}.${expires}...${signature.slice(1)}`),
      path(mediaId, 'nothing'),
      path(mediaId, ''),
      at(`/api/v1/media/${mediaId}/file`),
      at(`/api/v1/media/${mediaId}/file?token=${token}&token=${token}`),
      path(mediaId, `${token}${'A'.repeat(300)}`),
      path(mediaId, `${token}%00`),
      path(mediaId, '%zz'),
      path(mediaId, '%ED%A0%80'),
      path(`${mediaId}%00`, token),
      path('m'.repeat(101), token),
      path('m'.repeat(2000), 'nothing'),
    ];
    const texts = new Set<string>();
    for (const each of wrong) {
      const { status, bytes } = await open(each);
      const { requestId: _, ...problem } = JSON.parse(bytes.toString());
      assert.deepEqual([status, problem.code], [403, 'link_invalid'], each);
      texts.add(JSON.stringify(problem));
    }
    assert.equal(texts.size, 1);
    assert.equal((await open(url)).status, 200);
  });

  it('makes links only for files that the caller may download', async () => {
    const { mediaId } = await add();
    const stranger = await server.account();
    assert.equal((await stranger.call('POST', `/media/${mediaId}/links`, {})).status, 404);
    const writer = await key(['media:write']);
    assert.equal((await writer.call('POST', `/media/${mediaId}/links`, {})).body.code, 'permission_denied');
    const { body: session } = await own.call('POST', '/sessions', { connector: 'sandbox' });
    const limited = await key(['media:read', 'media:write'], { sessionIds: [session.sessionId] });
    assert.equal((await limited.call('POST', `/media/${mediaId}/links`, {})).status, 404);
    assert.equal((await limited.call('POST', '/media/links/revoke', {})).body.code, 'permission_denied');
    for (const expiresInSeconds of [59, 7 * 86_400 + 1])
      assert.equal((await own.call('POST', `/media/${mediaId}/links`, { expiresInSeconds })).status, 400);
  });

  it('ends the links of an API key with the key, and with its permission', async () => {
    const { mediaId } = await add();
    const { keyId, call } = await key(['media:read']);
    const { url } = await link(mediaId, {}, { ...own, call });
    assert.equal((await open(url)).status, 200);
    await own.call('PATCH', `/api-keys/${keyId}`, { permissions: ['messages:read'] });
    assert.equal(codeOf(await open(url)), 'link_invalid');
    await own.call('PATCH', `/api-keys/${keyId}`, { permissions: ['media:read'] });
    assert.equal((await open(url)).status, 200);
    await own.call('DELETE', `/api-keys/${keyId}`);
    assert.equal(codeOf(await open(url)), 'link_invalid');
  });

  it('ends the links of an API key with its rotation', async () => {
    const { mediaId } = await add();
    const { keyId, call } = await key(['media:read']);
    const { url } = await link(mediaId, {}, { ...own, call });
    const other = await link(mediaId, {}, { ...own, call: (await key(['media:read'])).call });
    const ofLogin = await link(mediaId);
    const { body: rotated } = await own.call('POST', `/api-keys/${keyId}/rotate`, {});
    assert.equal(codeOf(await open(url)), 'link_invalid');
    for (const kept of [other, ofLogin]) assert.equal((await open(kept.url)).status, 200);
    const renewed = await link(mediaId, {}, { ...own, call: bearer(server.url, rotated.key) });
    assert.equal((await open(renewed.url)).status, 200);
  });

  it('ends the links of an API key to files outside its sessions', async () => {
    const { mediaId } = await add();
    const sessionId = await connectSession(own.call, newNumber());
    const { body: other } = await own.call('POST', '/sessions', { connector: 'sandbox' });
    const incoming = { action: 'incoming', from: newNumber(), type: 'image', mediaId };
    assert.equal((await own.call('POST', `/sessions/${sessionId}/simulate`, incoming)).status, 200);
    const received = await eventOf(own.call, 'message.incoming', (data) => data.sessionId === sessionId);
    const { keyId, call } = await key(['media:read'], { sessionIds: [sessionId] });
    const { url } = await link(received.media.mediaId, {}, { ...own, call });
    assert.equal((await open(url)).status, 200);
    await own.call('PATCH', `/api-keys/${keyId}`, { sessionIds: [other.sessionId] });
    const { status } = await open(url);
    assert.equal(status, 403);
    await own.call('PATCH', `/api-keys/${keyId}`, { sessionIds: [sessionId, other.sessionId] });
    assert.equal((await open(url)).status, 200);
  });

  it('revokes the links of one account', async () => {
    const { mediaId } = await add();
    const { url } = await link(mediaId);
    const stranger = await server.account();
    const { body: foreign } = await upload(server, stranger.token, picture());
    const kept = await link(foreign.mediaId, {}, stranger);
    for (let times = 0; times < 2; times++) {
      assert.deepEqual((await own.call('POST', '/media/links/revoke', {})).body, { revoked: true });
      assert.equal(codeOf(await open(url)), 'link_invalid');
    }
    assert.equal((await open(kept.url)).status, 200);
    assert.equal((await open((await link(mediaId)).url)).status, 200);
  });

  it('rejects a link to a deleted file as if it had never existed', async () => {
    const { mediaId } = await add();
    const { url } = await link(mediaId);
    await own.call('DELETE', `/media/${mediaId}`);
    assert.equal(codeOf(await open(url)), 'link_invalid');
    assert.equal((await own.call('POST', `/media/${mediaId}/links`, {})).status, 404);
  });
});

it('rejects expired links, and keeps tokens out of the log', async () => {
  let aheadMs = 0;
  const clock = { ...systemClock, now: () => Date.now() + aheadMs };
  const lines: string[] = [];
  const destination = new Writable({
    write(chunk, _, done) {
      lines.push(String(chunk));
      done();
    },
  });
  const log = createLog('info', destination);
  const server = await startServer({ clock, log, env: { PUBLIC_URL: 'https://files.example.com' } });
  try {
    const { token, call } = await server.account();
    const { body } = await upload(server, token, picture());
    const { body: made } = await call('POST', `/media/${body.mediaId}/links`, { expiresInSeconds: 60 });
    assert.ok(made.url.startsWith(`https://files.example.com/api/v1/media/${body.mediaId}/file?token=`));
    const url = made.url.replace('https://files.example.com', server.url);
    assert.equal((await open(url)).status, 200);
    aheadMs = 50_000;
    assert.equal((await open(url)).status, 200);
    aheadMs = 61_001;
    const expired = await open(url);
    assert.deepEqual([expired.status, codeOf(expired)], [403, 'link_invalid']);
    assert.match(expired.bytes.toString(), /expired/);
    const unknown = await open(`${url.replace('/file?', '/files?')}`);
    assert.equal(unknown.status, 404);
    const { pathname, searchParams } = new URL(url);
    const logged = lines.join('');
    assert.ok(logged.includes('media.open_link'));
    assert.ok(logged.includes(pathname.replace('/file', '/files')));
    assert.ok(!logged.includes((searchParams.get('token') ?? '').split('.').at(-1) ?? ''));
  } finally {
    await server.stop();
  }
});
