import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { brotliCompressSync, brotliDecompressSync } from 'node:zlib';
import Fastify, { type FastifyInstance } from 'fastify';
import { addBuiltFiles, builtFiles, FOREVER } from '../../../src/http/pages/builtFiles.ts';

const script = 'console.log("built");\n'.repeat(50);

describe('files of a build', () => {
  const folder = mkdtempSync(join(tmpdir(), 'built-'));
  let app: FastifyInstance;
  before(async () => {
    mkdirSync(join(folder, 'assets/fonts'), { recursive: true });
    writeFileSync(join(folder, 'secret.txt'), 'x');
    writeFileSync(join(folder, 'assets/main-1a2b.js'), script);
    writeFileSync(join(folder, 'assets/main-1a2b.js.br'), brotliCompressSync(script));
    writeFileSync(join(folder, 'assets/fonts/a b.woff2'), 'font');
    writeFileSync(join(folder, 'assets/removed.css'), '');
    app = Fastify();
    addBuiltFiles(app, '/assets/', builtFiles(join(folder, 'assets'), FOREVER));
    rmSync(join(folder, 'assets/removed.css'));
    writeFileSync(join(folder, 'assets/added.css'), '');
    await app.ready();
  });
  after(async () => {
    await app.close();
    rmSync(folder, { recursive: true });
  });
  const get = (url: string, headers = {}, method: 'GET' | 'HEAD' = 'GET') => app.inject({ url, headers, method });

  it('are compressed if the build has compressed them and the client accepts it', async () => {
    const plain = await get('/assets/main-1a2b.js');
    const small = await get('/assets/main-1a2b.js', { 'accept-encoding': 'gzip, br' });
    assert.equal(plain.body, script);
    assert.equal(brotliDecompressSync(small.rawPayload).toString(), script);
    assert.deepEqual([plain.headers['content-encoding'], small.headers['content-encoding']], [undefined, 'br']);
    for (const { headers } of [plain, small]) {
      assert.match(String(headers['content-type']), /^(text|application)\/javascript/);
      assert.equal(headers['vary'], 'accept-encoding');
      assert.equal(headers['cache-control'], 'public, max-age=31536000, immutable');
    }
    assert.notEqual(plain.headers['etag'], small.headers['etag']);
    const font = await get('/assets/fonts/a%20b.woff2', { 'accept-encoding': 'br' });
    assert.deepEqual([font.statusCode, font.headers['content-type'], font.body], [200, 'font/woff2', 'font']);
  });

  it('support HEAD, parts, and clients that have them already', async () => {
    const head = await get('/assets/main-1a2b.js', {}, 'HEAD');
    assert.deepEqual([head.statusCode, head.headers['content-length'], head.body], [200, String(script.length), '']);
    const part = await get('/assets/main-1a2b.js', { range: 'bytes=0-6' });
    assert.deepEqual([part.statusCode, part.body], [206, script.slice(0, 7)]);
    const known = await get('/assets/main-1a2b.js', { 'if-none-match': head.headers['etag'] });
    assert.deepEqual([known.statusCode, known.body], [304, '']);
  });

  it('are the only ones that a path can reach', async () => {
    for (const path of [
      '../secret.txt',
      '..%2fsecret.txt',
      'fonts/..%2f..%2fsecret.txt',
      '%2e%2e/secret.txt',
      'fonts',
      'fonts/',
      '',
      '/main-1a2b.js',
      'fonts%5c..%5cmain-1a2b.js',
      'main-1a2b.js%00',
      'MAIN-1a2b.js',
      'constructor',
      'removed.css',
      'added.css',
    ])
      assert.equal((await get(`/assets/${path}`)).statusCode, 404, path);
  });
});
