import assert from 'node:assert/strict';
import { it } from 'node:test';
import { upload } from '../support/media/media.ts';
import { startServer } from '../support/server.ts';

it('refuses uploads above the limit of stored bytes per account, until files are deleted', async (test) => {
  const server = await startServer({ env: { MAX_MEDIA_BYTES: '1000' } });
  test.after(() => server.stop());
  const { call, token } = await server.account();
  const file = (text: string) => Buffer.alloc(400, text);
  const first = await upload(server, token, file('a'));
  assert.equal(first.status, 201);
  const both = await Promise.all([upload(server, token, file('b')), upload(server, token, file('c'))]);
  assert.deepEqual(both.map(({ status }) => status).sort(), [201, 409], 'concurrent uploads count together');
  assert.equal(both.find(({ status }) => status === 409)?.body.code, 'too_many');
  assert.equal((await upload(server, token, file('a'))).status, 201, 'a stored file needs no room');
  const { token: other } = await server.account();
  assert.equal((await upload(server, other, file('d'))).status, 201, 'other accounts have their own limit');
  assert.equal((await call('DELETE', `/media/${first.body.mediaId}`)).status, 200);
  assert.equal((await upload(server, token, file('e'))).status, 201);
  assert.equal((await upload(server, token, file('f'))).status, 409);
});
