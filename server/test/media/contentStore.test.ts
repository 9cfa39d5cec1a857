import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { after, before, describe, it } from 'node:test';
import { systemClock } from '../../src/clock.ts';
import { createS3Store } from '../../src/media/s3Store.ts';
import { type ContentStore, createDiskStore } from '../../src/media/store.ts';
import { type S3Server, startS3 } from '../support/connections/s3.ts';
import { download, upload } from '../support/media/media.ts';
import { startServer } from '../support/server.ts';

let s3: S3Server;
let folder: string;
before(async () => {
  s3 = await startS3();
  folder = mkdtempSync(join(tmpdir(), 'switchboard-store-'));
});
after(async () => {
  rmSync(folder, { recursive: true });
  await s3.close();
});

function openS3(more: object = {}): ContentStore {
  const { env } = s3;
  return createS3Store(
    {
      url: new URL(env['MEDIA_S3_URL'] ?? ''),
      bucket: env['MEDIA_S3_BUCKET'] ?? '',
      region: env['MEDIA_S3_REGION'] ?? '',
      accessKeyId: env['MEDIA_S3_ACCESS_KEY_ID'] ?? '',
      secretAccessKey: env['MEDIA_S3_SECRET_ACCESS_KEY'] ?? '',
      ...more,
    },
    systemClock,
  );
}

/** A finished file, and the hash of its bytes. */
function finished(bytes: Buffer) {
  const file = join(folder, randomBytes(8).toString('hex'));
  writeFileSync(file, bytes);
  return { file, hash: createHash('sha256').update(bytes).digest('hex'), size: bytes.length };
}

for (const [name, open] of [
  ['on disk', () => createDiskStore(join(folder, 'content'))],
  ['in S3', openS3],
] as const) {
  describe(`a content store ${name}`, () => {
    let store: ContentStore;
    before(() => {
      store = open();
    });
    after(() => store.close());

    it('stores a file and returns it, as a whole and in ranges', async () => {
      const bytes = randomBytes(5_000_000);
      const { file, hash, size } = finished(bytes);
      await store.put(hash, file, size);
      assert.equal(existsSync(file), false);
      assert.ok((await buffer(await store.open(hash))).equals(bytes));
      const part = await buffer(await store.open(hash, { first: 1000, last: 1999 }));
      assert.ok(part.equals(bytes.subarray(1000, 2000)));
    });

    it('accepts the same content twice, and repairs a damaged copy', async () => {
      const bytes = randomBytes(1000);
      for (let times = 0; times < 2; times++) {
        const { file, hash, size } = finished(bytes);
        await store.put(hash, file, size);
        assert.ok((await buffer(await store.open(hash))).equals(bytes));
      }
    });

    it('removes a content, and ignores a missing one', async () => {
      const { file, hash, size } = finished(randomBytes(1000));
      await store.put(hash, file, size);
      await store.remove(hash);
      await store.remove(hash);
      await assert.rejects(store.open(hash), { code: 'storage_unavailable' });
    });
  });
}

describe('the identity of a content store', () => {
  it('is the same id for one folder on disk, even if many nodes start at once', async () => {
    const place = join(folder, 'shared');
    const names = await Promise.all(Array.from({ length: 20 }, () => createDiskStore(place).identity()));
    assert.equal(new Set(names).size, 1, names.join());
    assert.match(names[0] ?? '', /^disk [0-9a-f-]{36}$/);
    assert.equal(await createDiskStore(place).identity(), names[0], 'the id is stable');
    assert.deepEqual(readdirSync(place), ['store-id'], 'no leftovers of the others');
    assert.notEqual(await createDiskStore(join(folder, 'another')).identity(), names[0]);
  });

  it('is the endpoint, bucket and prefix in S3, without credentials', async () => {
    const url = new URL('https://user:password@s3.example.com/storage/?x-id=1');
    assert.equal(await openS3({ url }).identity(), 's3 https://s3.example.com/storage/files/switchboard');
    assert.notEqual(await openS3({ bucket: 'files' }).identity(), await openS3().identity());
  });
});

describe('an S3 store', () => {
  it('retries while the service is busy, and gives up if it stays busy', async () => {
    const store = openS3();
    const bytes = randomBytes(1000);
    const { file, hash, size } = finished(bytes);
    s3.failNext(2);
    await store.put(hash, file, size);
    assert.ok((await buffer(await store.open(hash))).equals(bytes));
    s3.failNext(3);
    await assert.rejects(store.open(hash), { code: 'storage_unavailable' });
    await store.close();
  });

  it('reports a wrong secret', async () => {
    const store = openS3({ secretAccessKey: 'wrong' });
    const { file, hash, size } = finished(randomBytes(10));
    await assert.rejects(store.put(hash, file, size), { code: 'storage_unavailable' });
    assert.equal(s3.refused.at(-1), 'SignatureDoesNotMatch');
    await store.close();
  });

  it('rejects content that does not match its hash', async () => {
    const store = openS3();
    const { file, size } = finished(randomBytes(10));
    await assert.rejects(store.put('0'.repeat(64), file, size), { code: 'storage_unavailable' });
    assert.equal(s3.refused.at(-1), 'XAmzContentSHA256Mismatch');
    await store.close();
  });

  it('stores the media of a server, and reports an outage to callers', async () => {
    const server = await startServer({ env: s3.env });
    const { token } = await server.account();
    const bytes = randomBytes(2_000_000);
    const { body } = await upload(server, token, bytes, { query: '?fileName=x.bin' });
    assert.ok(s3.objects.get(`/files/switchboard/${body.sha256}`)?.equals(bytes));
    assert.ok((await download(server, token, body.mediaId)).bytes.equals(bytes));
    const part = await download(server, token, body.mediaId, { range: 'bytes=10-19' });
    assert.deepEqual([part.status, part.bytes.equals(bytes.subarray(10, 20))], [206, true]);
    s3.failNext(3);
    const away = await download(server, token, body.mediaId);
    assert.deepEqual([away.status, JSON.parse(away.bytes.toString()).code], [503, 'storage_unavailable']);
    await server.stop();
  });
});
