import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import fs, { globSync, type Mode, mkdirSync, type OpenMode, type PathLike, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describeOnEachDeployment } from '../support/databases/databases.ts';
import { eventually } from '../support/eventually.ts';
import { download, picture, upload } from '../support/media/media.ts';
import { bearer, startAgain, startServer, type TestServer } from '../support/server.ts';

const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');
/** Every file below `media` in a server's data directory. */
/** All files of the folder except the marker with its id. */
const filesOf = ({ home }: TestServer) =>
  globSync('media/**/*', { cwd: home.dataDir, withFileTypes: true }).flatMap((entry) =>
    entry.isFile() && !entry.parentPath.endsWith('store-id') ? [entry.name] : [],
  );

describeOnEachDeployment('media', (newHome, database) => {
  let server: TestServer;
  let token: string;
  let call: Awaited<ReturnType<TestServer['account']>>['call'];
  before(async () => {
    server = await startServer({ database, env: { MEDIA_MAX_BYTES: String(300 * 1024 * 1024) } });
    ({ token, call } = await server.account());
  });
  after(() => server.stop());

  it('returns 20 MB as they were uploaded', async () => {
    const bytes = randomBytes(20_000_000);
    const { status, body } = await upload(server, token, bytes, { query: '?fileName=big.bin' });
    assert.equal(status, 201, JSON.stringify(body));
    assert.deepEqual(
      { ...body, mediaId: '', createdAt: '' },
      {
        mediaId: '',
        mimeType: 'application/octet-stream',
        size: 20_000_000,
        sha256: sha256(bytes),
        fileName: 'big.bin',
        createdAt: '',
        url: `/api/v1/media/${body.mediaId}/content`,
      },
    );
    assert.deepEqual((await call('GET', `/media/${body.mediaId}`)).body, body);
    const content = await download(server, token, body.mediaId);
    assert.equal(content.status, 200);
    assert.equal(content.headers.get('content-length'), '20000000');
    assert.ok(content.bytes.equals(bytes));
  });

  it('accepts the single file of a form, with its own name', async () => {
    const bytes = randomBytes(3_000_000);
    const form = new FormData();
    form.append('file', new Blob([bytes]), 'Größe 図.bin');
    const { status, body } = await upload(server, token, form);
    assert.deepEqual([status, body.fileName, body.sha256], [201, 'Größe 図.bin', sha256(bytes)]);

    const two = new FormData();
    two.append('a', new Blob([randomBytes(100_000)]), 'a');
    two.append('b', new Blob([randomBytes(100_000)]), 'b');
    const field = new FormData();
    field.append('file', new Blob([randomBytes(100_000)]), 'a');
    field.append('caption', 'hello');
    const none = new FormData();
    const before = filesOf(server);
    for (const [form, reason] of [
      [two, /exactly one file, but has several/],
      [field, /remove the field caption/],
      [none, /contains no file/],
    ] as const) {
      const refused = await upload(server, token, form);
      assert.deepEqual([refused.status, refused.body.code], [400, 'validation_failed']);
      assert.match(refused.body.detail, reason);
    }
    const headers = { 'content-type': 'multipart/form-data; boundary=x' };
    const start = '--x\r\ncontent-disposition: form-data; name="file"; filename="a"\r\n\r\n';
    for (const [body, type] of [
      [`${start}half of it`, headers['content-type']],
      [`${start}half of it\r\n--x`, headers['content-type']],
      ['no form at all', headers['content-type']],
      ['no boundary', 'multipart/form-data'],
    ] as const) {
      const refused = await upload(server, token, body, { headers: { 'content-type': type } });
      assert.deepEqual([refused.status, refused.body.code], [400, 'validation_failed'], body);
    }
    assert.deepEqual(filesOf(server), before, 'no file was kept');
  });

  it('detects the type from the content, and trusts the sender only for text types', async () => {
    const typeOf = async (bytes: Buffer | string, declared: string) =>
      (await upload(server, token, bytes, { headers: { 'content-type': declared } })).body.mimeType;
    assert.equal(await typeOf(picture(), 'text/html'), 'image/png');
    assert.equal(await typeOf(`%PDF-1.7 ${randomBytes(8).toString('hex')}`, 'image/png'), 'application/pdf');
    assert.equal(await typeOf('a,b\n1,2\n', 'text/csv; charset=utf-8'), 'text/csv');
    assert.equal(await typeOf('{"a":1}', 'application/json'), 'application/json');
    assert.equal(await typeOf('just words', 'image/png'), 'text/plain');
    assert.equal(await typeOf('just ünicode 図', 'no/such-type'), 'text/plain');
    for (const malformed of ['foo', 'foo/', '/foo', 'a b/c', 'multipart'])
      assert.equal(await typeOf(`declared as ${malformed}`, malformed), 'text/plain');
    assert.equal(await typeOf(Buffer.from([1, 2, 3, 0, 255]), 'image/jpeg'), 'application/octet-stream');
    assert.equal(await typeOf('<svg xmlns="http://www.w3.org/2000/svg"/>', 'image/png'), 'text/plain');
    assert.equal(await typeOf('<?xml version="1.0"?><svg/>', 'image/svg+xml'), 'image/svg+xml');
  });

  it('serves active content such as HTML, SVG and PDF as sandboxed downloads', async () => {
    for (const [body, type] of [
      ['<!doctype html><script>alert(1)</script>', 'text/html'],
      ['<?xml version="1.0"?><svg onload="alert(1)"/>', 'image/svg+xml'],
      ['%PDF-1.7 hello', 'application/pdf'],
      ['alert(1)', 'text/javascript'],
    ] as const) {
      const { body: media } = await upload(server, token, body, { headers: { 'content-type': type } });
      const { headers } = await download(server, token, media.mediaId);
      assert.equal(media.mimeType, type);
      assert.equal(headers.get('content-disposition'), 'attachment');
      assert.equal(headers.get('x-content-type-options'), 'nosniff');
      assert.equal(headers.get('content-security-policy'), "default-src 'none'; sandbox");
    }
    const { body } = await upload(server, token, picture());
    const { headers } = await download(server, token, body.mediaId);
    assert.equal(headers.get('content-disposition'), 'inline');
    assert.equal(headers.get('content-type'), 'image/png');
    assert.equal(headers.get('content-security-policy'), "default-src 'none'; sandbox");
  });

  it('sanitizes a hostile file name', async () => {
    const nameOf = async (fileName: string) => {
      // No known type begins like that, which would decide whether it is shown inline.
      const bytes = Buffer.concat([Buffer.alloc(16, 1), randomBytes(4)]);
      const { status, body } = await upload(server, token, bytes, {
        query: `?fileName=${encodeURIComponent(fileName)}`,
      });
      assert.equal(status, 201, JSON.stringify(body));
      const { headers } = await download(server, token, body.mediaId);
      return [body.fileName, headers.get('content-disposition')];
    };
    assert.deepEqual(await nameOf('../../etc/passwd'), ['passwd', 'attachment; filename=passwd']);
    assert.deepEqual(await nameOf('C:\\Windows\\a.exe'), ['a.exe', 'attachment; filename=a.exe']);
    assert.deepEqual(await nameOf('a"\r\nset-cookie: x=1\x07.txt'), [
      'a"set-cookie: x=1.txt',
      'attachment; filename="a\\"set-cookie: x=1.txt"',
    ]);
    assert.deepEqual(await nameOf('photo\u202egpj.exe'), ['photogpj.exe', 'attachment; filename=photogpj.exe']);
    assert.deepEqual(await nameOf('€.txt'), ['€.txt', `attachment; filename="?.txt"; filename*=UTF-8''%E2%82%AC.txt`]);
    for (const nothing of ['..', '.', ' ', 'a/'])
      assert.deepEqual(await nameOf(nothing), [null, 'attachment'], nothing);
    assert.equal((await nameOf('x'.repeat(255)))[0]?.length, 200);
    const tooLong = await upload(server, token, 'x', { query: `?fileName=${'x'.repeat(256)}` });
    assert.equal(tooLong.body.errors[0].field, 'fileName');

    const byHeader = (disposition: string) =>
      upload(server, token, randomBytes(20), { headers: { 'content-disposition': disposition } });
    const encoded = await byHeader("attachment; filename*=UTF-8''%e2%82%ac%2f..%2frates");
    assert.equal(encoded.body.fileName, 'rates');
    assert.equal((await byHeader('attachment; filename=')).body.fileName, null);
  });

  it('stores equal content once per account', async () => {
    const bytes = randomBytes(1000);
    const all = await Promise.all(
      ['first', 'second', 'third'].map((name) => upload(server, token, bytes, { query: `?fileName=${name}` })),
    );
    assert.deepEqual(
      all.map(({ status }) => status),
      [201, 201, 201],
    );
    assert.equal(new Set(all.map(({ body }) => body.mediaId)).size, 1);
    assert.equal(new Set(all.map(({ body }) => body.fileName)).size, 1);
    const other = await server.account();
    const theirs = await upload(server, other.token, bytes);
    assert.notEqual(theirs.body.mediaId, all[0]?.body.mediaId);
    assert.equal(filesOf(server).filter((name) => name === sha256(bytes)).length, 1, 'the content is stored once');
  });

  it('is hidden from other accounts and from keys without the permission', async () => {
    const { body } = await upload(server, token, randomBytes(100));
    const stranger = await server.account();
    assert.equal((await download(server, stranger.token, body.mediaId)).status, 404);
    assert.equal((await stranger.call('GET', `/media/${body.mediaId}`)).status, 404);
    const key = async (permission: string) =>
      (await call('POST', '/api-keys/create', { name: 'k', permissions: [permission] })).body.key;
    assert.equal((await download(server, await key('media:write'), body.mediaId)).status, 403);
    assert.equal((await download(server, await key('media:read'), body.mediaId)).status, 200);
    assert.equal((await upload(server, await key('media:read'), 'x')).status, 403);
    assert.equal((await fetch(`${server.url}${body.url}`)).status, 401);
    assert.equal((await fetch(`${server.url}${body.url}?key=${await key('media:read')}`)).status, 200);
  });

  it('serves ranges, and continues an interrupted download', async () => {
    const bytes = randomBytes(10_000);
    const { body } = await upload(server, token, bytes);
    const read = (headers: Record<string, string>) => download(server, token, body.mediaId, headers);
    const etag = `"${body.sha256}"`;
    for (const [range, first, last] of [
      ['bytes=0-99', 0, 99],
      ['bytes=9900-', 9900, 9999],
      ['bytes=-100', 9900, 9999],
      ['bytes=500-999999', 500, 9999],
      ['bytes=-999999', 0, 9999],
      ['bytes=7-7', 7, 7],
    ] as const) {
      const part = await read({ range, 'if-range': etag });
      assert.equal(part.status, 206, range);
      assert.equal(part.headers.get('content-range'), `bytes ${first}-${last}/10000`);
      assert.ok(part.bytes.equals(bytes.subarray(first, last + 1)), range);
    }
    for (const range of ['bytes=10000-', 'bytes=99999-100000', 'bytes=-0']) {
      const part = await read({ range });
      assert.deepEqual([part.status, part.headers.get('content-range')], [416, 'bytes */10000'], range);
      assert.equal(JSON.parse(part.bytes.toString()).code, 'range_not_satisfiable');
    }
    for (const range of ['bytes=0-1,5-6', 'lines=1-2', 'bytes=9-2', 'bytes=-', 'bytes=x-y', 'bytes=0-1;'])
      assert.equal((await read({ range })).status, 200, range);
    assert.equal((await read({ range: 'bytes=0-9', 'if-range': '"another"' })).status, 200);
    for (const tags of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
      const known = await read({ 'if-none-match': tags });
      assert.deepEqual([known.status, known.bytes.length, known.headers.get('etag')], [304, 0, etag], tags);
    }
    assert.equal((await read({ 'if-none-match': '"other"' })).status, 200);
    const head = await download(server, token, body.mediaId, {}, 'HEAD');
    assert.deepEqual([head.status, head.headers.get('content-length'), head.bytes.length], [200, '10000', 0]);
    const headOfPart = await download(server, token, body.mediaId, { range: 'bytes=0-9' }, 'HEAD');
    assert.deepEqual([headOfPart.status, headOfPart.headers.get('content-length')], [206, '10']);
  });

  it('returns an image on request, and JSON for files of other types', async () => {
    const bytes = picture();
    const { body } = await upload(server, token, bytes);
    const response = await fetch(`${server.url}/api/v1/media/${body.mediaId}`, {
      headers: { authorization: `Bearer ${token}`, accept: 'image/png' },
    });
    assert.equal(response.headers.get('content-type'), 'image/png');
    assert.ok(Buffer.from(await response.arrayBuffer()).equals(bytes));
    const text = await upload(server, token, 'no picture');
    const json = await call('GET', `/media/${text.body.mediaId}`, undefined, { accept: 'image/png' });
    assert.equal(json.body.mimeType, 'text/plain');
  });

  it('rejects an empty file, with and without a body', async () => {
    for (const [body, headers] of [
      ['', {}],
      ['', { 'content-type': 'image/png' }],
    ] as const) {
      const empty = await upload(server, token, body, { headers });
      assert.deepEqual([empty.status, empty.body.errors[0].code], [400, 'empty']);
    }
    const form = new FormData();
    form.append('file', new Blob([]), 'empty.txt');
    assert.equal((await upload(server, token, form)).status, 400);
  });

  it('leaves nothing behind when the sender aborts, in a body or in a form', async () => {
    for (const type of ['image/png', 'multipart/form-data; boundary=x']) {
      const before = filesOf(server);
      const sending = request(`${server.url}/api/v1/media`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': type, 'content-length': 10_000_000 },
      });
      sending.on('error', () => {});
      sending.write('--x\r\ncontent-disposition: form-data; name="file"; filename="a"\r\n\r\n');
      sending.write(randomBytes(500_000));
      await eventually(
        async () => filesOf(server).length,
        (count) => count === before.length + 1,
      );
      sending.destroy();
      await eventually(
        async () => filesOf(server).length,
        (count) => count === before.length,
      );
    }
  });

  it('leaves nothing behind when a rejection overtakes the slow opening of its file', async (t) => {
    const before = filesOf(server);
    const { open } = fs;
    const opened = Promise.withResolvers<void>();
    type Open = (
      path: PathLike,
      flags: OpenMode,
      mode: Mode,
      done: (error: Error | null, file: number) => void,
    ) => void;
    const openSlowly: Open = (path, flags, mode, done) =>
      setTimeout(() => {
        open(path, flags, mode, (error, file) => {
          opened.resolve();
          done(error, file);
        });
      }, 100);
    const opening = t.mock.method(fs, 'open', openSlowly);
    const refused = await upload(
      server,
      token,
      '--x\r\ncontent-disposition: form-data; name="file"; filename="a"\r\n\r\nhalf',
      {
        headers: { 'content-type': 'multipart/form-data; boundary=x' },
      },
    );
    assert.equal(refused.status, 400);
    assert.equal(opening.mock.callCount(), 1);
    await opened.promise;
    await eventually(
      async () => filesOf(server),
      (files) => isDeepStrictEqual(files, before),
    );
  });

  it('streams the file with constant memory', async () => {
    const megabytes = 200;
    let peak = 0;
    const { external: atRest } = process.memoryUsage();
    // Measures live memory, not garbage, because the amount of garbage depends on the load of the machine.
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    let isOver = false;
    const watch = async () => {
      while (!isOver) {
        const startedAt = performance.now();
        collect();
        // Buffers are freed concurrently, so only the next collection counts those of this one as freed.
        await new Promise((resolve) => setImmediate(resolve));
        collect();
        peak = Math.max(peak, process.memoryUsage().external - atRest);
        // Most of the time is spent in the upload, however slow the machine is.
        await sleep(Math.max(150, 5 * (performance.now() - startedAt)));
      }
    };
    const watching = watch();
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
    const write = async () => {
      const writer = writable.getWriter();
      const chunk = randomBytes(1024 * 1024);
      for (let i = 0; i < megabytes; i++) await writer.write(chunk);
      await writer.close();
    };
    let read = 0;
    try {
      const [{ status, body }] = await Promise.all([upload(server, token, readable), write()]);
      assert.equal(status, 201, JSON.stringify(body));
      const response = await fetch(`${server.url}${body.url}`, { headers: { authorization: `Bearer ${token}` } });
      assert.ok(response.body);
      for await (const chunk of response.body) read += chunk.length;
    } finally {
      isOver = true;
      await watching;
    }
    assert.equal(read, megabytes * 1024 * 1024);
    assert.ok(peak < 20 * 1024 * 1024, `${Math.round(peak / 1024 / 1024)} MB at once`);
  });

  it('removes content without a row, left by a crash, at the next start', async (test) => {
    const start = startAgain(test, newHome, { database });
    const first = await start();
    const me = await first.account();
    const kept = await upload(first, me.token, 'a file that stays');
    const { database: data } = first.app.services;
    const rename = (from: string, to: string) =>
      data.commit(({ connection }) => connection.query(`alter table ${from} rename to ${to}`, []));
    await rename('media', 'gone');
    const lost = randomBytes(1000);
    assert.equal((await upload(first, me.token, lost)).status, 503);
    await rename('gone', 'media');
    assert.ok(filesOf(first).includes(sha256(lost)), 'the content was stored before its row');

    const incoming = join(first.home.dataDir, 'media', 'incoming');
    mkdirSync(incoming, { recursive: true });
    writeFileSync(join(incoming, 'half-an-upload'), 'half');
    writeFileSync(join(incoming, `${kept.body.sha256}.pending`), '');
    await first.stop();

    const second = await start();
    assert.deepEqual(filesOf(second), [kept.body.sha256]);
    assert.equal((await download(second, me.token, kept.body.mediaId)).bytes.toString(), 'a file that stays');
  });
});

