import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { type Call, connectSession, startServer, type TestServer } from '../support/server.ts';

let server: TestServer;
let call: Call;
let sessionId: string;
before(async () => {
  server = await startServer();
  ({ call } = await server.account());
  sessionId = await connectSession(call);
});
after(() => server.stop());

it('refuses names without a visible character', async () => {
  const label = await call('POST', '/labels', { sessionId, name: 'New' });
  assert.equal(label.status, 201, JSON.stringify(label.body));
  const named: readonly (readonly [string, string, string, object?])[] = [
    ['PATCH', `/sessions/${sessionId}/profile`, 'name'],
    ['POST', '/channels', 'name', { sessionId }],
    ['POST', '/communities', 'subject', { sessionId }],
    ['POST', '/labels', 'name', { sessionId }],
    ['PATCH', `/labels/${label.body.labelId}`, 'name', { sessionId }],
    ['POST', '/messages/send-event', 'name', { sessionId, to: '491707654321', startsAt: '2030-07-01T12:00:00Z' }],
  ];
  for (const [method, path, field, more] of named) {
    for (const name of ['   ', '\u00a0', '\u200b\n', '']) {
      const { status, body } = await call(method, path, { ...more, [field]: name });
      const about = `${method} ${path} ${JSON.stringify(name)}`;
      assert.deepEqual([status, body.code], [400, 'validation_failed'], about);
      const message = name === '' ? 'must not be empty' : 'must have a visible character';
      const expected = [{ field, code: name === '' ? 'minLength' : 'blank', message }];
      assert.deepEqual(body.errors, expected, about);
    }
    const { status } = await call(method, path, { ...more, [field]: ' 👩‍🚀 ' });
    assert.ok(status < 300, `${method} ${path} takes an emoji`);
    const wrongType = await call(method, path, { ...more, [field]: 7 });
    assert.equal(wrongType.body.errors?.length, 1, `${method} ${path}`);
  }
});