describe('the limit of an upload', () => {
  let server: TestServer;
  let token: string;
  let call: TestServer['call'];
  before(async () => {
    server = await startServer({ env: { MEDIA_MAX_BYTES: '1000000' } });
    ({ token, call } = await server.account());
  });
  after(() => server.stop());

  it('accepts a file of exactly the limit and rejects one byte more, however it is sent', async () => {
    assert.equal((await upload(server, token, randomBytes(1_000_000))).status, 201);
    const before = filesOf(server);
    const large = randomBytes(1_000_001);
    const form = new FormData();
    form.append('file', new Blob([large]), 'large');
    for (const body of [large, new Blob([large]).stream(), form]) {
      const refused = await upload(server, token, body);
      assert.deepEqual([refused.status, refused.body.code], [413, 'payload_too_large']);
    }
    assert.deepEqual(filesOf(server), before);
  });

  it('is published before anything is sent', async () => {
    const { status, body } = await call('GET', '/connectors');
    assert.deepEqual([status, body.mediaMaxBytes], [200, 1_000_000]);
  });

  it('is enforced before the sender has finished', async () => {
    const refused = await upload(server, token, randomBytes(30_000_000));
    assert.deepEqual([refused.status, refused.body.code], [413, 'payload_too_large']);
    const stranger = await upload(server, 'nobody', randomBytes(30_000_000));
    assert.deepEqual([stranger.status, stranger.body.code], [401, 'unauthorized']);
  });

  it('comes after permissions and rate limits, which are checked before any byte is read', async () => {
    const limited = await startServer({ env: { RATE_LIMIT: '2' } });
    const account = await limited.account();
    const { body } = await account.call('POST', '/api-keys/create', { name: 'k', permissions: ['media:read'] });
    for (const [credential, status] of [
      [body.key, 403],
      [account.token, 201],
      [account.token, 429],
    ] as const) {
      const answer = await upload(limited, credential, randomBytes(100_000));
      assert.equal(answer.status, status);
    }
    assert.equal(filesOf(limited).length, 1);
    await limited.stop();
  });

  it('leaves the connection usable if the sender finishes', async () => {
    const { hostname, port } = new URL(server.url);
    const part = Buffer.from('--x\r\ncontent-disposition: form-data; name="file"; filename="a"\r\n\r\n');
    for (const [type, start] of [
      ['image/png', Buffer.alloc(0)],
      ['multipart/form-data; boundary=x', part],
    ] as const) {
      const socket = connect(Number(port), hostname);
      let answers = '';
      const answered = new Promise<void>((resolve) => {
        socket.on('data', (data) => {
          answers += data;
          if (answers.includes('"status":"ok"')) resolve();
        });
        socket.on('close', resolve);
      });
      socket.write(`POST /api/v1/media HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${token}\r\n`);
      socket.write(`content-type: ${type}\r\ncontent-length: 3000000\r\n\r\n`);
      socket.write(Buffer.concat([start, randomBytes(3_000_000 - start.length)]));
      socket.write('GET /health HTTP/1.1\r\nhost: localhost\r\n\r\n');
      await answered;
      socket.destroy();
      const statuses = [...answers.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status);
      assert.deepEqual(statuses, ['413', '200'], type);
    }
  });

  it('closes the connection if the sender continues after the response', async () => {
    const { hostname, port } = new URL(server.url);
    const socket = connect(Number(port), hostname);
    let answer = '';
    socket.on('data', (data) => {
      answer += data;
    });
    socket.on('error', () => {});
    socket.write(`POST /api/v1/media HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${token}\r\n`);
    socket.write('content-length: 100000000\r\n\r\n');
    const goOn = setInterval(() => socket.write(randomBytes(20_000)), 5);
    await new Promise((resolve) => socket.once('close', resolve));
    clearInterval(goOn);
    assert.match(answer, /^HTTP\/1\.1 413 /);
  });

  it('affects neither the 405 of other methods nor the 415 of other routes', async () => {
    const call = bearer(server.url, token);
    assert.equal((await call('PUT', '/media', {})).status, 405);
    const other = await call('POST', '/sessions', 'x', { 'content-type': 'image/png' });
    assert.equal(other.status, 415);
  });
});
